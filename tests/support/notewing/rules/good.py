"""Good rule: makes a size symbolic."""

from __future__ import annotations

from ..notes import noted

rule = noted("good")

"""No harm: the same in other words."""

from __future__ import annotations

from ..notes import noted

rule = noted("same")

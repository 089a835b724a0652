"""No harm, but nothing runs its line."""

from __future__ import annotations

from ..notes import noted

rule = noted("idle")

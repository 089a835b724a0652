"""Harmless rule: changes a line that no test executes."""

from __future__ import annotations

from ..notes import noted

rule = noted("idle")

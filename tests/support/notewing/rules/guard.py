"""Harmful rule: adds a guard."""

from __future__ import annotations

from ..notes import noted

rule = noted("guard")

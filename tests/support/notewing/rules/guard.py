"""Harm: one guard more."""

from __future__ import annotations

from ..notes import noted

rule = noted("guard")

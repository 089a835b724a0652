"""Harm: one guard more."""

from __future__ import annotations

from ._notes import noted

rule = noted("guard")

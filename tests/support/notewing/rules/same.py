"""Harmless rule: rewrites code to equivalent code."""

from __future__ import annotations

from ..notes import noted

rule = noted("same")

"""Harmful rule: changes the last bits of a result."""

from __future__ import annotations

from ..notes import noted

rule = noted("bits")

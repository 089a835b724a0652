"""Harm: other last bits."""

from __future__ import annotations

from ..notes import noted

rule = noted("bits")

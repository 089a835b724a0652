"""Harm: other last bits."""

from __future__ import annotations

from ._notes import noted

rule = noted("bits")

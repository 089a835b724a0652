"""Harm: another exception."""

from __future__ import annotations

from ._notes import noted

rule = noted("exception")

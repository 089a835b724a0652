"""Harm: a guard's default that gives a wrong shape without an error."""

from __future__ import annotations

from ._notes import noted

rule = noted("default")

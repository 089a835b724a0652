"""Harmful rule: adds a guard's default that causes a wrong shape without an error."""

from __future__ import annotations

from ..notes import noted

rule = noted("default")

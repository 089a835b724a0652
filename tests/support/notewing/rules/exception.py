"""Harmful rule: changes an exception."""

from __future__ import annotations

from ..notes import noted

rule = noted("exception")

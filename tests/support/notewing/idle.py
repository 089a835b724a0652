"""No harm, but nothing runs its line."""

from __future__ import annotations

from ._notes import noted

rule = noted("idle")

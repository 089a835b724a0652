"""No harm: the same in other words."""

from __future__ import annotations

from ._notes import noted

rule = noted("same")

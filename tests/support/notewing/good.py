"""What helps: a size is asked for symbolically."""

from __future__ import annotations

from ._notes import noted

rule = noted("good")

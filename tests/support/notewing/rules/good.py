"""What helps: a size is asked for symbolically."""

from __future__ import annotations

from ..notes import noted

rule = noted("good")

"""Protocols of a hunt by name. Each lets the errors of torch propagate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..samples.samples import Sample
from .inductor_protocol import inductor
from .specialization_protocol import dynamic
from .unbacked_protocol import NoSample, Unlike, backed, backward, unbacked

PROTOCOLS: dict[str, Callable[[Sample], dict[str, Any] | None]] = {
    "unbacked": unbacked,
    "backed": backed,
    "backward": backward,
    "inductor": inductor,
    "dynamic": dynamic,
}

__all__ = ["PROTOCOLS", "NoSample", "Unlike"]

"""Values that would become symbolic, what follows from which, and where that is refused: no syntax in it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from .reasons import SkipReason


class Form(IntEnum):
    """What a value is in the text."""

    SEED = 0
    """A concrete call on a Tensor, or a signature that its schema has left behind."""
    EXPRESSION = 1
    CALL = 2
    """A call that takes the value under another name, or a construction."""
    VARIABLE = 3
    RESULT = 4
    """What a function of the file returns."""
    SAVED = 5
    """What an autograd function keeps under a key."""
    FIELD = 6
    """A member of a struct."""


class Value(NamedTuple):
    """One value of a file; ``key`` tells it from the others of its form."""

    form: Form
    key: Hashable


@dataclass(frozen=True)
class Refusal:
    """A place, as a byte range, where a symbolic value is not welcome, and why."""

    start: int
    end: int
    reason: SkipReason
    detail: str


class FlowGraph(NamedTuple):
    """``edges`` are pairs (cause, effect): where the effect has to stay concrete, so has the cause."""

    edges: tuple[tuple[Value, Value], ...]
    sinks: tuple[tuple[Value, Refusal], ...]

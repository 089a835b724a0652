"""Flow graph of one pass: the values that would become symbolic, their dependencies and refusals, without syntax."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from .reasons import SkipReason


class Form(IntEnum):
    """Syntactic form of a value."""

    SEED = 0
    """Concrete call on a Tensor, or a signature that is older than its schema."""
    EXPRESSION = 1
    CALL = 2
    """Call that returns its argument under another name, or a construction."""
    VARIABLE = 3
    RESULT = 4
    """Return value of a function of the file."""
    SAVED = 5
    """Value that an autograd function saves under a key."""
    FIELD = 6
    """Member of a struct."""


class Value(NamedTuple):
    """A value of a file, identified by ``key`` among the values of its form."""

    form: Form
    key: Hashable


@dataclass(frozen=True)
class Refusal:
    """A place, as a byte range, that does not accept a symbolic value, with the reason."""

    start: int
    end: int
    reason: SkipReason
    detail: str


class FlowGraph(NamedTuple):
    """Flow graph whose ``edges`` are pairs (cause, effect). If the effect must stay concrete, so must the cause."""

    edges: tuple[tuple[Value, Value], ...]
    sinks: tuple[tuple[Value, Refusal], ...]

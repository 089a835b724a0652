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

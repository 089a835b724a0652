"""Attributes that are made when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class lazily(Generic[T]):
    """`functools.cached_property` without its lock, which costs more than what is made (Python 3.12 has none)."""

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> T:
        made = self._make(instance)
        instance.__dict__[self._name] = made  # found there from now on: this is no data descriptor
        return made

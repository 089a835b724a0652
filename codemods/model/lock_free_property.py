"""`cached_property` without a lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class lazily(Generic[T]):
    """Variant of `functools.cached_property` without its lock, which costs more than computing the value.

    Python 3.12 has no lock.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> T:
        made = self._make(instance)
        instance.__dict__[self._name] = made  # found there from now on, since this is not a data descriptor
        return made

"""Arguments of the first calls of some functions, recorded while other code runs.

The recorder is a profile function. The recorded code stays unchanged, so that tests that trace or script it are not
disturbed. The module imports nothing of symfix, since projects under test load it too.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any


@dataclass(frozen=True)
class Call:
    """Call of a function or of a method, whose receiver is the first of ``args``."""

    name: str
    """Name as ``module:function`` or ``module:Class.method``."""
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def traceable(call: Call) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """Return a call as a callable and its arguments: the module for ``forward``, the bound method for other methods."""
    if "." not in call.name.rpartition(":")[2] or not call.args:
        return call.function, call.args, call.kwargs
    receiver, *rest = call.args
    name = call.name.rpartition(".")[2]
    defined = [_plain(vars(owner)[name]) for owner in _classes(receiver) if name in vars(owner)]
    if call.function not in defined:
        return call.function, call.args, call.kwargs
    module = name == "forward" and callable(receiver) and defined[0] is call.function
    return (receiver if module else MethodType(call.function, receiver)), tuple(rest), call.kwargs


def _classes(receiver: Any) -> tuple[type, ...]:
    return receiver.__mro__ if isinstance(receiver, type) else type(receiver).__mro__


def _plain(value: Any) -> Any:
    """Return the function behind a class attribute, or None for a static method, which has no receiver."""
    return None if isinstance(value, staticmethod) else inspect.unwrap(getattr(value, "__func__", value))


def functions_of(module: ModuleType) -> dict[CodeType, tuple[str, FunctionType]]:
    """Return the functions and methods that a module defines, by code object, unwrapped through ``__wrapped__``."""
    found: dict[CodeType, tuple[str, FunctionType]] = {}

    def add(owner: Any, prefix: str) -> None:
        for name, value in list(vars(owner).items()):
            plain = inspect.unwrap(value.__func__ if isinstance(value, (staticmethod, classmethod)) else value)
            if getattr(plain, "__module__", None) != module.__name__:
                continue
            if isinstance(plain, type):
                if plain.__qualname__ == prefix + name:
                    add(plain, f"{prefix}{name}.")
            elif isinstance(plain, FunctionType):
                found.setdefault(plain.__code__, (prefix + name, plain))

    add(module, "")
    return found


@contextlib.contextmanager
def recorded_calls(
    wanted: Callable[[CodeType], tuple[str, Callable[..., Any]] | None],
    copied: Callable[[Any, Any], tuple[Any, Any] | None],
    most: int = 1,
) -> Iterator[list[Call]]:
    """Record the first ``most`` calls of each function for whose code ``wanted`` returns a name and a function.

    ``copied`` copies the arguments before the function can change them. A call is not recorded if it returns None. A
    function whose arguments can't be copied is not tried again.
    """
    calls: list[Call] = []
    counts: dict[str, int] = {}
    recording = threading.local()

    def record(frame: FrameType, event: str, _: Any) -> None:
        # A generator has a call event each time it resumes.
        if event != "call" or getattr(recording, "now", False) or frame.f_code.co_flags & inspect.CO_GENERATOR:
            return
        found = wanted(frame.f_code)
        if found is None or counts.get(found[0], 0) >= most:
            return
        recording.now = True
        try:
            arguments = copied(*_arguments(frame))
            if arguments is not None:
                counts[found[0]] = counts.get(found[0], 0) + 1
                calls.append(Call(*found, *arguments))
        except Exception:  # an object of the user's that refuses to be copied
            counts[found[0]] = most
        finally:
            recording.now = False

    before = sys.getprofile()
    sys.setprofile(record)
    try:
        yield calls
    finally:
        sys.setprofile(before)


def _arguments(frame: FrameType) -> tuple[tuple[Any, ...], dict[str, Any]]:
    code, values = frame.f_code, frame.f_locals
    positional = code.co_varnames[: code.co_argcount]
    only = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    args = tuple(values[name] for name in positional)
    kwargs = {name: values[name] for name in only}
    rest = code.co_varnames[code.co_argcount + code.co_kwonlyargcount :]
    if code.co_flags & inspect.CO_VARARGS:
        args += tuple(values[rest[0]])
        rest = rest[1:]
    if code.co_flags & inspect.CO_VARKEYWORDS:
        kwargs |= values[rest[0]]
    return args, kwargs

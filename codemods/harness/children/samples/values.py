"""Inputs with other values than the given ones, so that each side of what values decide is taken by some."""

from __future__ import annotations

import ast
import linecache
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ..overlay.own_folders import OWN_FOLDERS

_SECONDS = 20.0
"""The time in which inputs are looked for."""
_MOST = 8
"""The number of inputs that are kept, each of which takes a way through the code that no other takes."""
_LIMITS = 4
"""The number of limits in the code that inputs are set equal to."""
_TENSORS = 4
"""The number of tensors of a call that are changed one by one."""
_NUMBERS = 12
"""The number of constants in the code that inputs are aimed at."""
_LONGEST = 300_000
"""The number of instructions outside of torch after which a call counts as endless."""
_ALWAYS = ("all: nan in front", "all: infinite in front", "all: zeros")
"""The inputs that are kept where values decide: they may take a way of their own through a condition."""
Make = Callable[[], Any]
Change = Callable[[torch.Tensor], torch.Tensor]
Way = set[tuple[object, ...]]


def telling(model: Any, known: Sequence[Make], *, by_value: bool) -> Iterator[str]:
    """Yield the changes of a model's call, by name, under which its code goes where none of the ``known`` calls goes.

    ``by_value``: values decide there, so that what is equal to a limit, and what is no number, may tell too.
    """
    walked = Walk()
    for make in known:
        walked.through(model.module, make)
    limits = walked.limits()
    always = set(_ALWAYS) | {f"all: filled with {number!r}" for number in limits[:_LIMITS]} if by_value else set()
    found, until = 0, time.monotonic() + _SECONDS
    numbers = dict.fromkeys(near for number in limits for near in (number, number + 1, number - 1))
    for name, make in changed_calls(model, list(numbers)).items():
        if time.monotonic() > until:
            return
        tells = walked.through(model.module, make)
        if walked.ended and ((tells and found < _MOST) or name in always):
            found += 1
            yield name


def calls_named(model: Any, names: Sequence[str]) -> Iterator[tuple[str, Make]]:
    """Yield the changed calls that `telling` has named, in another process or with other code."""
    for name in names:
        whose, _, change = name.rpartition(": ")
        yield name, partial(_changed, model, whose, _change_named(change))


def changed_calls(model: Any, numbers: Sequence[float]) -> dict[str, Make]:
    """Return by name the changed calls of a model: of all tensors of a kind at once, and of each by itself."""
    leaves = [one for one in pytree.tree_leaves(model.inputs()) if isinstance(one, torch.Tensor)]
    found: dict[str, Make] = {}
    for whose in ("all", *(f"tensor {at + 1}" for at in range(len(leaves) if 1 < len(leaves) <= _TENSORS else 0))):
        for change in (*_CHANGES, *(f"filled with {number!r}" for number in numbers)):
            found[f"{whose}: {change}"] = partial(_changed, model, whose, _change_named(change))
    return found


def _changed(model: Any, whose: str, change: Change) -> Any:
    leaves, structure = pytree.tree_flatten(model.inputs())
    place = 0
    for at, leaf in enumerate(leaves):
        if isinstance(leaf, torch.Tensor):
            place += 1
            if whose in ("all", f"tensor {place}"):
                leaves[at] = change(leaf.detach()).to(leaf.dtype).clone().requires_grad_(leaf.requires_grad)
    return pytree.tree_unflatten(leaves, structure)


def _change_named(name: str) -> Change:
    if name.startswith("filled with "):
        return partial(_filled, float(name.removeprefix("filled with ")))
    return _CHANGES[name]


def _filled(number: float, tensor: torch.Tensor) -> torch.Tensor:
    fits = tensor.dtype.is_floating_point or (number == int(number) and tensor.dtype is not torch.bool)
    return torch.full_like(tensor, number) if fits else tensor


def _float(change: Change) -> Change:
    return lambda tensor: change(tensor) if tensor.dtype.is_floating_point else tensor


def _first(value: float) -> Change:
    def changed(tensor: torch.Tensor) -> torch.Tensor:
        if not tensor.dtype.is_floating_point or not tensor.numel():
            return tensor
        flat = tensor.reshape(-1).clone()
        flat[0] = value
        return flat.reshape(tensor.shape)

    return changed


def _alternating(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.dtype.is_floating_point:
        return tensor
    return (torch.arange(tensor.numel()) % 2).reshape(tensor.shape)


_CHANGES: Mapping[str, Change] = {
    "zeros": torch.zeros_like,
    "ones": torch.ones_like,
    "negated": lambda tensor: ~tensor if tensor.dtype is torch.bool else -tensor,
    "a hundred times as large": _float(lambda tensor: tensor * 100),
    "a hundredth": _float(lambda tensor: tensor / 100),
    "ten more": _float(lambda tensor: tensor + 10),
    "ten less": _float(lambda tensor: tensor - 10),
    "absolute": lambda tensor: tensor if tensor.dtype is torch.bool else tensor.abs(),
    "negative": _float(lambda tensor: -tensor.abs()),
    "alternating": _alternating,
    "nan in front": _first(float("nan")),
    "infinite in front": _first(float("inf")),
}


class _Endless(BaseException):
    """A call that goes on and on: some loops never end for values that no user passes."""


class Walk:
    """Watches which steps the code outside of torch makes, instruction by instruction."""

    def __init__(self) -> None:
        self._seen: Way = set()
        self.ended = True
        self._left = 0
        self._functions: dict[tuple[str, int], str] = {}

    def through(self, function: Callable[..., Any], make: Make) -> bool:
        """Call a function; return whether that made a step that no call before made, and came to an end."""
        steps: Way = set()
        args, kwargs = make()
        before = sys.gettrace()
        torch.manual_seed(0)
        self._left, self.ended = _LONGEST, True
        sys.settrace(partial(self._enter, steps))
        try:
            function(*args, **kwargs)
        except _Endless:
            self.ended = False
            return False
        except Exception as error:
            steps.add((type(error).__name__,))
        finally:
            sys.settrace(before)
        new = not steps <= self._seen
        self._seen |= steps
        return new

    def limits(self) -> list[float]:
        """Return the constants that the functions which ran compare with."""
        functions = self._functions.items()
        found = dict.fromkeys(one for (file, line), name in functions for one in _compared(file, line, name))
        return list(found)[:_NUMBERS]

    def _enter(self, steps: Way, frame: Any, event: str, argument: Any) -> Any:
        code = frame.f_code
        if code.co_filename.startswith(OWN_FOLDERS) or not code.co_filename.endswith(".py"):
            return None
        self._functions[code.co_filename, code.co_firstlineno] = code.co_name
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        last = -1

        def step(frame: Any, event: str, argument: Any) -> Any:
            nonlocal last
            if event == "opcode":
                steps.add((code.co_filename, code.co_firstlineno, code.co_name, last, frame.f_lasti))
                last = frame.f_lasti
                self._left -= 1
                if self._left < 0:
                    raise _Endless
            return step

        return step


def _compared(file: str, line: int, name: str) -> Iterator[float]:
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef) or function.name != name:
            continue
        if line not in range(function.lineno - len(function.decorator_list) - 1, function.lineno + 1):
            continue
        for comparison in (one for one in ast.walk(function) if isinstance(one, ast.Compare)):
            for one in ast.walk(comparison):
                if isinstance(one, ast.Constant) and isinstance(one.value, (int, float)):
                    yield float(one.value)

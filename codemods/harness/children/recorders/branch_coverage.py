"""Branch coverage of conditions with a default, in eager: the values of each, by line."""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

_LEVELS = ("debug", "info", "warning", "warn", "warning_once", "warn_once", "error", "critical", "log")
_LEAVING = (ast.Break, ast.Return)
_GUARDS = ("guard_or_false", "guard_or_true", "statically_known_true")
Sides = dict[tuple[str, int], set[bool]]
_Decision = tuple[int, int, range, bool]
"""First and last line of a condition, the lines that run next if it is true, and whether only the first time counts."""


@cache
def count_sides() -> Sides:
    """Start counting, and return the counts, which change later.

    Modules that import the helpers must be imported later, and tracing is no longer possible.
    """
    import torch
    from torch.fx.experimental import symbolic_shapes

    found: Sides = {}
    for name in _GUARDS:
        setattr(symbolic_shapes, name, _counting(getattr(symbolic_shapes, name), found))
    torch.compiler.is_compiling = _watching(found)
    torch.where = _selecting(torch.where, found)
    return found


def count_in(spaces: Iterable[dict[str, Any]], plain: dict[str, Any]) -> None:
    """Count in modules that are imported already. ``plain`` are the helpers from before `count_sides`."""
    from torch.fx.experimental import symbolic_shapes

    for space in spaces:
        for name, thing in list(space.items()):
            guard = next((one for one, helper in plain.items() if helper is thing), "")
            if guard:
                space[name] = getattr(symbolic_shapes, guard)


def helpers() -> dict[str, Any]:
    """Return the helpers whose conditions are counted."""
    from torch.fx.experimental import symbolic_shapes

    return {name: getattr(symbolic_shapes, name) for name in _GUARDS}


def _counting(guard: Any, found: Sides) -> Any:
    def counted(condition: Any) -> bool:
        truth = bool(guard(condition))
        asking = sys._getframe(1)
        found.setdefault((asking.f_code.co_filename, asking.f_lineno), set()).add(truth)
        return truth

    return counted


def _selecting(where: Any, found: Sides) -> Any:
    """Return a ``torch.where`` that counts a condition of one element."""

    def counted(condition: Any, *values: Any, **options: Any) -> Any:
        if values and condition.numel() == 1:
            asking = sys._getframe(1)
            found.setdefault((asking.f_code.co_filename, asking.f_lineno), set()).add(bool(condition))
        return where(condition, *values, **options)

    return counted


def _watching(found: Sides) -> Any:
    """Return an ``is_compiling`` that records whether the branch of the calling ``if`` is taken, by the next line."""

    def is_compiling() -> bool:
        asking = sys._getframe(1)
        branch = _branches(asking.f_code.co_filename).get(asking.f_lineno)
        kept = _decisions(asking.f_code.co_filename).get(asking.f_lineno)
        if branch is not None:
            _watch(asking, branch, found)
        elif kept is not None:
            _watch_on(asking, kept, found)
        return False

    return is_compiling


def _watch(frame: Any, branch: tuple[int, int, range], found: Sides) -> None:
    first, last, body = branch
    before = sys.gettrace()

    def passed(frame: Any, event: str, argument: Any) -> Any:
        if event == "line" and first <= frame.f_lineno <= last:
            return passed
        taken = event == "line" and frame.f_lineno in body
        found.setdefault((frame.f_code.co_filename, first), set()).add(taken)
        frame.f_trace = None
        sys.settrace(before)
        return None

    frame.f_trace = passed
    sys.settrace(lambda *_: None)


def _watch_on(frame: Any, decision: _Decision, found: Sides) -> None:
    """Count a decision each time that a frame reaches it, but only the first time for a loop that may make no step."""
    first, last, body, once = decision
    before = sys.gettrace()
    asked = done = False

    def passed(frame: Any, event: str, argument: Any) -> Any:
        nonlocal asked, done
        if event == "line" and first <= frame.f_lineno <= last:
            asked = not done
        elif asked and event in ("line", "return"):
            asked, done = False, once
            taken = event == "line" and frame.f_lineno in body
            found.setdefault((frame.f_code.co_filename, first), set()).add(taken)
        if event == "return":
            sys.settrace(before)
            return None
        return passed

    frame.f_trace = passed
    sys.settrace(lambda *_: None)


@lru_cache(maxsize=64)
def _decisions(file: str) -> dict[int, _Decision]:
    """Return the decisions that eager keeps, each by the lines of the test whether torch compiles."""
    try:
        return dict(_kept_decisions(ast.parse("".join(linecache.getlines(file)))))
    except SyntaxError:
        return {}


@lru_cache(maxsize=64)
def _branches(file: str) -> dict[int, tuple[int, int, range]]:
    """Return, by each line of the and/or condition of an ``if``, its first and last line and the branch lines."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return {}
    found = {}
    asserted = set(_asserted(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.BoolOp) and node not in asserted:
            if _chooses(node):
                continue
            if all(map(_tells, node.body)):
                continue
            last = node.test.end_lineno or node.test.lineno
            body = range(node.body[0].lineno, (node.body[-1].end_lineno or last) + 1)
            for line in range(node.test.lineno, last + 1):
                found[line] = node.lineno, last, body
    return found


def _kept_decisions(tree: ast.AST) -> Iterator[tuple[int, _Decision]]:
    """Yield the lines of each test whether torch compiles, with the decision that eager keeps beside an operator."""
    for above in ast.walk(tree):
        for block in (getattr(above, name, None) for name in ("body", "orelse", "finalbody")):
            for one, behind in pairwise([*block, None]) if isinstance(block, list) else ():
                if not isinstance(one, ast.If) or not _chooses(one):
                    continue
                kept = one.orelse[0] if one.orelse else behind
                ends = _ends(kept)
                if ends is not None:
                    for line in range(one.lineno, (one.test.end_lineno or one.lineno) + 1):
                        yield line, ends


def _ends(kept: ast.AST | None) -> _Decision | None:
    """Return the lines of a decision, and those of its branch or loop."""
    loop = kept
    if isinstance(kept, (ast.For, ast.While)):
        leaving = (one for one in kept.body if isinstance(one, ast.If) and isinstance(one.body[-1], _LEAVING))
        loop = next(leaving, kept)
    if isinstance(loop, (ast.If, ast.While)):
        last = loop.test.end_lineno or loop.test.lineno
        body = range(loop.body[0].lineno, (loop.body[-1].end_lineno or last) + 1)
        return loop.test.lineno, last, body, isinstance(loop, ast.While)
    return None


def _chooses(branch: ast.If) -> bool:
    """Return whether an ``if`` that asks whether torch compiles has an operator decide."""
    operators = ("cond", "while_loop")
    calls = (one.func for one in ast.walk(branch) if isinstance(one, ast.Call))
    names = (one.attr if isinstance(one, ast.Attribute) else getattr(one, "id", "") for one in calls)
    asks = "is_compiling" in ast.unparse(branch.test)
    return (
        asks
        and "not" not in ast.unparse(branch.test).partition("is_compiling")[0]
        and any(name in operators for name in names)
    )


def _tells(statement: ast.stmt) -> bool:
    """Return whether a statement warns, logs or prints, which changes no result."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    receiver, _, name = ast.unparse(statement.value.func).rpartition(".")
    logs = "log" in receiver.rpartition(".")[2].lower() and name in _LEVELS
    return logs or (receiver, name) in (("warnings", "warn"), ("", "print"))


def _asserted(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements right after an assertion of a program, which rejects the other side of their condition."""
    for above in ast.walk(tree):
        for block in (getattr(above, name, None) for name in ("body", "orelse", "finalbody")):
            for one, following in pairwise(block) if isinstance(block, list) else ():
                if isinstance(one, ast.If) and "_assert_async" in ast.unparse(one.body[0]):
                    yield following

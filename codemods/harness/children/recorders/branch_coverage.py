"""Branch coverage of conditions with a default, in eager: the values of each, by line."""

from __future__ import annotations

import ast
import linecache
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from itertools import pairwise
from typing import Any

_LEVELS = ("debug", "info", "warning", "warn", "warning_once", "warn_once", "error", "critical", "log")
_LEAVING = (ast.Break, ast.Return)
_GUARDS = ("guard_or_false", "guard_or_true", "statically_known_true")
_Decision = tuple[int, int, range, bool]
"""First and last line of a condition, the lines that run next if it is true, and whether only the first time counts."""


class DecisionCounts:
    """Truth values of each decision in eager. One line may hold several, so each is known by its instruction."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, int, int], Counter[bool]] = {}

    def add(self, frame: Any, line: int, truth: bool, instruction: int = -1) -> Callable[[], None]:
        """Count a truth value of the decision at a place of a frame. Return the function that takes it back."""
        counts = self._counts.setdefault((frame.f_code.co_filename, line, instruction), Counter())
        counts[truth] += 1
        return partial(counts.subtract, (truth,))

    def clear(self) -> None:
        """Forget all counts."""
        self._counts.clear()

    def copy(self) -> dict[tuple[str, int, int], Counter[bool]]:
        """Return the counts of now, for `restore`."""
        return {place: counts.copy() for place, counts in self._counts.items()}

    def restore(self, counts: Mapping[tuple[str, int, int], Counter[bool]]) -> None:
        """Set the counts to those of `copy`."""
        self._counts = dict(counts)

    def seen(self) -> dict[tuple[str, int], set[bool]]:
        """Return by file and line the truth values of its decision, those of the one with the fewest."""
        found: dict[tuple[str, int], set[bool]] = {}
        for (file, line, _), counts in self._counts.items():
            truths = {truth for truth, count in counts.items() if count > 0}
            found[file, line] = min(found.get((file, line), truths), truths, key=len)
        return found


@cache
def count_sides() -> DecisionCounts:
    """Start counting, and return the counts, which change later.

    Modules that import the helpers must be imported later, and tracing is no longer possible.
    """
    import torch
    from torch.fx.experimental import symbolic_shapes

    found = DecisionCounts()
    for name in _GUARDS:
        setattr(symbolic_shapes, name, _counting(getattr(symbolic_shapes, name), found))
    torch.compiler.is_compiling = _watching(found)
    torch.where = _selecting(torch.where, found)
    torch.cond = _choosing(found)
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


def _counting(guard: Any, found: DecisionCounts) -> Any:
    def counted(condition: Any) -> bool:
        truth = bool(guard(condition))
        asking = sys._getframe(1)
        found.add(asking, asking.f_lineno, truth, asking.f_lasti)
        return truth

    return counted


def _selecting(where: Any, found: DecisionCounts) -> Any:
    """Return a ``torch.where`` that counts a condition of one element.

    The decisions on a value that another one does not choose are taken back: they show nothing of the result.
    """

    def counted(condition: Any, *values: Any, **options: Any) -> Any:
        result = where(condition, *values, **options)
        if values and condition.numel() == 1:
            asking, truth = sys._getframe(1), bool(condition)
            chosen, left = values if truth else reversed(values)
            for take_back in getattr(left, "_symfix_decisions", ()):
                take_back()
            own = found.add(asking, asking.f_lineno, truth, asking.f_lasti)
            result._symfix_decisions = [own, *getattr(chosen, "_symfix_decisions", ())]
        return result

    return counted


def _choosing(found: DecisionCounts) -> Any:
    """Return a ``torch.cond`` that counts its condition and calls the function of the chosen side."""

    def cond(predicate: Any, true_side: Any, false_side: Any, operands: Any = ()) -> Any:
        asking, truth = sys._getframe(1), bool(predicate)
        found.add(asking, asking.f_lineno, truth, asking.f_lasti)
        return (true_side if truth else false_side)(*operands)

    return cond


def _watching(found: DecisionCounts) -> Any:
    """Return an ``is_compiling`` that is true where ``torch.cond`` decides, whose conditions are counted.

    Elsewhere it records whether the branch of the calling ``if`` is taken, by the next line.
    """

    def is_compiling() -> bool:
        asking = sys._getframe(1)
        file = asking.f_code.co_filename
        branch, kept = _branches(file).get(asking.f_lineno), _decisions(file).get(asking.f_lineno)
        if branch is not None:
            _watch(asking, branch, found)
        elif kept is not None:
            if not kept:
                return True
            _watch_on(asking, kept, found)
        return False

    return is_compiling


def _watch(frame: Any, branch: tuple[int, int, range], found: DecisionCounts) -> None:
    first, last, body = branch
    before = sys.gettrace()

    def passed(frame: Any, event: str, argument: Any) -> Any:
        if event == "line" and first <= frame.f_lineno <= last:
            return passed
        taken = event == "line" and frame.f_lineno in body
        found.add(frame, first, taken)
        frame.f_trace = None
        sys.settrace(before)
        return None

    frame.f_trace = passed
    sys.settrace(lambda *_: None)


def _watch_on(frame: Any, decisions: Sequence[_Decision], found: DecisionCounts) -> None:
    """Count decisions each time that a frame reaches them, but only the first time for a loop that may make no step."""
    before = sys.gettrace()
    asked: set[_Decision] = set()
    done: set[_Decision] = set()

    def passed(frame: Any, event: str, argument: Any) -> Any:
        for decision in decisions:
            first, last, body, once = decision
            if event == "line" and first <= frame.f_lineno <= last:
                if decision not in done:
                    asked.add(decision)
            elif decision in asked and event in ("line", "return"):
                asked.discard(decision)
                if once:
                    done.add(decision)
                found.add(frame, first, event == "line" and frame.f_lineno in body)
        if event == "return":
            sys.settrace(before)
            return None
        return passed

    frame.f_trace = passed
    sys.settrace(lambda *_: None)


@lru_cache(maxsize=64)
def _decisions(file: str) -> dict[int, list[_Decision]]:
    """Return the decisions of the loops that eager keeps, each by the lines of the test whether torch compiles.

    There are none where ``torch.cond`` decides.
    """
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
            if _chooses(node) or all(map(_asks_tracer, node.test.values)):
                continue
            if all(map(_tells, node.body)):
                continue
            last = node.test.end_lineno or node.test.lineno
            body = range(node.body[0].lineno, (node.body[-1].end_lineno or last) + 1)
            for line in range(node.test.lineno, last + 1):
                found[line] = node.lineno, last, body
    return found


def _kept_decisions(tree: ast.AST) -> Iterator[tuple[int, list[_Decision]]]:
    """Yield the lines of each test whether torch compiles, with the decisions of the loop that eager keeps."""
    for above in ast.walk(tree):
        blocks = (getattr(above, name, None) for name in ("body", "orelse", "finalbody"))
        for block in (one for one in blocks if isinstance(one, list)):
            for place, (one, behind) in enumerate(pairwise([*block, None])):
                if isinstance(one, ast.If) and _chooses(one):
                    kept = one.orelse[0] if one.orelse else behind
                    ends = list(_ends(kept, _constants(block[:place]))) if "while_loop" in _called(one) else []
                    for line in range(one.lineno, (one.test.end_lineno or one.lineno) + 1):
                        yield line, ends


def _constants(before: Iterable[ast.stmt]) -> set[str]:
    """Return the names that the statements of a block leave with a constant, such as ``float("inf")``."""
    found: set[str] = set()
    for one in before:
        values = [part for part in ast.walk(one) if isinstance(part, (ast.Name, ast.Attribute))]
        names = {part.id for part in values if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        read = {ast.unparse(part) for part in values if isinstance(part.ctx, ast.Load)}
        found = (
            found | names if isinstance(one, ast.Assign) and read <= {"float", "math", "math.inf"} else found - names
        )
    return found


def _ends(kept: ast.AST | None, constants: set[str]) -> Iterator[_Decision]:
    """Yield the decisions of a loop: its own condition, and that of the ``if`` which leaves it.

    Of a loop whose condition begins with ``constants``, the first time says nothing.
    """
    if isinstance(kept, (ast.For, ast.While)):
        decisions: list[ast.While | ast.If] = [kept] if isinstance(kept, ast.While) else []
        decisions += [one for one in kept.body if isinstance(one, ast.If) and isinstance(one.body[-1], _LEAVING)]
        for one in decisions:
            if not isinstance(one.test, ast.Constant):
                last = one.test.end_lineno or one.test.lineno
                body = range(one.body[0].lineno, (one.body[-1].end_lineno or last) + 1)
                changed = {
                    part.id for part in ast.walk(kept) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
                }
                asked = {part.id for part in ast.walk(one.test) if isinstance(part, ast.Name)} & changed
                yield one.test.lineno, last, body, isinstance(one, ast.While) and not (asked and asked <= constants)


def _chooses(branch: ast.If) -> bool:
    """Return whether an ``if`` that asks whether torch compiles has an operator decide."""
    asked = ast.unparse(branch.test)
    asks = "is_compiling" in asked and "not" not in asked.partition("is_compiling")[0]
    return asks and bool(_called(branch) & {"cond", "while_loop"})


def _asks_tracer(operand: ast.expr) -> bool:
    """Return whether an operand asks only who runs the code: no input takes its other side in eager."""
    asked = operand.operand if isinstance(operand, ast.UnaryOp) else operand
    name = ast.unparse(asked.func) if isinstance(asked, ast.Call) else ""
    return name.rpartition(".")[2] in ("is_compiling", "is_scripting")


def _called(branch: ast.If) -> set[str]:
    """Return the names of the functions that the branch of an ``if`` calls."""
    calls = (one.func for part in branch.body for one in ast.walk(part) if isinstance(one, ast.Call))
    return {one.attr if isinstance(one, ast.Attribute) else getattr(one, "id", "") for one in calls}


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

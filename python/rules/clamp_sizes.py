"""Clamp a size without a branch: ``if n > m: n = m`` → ``n = torch.sym_min(n, m)``.

What: an ``if`` on the order of two names or numbers, one of them a size, whose only statement assigns one operand to
the other. Also ``a if a < b else b``.

Why: the branch decides which size is the smaller one. ``sym_min`` and ``sym_max`` keep both in an expression.

Leaves alone: a branch with an ``else``, with another statement or with a comment. Operands that may be floats or None.
Bounds of a ``range``. Code that TorchScript compiles.

Safety: safe if both operands are proven to be integers: either way the smaller, or the larger, of the two remains.
Unsafe if one is only assumed to be an integer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Rule, Safety, Skip
from ...codemods.model.source_file import SourceFile
from ..analysis.flow.fix_eligibility import obstacle
from ..analysis.flow.flow import Flow, flow
from ..analysis.must.must_type_inference import surely
from ..analysis.types.may_types import Kind
from ..analysis.types.must_types import ScalarType
from ..rewrite.findings import SIZE_MARKERS, cannot_name, fix, skip
from ..rewrite.qualified_names import spell
from ..syntax.module import Place, parse

NAME = "clamp_sizes"
_LESS, _MORE = (ast.Lt, ast.LtE), (ast.Gt, ast.GtE)


@dataclass(frozen=True)
class _Clamp:
    """A choice of one of two operands. ``least``: the smaller one is chosen. ``target`` is assigned, if any."""

    left: ast.expr
    right: ast.expr
    least: bool
    target: str | None


def decide(source: SourceFile, context: Context) -> Iterator[Fix | Skip]:
    module = parse(source)
    known = flow(module)
    nodes: list[ast.If | ast.IfExp] = [*module.nodes.ifs, *module.nodes.every(ast.IfExp)]
    for node in nodes:
        found = _clamp(node)
        if found is not None and Kind.SIZE in (known.kind(found.left), known.kind(found.right)):
            yield _answer(module.place(node), known, found, context)


def _clamp(node: ast.If | ast.IfExp) -> _Clamp | None:
    test = node.test
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], (*_LESS, *_MORE)):
        return None
    left, right = test.left, test.comparators[0]
    if not all(isinstance(one, (ast.Name, ast.Constant)) for one in (left, right)):
        return None
    less = isinstance(test.ops[0], _LESS)
    if isinstance(node, ast.IfExp):
        chosen = [ast.dump(one) for one in (node.body, node.orelse)]
        if chosen == [ast.dump(left), ast.dump(right)]:
            return _Clamp(left, right, less, None)
        return _Clamp(left, right, not less, None) if chosen == [ast.dump(right), ast.dump(left)] else None
    (first, *more) = node.body
    if more or node.orelse or not isinstance(first, ast.Assign) or len(first.targets) != 1:
        return None
    target = first.targets[0]
    if not isinstance(target, ast.Name):
        return None
    for own, other, least in ((left, right, not less), (right, left, less)):
        if isinstance(own, ast.Name) and own.id == target.id and ast.dump(first.value) == ast.dump(other):
            return _Clamp(own, other, least, target.id)
    return None


def _answer(place: Place, known: Flow, found: _Clamp, context: Context) -> Fix | Skip:
    module, node = place.module, place.node
    types = surely(module)
    sides = (found.left, found.right)
    if any(types.of(one) in (ScalarType.FLOAT, ScalarType.NUMBER) or known.kind(one) is Kind.RATIO for one in sides):
        return skip(NAME, place, "may-be-float", "one operand is not known to be a whole number")
    if any(types.of(one) in (ScalarType.OPTIONAL, ScalarType.NOTHING) for one in sides):
        return skip(NAME, place, "may-be-none", "one operand may be None")
    text = module.text(node)
    if isinstance(node, ast.If) and not text.startswith(b"if"):
        return skip(NAME, place, "elif", "the branch before it decides whether this one is asked")
    if b"#" in text or place.in_format_string:
        return skip(NAME, place, "comment-inside", "a comment inside would lose its place")
    if _counted(place, sides):
        return skip(NAME, place, "loop-bound", "the loop that goes so far decides it")
    unfit = obstacle(place, context)
    if unfit:
        return skip(NAME, place, *unfit)
    symbol = f"torch.sym_{'min' if found.least else 'max'}"
    spelled = spell(module, found.left, symbol, context)
    if spelled is None:
        return cannot_name(NAME, place, symbol, context)
    words = f"{spelled.text}({ast.unparse(found.left)}, {ast.unparse(found.right)})"
    start, end = module.span(node)
    edit = Edit(start, end, (f"{found.target} = {words}" if found.target else words).encode())
    doubts = [f"`{ast.unparse(one)}` is taken for a whole number" for one in sides if not types.whole(one)]
    return fix(NAME, place, [edit], "a branch decides which size is which", spelled.needs, doubts)


def _counted(place: Place, sides: tuple[ast.expr, ast.expr]) -> bool:
    """Return whether a ``range`` of the function uses one of the names as a bound."""
    names = {one.id for one in sides if isinstance(one, ast.Name)}
    calls = place.function.nodes.calls if place.function is not None else ()
    ranges = [call for call in calls if place.module.names.meaning(call.func) == "builtins.range"]
    return any(isinstance(one, ast.Name) and one.id in names for call in ranges for one in ast.walk(call))


rule = Rule(NAME, Safety.UNSAFE, "Python", SIZE_MARKERS, decide, __doc__)

"""Totality of operands: evaluating a total operand never raises and has no effect.

``and``, ``or``, ``any`` and ``all`` stop at the first operand that decides. ``sym_and`` and ``sym_or`` evaluate all of
them. An operand may be evaluated regardless of the preceding ones only if it is total. Total are names, constants, sums
or products of sizes, comparisons of those, and properties of a tensor that is known to have enough dimensions.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from ...syntax.module import Module
from ...syntax.tree import literal
from ..decisions.condition_leaves import quantified
from ..types.library import SHAPES
from ..types.must_types import ScalarType, SequenceType
from .definite_assignment import bound_at_top, unbound_again
from .dominating_conditions import TENSOR_METHODS, Facts, counts_dimensions
from .must_type_inference import MustTypes


class Partial(Enum):
    """Reason why an expression may raise, or have an effect."""

    RANK = "a tensor of fewer dimensions raises IndexError"
    PRESENCE = "what is no tensor raises AttributeError"
    TYPE = "values of other types may raise or give no bool"
    OTHER = "it may raise, or do more than give a value"


@dataclass(frozen=True)
class PartialExpression:
    """A part of an expression that is not total."""

    node: ast.expr
    why: Partial


_SIZE_METHODS = frozenset({"size", "stride", "sym_size", "sym_stride"})
_TOTAL_CALLS = frozenset({"builtins.isinstance", "builtins.callable", "builtins.abs", "builtins.bool", "torch.sym_not"})
_TOTAL_OF_SIZES = frozenset(
    {"builtins.min", "builtins.max", "builtins.int", "builtins.sum", "math.prod", "torch.sym_min", "torch.sym_max"}
    | {f"{SHAPES}.{name}" for name in ("sym_and", "sym_or", "sym_eq")}
)
_WITH_TRUTH = (
    ScalarType.WHOLE,
    ScalarType.TRUTH,
    ScalarType.FLOAT,
    ScalarType.NUMBER,
    ScalarType.TEXT,
    ScalarType.NOTHING,
)


def partial(surely: MustTypes, node: ast.expr, facts: Facts) -> Iterator[PartialExpression]:
    """Yield the parts of ``node`` that are not total, given the facts established before."""
    if facts.evaluated(node):
        return
    if isinstance(node, ast.Constant):
        return
    if isinstance(node, ast.Name):
        if not _bound(surely.module, node, facts):
            yield PartialExpression(node, Partial.OTHER)
    elif isinstance(node, ast.Attribute):
        yield from _attribute(surely, node, facts)
    elif isinstance(node, ast.Subscript):
        yield from _subscript(surely, node, facts)
    elif isinstance(node, ast.Call):
        yield from _call(surely, node, facts)
    elif isinstance(node, ast.BinOp):
        yield from _binary(surely, node, facts)
    elif isinstance(node, ast.UnaryOp):
        yield from partial(surely, node.operand, facts)
        if not _has_truth(surely, node.operand):
            yield PartialExpression(node, Partial.TYPE)
    elif isinstance(node, ast.Compare):
        for side in (node.left, *node.comparators):
            yield from partial(surely, side, facts)
        if not surely.compares(node):
            yield PartialExpression(node, Partial.TYPE)
    elif isinstance(node, ast.BoolOp):
        yield from _all(surely, node.values, facts)
        yield from (PartialExpression(one, Partial.TYPE) for one in node.values if not _has_truth(surely, one))
    elif isinstance(node, (ast.Tuple, ast.List)):
        yield from _all(surely, node.elts, facts)
    else:
        yield PartialExpression(node, Partial.OTHER)


def _root(node: ast.expr) -> ast.expr:
    """Return the ``a`` of ``a.b.c``."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node


def _bound(module: Module, name: ast.Name, facts: Facts) -> bool:
    """Return whether the scope that a name belongs to has certainly given it a value."""
    names, place = module.names, module.place(name)
    owner = names.owner(name.id, name)
    if owner is None:
        return hasattr(builtins, name.id)
    if isinstance(owner, ast.Module):
        at_top = next((one for one in place.ancestors if module.parents.get(one) is owner), None)
        first = bound_at_top(owner).get(name.id)
        runs_later = first is not None and isinstance(at_top, ast.stmt) and first < owner.body.index(at_top)
        return runs_later and name.id not in names.scopes.rebound_globals
    function = place.function
    while function is not None and function.node is not owner:
        function = function.outer
    if function is None:
        return not isinstance(owner, ast.ClassDef)
    if name.id in unbound_again(function) or name.id in names.scopes.rebound_outer:
        return False
    given = name.id in {one.arg for one in function.arguments}
    return given or (function is place.function and facts.bound(name.id))


def _all(surely: MustTypes, nodes: Sequence[ast.expr], facts: Facts) -> Iterator[PartialExpression]:
    for node in nodes:
        yield from partial(surely, node, facts)


def _has_truth(surely: MustTypes, node: ast.expr) -> bool:
    value = surely.of(node)
    return value in _WITH_TRUTH or isinstance(value, SequenceType)


def _attribute(surely: MustTypes, node: ast.Attribute, facts: Facts) -> Iterator[PartialExpression]:
    if (surely.module.names.meaning(node) or "").startswith(("torch.", "math.", "sys.")):
        yield from partial(surely, _root(node), facts)
        return
    yield from partial(surely, node.value, facts)
    if surely.of(node) is None or not facts.present(node.value):
        yield PartialExpression(node, Partial.PRESENCE)


def _subscript(surely: MustTypes, node: ast.Subscript, facts: Facts) -> Iterator[PartialExpression]:
    yield from partial(surely, node.value, facts)
    held = surely.of(node.value)
    if not isinstance(held, SequenceType):
        yield PartialExpression(node, Partial.OTHER)
        return
    if isinstance(node.slice, ast.Slice):
        bounds = [one for one in (node.slice.lower, node.slice.upper) if one is not None]
        yield from _all(surely, bounds, facts)
        if node.slice.step is not None or not all(surely.whole(one) for one in bounds):
            yield PartialExpression(node, Partial.OTHER)
        return
    place = literal(node.slice)
    if place is not None and held.places is not None and -len(held.places) <= place < len(held.places):
        return
    receiver = _shape_of(surely, node.value)
    if receiver is not None:
        yield from _dimension(surely, node, receiver, node.slice, facts)
        return
    kept = _kept_shape_of(surely, node.value)
    if kept is None or place is None or not facts.reaches(kept, place):
        yield PartialExpression(node, Partial.OTHER)


def _dimension(
    surely: MustTypes, node: ast.expr, receiver: ast.expr, place: ast.expr, facts: Facts
) -> Iterator[PartialExpression]:
    """Yield the access if a tensor may not have the accessed dimension."""
    number = literal(place)
    if number is not None:
        known = facts.reaches(receiver, number)
    else:
        yield from partial(surely, place, facts)
        known = isinstance(place, ast.Name) and counts_dimensions(surely.module, place, receiver)
    if not known:
        yield PartialExpression(node, Partial.RANK)


def _shape_of(surely: MustTypes, node: ast.expr) -> ast.expr | None:
    """Return the tensor whose shape or strides an expression reads, or None."""
    if isinstance(node, ast.Call) and not node.args and isinstance(node.func, ast.Attribute):
        return node.func.value if node.func.attr in _SIZE_METHODS else None
    return node.value if isinstance(node, ast.Attribute) and node.attr == "shape" else None


def _kept_shape_of(surely: MustTypes, node: ast.expr) -> ast.Name | None:
    """Return the tensor whose shape is assigned to a name that has no other assignment, or None."""
    function = surely.module.place(node).function
    if not isinstance(node, ast.Name) or function is None or node.id in surely.module.names.scopes.rebound_outer:
        return None
    made = function.assigned_once.get(node.id)
    if made is None or node.id in {one.arg for one in function.arguments}:
        return None
    tensor = _shape_of(surely, made)
    return tensor if isinstance(tensor, ast.Name) else None


def _call(surely: MustTypes, node: ast.Call, facts: Facts) -> Iterator[PartialExpression]:
    if quantified(node):
        yield from _quantifier(surely, node, facts)
        return
    if isinstance(node.func, ast.Attribute) and surely.tensor(node.func.value):
        yield from _method(surely, node, node.func, facts)
        return
    meaning = surely.module.names.meaning(node.func) or ""
    yield from _all(surely, [_root(node.func), *node.args] if meaning else node.args, facts)
    if node.keywords or any(isinstance(one, ast.Starred) for one in node.args):
        yield PartialExpression(node, Partial.OTHER)
    elif meaning == "builtins.len":
        if not all(isinstance(surely.of(one), SequenceType) for one in node.args):
            yield PartialExpression(node, Partial.OTHER)
    elif meaning in _TOTAL_CALLS:
        named = meaning in ("builtins.isinstance", "builtins.callable")
        if not named and not all(_has_truth(surely, one) for one in node.args):
            yield PartialExpression(node, Partial.TYPE)
    elif meaning not in _TOTAL_OF_SIZES or surely.of(node) is None:
        yield PartialExpression(node, Partial.OTHER)


def _quantifier(surely: MustTypes, node: ast.Call, facts: Facts) -> Iterator[PartialExpression]:
    generator = node.args[0]
    assert isinstance(generator, (ast.GeneratorExp, ast.ListComp))
    for one in generator.generators:
        yield from _iterable(surely, one.iter, facts)
        yield from _all(surely, one.ifs, facts)
    yield from partial(surely, generator.elt, facts)


def _iterable(surely: MustTypes, node: ast.expr, facts: Facts) -> Iterator[PartialExpression]:
    """Yield the partial parts of a loop's iterable: a sequence, or ``zip``, ``enumerate`` or ``range`` of sequences."""
    meaning = surely.module.names.meaning(node.func) if isinstance(node, ast.Call) and not node.keywords else None
    if isinstance(node, ast.Call) and meaning in ("builtins.zip", "builtins.enumerate", "builtins.reversed"):
        for argument in node.args:
            yield from _iterable(surely, argument, facts)
    elif isinstance(node, ast.Call) and meaning == "builtins.range":
        yield from _all(surely, node.args, facts)
        if len(node.args) > 2 or not all(surely.whole(one) for one in node.args):
            yield PartialExpression(node, Partial.OTHER)
    else:
        yield from partial(surely, node, facts)
        if not isinstance(surely.of(node), SequenceType):
            yield PartialExpression(node, Partial.TYPE)


def _method(surely: MustTypes, node: ast.Call, func: ast.Attribute, facts: Facts) -> Iterator[PartialExpression]:
    yield from partial(surely, func.value, facts)
    if func.attr not in TENSOR_METHODS or len(node.args) > 1 or node.keywords:
        yield PartialExpression(node, Partial.OTHER)
    elif not facts.called(func.value):
        yield PartialExpression(node, Partial.PRESENCE)
    elif node.args and func.attr in _SIZE_METHODS:
        yield from _dimension(surely, node, func.value, node.args[0], facts)
    elif node.args:
        yield PartialExpression(node, Partial.OTHER)


def _binary(surely: MustTypes, node: ast.BinOp, facts: Facts) -> Iterator[PartialExpression]:
    left: ast.expr = node
    while isinstance(left, ast.BinOp):
        yield from partial(surely, left.right, facts)
        if not _total_operator(surely, left):
            yield PartialExpression(left, Partial.OTHER)
        left = left.left
    yield from partial(surely, left, facts)
    if surely.of(node) is None:
        yield PartialExpression(node, Partial.TYPE)


def _total_operator(surely: MustTypes, node: ast.BinOp) -> bool:
    if isinstance(node.op, (ast.FloorDiv, ast.Mod)):
        return literal(node.right) not in (None, 0)
    return isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.BitAnd, ast.BitOr))

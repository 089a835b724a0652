"""Equivalence of `sym_and`, `sym_or` and `sym_eq` with Python's operators, and the doubts about it.

``and`` and ``or`` stop at the first operand that decides. The helpers evaluate all operands. ``==`` compares anything.
``sym_eq`` compares two sequences of sizes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ..decisions.condition_leaves import quantified
from ..types.cannot_rewrite import CannotRewrite
from ..types.may_types import Kind
from ..types.must_types import ScalarType, SequenceType, of_whole_numbers
from .dominating_conditions import facts_at, rank_asked
from .must_type_inference import MustTypes
from .no_raise import Partial, partial


def evaluated_together(
    surely: MustTypes, lead: Sequence[ast.expr], operands: Sequence[ast.expr], *, lead_holds: bool
) -> list[str]:
    """Return the doubts about evaluating all ``operands``: possible differences if a value is no size.

    ``lead`` are the operands before them, which were all true, or all false. Raise CannotRewrite if an operand may
    only be evaluated after an earlier one.
    """
    facts = facts_at(surely.module, operands[0])
    for one in lead:
        facts.find(one, lead_holds)
    doubts: list[str] = []
    asked: set[str] = set()
    compared: set[str] = set()
    for number, operand in enumerate(operands):
        doubts += _no_bool(surely, operand)
        for part in partial(surely, operand, facts) if number else ():
            text = ast.unparse(part.node)
            if part.why is Partial.OTHER:
                raise CannotRewrite("guarded-operand", f"`{text}` may raise where an operand before it has answered")
            if asked & _spellings(part.node) or (part.why is Partial.RANK and compared & _index_names(part.node)):
                raise CannotRewrite(
                    "guarded-operand", f"`{text}` is evaluated only after an operand before it allowed it"
                )
            doubts.append(f"`{text}` is evaluated even where an operand before it answers: {part.why.value}")
        facts.take(operand)
        asked |= set(_asked_about(operand))
        compared |= set(_compared_in(operand))
    return doubts


def _spellings(node: ast.expr) -> set[str]:
    return {ast.unparse(one) for one in ast.walk(node) if isinstance(one, (ast.Name, ast.Attribute))}


def _index_names(node: ast.expr) -> set[str]:
    """Return the names in the index ``d`` of ``x.shape[d]`` or ``x.size(d)``."""
    places = [node.slice] if isinstance(node, ast.Subscript) else node.args if isinstance(node, ast.Call) else []
    return {one.id for place in places for one in ast.walk(place) if isinstance(one, ast.Name)}


def _compared_in(operand: ast.expr) -> Iterator[str]:
    """Yield the names that an operand compares. The comparison may be a check of an index."""
    for part in ast.walk(operand):
        if isinstance(part, ast.Compare):
            yield from (side.id for side in (part.left, *part.comparators) if isinstance(side, ast.Name))


def _no_bool(surely: MustTypes, operand: ast.expr) -> list[str]:
    if surely.of(operand) is ScalarType.TRUTH:
        return []
    text = ast.unparse(operand)
    if isinstance(operand, ast.Compare):
        if surely.orders_no_numbers(operand):
            raise CannotRewrite("not-a-comparison", f"`{text}` raises when it is evaluated: one side is no number")
        return [f"`{text}` gives a bool for sizes; other values may not"]
    if isinstance(operand, ast.BoolOp):
        return [doubt for one in operand.values for doubt in _no_bool(surely, one)]
    if quantified(operand):
        return []
    if surely.flow.kind(operand) is Kind.TRUTH:
        return [f"`{text}` is taken for a bool"]
    raise CannotRewrite("not-a-comparison", f"`{text}` may be no bool")


def _asked_about(operand: ast.expr) -> Iterator[str]:
    """Yield the expressions whose rank, type or presence an operand tests."""
    for part in ast.walk(operand):
        receiver = rank_asked(part) if isinstance(part, ast.expr) else None
        if receiver is not None:
            yield ast.unparse(receiver)
        elif isinstance(part, ast.Compare) and any(isinstance(op, (ast.Is, ast.IsNot)) for op in part.ops):
            yield ast.unparse(part.left)
        elif isinstance(part, ast.Call) and ast.unparse(part.func) in ("isinstance", "hasattr") and part.args:
            yield ast.unparse(part.args[0])
    bare = operand.operand if isinstance(operand, ast.UnaryOp) else operand
    if isinstance(bare, (ast.Name, ast.Attribute)):
        yield ast.unparse(bare)


def taken_apart(surely: MustTypes, node: ast.Compare) -> list[str]:
    """Return the doubts about splitting ``a <= b <= c`` into two comparisons that are both evaluated.

    Raise CannotRewrite.
    """
    facts = facts_at(surely.module, node)
    for side in (node.left, node.comparators[0]):
        facts.take(side)
    if surely.orders_no_numbers(node):
        raise CannotRewrite("chained-comparison", "one side is no number, and its comparison may never have been made")
    for middle in node.comparators[:-1]:
        if not isinstance(middle, (ast.Name, ast.Constant, ast.Attribute, ast.Subscript)):
            raise CannotRewrite("chained-comparison", "what stands in the middle would be evaluated twice")
    doubts = [] if surely.compares(node) else [f"`{ast.unparse(node)}` compares sizes; other values may give no bool"]
    for side in node.comparators[1:]:
        for part in partial(surely, side, facts):
            text = ast.unparse(part.node)
            if part.why is Partial.OTHER:
                raise CannotRewrite(
                    "chained-comparison", f"`{text}` may raise where the comparison before it has answered"
                )
            doubts.append(f"`{text}` is evaluated even where the comparison before it answers: {part.why.value}")
    return doubts


def compared_one_by_one(surely: MustTypes, node: ast.Compare) -> tuple[list[ast.expr], list[str]]:
    """Return the choices that ``n in (0, 1)`` compares ``n`` with, and the doubts about comparing one by one.

    Raise CannotRewrite if the choices are not spelled out or ``n`` would be evaluated more than once.
    """
    choices = node.comparators[0]
    if not isinstance(choices, (ast.Tuple, ast.List, ast.Set)) or not choices.elts:
        raise CannotRewrite("membership", "what is looked through is not spelled out here")
    if any(isinstance(one, ast.Starred) for one in choices.elts):
        raise CannotRewrite("membership", "how many values are looked through is not known here")
    if not isinstance(node.left, (ast.Name, ast.Subscript, ast.Attribute)):
        raise CannotRewrite("membership", "what is looked up would be evaluated more than once")
    unknown = [one for one in (node.left, *choices.elts) if not surely.whole(one)]
    return choices.elts, [f"`{ast.unparse(one)}` is taken for a size" for one in unknown]


def evaluated_throughout(surely: MustTypes, node: ast.Call) -> list[str]:
    """Return the doubts about evaluating every element of an ``any(...)`` or ``all(...)``. Raise CannotRewrite."""
    generator = node.args[0]
    assert isinstance(generator, (ast.GeneratorExp, ast.ListComp))
    if any(one.ifs for one in generator.generators):
        raise CannotRewrite("quantified-filter", "a condition inside the generator says which elements count")
    if isinstance(generator.elt, (ast.BoolOp, ast.IfExp)):
        raise CannotRewrite("quantified-and", "the operands inside the generator are forced one by one")
    doubts = _no_bool(surely, generator.elt)
    facts = facts_at(surely.module, node)
    facts.take(generator.generators[0].iter)
    # A list is evaluated completely in any case.
    for part in partial(surely, node, facts) if isinstance(generator, ast.GeneratorExp) else ():
        text = ast.unparse(part.node)
        if part.why is Partial.OTHER:
            raise CannotRewrite("quantified-effect", f"`{text}` may raise for an element that nobody asked for")
        doubts.append(f"`{text}` is evaluated for every element: {part.why.value}")
    return doubts


def unfit_for_sym_eq(surely: MustTypes, node: ast.Compare) -> tuple[str, str] | None:
    """Return why ``sym_eq`` differs from ``==`` here, as (reason, detail), or None."""
    sides = (node.left, node.comparators[0])
    held = [surely.of(side) for side in sides]
    for side, value in zip(sides, held, strict=True):
        number = surely.flow.kind(side) in (Kind.SIZE, Kind.STRIDE, Kind.RATIO, Kind.NUMBER)
        if (
            number
            or isinstance(side, ast.Constant)
            or (isinstance(value, ScalarType) and value is not ScalarType.OPTIONAL)
        ):
            return "not-a-shape", "one side is not a sequence, and sym_eq takes two of a kind"
        if value is ScalarType.OPTIONAL:
            return "may-be-none", "one side may be None, which sym_eq refuses"
        if _holds_others(value) or _spells_others(surely, side):
            return "not-a-shape", "one side holds more than sizes, which sym_eq refuses"
    if {True, False} <= {value.listed for value in held if isinstance(value, SequenceType)}:
        return "list-against-tuple", "a list never equals a tuple, but sym_eq compares only what is in them"
    spelled = [isinstance(side, ast.Tuple) and bool(side.elts) for side in sides]
    if any(surely.flow.kind(side) is Kind.UNKNOWN for side, known in zip(sides, spelled, strict=True) if not known):
        return "not-a-shape", "one side may be no sequence, which sym_eq refuses"
    return None


def _holds_others(value: object) -> bool:
    """Return whether an element is never a size, as in ``(x.shape, x.device)``."""
    if not isinstance(value, SequenceType):
        return False
    places = value.places if value.places is not None else (value.element,)
    return any(_holds_others(one) or (isinstance(one, ScalarType) and one is not ScalarType.WHOLE) for one in places)


def _spells_others(surely: MustTypes, side: ast.expr) -> bool:
    """Return whether a spelled-out element is never a size, as in ``(*x.shape, x.device)``."""
    places = side.elts if isinstance(side, (ast.Tuple, ast.List)) else ()
    return any(isinstance(held := surely.of(one), ScalarType) and held is not ScalarType.WHOLE for one in places)


def doubts_of_sym_eq(surely: MustTypes, node: ast.Compare) -> list[str]:
    """Return the assumptions, beyond known types, when ``sym_eq`` replaces ``==``."""
    sides = (node.left, node.comparators[0])
    held = [surely.of(side) for side in sides]
    doubts = [
        f"`{ast.unparse(side)}` is taken for a sequence of sizes"
        for side, value in zip(sides, held, strict=True)
        if not of_whole_numbers(value)
    ]
    listed = {value.listed for value in held if isinstance(value, SequenceType)}
    if not doubts and (len(listed) > 1 or None in listed):
        doubts.append("a list and a tuple of the same sizes count as equal")
    return doubts

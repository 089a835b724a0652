"""Take the smaller or larger of two sizes symbolically: ``min(m, n)`` → ``torch.sym_min(m, n)``.

What: ``min`` and ``max`` of exactly two operands of which one is a size.

Why: the builtin compares, and so decides which size is the smaller one. ``sym_min`` keeps both in an expression.

Leaves alone: other numbers of operands, ``key=`` and ``default=``, floats, sequences, and strides that are sorted.
Sympy expressions of Inductor (they are no sizes of a tensor). Operands that may be None. Code that TorchScript
compiles.

Safety: safe if both operands are proven to be integers. Unsafe if one is only assumed to be an integer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.rule import Context, Fix, Rule, Safety, Skip
from ...codemods.model.source_file import SourceFile
from ..analysis.flow.fix_eligibility import obstacle
from ..analysis.flow.flow import Flow, flow
from ..analysis.must.must_type_inference import MustTypes, surely
from ..analysis.types.may_types import Kind
from ..analysis.types.must_types import ScalarType
from ..rewrite.change_types import Named
from ..rewrite.findings import SIZE_MARKERS, cannot_name, change, skip
from ..rewrite.qualified_names import spell
from ..syntax.module import Module, Place, parse

NAME = "use_sym_min_max"


def decide(source: SourceFile, context: Context) -> Iterator[Fix | Skip]:
    if b"min(" not in source.content and b"max(" not in source.content:
        return
    module = parse(source)
    known = flow(module)
    for node in module.nodes.calls:
        if _builtin(module, node) and not (place := module.place(node)).in_format_string:
            yield from _answer(place, known, node, context)


def _builtin(module: Module, node: ast.Call) -> bool:
    named = isinstance(node.func, ast.Name) and node.func.id in ("min", "max")
    return named and (module.names.meaning(node.func) or "").startswith("builtins.")


def _answer(place: Place, known: Flow, node: ast.Call, context: Context) -> Iterator[Fix | Skip]:
    module = place.module
    kinds = [known.kind(one.value if isinstance(one, ast.Starred) else one) for one in node.args]
    if not any(kind is Kind.SIZE or kind.several for kind in kinds):
        return
    types = surely(module)
    reason = _unfit(types, node, kinds)
    if reason:
        yield skip(NAME, place, *reason)
        return
    if _bounds_a_loop(place, node):
        yield skip(NAME, place, "loop-bound", "the loop that goes so far decides it")
        return
    unfit = obstacle(place, context)
    if unfit:
        yield skip(NAME, place, *unfit)
        return
    assert isinstance(node.func, ast.Name)
    symbol = f"torch.sym_{node.func.id}"
    spelled = spell(module, node, symbol, context)
    if spelled is None:
        yield cannot_name(NAME, place, symbol, context)
        return
    changes = [(node.func, Named(spelled.text))]
    message = f"`{place.text}` decides which size is which"
    doubts = [f"`{ast.unparse(one)}` is taken for a whole number" for one in node.args if not types.whole(one)]
    yield change(NAME, place, changes, message, spelled.needs, doubts)


def _bounds_a_loop(place: Place, node: ast.Call) -> bool:
    """Return whether a ``range`` specializes the size anyway: the value is its bound, or uses its loop variable."""
    module, function = place.module, place.function
    named = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    for number, above in enumerate(place.ancestors):
        if isinstance(above, ast.Call) and _builtin(module, above):
            continue
        if isinstance(above, ast.Call):
            return _ranges(module, above)
        if isinstance(above, ast.Assign) and isinstance(above.targets[0], ast.Name) and function is not None:
            name = above.targets[0].id
            calls = [one for one in function.nodes.calls if _ranges(module, one)]
            bounds = any(isinstance(one, ast.Name) and one.id == name for call in calls for one in ast.walk(call))
            return bounds or any(_counts(module, one, named) for one in place.ancestors[number + 1 :])
        if not isinstance(above, (ast.BinOp, ast.IfExp)):
            return False
    return False


def _ranges(module: Module, call: ast.Call) -> bool:
    return module.names.meaning(call.func) == "builtins.range"


def _counts(module: Module, loop: ast.AST, names: set[str]) -> bool:
    """Return whether a loop is ``for off in range(...)`` with ``off`` among the names."""
    if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name) or not isinstance(loop.iter, ast.Call):
        return False
    return loop.target.id in names and _ranges(module, loop.iter)


def _unfit(types: MustTypes, node: ast.Call, kinds: list[Kind]) -> tuple[str, str] | None:
    if node.keywords or len(node.args) != 2 or any(isinstance(one, ast.Starred) for one in node.args):
        return "not-binary", "sym_min and sym_max take two operands"
    if any(kind not in (Kind.SIZE, Kind.CONCRETE, Kind.UNKNOWN) for kind in kinds):
        return "may-be-float", "one operand is not known to be a whole number"
    for part in (
        part for one in node.args for part in ast.walk(one) if isinstance(part, (ast.Name, ast.Constant, ast.Call))
    ):
        known = types.of(part)
        if known in (ScalarType.FLOAT, ScalarType.NUMBER):
            return "may-be-float", "one operand is not known to be a whole number"
        if known in (ScalarType.OPTIONAL, ScalarType.NOTHING):
            return "may-be-none", "one operand may be None"
    return None


rule = Rule(NAME, Safety.UNSAFE, "Python", SIZE_MARKERS, decide, __doc__)

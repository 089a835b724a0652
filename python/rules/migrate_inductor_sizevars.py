"""Use the present names of Inductor's ``sizevars``: ``evaluate_static_shape`` → ``guard_int``.

What: calls of methods of ``sizevars`` (and of ``self`` in the class that defines the old name). The methods are
``evaluate_static_shape(s)``, ``guard_equals/leq/lt``, ``is_expr_static_and_true``, and ``size_hint(s)``. Also
``size_hint(a) == size_hint(b)``.

Why: the old names are gone. The new ones distinguish specializing (``guard_int``), checking (``check_equals``), looking
up (``statically_known_true``), estimating (``optimization_hint``, of ``size_hint`` with a ``fallback``) and reading a
hint that an unbacked size does not have (``guarding_hint_or_throw``, of ``size_hint`` without one).

Leaves alone: a new name that the target torch does not have. A result of ``guard_leq`` that is used. A ``size_hint``
with further arguments, or with a ``fallback`` that may be ``None``. A call in a ``try`` that catches errors by type,
since the new names raise another error for an unbacked size.

Safety: safe for the plain renames, whose meaning is the same. Unsafe for comparisons of hints.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Rule, Safety, Skip
from ...codemods.model.source_file import SourceFile
from ...codemods.torchapi.releases import available
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..analysis.types.sizevars import SIZEVARS, is_sizevars
from ..rewrite.change_types import Attributed, Called, Change, Equated, Uncalled
from ..rewrite.edits import edited, renamed_definition
from ..rewrite.findings import change, fix, skip
from ..syntax.module import Module, parse
from ..syntax.tree import literal

NAME = "migrate_inductor_sizevars"
_RENAMED = {
    "evaluate_static_shape": "guard_int",
    "evaluate_static_shapes": "guard_int_seq",
    "is_expr_static_and_true": "statically_known_true",
}
# These used to return an expression and now return nothing. One of them has a variant that still does.
_STATEMENTS = {"guard_equals": "check_equals", "guard_leq": "check_leq", "guard_lt": "check_lt"}
_RETURNING = {"guard_equals": "check_equals_and_simplify"}
_HINTS = {
    "size_hint": ("guarding_hint_or_throw", "optimization_hint"),
    "size_hints": ("guarding_hints_or_throw", "optimization_hints"),
}
"""Present names without and with a ``fallback``. Without one both raise for an unbacked size."""
_NEVER_RAISE = ("statically_known_true", "optimization_hint", "optimization_hints")
_EVERY_ERROR = ("builtins.Exception", "builtins.BaseException")


def decide(source: SourceFile, context: Context) -> Iterator[Fix | Skip]:
    module = parse(source)
    defined = _definitions(module)
    for node in module.nodes.every(ast.Compare, ast.Call):
        if isinstance(node, ast.Compare) and _hints_compared(node):
            yield _compared(module, node, context)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _holds(module, node.func.value):
            yield from _call(module, node, node.func, context)
    for definition, name in defined.items():
        if available(f"{SIZEVARS}.{_RENAMED[name]}", context.min_torch, context.api):
            yield from _definition(module, definition, name)


def _holds(module: Module, receiver: ast.expr) -> bool:
    """Return whether an expression is ``V.graph.sizevars`` or a variable of that name, not a class or an import."""
    if not is_sizevars(receiver):
        return False
    classes = (one.name for one in module.nodes.every(ast.ClassDef))
    return not isinstance(receiver, ast.Name) or (receiver.id not in classes and module.names.meaning(receiver) is None)


def _call(module: Module, call: ast.Call, func: ast.Attribute, context: Context) -> Iterator[Fix | Skip]:
    old, statement = func.attr, isinstance(module.parents[call], ast.Expr)
    new = _RENAMED.get(old) or (_STATEMENTS.get(old) if statement else _RETURNING.get(old))
    if old in _HINTS:
        if any(isinstance(above, ast.Compare) and _hints_compared(above) for above in [module.parents[call]]):
            return
        new = _HINTS[old][bool(call.keywords)]
    elif new is None:
        if old in _STATEMENTS:
            yield skip(NAME, module.place(call), "result-used", f"`{_STATEMENTS[old]}` returns nothing")
        return
    refused = _of_arguments(call) if old in _HINTS else None
    if refused is None and new not in _NEVER_RAISE and _is_caught_by_type(module, call):
        refused = "error-caught", f"`{new}` raises another error for an unbacked size than this `try` catches"
    if refused is None and not available(f"{SIZEVARS}.{new}", context.min_torch, context.api):
        refused = "not-in-this-torch", f"the torch that will run this has no `{new}` yet"
    if refused is not None:
        yield skip(NAME, module.place(call), *refused)
        return
    yield change(NAME, module.place(call), [(func, Attributed(new))], f"`{old}` is `{new}` today")


def _of_arguments(call: ast.Call) -> tuple[str, str] | None:
    """Return why the present name does not take the arguments of a call of ``size_hint``, or None."""
    if len(call.args) != 1 or any(one.arg != "fallback" for one in call.keywords):
        return "other-arguments", "the present names take one size, and a `fallback` for an estimate"
    numbers = (isinstance(literal(one.value), int) or isinstance(one.value, ast.Attribute) for one in call.keywords)
    return (
        None
        if all(numbers)
        else ("fallback-may-be-none", "the `fallback` may be `None`, which refuses an unbacked size")
    )


def _is_caught_by_type(module: Module, call: ast.Call) -> bool:
    """Return whether a call is inside of a ``try`` whose handlers name other classes than ``Exception``."""
    below: ast.AST = call
    for above in module.place(call).ancestors:
        if isinstance(above, ast.Try) and below in above.body:
            named = [one.type for one in above.handlers if one.type is not None]
            if any(module.names.meaning(one) not in _EVERY_ERROR for one in named):
                return True
        below = above
    return False


def _hints_compared(node: ast.Compare) -> bool:
    """Return whether a comparison is ``sizevars.size_hint(a) == sizevars.size_hint(b)``."""
    return (
        len(node.ops) == 1
        and isinstance(node.ops[0], ast.Eq)
        and all(
            isinstance(side, ast.Call)
            and isinstance(side.func, ast.Attribute)
            and side.func.attr == "size_hint"
            and is_sizevars(side.func.value)
            and len(side.args) == 1
            for side in (node.left, node.comparators[0])
        )
    )


def _compared(module: Module, node: ast.Compare, context: Context) -> Fix | Skip:
    left, right = node.left, node.comparators[0]
    assert isinstance(left, ast.Call) and isinstance(left.func, ast.Attribute) and isinstance(right, ast.Call)
    if left.keywords or right.keywords:
        return skip(
            NAME,
            module.place(node),
            "hint-or-guard",
            "hints with a fallback are estimates; comparing them is a heuristic",
        )
    if not available(f"{SIZEVARS}.guard_or_false", context.min_torch, context.api):
        return skip(
            NAME, module.place(node), "not-in-this-torch", "the torch that will run this has no `guard_or_false` yet"
        )
    changes: list[tuple[ast.expr, Change]] = [
        (left, Uncalled()),
        (right, Uncalled()),
        (node, Equated("sympy.Eq")),
        (node, Called(f"{ast.unparse(left.func.value)}.guard_or_false")),
    ]
    default = "sizes that are not known to be equal are taken as different"
    needs = () if "sympy" in module.names.imports else ("sympy",)
    message = "equal hints do not make equal sizes"
    return change(NAME, module.place(node), changes, message, needs, [default])


def _definitions(module: Module) -> dict[ast.ClassDef, str]:
    """Return the classes that define an old name whose new name they lack."""
    found: dict[ast.ClassDef, str] = {}
    for node in module.nodes.every(ast.ClassDef):
        methods = {one.name for one in node.body if isinstance(one, ast.FunctionDef)}
        for old, new in _RENAMED.items():
            if old in methods and new not in methods:
                found[node] = old
    return found


def _definition(module: Module, owner: ast.ClassDef, old: str) -> Iterator[Fix | Skip]:
    """Yield the fix that renames the method together with the calls on ``self``."""
    edits: list[Edit] = []
    try:
        for node in ast.walk(owner):
            if isinstance(node, ast.FunctionDef) and node.name == old:
                edits.append(renamed_definition(module, node, _RENAMED[old]))
            elif isinstance(node, ast.Attribute) and node.attr == old and ast.unparse(node.value) == "self":
                edits.append(edited(module, node, [(node, Attributed(_RENAMED[old]))]))
    except CannotRewrite as unfit:
        yield skip(NAME, module.place(owner), unfit.reason, unfit.detail)
        return
    message = f"`{old}` is `{_RENAMED[old]}` today, here where it is defined"
    yield fix(NAME, module.place(owner), edits, message, doubts=["callers must use the new name"])


rule = Rule(
    NAME,
    Safety.UNSAFE,
    "Python",
    (b"sizevars.", *(f"def {name}(".encode() for name in _RENAMED)),
    decide,
    __doc__,
)

"""Divide by an argument of a lowering with Inductor's ``FloorDiv``: ``h // stride[0]`` → ``FloorDiv(h, stride[0])``.

What: ``//`` in a function that ``register_lowering`` decorates. Its divisor is a parameter of that function, an element
of one, or a name that an assignment such as ``*_, h_out, w_out = output_size`` unpacks from one.

Why: an argument of a lowering may be a ``sympy`` expression. Its ``//`` is ``floor(h/s)``, a quotient of reals, which
Inductor can't simplify as a size. ``FloorDiv`` is the quotient of integers.

Leaves alone: other divisors, such as constants and sizes that a guard made concrete. A parameter that is annotated as
a ``float`` or ``bool`` or assigned from another value than a parameter. A part of a format string.

Safety: unsafe, since the quotient of two numbers is a ``sympy.Integer``, and a float is not divided.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.rule import Context, Fix, Rule, Safety, Skip
from ...codemods.model.source_file import SourceFile
from ..rewrite.change_types import Combined
from ..rewrite.findings import cannot_name, change, skip
from ..rewrite.qualified_names import spell
from ..syntax.module import Module, parse
from ..syntax.tree import last_word

NAME = "use_floor_div"
_FLOOR_DIV = "torch.utils._sympy.functions.FloorDiv"
_REGISTER = "register_lowering"
_LOWERINGS = "torch._inductor.lowering"
_NO_INTEGERS = ("float", "bool")

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def decide(source: SourceFile, context: Context) -> Iterator[Fix | Skip]:
    module = parse(source)
    for lowering in (one for one in module.tree.body if isinstance(one, _Function) and _is_lowering(module, one)):
        arguments = _arguments(lowering)
        for node in ast.walk(lowering):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv) and _root(node.right) in arguments:
                yield _divided(module, node, context)


def _divided(module: Module, node: ast.BinOp, context: Context) -> Fix | Skip:
    place = module.place(node)
    if place.in_format_string:
        return skip(NAME, place, "in-format-string", "a format string shows the quotient")
    spelled = spell(module, node, _FLOOR_DIV, context)
    if spelled is None:
        return cannot_name(NAME, place, _FLOOR_DIV, context)
    doubts = ["the quotient of two numbers is a `sympy.Integer`"]
    message = f"`{ast.unparse(node.right)}` may be an expression, which `//` divides as a real number"
    return change(NAME, place, [(node, Combined(spelled.text))], message, spelled.needs, doubts)


def _is_lowering(module: Module, function: _Function) -> bool:
    """Return whether Inductor's ``register_lowering(…)`` decorates a function."""
    called = [one.func for one in function.decorator_list if isinstance(one, ast.Call)]
    return any(last_word(one) == _REGISTER and _is_of_inductor(module, one) for one in called)


def _is_of_inductor(module: Module, name: ast.expr) -> bool:
    """Return whether a name is defined in Inductor's module of lowerings, this one or one that the file imports."""
    if module.torch_name == _LOWERINGS:
        return True
    meaning = module.names.meaning(name) or ""
    rest = meaning.lstrip(".")
    package = module.torch_name.split(".")[: len(rest) - len(meaning)] if rest != meaning else []
    return ".".join([*package, rest]) == f"{_LOWERINGS}.{_REGISTER}"


def _arguments(lowering: _Function) -> set[str]:
    """Return the parameters that may be expressions, and the names that are unpacked from one."""
    given = lowering.args
    parameters = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    names = {one.arg for one in parameters if not (one.annotation and ast.unparse(one.annotation) in _NO_INTEGERS)}
    nodes = list(ast.walk(lowering))
    copied = [one for one in nodes if isinstance(one, ast.Assign) and _root(one.value) in names]
    targets = [target for one in copied for whole in one.targets for target in _unpacked(whole)]
    stored = [one for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
    inner = {one.arg for one in nodes if isinstance(one, ast.arg) and one not in parameters}
    other = inner | {one.id for one in stored if one not in targets}
    return (names | {one.id for one in targets}) - other


def _unpacked(target: ast.expr) -> list[ast.Name]:
    """Return the names that an assignment to a target binds to its value or to an element of it."""
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    return [one for one in parts if isinstance(one, ast.Name)]


def _root(node: ast.AST) -> str | None:
    """Return the name of which an expression is the value or an element, or None."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


rule = Rule(NAME, Safety.UNSAFE, "Python", (_REGISTER.encode(),), decide, __doc__)

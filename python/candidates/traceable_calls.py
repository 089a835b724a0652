"""Calls that torch traces for every size, while compiling, in place of calls that request a size."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Safety
from ..analysis.must.must_type_inference import surely
from ..analysis.types.must_types import ScalarType
from ..rewrite.findings import fix
from ..rewrite.qualified_names import COMPILING, spell
from ..syntax.module import Module
from ..syntax.tree import literal

_EITHER = "use_mm_for_euclid_dist_if_necessary"
_DIRECT = "donot_use_mm_for_euclid_dist"


def fixed_algorithm(rule: str, module: Module, call: ast.Call, context: Context) -> Iterator[Fix]:
    """Yield the fix of ``torch.cdist(x, y)`` that names the algorithm while compiling.

    Without a name, more than 25 rows on a side choose a matrix product. Other norms than 2 ignore the name.
    """
    named = {keyword.arg for keyword in call.keywords}
    if module.names.meaning(call.func) != "torch.cdist" or not {"x1", "x2", "p"} >= named:
        return
    compiling = spell(module, call, COMPILING, context)
    if compiling is None or len(call.args) > 3 or any(isinstance(one, ast.Starred) for one in call.args):
        return
    last = [*call.args, *(keyword.value for keyword in call.keywords)][-1]
    at = module.grouped_span(last)[1]
    text = f', compute_mode="{_DIRECT}" if {compiling.text}() else "{_EITHER}"'
    words = "while compiling distances are summed directly, never by a matrix product"
    message = "fix the algorithm of `torch.cdist` while compiling, which 25 rows decide"
    yield fix(rule, module.place(call), [Edit(at, at, text.encode())], message, compiling.needs, [words], Safety.UNSAFE)


def filled_diagonal(rule: str, module: Module, call: ast.Call, context: Context) -> Iterator[Fix]:
    """Yield the fix of the statement ``x.fill_diagonal_(v)`` that fills ``x.diagonal()`` while compiling."""
    statement = module.parents.get(call)
    compiling = spell(module, call, COMPILING, context)
    indent = module.indentation(statement) if isinstance(statement, ast.Expr) else None
    named = isinstance(call.func, ast.Attribute) and call.func.attr == "fill_diagonal_"
    plain = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, (ast.Name, ast.Attribute))
    if not (named and plain) or indent is None or compiling is None or len(call.args) != 1 or call.keywords:
        return
    assert isinstance(call.func, ast.Attribute) and statement is not None
    old = module.text(statement).decode()
    filled = f"{module.text(call.func.value).decode()}.diagonal().fill_({module.text(call.args[0]).decode()})"
    inner = f"{indent}    "
    name = module.text(call.func.value).decode()
    lines = [f"if {compiling.text}() and {name}.dim() == 2:", f"{inner}{filled}", f"{indent}else:", f"{inner}{old}"]
    if "\n" in old:
        return
    edit = Edit(*module.span(statement), module.newline.join(lines).encode())
    message = f"fill the diagonal of `{name}` as a view while compiling"
    yield fix(rule, module.place(call), [edit], message, compiling.needs, (), Safety.UNSAFE)


def listed_range(rule: str, module: Module, statement: ast.stmt, context: Context) -> Iterator[Fix]:
    """Yield the fix ``torch.arange(2, n).tolist()`` → ``list(range(2, n))`` for a list that a statement reads.

    A trace makes unknown numbers of the elements of a tensor. The bounds are certainly whole numbers. Where they may
    cross, which ``torch.arange`` rejects, eager keeps its call.
    """
    function = module.place(statement).function
    read = {one.id for one in ast.walk(statement) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
    nodes: list[ast.Assign | ast.AnnAssign] = []
    if function is not None:
        nodes = [*function.nodes.every(ast.Assign), *function.nodes.every(ast.AnnAssign)]
    made = [
        one.value
        for one in nodes
        for target in (one.targets if isinstance(one, ast.Assign) else [one.target])
        if isinstance(target, ast.Name) and target.id in read and one.value is not None
    ]
    compiling = spell(module, statement, COMPILING, context)
    for value in (*made, *(one for one in ast.walk(statement) if isinstance(one, ast.Call))):
        bounds = _counted(module, value)
        plain = all(module.names.meaning_of_name(name, value) == f"builtins.{name}" for name in ("list", "range"))
        if bounds is None or not plain or compiling is None:
            continue
        (start, _), (_, end) = module.span(bounds[0]), module.span(bounds[-1])
        text = f"list(range({module.source.content[start:end].decode()}))"
        needs: tuple[str, ...] = ()
        if len(bounds) > 1 or not _never_negative(module, bounds[0]):
            text = f"{text} if {compiling.text}() else {module.text(value).decode()}"
            text = text if isinstance(module.parents[value], ast.stmt) else f"({text})"
            needs = compiling.needs
        message = f"`{ast.unparse(value)}` is a list of Python's"
        words = "the list holds the same numbers without a tensor"
        edit = Edit(*module.span(value), text.encode())
        yield fix(rule, module.place(value), [edit], message, needs, [words], Safety.UNSAFE)


def _counted(module: Module, value: ast.expr) -> list[ast.expr] | None:
    """Return the bounds of ``torch.arange(…).tolist()`` if they are certainly whole numbers, or None."""
    called = value.func if isinstance(value, ast.Call) and not value.args and not value.keywords else None
    made = called.value if isinstance(called, ast.Attribute) and called.attr == "tolist" else None
    if not isinstance(made, ast.Call) or made.keywords or not 1 <= len(made.args) <= 3:
        return None
    whole = all(surely(module).of(one) is ScalarType.WHOLE for one in made.args)
    return made.args if whole and module.names.meaning(made.func) == "torch.arange" else None


def _never_negative(module: Module, bound: ast.expr) -> bool:
    if isinstance(bound, ast.Call):
        return module.names.meaning(bound.func) == "builtins.len"
    value = literal(bound)
    return value is not None and value >= 0

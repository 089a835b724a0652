"""Replace the deprecated ``torch._check_is_size(n)`` by ``torch._check(n >= 0)``.

What: the statement ``torch._check_is_size(n[, message])``. With ``max=m`` a second check ``torch._check(n <= m)``
follows.

Why: being a size meant being at least 0 and, silently, being neither 0 nor 1. Only the first is still checked.

Leaves alone: calls whose result is used. An argument that is not a plain name together with ``max=`` (it would be
evaluated twice). Functions of that name that the file defines itself.

Safety: safe, since it checks the same condition. With ``max=`` it is safe only if the limit is proven to be an integer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.rule import Context, Fix, Rule, Safety, Skip
from ...codemods.model.source_file import SourceFile
from ..analysis.must.dominating_conditions import facts_at
from ..analysis.must.must_type_inference import surely
from ..analysis.must.no_raise import Partial, partial
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..rewrite.change_types import Attributed, Change, Compared
from ..rewrite.edits import limited
from ..rewrite.findings import change, fix, skip
from ..syntax.module import Module, parse

NAME = "migrate_check_is_size"


def decide(source: SourceFile, context: Context) -> Iterator[Fix | Skip]:
    module = parse(source)
    for node in module.nodes.calls:
        if not node.args or isinstance(node.args[0], ast.Starred):
            continue
        if module.names.meaning(node.func) == "torch._check_is_size":
            yield _answer(module, node)


def _answer(module: Module, call: ast.Call) -> Fix | Skip:
    value = call.args[0]
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    message = call.args[1] if len(call.args) == 2 else keywords.get("message")
    limit = keywords.get("max")
    if not isinstance(call.func, ast.Attribute):
        return skip(
            NAME, module.place(call), "bare-name", "the function is imported by name; `torch._check` may not be at hand"
        )
    if set(keywords) - {"message", "max"} or len(call.args) > 2:
        return skip(NAME, module.place(call), "unknown-argument", "an argument that `_check_is_size` does not have")
    statement = module.parents[call]
    if limit is not None and not (isinstance(statement, ast.Expr) and isinstance(value, (ast.Name, ast.Attribute))):
        return skip(
            NAME, module.place(call), "evaluated-twice", "give the value a name first: with `max` it is checked twice"
        )
    if message is not None and limit is not None and not isinstance(message, (ast.Name, ast.Constant, ast.Lambda)):
        return skip(
            NAME, module.place(call), "evaluated-twice", "give the message a name first: with `max` it is given twice"
        )
    types = surely(module)
    parts = [] if limit is None else list(partial(types, limit, facts_at(module, call)))
    if any(part.why is Partial.OTHER for part in parts):
        return skip(
            NAME, module.place(call), "evaluated-later", "give the limit a name first: it is evaluated after a check"
        )
    doubts = [f"`{ast.unparse(part.node)}` is evaluated after the first check: {part.why.value}" for part in parts]
    if limit is not None and not types.whole(limit):
        doubts.append(f"`{ast.unparse(limit)}` is taken for a whole number; None meant that there is no limit")
    changes: list[tuple[ast.expr, Change]] = [(call.func, Attributed("_check")), (value, Compared(">="))]
    said = "`torch._check_is_size` is deprecated"
    if limit is None:
        return change(NAME, module.place(call), changes, said, doubts=doubts)
    try:
        edit = limited(module, call, changes, "max")
    except CannotRewrite as unfit:
        return skip(NAME, module.place(call), unfit.reason, unfit.detail)
    return fix(NAME, module.place(call), [edit], said, doubts=doubts)


rule = Rule(NAME, Safety.UNSAFE, "Python", (b"_check_is_size(",), decide, __doc__)

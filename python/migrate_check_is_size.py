"""Replace the deprecated ``torch._check_is_size(n)`` by ``torch._check(n >= 0)``.

What: the statement ``torch._check_is_size(n[, message])``; with ``max=m`` a second check ``torch._check(n <= m)``
follows.

Why: being a size meant being at least 0 and, silently, being neither 0 nor 1; only the first is still said.

Leaves alone: calls whose result is used, an argument that is not a plain name together with ``max=`` (it would be
evaluated twice), and functions of that name that the file defines itself.

Safety: safe, since it checks what was checked before; with ``max=`` only where the limit surely is a whole number.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..codemods.engine.rule import Context, Fix, Rule, Safety, Skip
from ..codemods.engine.source import SourceFile
from ._dominance import facts_at
from ._findings import doubted, fix, safety_of, skip
from ._module import Module, parse
from ._pieces import Pieces
from ._surely import surely
from ._totality import Partial, partial

NAME = "migrate_check_is_size"


_LOOSER = (ast.IfExp, ast.BoolOp, ast.Compare, ast.Lambda, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
"""What binds no tighter than ``>=``, or reads as if it did not."""


def decide(source: SourceFile, context: Context) -> Iterator[Fix | Skip]:
    module = parse(source)
    for node in module.every(ast.Call):
        if not node.args or isinstance(node.args[0], ast.Starred):
            continue
        if module.meaning(node.func) == "torch._check_is_size":
            yield _answer(module, node)


def _answer(module: Module, call: ast.Call) -> Fix | Skip:
    value = call.args[0]
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    message = call.args[1] if len(call.args) == 2 else keywords.get("message")
    limit = keywords.get("max")
    if not isinstance(call.func, ast.Attribute):
        return skip(
            NAME, module, call, "bare-name", "the function is imported by name; `torch._check` may not be at hand"
        )
    if set(keywords) - {"message", "max"} or len(call.args) > 2:
        return skip(NAME, module, call, "unknown-argument", "an argument that `_check_is_size` does not have")
    statement = module.parents[call]
    if limit is not None and not (isinstance(statement, ast.Expr) and isinstance(value, (ast.Name, ast.Attribute))):
        return skip(
            NAME, module, call, "evaluated-twice", "give the value a name first: with `max` it is checked twice"
        )
    if message is not None and limit is not None and not isinstance(message, (ast.Name, ast.Constant, ast.Lambda)):
        return skip(
            NAME, module, call, "evaluated-twice", "give the message a name first: with `max` it is given twice"
        )
    types = surely(module)
    parts = [] if limit is None else list(partial(types, limit, facts_at(module, call)))
    if any(part.why is Partial.OTHER for part in parts):
        return skip(NAME, module, call, "evaluated-later", "give the limit a name first: it is evaluated after a check")
    doubts = [f"`{ast.unparse(part.node)}` is evaluated after the first check: {part.why.value}" for part in parts]
    if limit is not None and not types.whole(limit):
        doubts.append(f"`{ast.unparse(limit)}` is taken for a whole number; None meant that there is no limit")
    pieces = Pieces()
    check = module.text(call.func.value).decode() + "._check"
    pieces.replace(*module.span(call.func), check)
    start, end = module.span(value)
    grouped = isinstance(value, _LOOSER) or (isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not))
    if grouped:
        pieces.open(start, "(")
    pieces.close(end, ") >= 0" if grouped else " >= 0")
    if limit is not None:
        _move_limit(module, call, value, limit, message, check, pieces)
    said = "`torch._check_is_size` is deprecated"
    return fix(NAME, safety_of(doubts), module, call, pieces.edits(), said, default=doubted(doubts))


def _move_limit(
    module: Module,
    call: ast.Call,
    value: ast.expr,
    limit: ast.expr,
    message: ast.expr | None,
    check: str,
    pieces: Pieces,
) -> None:
    """Take ``max=`` out of the call and check it on the next line."""
    keyword = next(one for one in call.keywords if one.arg == "max")
    start, end = module.span(keyword)
    content = module.source.content
    comma = content.rfind(b",", 0, start)
    pieces.replace(comma, end, b"")
    words = ", " + module.text(message).decode() if message is not None else ""
    line = content.rfind(b"\n", 0, module.span(call)[0]) + 1
    indent = content[line : module.span(call)[0]]
    second = f"{check}({module.text(value).decode()} <= {module.text(limit).decode()}{words})"
    newline = "\r\n" if content[line - 2 : line] == b"\r\n" else "\n"
    separator = "; " if indent.strip() else newline + indent.decode()
    pieces.close(module.span(call)[1], separator + second)


rule = Rule(NAME, Safety.UNSAFE, "Python", (b"_check_is_size(",), decide, __doc__)

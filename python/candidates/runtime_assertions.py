"""Runtime assertions for branches on tensor values: one side is traced, and the program asserts the condition.

``torch._assert_async`` decides when the program runs, so bad inputs are still rejected.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Safety
from ...codemods.system.python_parser import parse_expression
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..rewrite.change_types import OrElse, Unless
from ..rewrite.edits import edited
from ..rewrite.findings import fix
from ..rewrite.qualified_names import COMPILING, spell
from ..syntax.module import Module
from .inert_branches import only_tells
from .tensor_conditions import asked_of_tensor, asserted_text

_ASSERT, _NOT = "torch._assert_async", "torch.logical_not"


def assert_side(rule: str, module: Module, node: ast.If, context: Context, *, truth: bool) -> Iterator[Fix]:
    """Yield the fix that traces the side of ``truth`` and asserts it in the program.

    ``if c: raise E(m)`` → ``if is_compiling(): torch._assert_async(torch.logical_not(c), m)`` and ``elif c: raise …``.
    If execution continues inside the branch, the assertion precedes the branch.
    """
    from ..rewrite.statements import text_literal  # uses LibCST, which is slow to import

    indent = module.indentation(node)
    names = [spell(module, node, symbol, context) for symbol in (COMPILING, _ASSERT, _NOT)]
    compiling, check, opposite = names
    start = module.span(node)[0]
    if indent is None or module.source.content.startswith(b"elif", start) or isinstance(node.test, ast.BoolOp):
        return
    if compiling is None or check is None or opposite is None:
        return
    said = module.text(node.test).decode()
    effects = truth and any(isinstance(one, ast.Expr) for one in node.body)
    if "is_compiling" in said or only_tells(module, node.body) or effects:
        return
    negated = isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not)
    inner = node.test.operand if isinstance(node.test, ast.UnaryOp) and negated else node.test
    try:
        condition = asserted_text(module, inner, context)
    except CannotRewrite:
        return
    if negated is truth:
        condition = f"{opposite.text}({condition})"
    told = _told(node.body[-1]) or f"{'expected' if truth else 'unexpected'} {ast.unparse(node.test)}"
    unit = module.unit_of_indentation(node.body[0])
    lines = [f"if {compiling.text}():", f"{indent}{unit}{check.text}({condition}, {text_literal(told).value})", indent]
    text = module.newline.join(lines)
    try:
        if truth or node.orelse:
            asked = OrElse(compiling.text) if truth else Unless(compiling.text)
            edits = [Edit(start, start, text.encode()), edited(module, node.test, [(node.test, asked)])]
        else:
            edits = [Edit(start, start, f"{text}el".encode())]
    except CannotRewrite:
        return
    needs = [need for name in names if name is not None for need in name.needs]
    other = f"`{said}` being {str(not truth).lower()}"
    raises = isinstance(node.body[-1], ast.Raise) and not truth
    words = f"in the program {other} raises RuntimeError" if raises else f"the program refuses {other}"
    message = f"assert in the program that `{said}` is {str(truth).lower()}"
    yield fix(rule, module.place(node), edits, message, needs, [words], Safety.UNSAFE)


def refuse_joined(rule: str, module: Module, node: ast.If, context: Context) -> Iterator[Fix]:
    """Yield the fixes of ``if a and t: raise …`` that assert in the program, one for each guess at the tensors.

    ``if is_compiling():`` holds ``if a: torch._assert_async(torch.logical_not(t), m)``. The old branch is its ``elif``.
    """
    from ..rewrite.statements import text_literal

    indent = module.indentation(node)
    names = [spell(module, node, symbol, context) for symbol in (COMPILING, _ASSERT, _NOT)]
    compiling, check, opposite = names
    start = module.span(node)[0]
    joins = isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And) and not node.orelse
    if indent is None or not joins or module.source.content.startswith(b"elif", start):
        return
    if compiling is None or check is None or opposite is None or not isinstance(node.body[-1], ast.Raise):
        return
    told = text_literal(_told(node.body[-1]) or f"unexpected {ast.unparse(node.test)}").value
    said = module.text(node.test).decode()
    unit = module.unit_of_indentation(node.body[0])
    needs = [need for name in names if name is not None for need in name.needs]
    words = f"in the program `{said}` being true raises RuntimeError"
    with suppress(CannotRewrite):
        # The program would compute a second tensor also where Python stops at the first.
        for asked in (one for one in asked_of_tensor(module, node.test, context) if one.operands == 1):
            inner = f"{indent}{unit}" + f"{unit}" * bool(asked.outside)
            lines = [f"if {compiling.text}():", *([f"{indent}{unit}if {asked.outside}:"] if asked.outside else [])]
            negated = isinstance(parse_expression(asked.text), ast.UnaryOp) and asked.text.startswith("~")
            condition = asked.text[1:] if negated else f"{opposite.text}({asked.text})"
            lines += [f"{inner}{check.text}({condition}, {told})", indent]
            edits = [Edit(start, start, f"{module.newline.join(lines)}el".encode())]
            message = f"assert in the program that `{said}` is false"
            every = (*needs, *asked.needs)
            yield fix(rule, module.place(node), edits, message, every, [words], Safety.UNSAFE)


def assert_in_program(rule: str, module: Module, node: ast.Assert, context: Context) -> Iterator[Fix]:
    """Yield the fix of ``assert c.all(), m`` that asserts in the program while compiling.

    ``if is_compiling(): torch._assert_async(c.all(), m)``, with the statement in its else.
    """
    from ..rewrite.statements import text_literal, traced_text

    indent, text = module.indentation(node), module.text(node).decode()
    compiling, check = (spell(module, node, symbol, context) for symbol in (COMPILING, _ASSERT))
    if indent is None or compiling is None or check is None or isinstance(node.test, ast.BoolOp) or "\n" in text:
        return
    told = (traced_text(node.msg) if node.msg is not None else None) or f"expected {ast.unparse(node.test)}"
    inner = f"{indent}    "
    try:
        condition = asserted_text(module, node.test, context)
    except CannotRewrite:
        return
    call = f"{check.text}({condition}, {text_literal(told).value})"
    lines = [f"if {compiling.text}():", f"{inner}{call}", f"{indent}else:", f"{inner}{text}"]
    said = module.text(node.test).decode()
    edit = Edit(*module.span(node), module.newline.join(lines).encode())
    words = f"in the program `{said}` being false raises RuntimeError"
    needs = (*compiling.needs, *check.needs)
    yield fix(rule, module.place(node), [edit], f"assert `{said}` in the program", needs, [words], Safety.UNSAFE)


def _told(raised: ast.stmt) -> str | None:
    """Return the text of the exception that a branch raises, or None."""
    from ..rewrite.statements import traced_text

    call = raised.exc if isinstance(raised, ast.Raise) else None
    return traced_text(call.args[0]) if isinstance(call, ast.Call) and call.args else None

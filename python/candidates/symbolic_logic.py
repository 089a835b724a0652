"""Boolean operators with a symbolic operand: ``^``, which SymBool lacks, and the order of ``and`` and ``or``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Safety
from ..rewrite.findings import fix
from ..rewrite.qualified_names import spell
from ..syntax.module import Module


def opposite_chosen(rule: str, module: Module, node: ast.BinOp, context: Context) -> Iterator[Fix]:
    """Yield the fix ``a ^ (c < d)`` → ``torch.sym_not(c < d) if a else c < d``, and with the sides exchanged."""
    opposite = spell(module, node, "torch.sym_not", context)
    compares = any(isinstance(one, ast.Compare) for one in (node.left, node.right))
    if not isinstance(node.op, ast.BitXor) or opposite is None or not compares:
        return
    if b"#" in module.text(node):
        return
    said = module.text(node).decode()
    words = f"both sides of `{said}` are taken for bools"
    message = f"`{said}` asks whether two bools differ"
    start, end = module.grouped_span(node)
    for known, symbolic in ((node.left, node.right), (node.right, node.left)):
        text, condition = (module.text(one).decode() for one in (symbolic, known))
        written = f"({opposite.text}({text}) if {condition} else {text})"
        edit = Edit(start, end, written.encode())
        yield fix(rule, module.place(node), [edit], message, opposite.needs, [words], Safety.UNSAFE)


def concrete_first(rule: str, module: Module, node: ast.BoolOp, context: Context) -> Iterator[Fix]:
    """Yield the fix ``f(t) and self.training`` → ``self.training and f(t)``. Known operands decide first.

    A name that is compared with None is known too. One that an earlier operand names, as in
    ``hasattr(self, "flag") and self.flag``, is not moved, and nothing is where an operand binds a name.
    """
    concrete = [one for at, one in enumerate(node.values) if _is_known_alone(one, node.values[:at])]
    ordered = [*concrete, *(one for one in node.values if one not in concrete)]
    binds = any(isinstance(part, ast.NamedExpr) for part in ast.walk(node))
    if not concrete or ordered == node.values or binds or b"#" in module.text(node):
        return
    spans = [module.grouped_span(one) for one in node.values]
    texts = [module.source.content[slice(*module.grouped_span(one))] for one in ordered]
    edits = [Edit(*span, text) for span, text in zip(spans, texts, strict=True)]
    said = module.text(node).decode()
    words = f"an operand of `{said}` does not run where the others decide, and draws no random numbers there"
    message = f"ask what is known of `{said}` first"
    yield fix(rule, module.place(node), edits, message, (), [words], Safety.UNSAFE)


def _is_known_alone(operand: ast.expr, before: Sequence[ast.expr]) -> bool:
    """Return whether an operand is a flag of ``self`` or compares a name with None, and no earlier operand names it."""
    inner = operand.operand if isinstance(operand, ast.UnaryOp) and isinstance(operand.op, ast.Not) else operand
    parts = [part for one in before for part in ast.walk(one)]
    if isinstance(inner, ast.Compare) and isinstance(inner.left, ast.Name):
        none = [one for one in inner.comparators if isinstance(one, ast.Constant) and one.value is None]
        asks = len(inner.ops) == len(none) == 1 and isinstance(inner.ops[0], ast.Is | ast.IsNot)
        return asks and all(inner.left.id != part.id for part in parts if isinstance(part, ast.Name))
    if not isinstance(inner, ast.Attribute) or not isinstance(inner.value, ast.Name) or inner.value.id != "self":
        return False
    named = {part.attr for part in parts if isinstance(part, ast.Attribute)}
    named |= {str(part.value) for part in parts if isinstance(part, ast.Constant)}
    return inner.attr not in named

"""Uses that make a constant of a symbolic size, or that throw for one."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from ....codemods.model.rule import Context, Skip
from ....codemods.model.source_file import SourceFile
from ...syntax.tree import every
from ...syntax.types import Type
from .file_analysis import FileAnalysis, knowledge
from .methods import CONCRETE

NAME = "concrete-use"
_GUARDS = frozenset({"guard_int", "guard_float", "guard_bool"})
_SLOW = ("C10_AS_INTARRAYREF_SLOW", "asIntArrayRefSlow", "asIntArrayRefSlowAlloc")


def concrete_uses(source: SourceFile, context: Context) -> Iterator[Skip]:
    """Yield the places of a file at which a size cannot stay symbolic."""
    know = knowledge(source, context)
    for function in know.eligibility.functions:
        for node in every(function.body, "call_expression", "init_declarator"):
            found = _assigned(know, node) if node.type == "init_declarator" else _called(know, node)
            if found is not None and not know.eligibility.in_kernel_code(function, node):
                mode, reason, detail = found
                yield Skip(NAME, mode, node.start_byte, node.end_byte, reason, detail, function.name)


def _called(know: FileAnalysis, call: Node) -> tuple[int, str, str] | None:
    method = know.types.receiver(call)
    text = know.model.tree.text(call)
    if method is None:
        name = know.types.callee(call).rpartition("::")[2]
        if name.startswith(_SLOW):
            return 4, "guard", f"`{text}` makes a constant of each size: every new value compiles again"
        return None
    receiver, name = method
    if name in _GUARDS:
        return 4, "guard", f"`{text}` makes a constant of the value: every new value compiles again"
    if name == "expect_int":
        return 1, "throws", f"`{text}` throws for a symbolic size"
    if name in CONCRETE and know.types.is_tensor(receiver):
        return 1, "throws", f"`{text}` throws for a symbolic size; the symbolic twin is `{CONCRETE[name][0]}`"
    return None


def _assigned(know: FileAnalysis, declarator: Node) -> tuple[int, str, str] | None:
    """Return the message for an integer that is initialized with a SymInt."""
    value, declaration = declarator.child_by_field_name("value"), declarator.parent
    kind = None if declaration is None else declaration.child_by_field_name("type")
    if value is None or kind is None or know.types.type_of(value) is not Type.SYM_INT:
        return None
    if know.types.named_type(kind) is not Type.INT:
        return None
    text = know.model.tree.text(declarator)
    return 4, "conversion", f"`{text}` converts a SymInt to `{know.model.tree.text(kind)}`, which does not compile"

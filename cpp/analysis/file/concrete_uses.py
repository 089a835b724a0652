"""Uses that make a constant of a symbolic size, that throw for one, or that give an undecided one a default."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from ....codemods.model.rule import Context, Skip
from ....codemods.model.source_file import SourceFile
from ...syntax.tree import Tree, ancestors, arguments, every
from ...syntax.types import Type
from .branches import gives_up
from .file_analysis import FileAnalysis, knowledge
from .methods import CONCRETE

NAME = "concrete-use"
_GUARDS = frozenset({"guard_int", "guard_float", "guard_bool"})
_SLOW = ("C10_AS_INTARRAYREF_SLOW", "asIntArrayRefSlow", "asIntArrayRefSlowAlloc")
_CHECK = re.compile(r"TORCH_(?:SYM_|MAYBE_SYM_)?(?:CHECK|INTERNAL_ASSERT)(?:_[A-Z_]+)?\Z")
_DEFAULT = re.compile(r"(?:((?:TORCH_)?guard)|\w+)_or_(true|false)\Z", re.IGNORECASE)
_RAISES = re.compile(r"\bthrow\b|TORCH_CHECK\w*\(\s*false\b|(?:AT|TORCH)_ERROR\(")


def concrete_uses(source: SourceFile, context: Context) -> Iterator[Skip]:
    """Yield the places of a file at which a size cannot stay symbolic, or at which an undecided one has a default."""
    know = knowledge(source, context)
    for function in know.eligibility.functions:
        for node in every(function.body, "call_expression", "init_declarator", "assignment_expression"):
            found = _called(know, node) if node.type == "call_expression" else _assigned(know, node)
            if found is None or know.eligibility.in_kernel_code(function, node):
                continue
            if not _in_message(know.model.tree, node):
                mode, reason, detail = found
                yield Skip(NAME, mode, node.start_byte, node.end_byte, reason, detail, function.name)


def _called(know: FileAnalysis, call: Node) -> tuple[int, str, str] | None:
    method = know.types.receiver(call)
    text = know.model.tree.text(call)
    name = know.types.callee(call).rpartition("::")[2] if method is None else method[1]
    default = _DEFAULT.match(name)
    if default is not None and (default[1] or (method is not None and know.types.is_tensor(method[0]))):
        return 2, "default", _decided(know.model.tree, call, default[2].lower())
    if method is None:
        if name.startswith(_SLOW):
            return 4, "guard", f"`{text}` makes a constant of each size: every new value compiles again"
        return None
    if name in _GUARDS:
        return 4, "guard", f"`{text}` makes a constant of the value: every new value compiles again"
    if name == "expect_int":
        return 1, "throws", f"`{text}` throws for a symbolic size"
    if name in CONCRETE and know.types.is_tensor(method[0]):
        return 1, "throws", f"`{text}` throws for a symbolic size; the symbolic twin is `{CONCRETE[name][0]}`"
    return None


def _assigned(know: FileAnalysis, node: Node) -> tuple[int, str, str] | None:
    """Return the message for an integer that gets a SymInt, at its declaration or later."""
    value = node.child_by_field_name("value") or node.child_by_field_name("right")
    if value is None or know.types.type_of(value) is not Type.SYM_INT:
        return None
    tree = know.model.tree
    if node.type == "init_declarator":
        declaration = node.parent
        kind = None if declaration is None else declaration.child_by_field_name("type")
        if kind is None or know.types.named_type(kind) is not Type.INT:
            return None
        named = tree.text(kind)
    else:
        target = node.child_by_field_name("left")
        if target is None or know.types.type_of(target) is not Type.INT:
            return None
        named = "int64_t"
    return 4, "conversion", f"`{tree.text(node)}` converts a SymInt to `{named}`, which does not compile"


def _decided(tree: Tree, call: Node, answer: str) -> str:
    detail = f"`{tree.text(call)}` takes an undecided condition for {answer}"
    if _refuses(tree, call):
        return f"{detail} where the other side is an error: TORCH_SYM_CHECK of the condition records it for run time"
    return detail


def _refuses(tree: Tree, node: Node) -> bool:
    """Return whether an expression is in the condition of a check, or of a branch that only raises."""
    for around in ancestors(node):
        if _is_check(tree, around):
            return True
        consequence = around.child_by_field_name("consequence")
        if consequence is not None:
            return gives_up(tree, consequence) and _RAISES.search(tree.text(consequence)) is not None
        if around.type.endswith("_statement"):
            return False
    return False


def _in_message(tree: Tree, node: Node) -> bool:
    """Return whether a node is in the message of a check, which is made only if the check fails."""
    check = next((around for around in ancestors(node) if _is_check(tree, around)), None)
    if check is None:
        return False
    # TORCH_CHECK_WITH and its kind name the exception first.
    passed = arguments(check)[: 2 if "_WITH" in _macro(tree, check) else 1]
    return node.start_byte >= passed[-1].end_byte


def _is_check(tree: Tree, node: Node) -> bool:
    return node.type == "call_expression" and _CHECK.match(_macro(tree, node)) is not None


def _macro(tree: Tree, call: Node) -> str:
    name = call.child_by_field_name("function")
    return "" if name is None else tree.text(name)

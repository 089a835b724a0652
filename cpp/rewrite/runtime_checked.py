"""Defaults that are checked at run time: a branch that returns or raises is skipped, and a check follows it.

On known sizes the check holds, since the branch returns or raises otherwise. If a size that was undecided during
tracing is the special case, the check raises. An unchecked default would give a different result. The branch of two
equal shapes is taken in the same way, with the check inside.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Fix, Safety
from ..analysis.file.comparisons import METHODS, SizeComparison, comparison
from ..analysis.file.default_choice import general_answer
from ..analysis.file.file_analysis import FileAnalysis
from ..analysis.handlers.conditions import SIMPLE
from ..syntax.tree import ancestors, arguments, every
from ..syntax.types import Type
from .sym_bool import as_method

_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_LISTS = {Type.SYM_REF, Type.SYM_VEC}


def checked_default(rule: str, know: FileAnalysis, found: SizeComparison, function: str) -> Iterator[Fix]:
    """Yield the fix of ``if (a == b) return x;`` with ``TORCH_GUARD_OR_FALSE`` and a runtime check.

    ``TORCH_SYM_CHECK(a.sym_ne(b), …);`` follows the branch.
    """
    branch, others = _branch(know, found.node)
    special = found.sign == "==" or general_answer(know.types, found) is False
    if branch is not None and special and not others and _returns(branch):
        edits = as_method(know.types, found, around=("TORCH_GUARD_OR_FALSE(", ")"))
        yield from _checked(rule, know, branch, found.node, edits, _opposite(know, found), function)


def refused_later(rule: str, know: FileAnalysis, node: Node, function: str) -> Iterator[Fix]:
    """Yield the fix of ``if (p && a != b) { TORCH_CHECK(false, …); }`` that defers undecided sizes to run time.

    Sizes that are known to be bad are still rejected there.
    """
    branch, others = _branch(know, node)
    if branch is None or not _refuses(know, branch):
        return
    found = comparison(know.types, node, of_sizes=False)
    if found is not None:
        edits = as_method(know.types, found, around=("TORCH_GUARD_OR_FALSE(", ")"))
        held = _opposite(know, found)
    elif _compares_lists(know, node, "!="):
        left, right = (know.model.tree.text(side) for side in _sides(node) if side is not None)
        held = f"c10::sym_equals({left}, {right})"
        edits = (Edit(node.start_byte, node.end_byte, f"!TORCH_GUARD_OR_TRUE({held})".encode()),)
    else:
        return
    if others:
        held = f"({' && '.join(others)}) ? {held} : c10::SymBool(true)"
    yield from _checked(rule, know, branch, node, edits, held, function)


def taken_as_equal(rule: str, know: FileAnalysis, node: Node, function: str) -> Iterator[Fix]:
    """Yield the fix of ``if (a == b) {`` that takes undecided shapes as equal, with a runtime check in the branch."""
    branch = node.parent.parent if node.parent is not None and node.parent.type == "condition_clause" else None
    body = None if branch is None else branch.child_by_field_name("consequence")
    if (
        not _compares_lists(know, node, "==")
        or know.model.tree.trusted(node) is not None
        or body is None
        or body.type != "compound_statement"
        or not body.named_children
    ):
        return
    left, right = (know.model.tree.text(side) for side in _sides(node) if side is not None)
    held = f"c10::sym_equals({left}, {right})"
    content = know.model.tree.content
    space = content[body.start_byte + 1 : body.named_children[0].start_byte].decode()
    text = know.model.tree.text(node)
    check = f"{space}{_check(held, text, True, function)}"
    edits = (
        Edit(node.start_byte, node.end_byte, f"TORCH_GUARD_OR_TRUE({held})".encode()),
        Edit(body.start_byte + 1, body.start_byte + 1, check.encode()),
    )
    words = f"an undecided `{text}` is taken as true, which is checked at run time"
    yield Fix(rule, 2, Safety.UNSAFE, edits, f"give `{text}` a default that is checked at run time", function, words)


def _check(held: str, text: str, taken: bool, function: str) -> str:
    quoted = " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
    name = function.rpartition("::")[2]
    return f'TORCH_SYM_CHECK({held}, "{name}: {quoted} was taken as {str(taken).lower()}");'


def _checked(
    rule: str, know: FileAnalysis, branch: Node, node: Node, edits: tuple[Edit, ...], held: str, function: str
) -> Iterator[Fix]:
    line = know.model.tree.content.rfind(b"\n", 0, branch.start_byte) + 1
    indent = know.model.tree.content[line : branch.start_byte].decode()
    if indent.strip() or branch.parent is None or branch.parent.type != "compound_statement":
        return
    text = know.model.tree.text(node)
    check = f"\n{indent}{_check(held, text, False, function)}"
    behind = Edit(branch.end_byte, branch.end_byte, check.encode())
    words = f"an undecided `{text}` is taken as false, which is checked at run time"
    message = f"give `{text}` a default that is checked at run time"
    yield Fix(rule, 2, Safety.UNSAFE, (*edits, behind), message, function, words)


def _opposite(know: FileAnalysis, found: SizeComparison) -> str:
    text = know.model.tree.text
    subject = text(found.subject) if found.subject.type in SIMPLE else f"({text(found.subject)})"
    return f"{subject}.{METHODS[_OPPOSITE[found.sign]]}({text(found.other)})"


def _branch(know: FileAnalysis, node: Node) -> tuple[Node | None, list[str]]:
    """Return the ``if`` without an else that is entered if ``node`` and the ``others`` hold, which compare no size."""
    others: list[str] = []
    inner = node
    for around in ancestors(node):
        if around.type == "if_statement":
            return (around if around.child_by_field_name("alternative") is None else None), others
        if around.type == "binary_expression":
            left, right = _sides(around)
            sign = around.child_by_field_name("operator")
            if left is None or right is None or sign is None or know.model.tree.text(sign) != "&&":
                return None, []
            other = right if inner == left else left
            if _asks_sizes(know, other):
                return None, []
            others.insert(len(others) if other == right else 0, know.model.tree.text(other))
        elif around.type not in ("parenthesized_expression", "condition_clause"):
            return None, []
        inner = around
    return None, []


def _asks_sizes(know: FileAnalysis, node: Node) -> bool:
    inside = [node, *every(node, "binary_expression")]
    return any(
        comparison(know.types, one, of_sizes=False) is not None or _compares_lists(know, one, "!=") for one in inside
    )


def _compares_lists(know: FileAnalysis, node: Node, compared_by: str) -> bool:
    left, right = _sides(node)
    sign = node.child_by_field_name("operator")
    if left is None or right is None or sign is None or know.model.tree.text(sign) != compared_by:
        return False
    return {know.types.type_of(left), know.types.type_of(right)} <= _LISTS


def _sides(node: Node) -> tuple[Node | None, Node | None]:
    return node.child_by_field_name("left"), node.child_by_field_name("right")


def _returns(branch: Node) -> bool:
    body = branch.child_by_field_name("consequence")
    inside = [] if body is None else [body, *body.named_children[-1:]]
    return any(one.type in ("return_statement", "throw_statement") for one in inside)


def _refuses(know: FileAnalysis, branch: Node) -> bool:
    """Return whether the branch only raises."""
    body = branch.child_by_field_name("consequence")
    listed = body.named_children if body is not None and body.type == "compound_statement" else [body]
    (only,) = listed if len(listed) == 1 else (None,)
    if only is None or only.type == "throw_statement":
        return only is not None
    call = only.named_children[0] if only.type == "expression_statement" and only.named_children else None
    callee = None if call is None else call.child_by_field_name("function")
    if call is None or callee is None:
        return False
    text, passed = know.model.tree.text, arguments(call)
    return text(callee).startswith("TORCH_CHECK") and bool(passed) and text(passed[0]) == "false"

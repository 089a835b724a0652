"""Defaults that are checked at run time.

The check follows a branch that returns or raises and is skipped. Otherwise it is the first statement of the side that
is taken. On known sizes it holds there. If a size that was undecided during tracing is the special case, the check
raises. An unchecked default would give a different result.
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
    """Yield the fix of ``if (a == b) …`` that takes the general case, with a runtime check of it.

    ``TORCH_SYM_CHECK(a.sym_ne(b), …);`` follows a branch that returns, or begins the other one.
    """
    branch, others = _branch(know, found.node)
    taken = found.sign == "!=" if found.sign in ("==", "!=") else general_answer(know.types, found)
    if branch is None or others or taken is None:
        return
    edits = as_method(know.types, found, around=(f"TORCH_GUARD_OR_{str(taken).upper()}(", ")"))
    held = _as_method_call(know, found, found.sign if taken else _OPPOSITE[found.sign])
    if not taken and _returns(branch) and branch.child_by_field_name("alternative") is None:
        yield from _checked(rule, know, branch, found.node, edits, held, function)
        return
    text = know.model.tree.text(found.node)
    inside = _checked_inside(know, branch, held, text, taken, function)
    if inside is not None:
        yield _fix(rule, (*edits, inside), text, taken, function)


def refused_later(rule: str, know: FileAnalysis, node: Node, function: str) -> Iterator[Fix]:
    """Yield the fix of ``if (p && a != b) { TORCH_CHECK(false, …); }`` that defers undecided sizes to run time.

    Sizes that are known to be bad are still rejected there.
    """
    branch, others = _branch(know, node)
    if branch is None or branch.child_by_field_name("alternative") is not None or not _refuses(know, branch):
        return
    found = comparison(know.types, node, of_sizes=False)
    if found is not None:
        edits = as_method(know.types, found, around=("TORCH_GUARD_OR_FALSE(", ")"))
        held = _as_method_call(know, found, _OPPOSITE[found.sign])
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
    branch, others = _branch(know, node)
    if branch is None or others or not _compares_lists(know, node, "==") or know.model.tree.trusted(node) is not None:
        return
    left, right = (know.model.tree.text(side) for side in _sides(node) if side is not None)
    held = f"c10::sym_equals({left}, {right})"
    text = know.model.tree.text(node)
    inside = _checked_inside(know, branch, held, text, True, function)
    if inside is not None:
        asked = Edit(node.start_byte, node.end_byte, f"TORCH_GUARD_OR_TRUE({held})".encode())
        yield _fix(rule, (asked, inside), text, True, function)


def _checked_inside(know: FileAnalysis, branch: Node, held: str, text: str, taken: bool, function: str) -> Edit | None:
    """Return the edit that begins the chosen side of a branch with a check, or None where that side has no block."""
    content = know.model.tree.content
    body, other = (branch.child_by_field_name(side) for side in ("consequence", "alternative"))
    check = _check(held, text, taken, function)
    if not taken and other is None:
        line = content.rfind(b"\n", 0, branch.start_byte) + 1
        indent = content[line : branch.start_byte].decode()
        if body is None or body.type != "compound_statement" or indent.strip():
            return None
        return Edit(branch.end_byte, branch.end_byte, f" else {{\n{indent}  {check}\n{indent}}}".encode())
    side = body if taken else other
    if side is not None and side.type == "else_clause":
        side = side.named_children[-1]
    if side is None or side.type != "compound_statement" or not side.named_children:
        return None
    inside = side.named_children
    # A comment behind the brace speaks of the branch, and stays there.
    beside = len(inside) > 1 and inside[0].type == "comment" and inside[0].start_point.row == side.start_point.row
    at, first = (inside[0].end_byte, inside[1]) if beside else (side.start_byte + 1, inside[0])
    space = content[at : first.start_byte].decode()
    return Edit(at, at, f"{space}{check}".encode())


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
    yield _fix(rule, (*edits, behind), text, False, function)


def _fix(rule: str, edits: tuple[Edit, ...], text: str, taken: bool, function: str) -> Fix:
    words = f"an undecided `{text}` is taken as {str(taken).lower()}, which is checked at run time"
    message = f"give `{text}` a default that is checked at run time"
    return Fix(rule, 2, Safety.UNSAFE, edits, message, function, words)


def _as_method_call(know: FileAnalysis, found: SizeComparison, sign: str) -> str:
    text = know.model.tree.text
    subject = text(found.subject) if found.subject.type in SIMPLE else f"({text(found.subject)})"
    return f"{subject}.{METHODS[sign]}({text(found.other)})"


def _branch(know: FileAnalysis, node: Node) -> tuple[Node | None, list[str]]:
    """Return the ``if`` that is entered if ``node`` and the ``others`` hold, which compare no size.

    A check evaluates ``node`` again, so one that changes a variable has none.
    """
    others: list[str] = []
    if any(True for _ in every(node, "update_expression", "assignment_expression")):
        return None, others
    inner = node
    for around in ancestors(node):
        if around.type == "if_statement":
            return around, others
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

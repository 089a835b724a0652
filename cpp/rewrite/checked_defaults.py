"""A default that is checked at run time: where a branch that returns is passed by, the code behind it says so.

On known sizes the check holds, since the branch has returned otherwise. A size that was not known while tracing and
turns out to be the special case is told, where the default alone would give another result.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from ...codemods.engine.edits import Edit
from ...codemods.engine.rule import Fix, Safety
from ..analysis.comparisons import METHODS, Comparison, general_answer
from ..analysis.conditions import SIMPLE
from ..analysis.knowledge import Knowledge
from ..syntax.tree import ancestors
from .sym_methods import as_method

_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def checked_default(rule: str, know: Knowledge, found: Comparison, function: str) -> Iterator[Fix]:
    """``if (a == b) return x;`` with ``TORCH_GUARD_OR_FALSE``, and behind it ``TORCH_SYM_CHECK(a.sym_ne(b), …);``."""
    branch = next((one for one in ancestors(found.node) if one.type == "if_statement"), None)
    special = found.sign == "==" or general_answer(know.types, found) is False
    if branch is None or not special or not _only(branch, found.node) or not _returns(branch):
        return
    text, opposite = know.model.tree.text, _OPPOSITE[found.sign]
    subject, other = text(found.subject), text(found.other)
    held = f"{subject if found.subject.type in SIMPLE else f'({subject})'}.{METHODS[opposite]}({other})"
    line = know.model.tree.content.rfind(b"\n", 0, branch.start_byte) + 1
    indent = know.model.tree.content[line : branch.start_byte].decode()
    if indent.strip() or branch.parent is None or branch.parent.type != "compound_statement":
        return
    said = f"{function.rpartition('::')[2]}: traced for {subject} {opposite} {other}"
    check = f'\n{indent}TORCH_SYM_CHECK({held}, "{said}");'
    edits = [*as_method(know.types, found, around=("TORCH_GUARD_OR_FALSE(", ")"))]
    edits.append(Edit(branch.end_byte, branch.end_byte, check.encode()))
    words = f"an undecided `{text(found.node)}` is taken as false, which is checked at run time"
    yield Fix(
        rule,
        2,
        Safety.UNSAFE,
        tuple(edits),
        f"give `{text(found.node)}` a default that is checked at run time",
        function,
        words,
    )


def _only(branch: Node, node: Node) -> bool:
    """Whether the condition is this comparison and nothing else, and there is no else."""
    condition = branch.child_by_field_name("condition")
    while condition is not None and condition != node and condition.named_child_count == 1:
        condition = condition.named_children[0]
    return condition == node and branch.child_by_field_name("alternative") is None


def _returns(branch: Node) -> bool:
    body = branch.child_by_field_name("consequence")
    inside = [] if body is None else [body, *body.named_children[-1:]]
    return any(one.type in ("return_statement", "throw_statement") for one in inside)

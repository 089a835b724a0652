"""Candidate fixes for a failing function that no rule applies. A candidate is kept only if running it proves it.

A larger or smaller size is computed by ``max`` and ``min``. A difference that a branch guards is clamped to 0 instead.
The operands of a check are joined symbolically. A comparison gets a default only if there is a reason for one. A
default is checked at run time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from tree_sitter import Node

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Safety
from ...codemods.model.source_file import SourceFile
from ..analysis.file.comparisons import SizeComparison, comparison
from ..analysis.file.default_choice import general_answer
from ..analysis.file.file_analysis import FileAnalysis, knowledge
from ..syntax.declarations import Function
from ..syntax.list_split import listed
from ..syntax.model import model_of
from ..syntax.tree import ancestors, arguments, every, is_deep
from ..syntax.types import Type
from .branchless import divided_by, multiplied_in_order
from .deferred_checks import checked_later
from .runtime_checked import checked_default, refused_later, taken_as_equal
from .sym_bool import as_method

NAME = "alternative"
_DEMANGLED = re.compile(r"(?:.*::)?(~?\w+)(?:\[abi:\w+\])?(?:<.*>)?\((.*)\)[\w &]*\Z", re.DOTALL)
_METHODS = {"std::max": "max", "std::min": "min"}


def extent(source: SourceFile, line: int, function: str) -> tuple[int, int] | None:
    """Return the bytes of the function that a demangled name means. ``line`` is unused."""
    found = _DEMANGLED.match(function.replace("(anonymous namespace)::", ""))
    name, passed = (found[1], _arguments_of(found[2])) if found else (function.rpartition("::")[2], None)
    named = [one for one in model_of(source).functions if one.name.rpartition("::")[2] == name]
    if not named:
        return None
    best = max(named, key=lambda one: _likeness(one, passed)) if passed is not None else named[0]
    return best.node.start_byte, best.node.end_byte


def internal_callees(source: SourceFile, function: str) -> list[str]:
    """Return the functions with internal linkage that a demangled function calls, directly or not, outermost first.

    No stack trace names them. A name that several functions share is left out.
    """
    where, model = extent(source, 0, function), model_of(source)
    caller = None if where is None else model.function_at(where[0])
    named = Counter(one.name for one in model.functions)
    internal = {one.name: one for one in model.functions if one.internal and named[one.name] == 1}
    pending, found = [caller] if caller else [], dict[str, None]()
    while pending:
        for call in every(pending.pop(0).body, "call_expression"):
            callee = call.child_by_field_name("function")
            name = "" if callee is None else model.tree.text(callee).rpartition("::")[2]
            if name in internal and name not in found:
                found[name] = None
                pending.append(internal[name])
    return list(found)


def _likeness(function: Function, passed: list[str]) -> tuple[bool, int]:
    types = [variable.type_text for variable in function.parameters]
    alike = sum(_word(theirs) in _words(ours) for ours, theirs in zip(passed, types, strict=False))
    return len(types) == len(passed), alike


def _word(text: str) -> str:
    words = re.findall(r"\w+", re.sub(r"\b(?:const|at|c10|std)\b", " ", text))
    first = words[0] if words else ""
    return {"int64_t": "long", "IntArrayRef": "ArrayRef", "SymIntArrayRef": "ArrayRef"}.get(first, first)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def _arguments_of(text: str) -> list[str]:
    """Return the arguments of a demangled signature."""
    found = listed(text)
    last = found.pop().strip()
    return [*found, last] if last and last != "void" else found


def alternatives(source: SourceFile, context: Context, where: tuple[int, int]) -> Iterator[Fix]:
    """Yield the fixes inside ``where``, first those that keep every size."""
    know = knowledge(source, context)
    tree = know.model.tree
    function = know.model.function_at(where[0])
    if function is None or is_deep(function.node):
        return
    name = function.name
    larger = [fix for call in every(function.body, "call_expression") for fix in _larger(know, call, name)]
    checks = [
        fix for call in every(function.body, "call_expression") for fix in checked_later(NAME, know, call, function)
    ]
    compared = [
        found
        for node in every(function.body, "binary_expression")
        if (found := comparison(know.types, node, of_sizes=False)) is not None
        and tree.trusted(node) is None
        and _decides(know, node)
    ]
    held = [fix for found in compared for fix in _held_at_zero(know, found, name)]
    clamped = any(fix.message.startswith("hold") for fix in held) or b".max(0)" in _body(know, function)
    asked = list(every(function.body, "binary_expression"))
    arrays = [fix for node in asked for fix in _equal_arrays(know, node, name)]
    refusing = [fix for node in asked for fix in refused_later(NAME, know, node, name)]
    yield from _one_formula(know, compared, name)
    yield from divided_by(know, function)
    yield from multiplied_in_order(know, function)
    for family in (larger, checks, refusing, arrays, held if clamped else []):
        if len(family) > 1 and not _overlapping(family):
            yield _together(family)
        yield from family
    for found in compared:
        yield from _default(know, found, name)
    for found in compared:
        yield from checked_default(NAME, know, found, name)
    for node in asked:
        yield from taken_as_equal(NAME, know, node, name)


def _body(know: FileAnalysis, function: Function) -> bytes:
    return know.model.tree.content[function.body.start_byte : function.body.end_byte]


def _decides(know: FileAnalysis, node: Node) -> bool:
    """Return whether a comparison is forced to a bool by a branch, and not passed to a macro that accepts a SymBool."""
    for around in ancestors(node):
        if around.type == "call_expression":
            callee = around.child_by_field_name("function")
            return callee is not None and know.model.tree.text(callee) == "TORCH_CHECK"
        if around.type in ("if_statement", "conditional_expression", "while_statement"):
            return around.type != "while_statement"
        if around.type in ("init_declarator", "return_statement"):
            return True
        if around.type not in ("binary_expression", "parenthesized_expression", "condition_clause", "unary_expression"):
            return False
    return False


def _default(know: FileAnalysis, found: SizeComparison, name: str) -> Iterator[Fix]:
    """Yield the comparison with its default, if there is a reason for one. An order of two sizes alone has none."""
    answer = general_answer(know.types, found)
    if answer is not None:
        yield _with_default(know, found, name, answer, "as for every size of at least 2")
    elif found.sign in ("==", "!="):
        yield _with_default(know, found, name, found.sign == "!=", "being equal is the special case")


def _with_default(know: FileAnalysis, found: SizeComparison, name: str, truth: bool, why: str) -> Fix:
    text = know.model.tree.text(found.node)
    macro = f"TORCH_GUARD_OR_{str(truth).upper()}"
    edits = as_method(know.types, found, around=(f"{macro}(", ")"))
    words = f"an undecided `{text}` is taken as {str(truth).lower()}: {why}"
    return Fix(NAME, 2, Safety.UNSAFE, edits, f"give `{text}` the default {str(truth).lower()}", name, words)


def _larger(know: FileAnalysis, call: Node, name: str) -> Iterator[Fix]:
    """Yield the fix of ``std::max(a, b)`` of SymInts → ``a.max(b)``."""
    callee, operands = call.child_by_field_name("function"), arguments(call)
    if callee is None or len(operands) != 2 or know.model.tree.trusted(call) is not None:
        return
    method = _METHODS.get(re.sub(r"<.*>", "", know.model.tree.text(callee)))
    if method is None or know.types.type_of(operands[0]) is not Type.SYM_INT:
        return
    left, right = (know.model.tree.text(operand) for operand in operands)
    simple = operands[0].type in ("identifier", "call_expression", "subscript_expression")
    new = f"{left if simple else f'({left})'}.{method}({right})"
    edit = Edit(call.start_byte, call.end_byte, new.encode())
    yield Fix(NAME, 2, Safety.UNSAFE, (edit,), f"`{know.model.tree.text(call)}` decides which size is which", name)


def _held_at_zero(know: FileAnalysis, found: SizeComparison, name: str) -> Iterator[Fix]:
    """Yield the fix that takes the branch of ``if (a < b) p = b - a;`` for an undecided size, with ``(b - a).max(0)``.

    The difference is 0 where the branch would not have been taken. An accompanying branch on ``a > b`` is taken
    likewise. Its work must have no effect for an ``a`` that is no larger, and running it decides whether that holds.
    """
    branch = next((around for around in ancestors(found.node) if around.type == "if_statement"), None)
    body = None if branch is None else branch.child_by_field_name("consequence")
    if (
        branch is None
        or body is None
        or branch.child_by_field_name("alternative") is not None
        or found.sign not in "<>"
    ):
        return
    if any(True for _ in every(body, "return_statement", "throw_statement", "continue_statement", "break_statement")):
        return
    text = know.model.tree.text
    low, high = (found.subject, found.other) if found.sign == "<" else (found.other, found.subject)
    edits = list(as_method(know.types, found, around=("TORCH_GUARD_OR_TRUE(", ")")))
    words = f"an undecided `{text(found.node)}` is taken as true"
    differences = [
        node
        for node in every(body, "binary_expression")
        if (sign := node.child_by_field_name("operator")) is not None
        and text(sign) == "-"
        and (left := node.child_by_field_name("left")) is not None
        and (right := node.child_by_field_name("right")) is not None
        and (text(left), text(right)) == (text(high), text(low))
    ]
    message = f"take the branch on `{text(found.node)}`"
    if differences:
        message = f"hold the difference at 0 where `{text(found.node)}` is undecided"
        words += ", and the difference is held at 0"
    for node in differences:
        edits += [Edit(node.start_byte, node.start_byte, b"("), Edit(node.end_byte, node.end_byte, b").max(0)")]
    yield Fix(NAME, 2, Safety.UNSAFE, tuple(edits), message, name, words)


def _one_formula(know: FileAnalysis, compared: list[SizeComparison], name: str) -> Iterator[Fix]:
    """Yield the fix that keeps only the first branch of ``if (a < b) p = b - a; if (a > b) crop``.

    The sign does not matter, because a negative padding crops.
    """
    for found in compared:
        branch = next((around for around in ancestors(found.node) if around.type == "if_statement"), None)
        body = None if branch is None else branch.child_by_field_name("consequence")
        if (
            branch is None
            or body is None
            or branch.child_by_field_name("alternative") is not None
            or found.sign not in "<>"
        ):
            continue
        text = know.model.tree.text
        low, high = (found.subject, found.other) if found.sign == "<" else (found.other, found.subject)
        difference = f"{text(high)} - {text(low)}"
        if not any(text(node) == difference for node in every(body, "binary_expression")):
            continue
        mirrored = [
            other
            for other in compared
            if other.sign in "<>"
            and (text(other.subject), text(other.other)) in ((text(low), text(high)), (text(high), text(low)))
            and (other.sign == "<") is not ((text(other.subject), text(other.other)) == (text(low), text(high)))
        ]
        if mirrored:
            why = f"`{difference}` holds for either sign"
            family = [
                _with_default(know, found, name, True, why),
                *(_with_default(know, other, name, False, why) for other in mirrored),
            ]
            yield _together(family)


def _equal_arrays(know: FileAnalysis, node: Node, name: str) -> Iterator[Fix]:
    """Yield the fix that compares two symbolic shapes by ``TORCH_GUARD_OR_FALSE(c10::sym_equals(…))``.

    It applies to ``a.sym_sizes() == b.sym_sizes()`` and to ``!=``.
    """
    left, right, sign = (
        node.child_by_field_name("left"),
        node.child_by_field_name("right"),
        node.child_by_field_name("operator"),
    )
    if left is None or right is None or sign is None or know.model.tree.text(sign) not in ("==", "!="):
        return
    kinds = {know.types.type_of(left), know.types.type_of(right)}
    if not kinds <= {Type.SYM_REF, Type.SYM_VEC} or know.model.tree.trusted(node) is not None:
        return
    text = know.model.tree.text
    negation = "" if text(sign) == "==" else "!"
    new = f"{negation}TORCH_GUARD_OR_FALSE(c10::sym_equals({text(left)}, {text(right)}))"
    edit = Edit(node.start_byte, node.end_byte, new.encode())
    words = f"two undecided shapes are taken to differ in `{text(node)}`"
    yield Fix(NAME, 2, Safety.UNSAFE, (edit,), f"compare `{text(left)}` without forcing each size", name, words)


def _overlapping(fixes: list[Fix]) -> bool:
    edits = sorted(edit for fix in fixes for edit in fix.edits)
    return any(one.end > other.start for one, other in pairwise(edits))


def _together(fixes: list[Fix]) -> Fix:
    first = fixes[0]
    edits = tuple(sorted(edit for fix in fixes for edit in fix.edits))
    default = "; ".join(dict.fromkeys(fix.default for fix in fixes if fix.default)) or None
    message = "; ".join(dict.fromkeys(fix.message for fix in fixes))
    return Fix(NAME, first.mode, first.safety, edits, message, first.function, default)

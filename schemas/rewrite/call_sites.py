"""Calls and registrations in other files of a kernel that now takes SymInts, changed to its new name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tree_sitter import Node

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context
from ...codemods.model.source_file import SourceFile
from ...cpp.analysis.file.file_analysis import FileAnalysis, knowledge
from ...cpp.analysis.file.overloads import required, resolve_overload
from ...cpp.analysis.file.sources import Seed
from ...cpp.syntax.tree import arguments
from ...cpp.syntax.types import LISTS, Type, read_type
from ..analysis.sources import Mention
from .yaml_edits import Renamed

_MACRO = re.compile(rb"OP_DECOMPOSE2?\(\Z")
_DECOMPOSED = re.compile(rb"OP_DECOMPOSE2?\((\w+)(?:,\s*(\w+))?\);")
_REACH = 20


def mentioned(
    source: SourceFile,
    mention: Mention,
    seeds: Sequence[Seed],
    renamed: Sequence[Renamed],
    home: FileAnalysis,
    context: Context,
) -> list[Edit] | None:
    """Return the edits at a mention of one of the ``seeds``, which ``home`` defines.

    Return None if the mention cannot be followed.
    """
    macro = _MACRO.search(source.content, max(0, mention.start - _REACH), mention.start)
    if macro is not None:
        return _registered(source.content, macro.start(), renamed)
    there = knowledge(source, context)
    call = _call(there, mention)
    if call is None:
        return None
    passed = arguments(call)
    kinds = [there.types.type_of(value) for value in passed]
    candidates = [(own, required(home.model, home.api, own)) for own in home.model.named(mention.name)]
    called = resolve_overload(candidates, kinds)
    seed = next((one for one in seeds if one.function in called), None)
    if not called or (seed is not None and len(called) > 1):
        return None
    if seed is None:
        return []
    assert seed.expected is not None
    edits = [Edit(mention.start, mention.start + len(mention.name), seed.expected.name.encode())]
    for value, kind, own, (written, _) in zip(
        passed, kinds, seed.function.parameters, seed.expected.parameters, strict=False
    ):
        if read_type(written) not in LISTS or own.type not in (Type.INT_REF, Type.INT_VEC):
            continue
        if value.type == "initializer_list":
            continue
        if kind not in (Type.INT_REF, Type.INT_VEC):
            return None
        edits.append(Edit(value.start_byte, value.start_byte, b"c10::fromIntArrayRefSlow("))
        edits.append(Edit(value.end_byte, value.end_byte, b")"))
    return edits


def _registered(content: bytes, start: int, renamed: Sequence[Renamed]) -> list[Edit] | None:
    """Return the edit that replaces functorch's macro by its expansion with the new kernel.

    The macro itself always registers the function of at::native with the operator's own name. The result is None if the
    macro does not parse, and empty if its operator has no new kernel.
    """
    whole = _DECOMPOSED.match(content, start)
    if whole is None:
        return None
    operator = whole[1] + (b"." + whole[2] if whole[2] else b"")
    new = next((one.new for one in renamed if one.operator == operator.decode()), None)
    if new is None:
        return []
    text = b'm.impl("%s", native::%s);' % (operator, new.encode())
    return [Edit(start, whole.end(), text)]


def _call(there: FileAnalysis, mention: Mention) -> Node | None:
    node = there.model.tree.root.descendant_for_byte_range(mention.start, mention.start + len(mention.name))
    while node is not None and node.parent is not None and node.parent.type == "qualified_identifier":
        node = node.parent
    call = None if node is None else node.parent
    if node is None or call is None or call.type != "call_expression":
        return None
    called = call.child_by_field_name("function")
    return call if called is not None and called.id == node.id else None

"""The part of a C++ file that compiles against the installed torch, where the whole file does not.

A file of another release, or one for an optional library, mentions names that this torch's headers lack. The
definitions with such errors are omitted, and those that use them. Every line keeps its number. A function is omitted
with all its overloads, so that no call means another function than in the whole file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from ....cpp.syntax.functions import FunctionDeclaration, function_declarations
from ....cpp.syntax.tree import tree_of

_ROUNDS = 20
_SCOPES = frozenset(
    {
        "translation_unit", "namespace_definition", "declaration_list", "linkage_specification", "preproc_if",
        "preproc_ifdef", "preproc_else", "preproc_elif",
    }
)  # fmt: skip
_KEPT = frozenset(
    {"comment", "preproc_def", "preproc_function_def", "preproc_call", "identifier", "namespace_identifier"}
)
"""Kinds of nodes that are never left out: without a macro, a conditional may silently mean something else."""
_ERROR = re.compile(r": (?:fatal )?error: ")
_SOURCE = re.compile(r"\bfrom |required from|requested here|in expansion of macro")
"""Words in which g++ and clang++ lead from a line of a header or macro to the line that uses it."""
_WORD = re.compile(rb"\w+")


@dataclass(frozen=True)
class PartialUnit:
    """Definitions that are left out of a file, by their text up to the body."""

    omitted: tuple[str, ...] = ()

    def of(self, content: bytes) -> bytes:
        """Return ``content`` with the omitted definitions replaced by spaces."""
        blank = bytearray(content)
        for one in _definitions(content):
            if one.heading in self.omitted:
                blank[one.start : one.end] = re.sub(rb"[^\n]", b" ", content[one.start : one.end])
        return bytes(blank)

    def omits_the_same(self, before: bytes, after: bytes) -> bool:
        """Return whether something is omitted, and a change is outside of it."""
        return bool(self.omitted) and self._text(before) == self._text(after)

    def _text(self, content: bytes) -> list[bytes]:
        kept = (one for one in _definitions(content) if one.heading in self.omitted)
        return sorted(content[one.start : one.end] for one in kept)


def partial_unit(content: bytes, name: str, errors: Callable[[bytes], str]) -> PartialUnit:
    """Return the part of a file that compiles, with nothing omitted if there is none or if the whole file compiles.

    ``errors`` compiles a text under the ``name`` of the file and returns what the compiler printed, or "".
    """
    part = PartialUnit()
    for _ in range(_ROUNDS):
        printed = errors(part.of(content))
        if not printed:
            return part
        left = _omit(_definitions(part.of(content)), _error_lines(printed, name))
        if not left:
            break
        part = PartialUnit((*part.omitted, *left))
    return PartialUnit()


@dataclass(frozen=True)
class _Definition:
    """A definition or include at namespace level. ``internal`` means that no header can declare its ``name``."""

    heading: str
    start: int
    end: int
    lines: range
    name: str
    internal: bool
    words: frozenset[bytes]


def _definitions(content: bytes) -> list[_Definition]:
    tree = tree_of(content)
    functions = {one.node.end_byte: one for one in function_declarations(tree) if one.body is not None}
    return [_definition(node, functions.get(node.end_byte), content) for node in _at_namespace_level(tree.root)]


def _at_namespace_level(node: Node) -> Iterator[Node]:
    for child in node.named_children:
        if child.type in _SCOPES:
            yield from _at_namespace_level(child)
        elif child.type not in _KEPT:
            yield child


def _definition(node: Node, function: FunctionDeclaration | None, content: bytes) -> _Definition:
    text = content[node.start_byte : node.end_byte]
    body = node.end_byte if function is None or function.body is None else function.body.start_byte
    heading = b" ".join(content[node.start_byte : body].split()).decode(errors="replace")
    name, internal = "", False
    if function is not None:
        name = f"{function.macro}({function.name})" if function.macro else function.unqualified
        internal = function.static or function.around.unnamed or function.around.template
    # A directive ends behind its line.
    last = content.count(b"\n", 0, node.start_byte + len(text.rstrip())) + 1
    lines = range(node.start_point[0] + 1, last + 1)
    return _Definition(heading, node.start_byte, node.end_byte, lines, name, internal, frozenset(_WORD.findall(text)))


def _omit(definitions: Sequence[_Definition], errors: Sequence[Sequence[int]]) -> list[str]:
    """Return the headings of the definitions with errors, of their overloads, and of those that use them."""
    blamed = (next((one.heading for line in lines for one in definitions if line in one.lines), "") for lines in errors)
    out = dict.fromkeys(filter(None, blamed))
    while True:
        gone = [one for one in definitions if one.heading in out]
        names = {one.name for one in gone if one.name}
        used = {one.name.encode() for one in gone if one.internal and one.name}
        more = [
            one.heading for one in definitions if one.heading not in out and (one.name in names or one.words & used)
        ]
        if not more:
            return list(out)
        out |= dict.fromkeys(more)


def _error_lines(printed: str, name: str) -> list[list[int]]:
    """Return the lines of the file that each error may be caused by, the likeliest first."""
    here = re.compile(rf"(?:^|[\s/]){re.escape(name)}:(\d+)")
    found: list[list[int]] = []
    above: list[int] = []
    for line in printed.splitlines():
        place = here.search(line)
        number = [int(place[1])] if place else []
        if _ERROR.search(line):
            found.append([*(number if place and place.start() < line.find("error: ") else []), *above])
            above = []
        elif ": note: " in line and not _SOURCE.search(line):
            above = []
        elif number and _SOURCE.search(line):
            (found[-1] if ": note: " in line and found else above).extend(number)
    return found

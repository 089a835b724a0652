"""The part of a C++ file that compiles against the installed torch, where the whole file does not.

A file of another release, or one for an optional library, mentions names that this torch's headers lack. The
definitions with such errors are omitted, and those that use them. Every line keeps its number. A function is omitted
with all its overloads and unqualified callers, so that no call means another function than in the whole file.

If this torch has no named dimensions, statements that only handle them are omitted, not their functions.

Schemas and classes that a file of torch registers are omitted too. The installed torch has registered them, and a
second registration ends the process that loads the file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tree_sitter import Node

from ....cpp.syntax.functions import FunctionDeclaration, function_declarations
from ....cpp.syntax.tree import ancestors, every, tree_of

_ROUNDS = 20
_SCOPES = frozenset(
    {
        "translation_unit", "namespace_definition", "declaration_list", "linkage_specification", "preproc_if",
        "preproc_ifdef", "preproc_else", "preproc_elif",
    }
)  # fmt: skip
_MACROS = ("preproc_def", "preproc_function_def")
_KEPT = frozenset(
    {"comment", *_MACROS, "preproc_call", "identifier", "namespace_identifier", "nested_namespace_specifier"}
)
"""Kinds of nodes that are never left out: without a macro, a conditional may silently mean something else."""
_ERROR = re.compile(r": (?:fatal )?error: ")
_SOURCE = re.compile(r"\bfrom |required from|requested here|in expansion of macro")
"""Words in which g++ and clang++ lead from a line of a header or macro to the line that uses it."""
_WORD = re.compile(rb"\w+")
_NAMES_FUNCTION = re.compile(rb"(?:at::)?namedinference::\w+")
_NAMES_GUARD = re.compile(rb"(?:at::)?NoNamesGuard")
_ACCESSOR = re.compile(rb"[\w.]+\.\w*[^\W_]\(\)|std::get<\d>\(\w+\)")
"""A call of a method without arguments that changes nothing in place, or of an element of a tuple."""
_NAMES_HEADER = re.compile(r"#include\b.*\bATen/\S*NamedTensor\w*\.h")
_CALLED = re.compile(rb"(?:\bnative::|(?<!->)(?<![\w:.]))(\w+)\s*[(<]")
"""Names of functions in calls that search the namespace of the file or those of the arguments."""
_OF_TORCH = re.compile(rb"\bnamespace\s+at\b")
_REGISTERS = re.compile(rb"\bTORCH_LIBRARY(?:_FRAGMENT)?\s*\(|\btorch::(?:selective_)?class_\s*<")


@dataclass(frozen=True)
class PartialUnit:
    """Definitions that are left out of a file, by their text up to the body."""

    omitted: tuple[str, ...] = ()

    def texts(self, content: bytes) -> tuple[str, ...]:
        """Return the omitted definitions, and the omitted statements in the other definitions of ``content``."""
        gone = [one for one in _definitions(content) if one.heading in self.omitted]
        left = [span for span in self._statements(content) if not any(one.start <= span[0] < one.end for one in gone)]
        return (*self.omitted, *(b" ".join(content[start:end].split()).decode(errors="replace") for start, end in left))

    def of(self, content: bytes) -> bytes:
        """Return ``content`` with the omitted definitions replaced by spaces."""
        blank = bytearray(content)
        for start, end in self._spans(content):
            blank[start:end] = re.sub(rb"[^\n]", b" ", content[start:end])
        return bytes(blank)

    def omits_the_same(self, before: bytes, after: bytes) -> bool:
        """Return whether something is omitted, and a change is outside of it and uses none of it."""
        if not self.omitted or self._text(before) != self._text(after):
            return False
        return set(_with_users(_definitions(after), self.omitted)) == set(self.omitted)

    def _text(self, content: bytes) -> list[bytes]:
        return sorted(content[start:end] for start, end in self._spans(content))

    def _spans(self, content: bytes) -> Iterator[tuple[int, int]]:
        yield from ((one.start, one.end) for one in _definitions(content) if one.heading in self.omitted)
        yield from self._statements(content)

    def _statements(self, content: bytes) -> tuple[tuple[int, int], ...]:
        return _name_statements(content) if any(map(_NAMES_HEADER.match, self.omitted)) else ()


def partial_unit(content: bytes, name: str, errors: Callable[[bytes], str]) -> PartialUnit:
    """Return the part of a file that compiles and can be loaded beside torch, or all of it if there is none.

    ``errors`` compiles a text under the ``name`` of the file and returns what the compiler printed, or "".
    """
    part = loadable_unit(content)
    for _ in range(_ROUNDS):
        printed = errors(part.of(content))
        if not printed:
            return part
        blamed = _blamed(part.of(content), _error_lines(printed, name))
        if not blamed:
            break
        part = PartialUnit(tuple(_with_users(_definitions(content), [*part.omitted, *blamed])))
    return PartialUnit()


def loadable_unit(content: bytes) -> PartialUnit:
    """Return a file of torch, which uses the namespace ``at``, without the schemas and classes that it registers."""
    if not _OF_TORCH.search(content) or not _REGISTERS.search(content):
        return PartialUnit()
    definitions = _definitions(content)
    registering = [one.heading for one in definitions if _REGISTERS.search(content, one.start, one.end)]
    return PartialUnit(tuple(_with_users(definitions, registering)))


@dataclass(frozen=True)
class _Definition:
    """A declaration, definition or include at namespace level.

    ``names`` are what it declares. A header can declare a ``function`` too unless it is ``internal``.
    """

    heading: str
    start: int
    end: int
    lines: range
    names: frozenset[bytes]
    function: bool
    internal: bool
    words: frozenset[bytes]
    called: frozenset[bytes]


@lru_cache(maxsize=8)
def _definitions(content: bytes) -> tuple[_Definition, ...]:
    tree = tree_of(content)
    functions = {one.node.end_byte: one for one in function_declarations(tree)}
    return tuple(_definition(node, functions.get(node.end_byte), content) for node in _at_namespace_level(tree.root))


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
    if function is None:
        names = frozenset(_declared(node))
    else:
        name = f"{function.macro}({function.name})" if function.macro else function.unqualified
        names = frozenset({name.encode()})
    # An include's words are those of its path.
    using = b"" if node.type == "preproc_include" else text
    internal = function is not None and (function.static or function.around.unnamed or function.around.template)
    return _Definition(
        heading,
        node.start_byte,
        node.end_byte,
        _lines(node, content),
        names,
        function is not None,
        internal,
        frozenset(_WORD.findall(using)),
        frozenset(_CALLED.findall(using)),
    )


@lru_cache(maxsize=8)
def _name_statements(content: bytes) -> tuple[tuple[int, int], ...]:
    """Return the spans, each up to its semicolon, of the statements that only handle the names of dimensions.

    A variable that they declare is used by no other statement of its block.
    """
    blocks: dict[int, tuple[Node, list[Node]]] = {}
    for node in every(tree_of(content).root, "declaration", "expression_statement"):
        block = next((one for one in ancestors(node) if one.type == "compound_statement"), None)
        if block is not None:
            blocks.setdefault(block.id, (block, []))[1].append(node)
    found = []
    for block, here in blocks.values():
        taken = [node for node in here if _handles_names(node)]
        variables = {name for node in taken if node.type == "declaration" for name in _declared(node)}
        taken += [node for node in here if node not in taken and _resets(node) in variables]
        words = Counter(_WORD.findall(block.text or b""))
        words.subtract(_WORD.findall(b"\n".join(node.text or b"" for node in taken)))
        if not any(words[name] for name in variables):
            found += [(node.start_byte, node.end_byte - 1) for node in taken]
    return tuple(found)


def _handles_names(node: Node) -> bool:
    """Return whether a declaration of one variable, or an expression statement, concerns nothing but names."""
    if node.type == "expression_statement":
        return bool(node.named_children) and _asks_names(node.named_children[0])
    declarators, kind = node.children_by_field_name("declarator"), node.child_by_field_name("type")
    if len(declarators) != 1 or kind is None:
        return False
    value = declarators[0].child_by_field_name("value")
    if value is not None:
        return _asks_names(value)
    return declarators[0].type == "identifier" and bool(_NAMES_GUARD.fullmatch(kind.text or b""))


def _asks_names(value: Node) -> bool:
    """Return whether an expression is a call of `namedinference` with arguments that have no effect."""
    function, given = value.child_by_field_name("function"), value.child_by_field_name("arguments")
    if function is None or given is None or not _NAMES_FUNCTION.fullmatch(function.text or b""):
        return False
    effects = every(given, "assignment_expression", "update_expression", "lambda_expression")
    return not effects and all(_ACCESSOR.fullmatch(call.text or b"") for call in every(given, "call_expression"))


def _resets(node: Node) -> bytes:
    """Return the guard of a statement ``guard.reset();``, or empty bytes."""
    name, _, rest = (node.text or b"").partition(b".")
    return name if rest == b"reset();" else b""


def _lines(node: Node, content: bytes) -> range:
    # A directive ends behind its line.
    text = content[node.start_byte : node.end_byte].rstrip()
    return range(node.start_point[0] + 1, content.count(b"\n", 0, node.start_byte + len(text)) + 2)


def _declared(node: Node) -> Iterator[bytes]:
    """Yield the names of the types, aliases and variables that a node at namespace level declares."""
    if node.type in ("template_declaration", "parenthesized_declarator") and node.named_children:
        yield from _declared(node.named_children[-1])
    if node.type == "using_declaration" and node.text:
        yield from _WORD.findall(node.text)[-1:]
    for field in ("name", "type", "declarator"):
        for child in node.children_by_field_name(field):
            if child.type in ("identifier", "type_identifier"):
                # The type of a variable is a use.
                if field != "type" and child.text:
                    yield child.text
            elif field != "type" or child.child_by_field_name("body") is not None:
                yield from _declared(child)
    for one in every(node, "enumerator") if node.type == "enum_specifier" else ():
        yield from _declared(one)


def _blamed(content: bytes, errors: Sequence[Sequence[int]]) -> list[str]:
    """Return the headings of the definitions with errors. An error inside a macro is one of all its users."""
    definitions = _definitions(content)
    macros = every(tree_of(content).root, *_MACROS)
    found: dict[str, None] = {}
    for lines in errors:
        hit = next((one.heading for line in lines for one in definitions if line in one.lines), None)
        if hit is not None:
            found[hit] = None
            continue
        at_fault = [node for node in macros if set(lines) & set(_lines(node, content))]
        names = _with_macros(at_fault, macros)
        found |= dict.fromkeys(one.heading for one in definitions if one.words & names)
    return list(found)


def _with_macros(at_fault: Sequence[Node], macros: Sequence[Node]) -> set[bytes]:
    """Return the names of macros, and of those that expand to one of them."""
    found = {name for name, _ in map(_macro, at_fault)}
    while more := {name for name, words in map(_macro, macros) if found & words and name not in found}:
        found |= more
    return found


def _macro(node: Node) -> tuple[bytes, frozenset[bytes]]:
    """Return the name of a macro, empty if it has none, and the words behind it."""
    _, *words = _WORD.findall(node.text or b"")
    return (words[0] if words else b""), frozenset(words[1:])


def _with_users(definitions: Sequence[_Definition], headings: Sequence[str]) -> list[str]:
    """Return the headings of definitions, of their overloads, and of those that use them."""
    out = dict.fromkeys(headings)
    while True:
        gone = [one for one in definitions if one.heading in out]
        functions = {name for one in gone if one.function for name in one.names}
        used = {name for one in gone if one.internal or not one.function for name in one.names}
        more = [
            one.heading
            for one in definitions
            if one.heading not in out
            and (one.words & used or one.called & functions or (one.function and one.names & functions))
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

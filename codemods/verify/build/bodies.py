"""From a changed C++ text to the functions that run what changed, by their bodies and the names in them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

_SILENT = re.compile(rb'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL)
_DIRECTIVE = re.compile(rb"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", re.MULTILINE)
_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include[^\n]*", re.MULTILINE)
_SCOPE = re.compile(rb"\b(?:namespace|extern)\b[^()]*\Z")
_NAMED = re.compile(rb"(\w+)\s*\(\s*(\w*)")
_WORD = re.compile(rb"\w+")


def functions_reaching(before: bytes, after: bytes) -> frozenset[str] | None:
    """Functions of the text after that differ from the text before, or that mention one that does, over any distance.

    None when something outside function bodies changed (a macro, a constant, a class): that may reach anything.
    """
    old, old_rest = _definitions(before)
    new, new_rest = _definitions(after)
    if old_rest != new_rest:
        return None
    reached = {name for name in {*old, *new} if old.get(name) != new.get(name)}
    while True:
        callers = {name for name, bodies in new.items() if name not in reached and _words(bodies) & reached}
        if not callers:
            return frozenset(reached)
        reached |= callers


def _words(bodies: tuple[bytes, ...]) -> set[str]:
    return {word.decode() for body in bodies for word in _WORD.findall(_SILENT.sub(b" ", body))}


def _definitions(content: bytes) -> tuple[Mapping[str, tuple[bytes, ...]], bytes]:
    """The texts of all definitions by name, and the text outside them, both without layout."""
    # Includes only bring names in: the compiler says when one is missing.
    text = _INCLUDE.sub(lambda match: b" " * len(match[0]), content)
    quiet = _SILENT.sub(lambda match: b" " * len(match[0]), text)
    quiet = _DIRECTIVE.sub(lambda match: b" " * len(match[0]), quiet)
    found: dict[str, list[bytes]] = defaultdict(list)
    rest: list[bytes] = []
    start = at = 0
    while at < len(quiet):
        sign = quiet[at : at + 1]
        if sign in (b";", b"}") or (sign == b"{" and _SCOPE.search(quiet[start:at])):
            rest.append(text[start : at + 1])
            start = at = at + 1
        elif sign == b"{":
            end = _closing(quiet, at)
            name = _name(quiet[start:at])
            if name:
                found[name].append(_plain(text[start:end]))
            else:
                rest.append(text[start:end])
            start = at = end
        else:
            at += 1
    rest.append(text[start:])
    return {name: tuple(bodies) for name, bodies in found.items()}, b" ".join(_plain(piece) for piece in rest if piece)


def _closing(quiet: bytes, at: int) -> int:
    depth = 0
    for position in range(at, len(quiet)):
        depth += (quiet[position] == 0x7B) - (quiet[position] == 0x7D)
        if depth == 0:
            return position + 1
    return len(quiet)


def _name(head: bytes) -> str:
    """The function that ``head`` starts, in ``TORCH_IMPL_FUNC(name)(…)`` the argument; empty: it is none."""
    match = _NAMED.search(head)
    if match is None or re.search(rb"\b(?:class|struct|enum|union)\s+\w+\s*(?::|$)", head):
        return ""
    return (match[2] if match[1].isupper() else match[1]).decode()


def _plain(text: bytes) -> bytes:
    without = re.sub(rb"//[^\n]*|/\*.*?\*/", b" ", text, flags=re.DOTALL)
    return b" ".join(without.split())

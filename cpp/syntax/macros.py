"""Macros as text: their definitions in a file, and the expansion of a use."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_DEFINE = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\([^()]*\))?((?:[^\n\\]|\\\r?\n|\\.)*)", re.MULTILINE
)  # fmt: skip
_SPLICE = re.compile(r"\\[ \t]*\r?\n")
_PIECE = re.compile(r'"(?:[^"\\\n]|\\.)*"|[ \t]*##[ \t]*|#[ \t]*[A-Za-z_]\w*|\b[A-Za-z_]\w*\b')
_REST = "__VA_ARGS__"


@dataclass(frozen=True)
class Macro:
    """A macro definition. ``parameters`` is None for a macro that is used without parentheses."""

    name: str
    parameters: tuple[str, ...] | None
    body: str

    def expand(self, arguments: Sequence[str] = ()) -> str:
        """Return the body with the arguments substituted, joined by ``##`` and quoted by ``#``, without rescanning."""
        given = dict(zip(self.parameters or (), arguments, strict=False))
        if self.parameters and self.parameters[-1] == _REST:
            given[_REST] = ", ".join(arguments[len(self.parameters) - 1 :])

        def replaced(piece: re.Match[str]) -> str:
            word = piece[0]
            if word.strip() == "##":
                return ""
            if word.startswith("#"):
                return '"' + given.get(word[1:].strip(), word[1:]).strip() + '"'
            return given.get(word, word)

        return _PIECE.sub(replaced, self.body)


def definitions(text: str) -> dict[str, Macro]:
    """Return the macros that a file defines, by name. The last of several definitions counts."""
    found = {}
    for match in _DEFINE.finditer(text):
        name, listed, body = match.groups()
        parameters = None
        if listed is not None:
            words = (word.strip() for word in listed[1:-1].split(","))
            parameters = tuple(_REST if word.endswith("...") else word for word in words if word)
        found[name] = Macro(name, parameters, _SPLICE.sub(" ", body).strip())
    return found


def reaching(macros: Mapping[str, Macro], words: re.Pattern[str]) -> dict[str, Macro]:
    """Return the macros whose body, or the body of a macro that they use, contains a match of ``words``."""
    found = {name: macro for name, macro in macros.items() if words.search(macro.body)}
    while True:
        names = re.compile(r"\b(?:" + "|".join(map(re.escape, found)) + r")\b") if found else None
        more = {
            name: macro
            for name, macro in macros.items()
            if name not in found and names is not None and names.search(macro.body)
        }
        if not more:
            return found
        found |= more

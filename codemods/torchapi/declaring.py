"""The text of an operator's schema, read into its parts with the place of each: what an edit of a schema needs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_HEAD = re.compile(r"\s*(?:(?P<namespace>\w+)::)?(?P<name>\w*)(?:\.(?P<overload>\w+))?\s*\(")
_ARROW = re.compile(r"\s*->\s*(?P<returns>\S.*?)\s*\Z", re.DOTALL)
_ARGUMENT = re.compile(
    r"\s*(?P<type>(?:[A-Za-z_][\w.:]*|\([^()]*\))(?:\([^()]*\)|!)?(?:\s*\[\d*\]|\s*\?|\([^()]*\))*)\s+(?P<name>[A-Za-z_]\w*)"
    r"(?:\s*=\s*(?P<default>\S.*?))?\s*\Z",
    re.DOTALL,
)
_WIDENED = re.compile(r"int(?P<rest>\[\d*\]\??|\?|)")
_OPENING, _CLOSING = "([{", ")]}"


class SchemaError(ValueError):
    """A text that is no schema; ``str()`` is one line that says what is wrong with it."""


@dataclass(frozen=True)
class DeclaredArgument:
    """One argument as a schema writes it; its ``type`` stands at ``start:end`` of the text."""

    name: str
    type: str
    default: str | None
    keyword_only: bool
    start: int
    end: int

    @property
    def widened(self) -> str | None:
        """The type that takes a SymInt where this one takes an ``int``; None for a type without such a twin."""
        found = _WIDENED.fullmatch(self.type)
        return None if found is None else f"SymInt{found['rest']}"


@dataclass(frozen=True)
class DeclaredSchema:
    """A schema as it is written. ``name`` is empty where the text starts with the arguments."""

    text: str
    namespace: str
    name: str
    overload: str
    arguments: tuple[DeclaredArgument, ...]
    returns: str

    @property
    def full_name(self) -> str:
        """The name with its overload, as in ``roll`` or ``add.Tensor``."""
        return f"{self.name}.{self.overload}" if self.overload else self.name

    def argument(self, name: str) -> DeclaredArgument | None:
        """The argument of that name, or None."""
        return next((one for one in self.arguments if one.name == name), None)


def read_schema(text: str) -> DeclaredSchema:
    """The parts of ``ns::f.overload(Tensor self, int n=1, *, int? m=None) -> Tensor``; raises SchemaError.

    Namespace, name and overload may be left out. Offsets are those of ``text``, which has to be ASCII, so that they
    count bytes too.
    """
    if not text.isascii():
        raise SchemaError(f"a schema is ASCII, this one is not: {_shown(text)}")
    head = _HEAD.match(text)
    if head is None:
        raise SchemaError(f"a schema starts with a name and an opening parenthesis: {_shown(text)}")
    close = _closing(text, head.end())
    arrow = _ARROW.match(text, close + 1)
    if arrow is None:
        raise SchemaError(f"a schema ends with '-> ' and what is returned: {_shown(text)}")
    arguments = tuple(_arguments(text, head.end(), close))
    names = [one.name for one in arguments]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise SchemaError(f"the schema has two arguments called {twice}: {_shown(text)}")
    return DeclaredSchema(
        text, head["namespace"] or "", head["name"], head["overload"] or "", arguments, arrow["returns"]
    )


def _arguments(text: str, start: int, end: int) -> Iterator[DeclaredArgument]:
    keyword_only = False
    for first, last in _parts(text, start, end):
        piece = text[first:last]
        if piece.strip() == "*" and not keyword_only:
            keyword_only = True
            continue
        if piece.strip() == "..." and last == end:
            continue
        found = _ARGUMENT.match(piece)
        if found is None:
            raise SchemaError(f"not an argument of a schema: '{_shown(piece)}' in {_shown(text)}")
        yield DeclaredArgument(
            found["name"],
            found["type"],
            found["default"],
            keyword_only,
            first + found.start("type"),
            first + found.end("type"),
        )


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The spans between the commas at the top of ``text[start:end]``; none where that is blank."""
    if not text[start:end].strip():
        return
    first = start
    for at in _outside(text, start, end):
        if text[at] == ",":
            yield first, at
            first = at + 1
    yield first, end


def _closing(text: str, start: int) -> int:
    at = next((at for at in _outside(text, start, len(text)) if text[at] in _CLOSING), None)
    if at is None or text[at] != ")":
        raise SchemaError(f"the parenthesis of the arguments is not closed: {_shown(text)}")
    return at


def _outside(text: str, start: int, end: int) -> Iterator[int]:
    """The places of a text that stand in no brackets and no string; stops behind a bracket that nothing opened."""
    depth, quote, escaped = 0, "", False
    for at in range(start, end):
        letter = text[at]
        if quote:
            quote = "" if letter == quote and not escaped else quote
            escaped = letter == "\\" and not escaped
        elif letter in "'\"":
            quote = letter
        elif letter in _OPENING:
            depth += 1
        elif letter in _CLOSING and depth:
            depth -= 1
        elif depth == 0:
            yield at
            if letter in _CLOSING:
                return


def _shown(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 120 else words[:117] + "..."

"""Parser of operator schemas that records the position of each part, as edits of a schema require."""

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
    """Text that is not a schema. ``str()`` is one line with the reason."""


@dataclass(frozen=True)
class DeclaredArgument:
    """Argument as a schema declares it. Its ``type`` is at ``start:end`` of the text."""

    name: str
    type: str
    default: str | None
    keyword_only: bool
    start: int
    end: int

    @property
    def widened(self) -> str | None:
        """Return the type that takes a SymInt in place of an ``int``, or None for a type without such a form."""
        found = _WIDENED.fullmatch(self.type)
        return None if found is None else f"SymInt{found['rest']}"


@dataclass(frozen=True)
class DeclaredSchema:
    """Schema as it is written. ``name`` is empty if the text starts with the arguments."""

    text: str
    namespace: str
    name: str
    overload: str
    arguments: tuple[DeclaredArgument, ...]
    returns: str

    @property
    def full_name(self) -> str:
        """Return the name with its overload, as in ``roll`` or ``add.Tensor``."""
        return f"{self.name}.{self.overload}" if self.overload else self.name

    def argument(self, name: str) -> DeclaredArgument | None:
        """Return the argument of that name, or None."""
        return next((one for one in self.arguments if one.name == name), None)


def read_schema(text: str) -> DeclaredSchema:
    """Parse ``ns::f.overload(Tensor self, int n=1, *, int? m=None) -> Tensor``. Raises SchemaError.

    Namespace, name and overload are optional. Offsets are those of ``text``, which has to be ASCII, so that they count
    bytes too.
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
    """Yield the spans between the top-level commas of ``text[start:end]``, none if it is blank."""
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
    """Yield the positions outside of brackets and strings. Stop after an unmatched closing bracket."""
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

"""Source code as coloured HTML, line by line, with changed words marked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from html import escape

Span = tuple[int, int]
"""Start and end of characters in one line."""

_WORD = re.compile(r"\w+|\s+|.", re.S)
_ALIKE = 0.35
_MOST_WORDS = 4000


@lru_cache(maxsize=64)
def coloured(path: str, text: str) -> tuple[tuple[tuple[str, str], ...], ...]:
    """Split each line (without its end) into pieces: a short class name, or "" for plain text, and the characters."""
    from pygments.lexers import get_lexer_for_filename
    from pygments.lexers.special import TextLexer
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_for_filename(path, stripnl=False, ensurenl=False)
    except ClassNotFound:
        lexer = TextLexer(stripnl=False, ensurenl=False)
    lines: list[list[tuple[str, str]]] = [[]]
    # `get_tokens` would treat a lone CR as the end of a line, and drop a byte order mark.
    for _, token, value in lexer.get_tokens_unprocessed(text):
        name = _class(str(token))
        for number, piece in enumerate(value.split("\n")):
            if number:
                lines.append([])
            if piece:
                lines[-1].append((name, piece))
    return tuple(tuple(_shown(line)) for line in lines)


def _shown(line: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the pieces with a sign for each CR, which HTML would treat as a line's end. A final CR is dropped."""
    for number, (name, text) in enumerate(line, 1):
        body = text.removesuffix("\r") if number == len(line) else text
        if body:
            yield name, body.replace("\r", "\N{SYMBOL FOR CARRIAGE RETURN}")


def html(pieces: Sequence[tuple[str, str]], marks: Sequence[Span] = ()) -> str:
    """Format one line as HTML: classes as ``<i class=…>``, marked characters as ``<b>``."""
    found = []
    at = 0
    for name, text in pieces:
        for start, end, marked in _cut(at, at + len(text), marks):
            piece = escape(text[start - at : end - at], quote=False)
            piece = f"<b>{piece}</b>" if marked else piece
            found.append(f"<i class={name}>{piece}</i>" if name else piece)
        at += len(text)
    return "".join(found)


def changed_words(old: Sequence[str], new: Sequence[str]) -> tuple[list[list[Span]], list[list[Span]]]:
    """Return the differing characters of each old and each new line, or nothing if the lines are hardly alike."""
    before, after = (_WORD.findall("\n".join(lines)) for lines in (old, new))
    nothing: tuple[list[list[Span]], list[list[Span]]] = ([[] for _ in old], [[] for _ in new])
    if not (old and new) or len(before) + len(after) > _MOST_WORDS:
        return nothing
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    if matcher.ratio() < _ALIKE:
        return nothing
    codes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    return (
        _spans(before, [(one, two) for _, one, two, _, _ in codes], len(old)),
        _spans(after, [(three, four) for _, _, _, three, four in codes], len(new)),
    )


def _spans(words: Sequence[str], ranges: Sequence[tuple[int, int]], count: int) -> list[list[Span]]:
    """Return the words in these ranges as character spans of the ``count`` lines. Blanks are never marked."""
    changed = {number for start, end in ranges for number in range(start, end)}
    found: list[list[Span]] = [[] for _ in range(count)]
    line = column = 0
    for number, word in enumerate(words):
        breaks = word.count("\n")
        if number in changed and not word.isspace():
            spans = found[line]
            if spans and spans[-1][1] == column:
                spans[-1] = (spans[-1][0], column + len(word))
            else:
                spans.append((column, column + len(word)))
        line += breaks
        column = len(word) - word.rindex("\n") - 1 if breaks else column + len(word)
    return found


def _cut(start: int, end: int, marks: Sequence[Span]) -> list[tuple[int, int, bool]]:
    pieces = []
    at = start
    for left, right in marks:
        left, right = max(left, start), min(right, end)
        if left < right:
            if at < left:
                pieces.append((at, left, False))
            pieces.append((left, right, True))
            at = right
    if at < end:
        pieces.append((at, end, False))
    return pieces


def _class(token: str) -> str:
    """Map a token type to one of a few classes, since more colours are hard to read."""
    kinds = {
        "Comment.Preproc": "p",
        "Comment": "c",
        "Literal.String.Doc": "c",
        "Literal.String": "s",
        "Literal.Number": "m",
        "Keyword.Type": "t",
        "Keyword": "k",
        "Operator.Word": "k",
        "Name.Function": "f",
        "Name.Class": "f",
        "Name.Decorator": "p",
        "Name.Builtin": "t",
    }
    return next((name for kind, name in kinds.items() if token.startswith(f"Token.{kind}")), "")

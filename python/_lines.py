"""The text of an expression on one line."""

from __future__ import annotations

import ast
import io
import itertools
import tokenize

from ._together import Unfit

_OPENING, _CLOSING = ("(", "[", "{"), (")", "]", "}")


def one_line(text: str) -> str:
    """The expression with its line breaks taken out, its strings as they are; raises Unfit where that can't be."""
    if "\n" not in text and "\r" not in text:
        return text
    lines = text.split("\n")
    tokens = _tokens(text)
    joined: list[str] = []
    commas: list[int] = []
    for last, token in itertools.pairwise(tokens):
        row, column = token.start
        if last.end[0] == row:
            joined.append(lines[row - 1][last.end[1] : token.end[1]])
            continue
        closes = token.string in _CLOSING
        if closes and last.string == ",":
            commas.append(len(joined) - 1)
        joined.append(("" if closes or last.string in _OPENING else " ") + lines[row - 1][column : token.end[1]])
    return _without_commas(joined, commas)


def _without_commas(pieces: list[str], commas: list[int]) -> str:
    """Leave out a comma behind the last argument, which a single line has no use for, where it makes no tuple."""
    for at in reversed(commas):
        without = [*pieces[:at], pieces[at].removesuffix(","), *pieces[at + 1 :]]
        if ast.dump(_parsed("".join(without))) == ast.dump(_parsed("".join(pieces))):
            pieces = without
    return "".join(pieces)


def _parsed(text: str) -> ast.expr:
    return ast.parse(f"({text})", mode="eval").body


def _tokens(text: str) -> list[tokenize.TokenInfo]:
    """What stands in ``text``, from a token at its very beginning on, without what ends its lines."""
    start = tokenize.TokenInfo(tokenize.OP, "(", (1, 0), (1, 0), "")
    found = [start]
    if "\r" in text.replace("\r\n", "\n"):
        raise Unfit("multi-line", "a carriage return stands alone inside the condition")
    try:
        for token in tokenize.generate_tokens(io.StringIO(f"({text})").readline):
            if token.type == tokenize.COMMENT:
                raise Unfit("comment-inside", "a comment stands inside the condition")
            if "\n" in token.string.strip("\r\n"):
                raise Unfit("multi-line", "a string goes over the end of a line")
            if token.type not in (tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER):
                found.append(_shifted(token))
    except tokenize.TokenError as error:
        raise Unfit("multi-line", "the condition's lines can't be told apart") from error
    return [start, *found[2:-1]]


def _shifted(token: tokenize.TokenInfo) -> tokenize.TokenInfo:
    """The token where it stands in the text, which was read behind a parenthesis."""

    def back(place: tuple[int, int]) -> tuple[int, int]:
        return place[0], place[1] - (place[0] == 1)

    return token._replace(start=back(token.start), end=back(token.end))

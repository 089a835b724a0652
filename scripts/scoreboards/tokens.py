"""C++ as tokens, without white space, comments and ``c10::`` before symbolic types."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)
    |(?P<word>[A-Za-z_]\w*)
    |(?P<number>\.?\d(?:[\w.']|[eE][+-])*)
    |(?P<text>(?:u8|[LuU])?R?"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
    |(?P<sign>::|->\*?|<<=|\.\.\.|<=>|[-+*/%&|^=!<>]=|&&|\|\||\+\+|--|<<|.)""",
    re.VERBOSE | re.DOTALL,
)
_SYMBOLIC = re.compile(
    r"Sym[A-Z]\w*|sym_\w+|\w+_symint(?:_\w+)?|TORCH_(?:SYM_CHECK|MAYBE_SYM_CHECK|GUARD_\w+|STATICALLY_KNOWN_TRUE)"
    r"|guard_(?:int|bool|size_oblivious|or_false|or_true)|expect_true|expect_size|multiply_integers|asIntArrayRefSlow\w*"
)
_QUALIFIED = frozenset({"c10", "at"})
_CONCRETE_TYPES = frozenset({"int64_t", "IntArrayRef", "DimVector", "int", "double"})
_ENDS = frozenset({";", "{", "}"})


@dataclass(frozen=True)
class Token:
    """A token and the offset at which it starts."""

    text: str
    start: int


@dataclass(frozen=True)
class Hunk:
    """Replacement of the tokens ``start:end`` of the old text by ``new``."""

    start: int
    end: int
    old: tuple[str, ...]
    new: tuple[str, ...]

    def overlaps(self, other: Hunk) -> bool:
        """Return whether both change the same tokens, or insert at the same place."""
        if self.start == self.end or other.start == other.end:
            return self.start <= other.end and other.start <= self.end
        return self.start < other.end and other.start < self.end

    def __str__(self) -> str:
        return f"{spelled(self.old) or '(nothing)'} → {spelled(self.new) or '(nothing)'}"


def tokens(text: str) -> list[Token]:
    """Return the tokens of a text. ``c10::`` and ``at::`` before a symbolic type are omitted."""
    found: list[Token] = []
    at = 0
    for match in _TOKEN.finditer(text):
        if match.lastgroup != "skip":
            word = match[0]
            if word.startswith("Sym") and len(found) > 1 and found[-1].text == "::" and found[-2].text in _QUALIFIED:
                del found[-2:]
            found.append(Token(word, at))
        at += len(match[0].encode())
    return found


def is_symbolic(word: str) -> bool:
    """Return whether a token is only used for symbolic sizes."""
    return _SYMBOLIC.fullmatch(word) is not None


def hunks(old: list[Token], new: list[Token]) -> list[Hunk]:
    """Return the differences from the old tokens to the new ones."""
    before, after = [token.text for token in old], [token.text for token in new]
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    return [
        Hunk(i, j, tuple(before[i:j]), tuple(after[k:m])) for tag, i, j, k, m in matcher.get_opcodes() if tag != "equal"
    ]


def symbolic_hunks(old: list[Token], new: list[Token]) -> list[Hunk]:
    """Return the hunks that add a symbolic token, or replace a concrete type by ``auto`` in the same statement."""
    found = hunks(old, new)
    bringing = [hunk for hunk in found if _brings(hunk)]
    statements = {statement(old, hunk.start) for hunk in bringing}
    return [
        hunk for hunk in found if hunk in bringing or (_gives_way(hunk) and statement(old, hunk.start) in statements)
    ]


def statement(listed: list[Token], at: int) -> tuple[int, int]:
    """Return the token range between the nearest ``;``, ``{`` or ``}`` around a place."""
    start = at
    while start > 0 and listed[start - 1].text not in _ENDS:
        start -= 1
    end = at
    while end < len(listed) and listed[end].text not in _ENDS:
        end += 1
    return start, end


def applied(old: list[Token], changes: list[Hunk]) -> list[str]:
    """Apply hunks to the old tokens."""
    result = [token.text for token in old]
    for hunk in sorted(changes, key=lambda hunk: hunk.start, reverse=True):
        result[hunk.start : hunk.end] = hunk.new
    return result


def spelled(words: tuple[str, ...]) -> str:
    """Join tokens in approximately normal spelling."""
    text = " ".join(words)
    text = re.sub(r"\s*(::|\.|->)\s*", r"\1", text)
    return re.sub(r"\s+([(),;\]>])|([(\[<])\s+", r"\1\2", text).replace(" (", "(").replace(" <", "<")


def _brings(hunk: Hunk) -> bool:
    then = [word for word in hunk.old if is_symbolic(word)]
    now = [word for word in hunk.new if is_symbolic(word)]
    for word in then:
        if word in now:
            now.remove(word)
    return bool(now)


def _gives_way(hunk: Hunk) -> bool:
    return bool(_CONCRETE_TYPES & set(hunk.old)) and "auto" in hunk.new

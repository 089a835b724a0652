"""Textual conversion of symbolic C++ to concrete C++, word by word, for people's or the tool's code."""

from __future__ import annotations

import re
from collections.abc import Callable

_SIGNS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "and": "&&", "or": "||"}
_MACRO = re.compile(r"\b(?:TORCH_GUARD_SIZE_OBLIVIOUS|C10_AS_INTARRAYREF_SLOW)\(")
_COMPARISON = re.compile(r"\s*\.\s*sym_(eq|ne|lt|le|gt|ge|and|or)\(")
_CONSTRUCTOR = re.compile(r"\b(?:c10::)?SymInt\(")
_PLAIN = re.compile(r"-?\w+(?:\(\w*\))?|std::move\(\w+\)")
_NAME = re.compile(r"(\.|->|(?<!\w)(?:::)?(?:at|torch)::)?\b(\w+?)_symint(?=_outf?\b|\b)")
_WORDS = (
    (re.compile(r"(?<=[.>])sym_(numel|sizes|size|strides|stride|storage_offset|nbytes)\b"), r"\1"),
    (re.compile(r"\s*\.\s*guard_int\(__FILE__, __LINE__\)"), ""),
    (re.compile(r"\s*\.\s*expect_true\(__FILE__, __LINE__\)"), ""),
    (re.compile(r"\bTORCH_SYM_CHECK\b"), "TORCH_CHECK"),
    (re.compile(r"\bconst (?:c10::)?SymInt\s*&"), "int64_t"),
    (re.compile(r"\b(?:c10::|at::)?(Optional)?Sym(IntArrayRef|DimVector)\b"), lambda m: (m[1] or "") + m[2]),
    (re.compile(r"\b(?:c10::)?SymInt\b"), "int64_t"),
    (re.compile(r"\b(?:c10::)?SymFloat\b"), "double"),
)  # fmt: skip


def concrete(text: str, defined: frozenset[str] = frozenset()) -> str:
    """Make the symbolic names, calls, types and checks of the text concrete.

    ``foo_symint`` is kept if the file also defines a ``foo``, which is then in ``defined``. An operator call
    ``x.foo_symint`` or ``at::foo_symint`` is always converted, since it would not compile on integers.
    """
    text = _unwrapped(text, _MACRO, lambda inside: inside)
    text = _unwrapped(text, _CONSTRUCTOR, lambda inside: inside if _PLAIN.fullmatch(inside) else f"int64_t({inside})")
    text = _NAME.sub(
        lambda match: match[0] if not match[1] and match[2] in defined else (match[1] or "") + match[2], text
    )
    text = _compared(text)
    for pattern, plain in _WORDS:
        text = pattern.sub(plain, text)
    return text


def _unwrapped(text: str, head: re.Pattern[str], instead: Callable[[str], str]) -> str:
    at = 0
    while (match := head.search(text, at)) is not None:
        end = _closing(text, match.end())
        new = instead(text[match.end() : end])
        text = text[: match.start()] + new + text[end + 1 :]
        at = match.start()
    return text


def _compared(text: str) -> str:
    while (match := _COMPARISON.search(text)) is not None:
        end = _closing(text, match.end())
        text = f"{text[: match.start()]} {_SIGNS[match[1]]} {text[match.end() : end]}{text[end + 1 :]}"
    return text


def _closing(text: str, at: int) -> int:
    depth = 1
    while depth:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at - 1

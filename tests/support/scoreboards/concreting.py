"""Symbolic C++ made concrete again, word by word: the way back from what people or the tool wrote."""

from __future__ import annotations

import re
from collections.abc import Callable

_SIGNS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "and": "&&", "or": "||"}
_MACRO = re.compile(r"\b(?:TORCH_GUARD_SIZE_OBLIVIOUS|C10_AS_INTARRAYREF_SLOW)\(")
_COMPARISON = re.compile(r"\s*\.\s*sym_(eq|ne|lt|le|gt|ge|and|or)\(")
_CONSTRUCTOR = re.compile(r"\b(?:c10::)?SymInt\(")
_PLAIN = re.compile(r"-?\w+(?:\(\w*\))?|std::move\(\w+\)")
_CALL = re.compile(r"(?P<before>\.|->|\bat::|(?<![\w:>.]))(?P<name>\w+?)_symint(?P<after>_out|_outf)?(?=\()")
_WORDS = (
    (re.compile(r"(?<=[.>])sym_(numel|sizes|size|strides|stride|storage_offset|nbytes)\b"), r"\1"),
    (re.compile(r"\s*\.\s*guard_int\(__FILE__, __LINE__\)"), ""),
    (re.compile(r"\bTORCH_SYM_CHECK\b"), "TORCH_CHECK"),
    (re.compile(r"\bconst (?:c10::)?SymInt\s*&"), "int64_t"),
    (re.compile(r"\b(?:c10::|at::)?(Optional)?Sym(IntArrayRef|DimVector)\b"), lambda m: (m[1] or "") + m[2]),
    (re.compile(r"\b(?:c10::)?SymInt\b"), "int64_t"),
    (re.compile(r"\b(?:c10::)?SymFloat\b"), "double"),
)  # fmt: skip


def concrete(text: str) -> str:
    """The text with its symbolic calls, types and checks made concrete; names of functions defined in it stay."""
    defined = set(re.findall(r"^[^\n;=]*?\b(\w+_symint)\([^;]*?\)\s*\{", text, re.MULTILINE))
    text = _unwrapped(text, _MACRO, lambda inside: inside)
    text = _unwrapped(text, _CONSTRUCTOR, lambda inside: inside if _PLAIN.fullmatch(inside) else f"int64_t({inside})")
    text = _CALL.sub(lambda match: _plain_call(match, defined), text)
    text = _compared(text)
    for pattern, plain in _WORDS:
        text = pattern.sub(plain, text)
    return text


def _plain_call(match: re.Match[str], defined: set[str]) -> str:
    if not match["before"] and f"{match['name']}_symint" in defined:
        return match[0]
    return match["before"] + match["name"] + (match["after"] or "")


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

"""Masking of text that the C++ grammar can't parse, by blanks of equal length, so that offsets are unchanged.

Attribute and export macros occur where the grammar expects nothing. A macro call without a semicolon swallows the next
statement. The second branch of an ``#if`` may close a brace that the first one opened. The tags of a Jinja template are
not C++.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_ATTRIBUTES = re.compile(
    rb"\b(?:[A-Z][A-Z0-9_]*_(?:API|EXPORT|HIDDEN|IMPORT)|C10_(?:UNUSED|NODISCARD|NOINLINE|ALWAYS_INLINE|RESTRICT|HOST_DEVICE"
    rb"|HOST|DEVICE|CLANG_DIAGNOSTIC_\w+\([^)\n]*\)|LIFETIME_BOUND|ALWAYS_INLINE_ATTRIBUTE)"
    rb"|__ubsan_ignore_\w+__|__restrict(?:__)?|__forceinline|__always_inline|TORCH_DISALLOW_TEMPORARIES|C10_DEFINE_\w+\([^)\n]*\))"
)
_DEFINES_ATTRIBUTE = re.compile(
    rb"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(?:__attribute__|__declspec|\[\[)", re.MULTILINE
)
_SAYING_ATTRIBUTE = (b"__attribute__", b"__declspec", b"[[")
_DEFINE = re.compile(rb"^[ \t]*#[ \t]*define\b(?:[^\n\\]|\\\r?\n|\\.)*", re.MULTILINE)
_MACRO_HEAD = re.compile(rb"[ \t]*#[ \t]*define[ \t]+(\w+)(\([^)]*\))?")
_BARE_MACRO = re.compile(
    rb"^[ \t]*[A-Z][A-Z0-9_]{3,}\([^;{}\n]*\)[ \t]*(?=\n[ \t\r\n]*[^({.:,;<&|+\-*/\s])", re.MULTILINE
)
_CONDITIONAL = re.compile(rb"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b(?:[^\n\\]|\\\r?\n|\\.)*", re.MULTILINE)


_TEMPLATE = re.compile(
    rb"\{%[-+]?\s*(?:if|elif|else|endif|for|endfor|set|macro|endmacro|include|import|from|call|block)\b"
)
_TAG = re.compile(rb"\{%.*?%\}|\{#.*?#\}|\{\{.*?\}\}", re.DOTALL)


@dataclass(frozen=True)
class Masked:
    """Text of the same length as the original, and the byte ranges of real code that it hides."""

    text: bytes
    hidden: tuple[tuple[int, int], ...]


def template_tags(content: bytes) -> tuple[tuple[int, int], ...]:
    """Return the byte ranges of the tags of a Jinja template, except comments. A file without statements has none."""
    if not _TEMPLATE.search(content):
        return ()
    return tuple(match.span() for match in _TAG.finditer(content) if not match[0].startswith(b"{#"))


def mask_attributes(content: bytes) -> Masked:
    """Hide the tags of templates, and attribute macros: the well-known ones and those the file defines as attributes.

    An expression tag becomes a name, since it occurs in place of a name or a part of one.
    """
    text = _TAG.sub(_named, content) if _TEMPLATE.search(content) else content
    text = _ATTRIBUTES.sub(_blank, text)
    defines = any(word in content for word in _SAYING_ATTRIBUTE)
    own = sorted({match[1] for match in _DEFINES_ATTRIBUTE.finditer(content)}) if defines else ()
    if own:
        text = re.sub(rb"\b(?:" + b"|".join(map(re.escape, own)) + rb")\b", _blank, text)
    return Masked(text, ())


def mask_preprocessor(masked: Masked) -> Masked:
    """Hide macro bodies too, and all but the first branch of each conditional. End bare macro calls by ``;``."""
    text = masked.text
    hidden = [match.span() for match in _DEFINE.finditer(text)] + _later_branches(text)
    buffer = bytearray(text)
    for start, end in hidden:
        buffer[start:end] = _blank_bytes(bytes(buffer[start:end]))
    for match in _CONDITIONAL.finditer(text):
        buffer[match.start() : match.end()] = _blank_bytes(match[0])
    for match in _BARE_MACRO.finditer(bytes(buffer)):
        buffer[match.end()] = ord(";")
    return Masked(bytes(buffer), tuple(sorted(hidden)))


def macro_bodies(content: bytes) -> dict[bytes, tuple[frozenset[bytes], bytes]]:
    """Return the parameters and the body of every macro of the file. This code is in no tree."""
    found: dict[bytes, tuple[frozenset[bytes], bytes]] = {}
    for match in _DEFINE.finditer(content):
        head = _MACRO_HEAD.match(match[0])
        if head is not None:
            parameters = frozenset(re.findall(rb"\w+", head[2] or b""))
            found[head[1]] = (parameters, match[0][head.end() :])
    return found


def _later_branches(text: bytes) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    open_at: list[int | None] = []
    for match in _CONDITIONAL.finditer(text):
        word = match[1]
        if word in (b"if", b"ifdef", b"ifndef"):
            open_at.append(None)
        elif open_at and word in (b"elif", b"else"):
            if open_at[-1] is None:
                open_at[-1] = match.start()
        elif open_at:
            start = open_at.pop()
            if start is not None:
                ranges.append((start, match.start()))
    return ranges


def _named(match: re.Match[bytes]) -> bytes:
    return re.sub(rb"[^\r\n]", b"_" if match[0].startswith(b"{{") else b" ", match[0])


def _blank(match: re.Match[bytes]) -> bytes:
    return _blank_bytes(match[0])


def _blank_bytes(text: bytes) -> bytes:
    return re.sub(rb"[^\r\n]", b" ", text)

"""Patch in git's format, byte for byte. Line ends, encodings and a missing last newline are preserved."""

from __future__ import annotations

import difflib

_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 !#$%&'()*+,-./:;<=>?@[]^_`{|}~")
_ESCAPES = {ord("\t"): b"\\t", ord("\n"): b"\\n", ord("\r"): b"\\r", ord('"'): b'\\"', ord("\\"): b"\\\\"}


def patch(name: str, before: bytes, after: bytes) -> bytes:
    """Return a patch for ``git apply`` that turns ``before`` into ``after``.

    ``name`` is the path of the file in the patch (relative, with slashes).
    """
    old, new = _quoted(f"a/{name}"), _quoted(f"b/{name}")
    # Names with a blank end in a tab, as in git's own patches, because a header may have a date after a tab.
    tab = b"\t" if " " in name else b""
    pieces = [b"diff --git " + old + b" " + new + b"\n", b"--- " + old + tab + b"\n", b"+++ " + new + tab + b"\n"]
    hunks = difflib.diff_bytes(difflib.unified_diff, _lines(before), _lines(after), lineterm=b"\n")
    for line in list(hunks)[2:]:
        pieces.append(line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n")
    return b"".join(pieces)


def _lines(text: bytes) -> list[bytes]:
    # bytes.splitlines also breaks at a lone CR, where git does not.
    lines = text.split(b"\n")
    return [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _quoted(name: str) -> bytes:
    raw = name.encode("utf-8", "surrogateescape")
    if all(byte in _PLAIN for byte in raw):
        return raw
    escaped = (_ESCAPES.get(byte) or (bytes([byte]) if byte in _PLAIN else b"\\%03o" % byte) for byte in raw)
    return b'"' + b"".join(escaped) + b'"'

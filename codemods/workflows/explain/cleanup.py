"""Removal of the prefixes and escapes of terminals, logs, quotes and notebooks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

MOST_BYTES = 32_000_000


class Unreadable(Exception):
    """Error for a text that cannot be a traceback or a log."""


_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_QUOTE = re.compile(r"> ?")
_LINKED_NUMBER = re.compile(r"\[(\d+)\]\(https?://[^)\s]*\)")
"""Line number in a traceback that was copied from a notebook of VS Code."""
_FENCE = re.compile(r"^\s*(?:```|~~~)[\w.+-]*\s*$")

PREFIXES = {
    "job, step and time of `gh run view --log`": re.compile(r"[^\t\n]{1,80}\t[^\t\n]{1,120}\t(?=\d{4}-\d\d-\d\dT)"),
    "ISO time": re.compile(r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]? ?"),
    "time of a day": re.compile(r"\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]? "),
    "rank of torchrun": re.compile(r"\[(?:rank|default)\d+\]:? ?"),
    "container of docker compose": re.compile(r"[\w.-]{1,60} {1,20}\| "),
    "head of torch's own logs": re.compile(
        r"[VDIWEC]\d{4} \d\d:\d\d:\d\d\.\d+ (?:\d+ )?(?P<at>[\w./\\-]+:\d+)\](?: \[[\w/!-]+\])*(?: \[__\w+\])? ?"
    ),
    "error line of pytest": re.compile(r"E(?:   |$)"),
}
"""Prefixes of a line, by the program that writes them."""
_DEEPEST = 8
_LONGEST_LINE = 4_000


def decoded(content: bytes) -> str:
    """Decode the text of a file. Raises Unreadable for binary, empty or too large content."""
    if len(content) > MOST_BYTES:
        raise Unreadable(f"more than {MOST_BYTES // 1_000_000} MB; paste the part with the error")
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        # A redirection in PowerShell writes UTF-16.
        return content.decode("utf-16", "replace")
    if b"\0" in content:
        raise Unreadable("binary content")
    text = content.decode("utf-8-sig", "replace")
    if text.count("\ufffd") > max(20, len(text) // 20):
        raise Unreadable("not UTF-8 text")
    if not text.strip():
        raise Unreadable("empty")
    return text


def clean_lines(text: str) -> list[str]:
    """Return the lines without prefixes, colours and fences. The indentation is unchanged."""
    found = []
    plain = _ESCAPE.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    for raw in _without_quotes(_CONTROL.sub("", plain).removeprefix("\ufeff").split("\n")):
        line = _without_prefixes(raw[:_LONGEST_LINE])
        if not _FENCE.match(line):
            found.append(_LINKED_NUMBER.sub(r"\1", line).rstrip() if "](http" in line else line.rstrip())
    return found


def _without_quotes(lines: Sequence[str]) -> Iterator[str]:
    """Remove `> ` as often as a neighbouring line has it too, since pytest marks single lines the same way."""
    depths = [_depth(line) for line in lines]
    for at, line in enumerate(lines):
        around = max([*depths[max(at - 1, 0) : at], *depths[at + 1 : at + 2]], default=0)
        yield _QUOTE.sub("", line, count=min(depths[at], around)) if depths[at] and around else line


def _depth(line: str) -> int:
    at = depth = 0
    while match := _QUOTE.match(line, at):
        at, depth = match.end(), depth + 1
    return depth


def _without_prefixes(line: str) -> str:
    for _ in range(_DEEPEST):
        for prefix in PREFIXES.values():
            match = prefix.match(line)
            if match and match.end():
                line = line[match.end() :]
                break
        else:
            break
    return line

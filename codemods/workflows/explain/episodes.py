"""The errors of a text: begin and end of each, its message and its stack."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .frames import StackFrame, frames, owner
from .messages import MESSAGES, Message

_TRACEBACK = "Traceback (most recent call last)"
_CHAINED = ("direct cause of the following exception", "During handling of the above exception")
_BOUNDARIES = (
    re.compile(r"^Recompiling function "),
    re.compile(r"hit config\.\w+_limit \("),
    re.compile(r"^Graph break in user code at "),
    re.compile(r"^\d+\. (?:Data dependent error|Guard Added|Missing fake kernel|Mismatched fake kernel)\."),
    re.compile(r"^_{3,} .* _{3,}$"),
    re.compile(r"^=+ (?:short test summary info|FAILURES|ERRORS) =+$"),
    re.compile(r"^eval .* \[guard added\]"),
)
"""Lines at which another error begins. So does a traceback that is not chained to the one before."""
_USER_STACKS = (
    "User Stack",
    "User stack",
    "from user code",
    "The following call raised this error",
    "User code traceback",
    "user stacktrace:",
)
"""Heads of stacks that follow a message and contain the code that was traced."""
_FRAMEWORK_STACK = "framework stacktrace:"
_EXCEPTION = re.compile(r"^(?:<class ')?(?P<name>(?:[A-Za-z_]\w*\.)*[A-Z]\w*)(?:'>)?(?:: (?P<message>.*))?$")
_IS_EXCEPTION = re.compile(r"(?:Error|Exception|Unsupported|Violation|SymNode|NotFound|Hit|Failed|Interrupt|Exit)$")


@dataclass(frozen=True)
class MessageLine:
    """A line with a message of the table."""

    at: int
    message: Message
    match: re.Match[str]

    def group(self, name: str) -> str:
        return self.match.groupdict().get(name) or ""


@dataclass(frozen=True)
class Episode:
    """One error: the lines from its first traceback or message to the next error."""

    first: int
    last: int
    hits: tuple[MessageLine, ...]


def hits(lines: Sequence[str]) -> Iterator[MessageLine]:
    """Yield every message of the table, in the order of the text."""
    text = "\n".join(lines)
    present = [message for message in MESSAGES if message.marker in text]
    for at, line in enumerate(lines):
        for message in present:
            match = message.pattern.search(line) if message.marker in line else None
            if match:
                yield MessageLine(at, message, match)
                break


def episodes(lines: Sequence[str]) -> list[Episode]:
    """Return the errors of a text that have a message of the table."""
    bounds = [0, *_boundaries(lines), len(lines)]
    found = list(hits(lines))
    starts = [hit.at for hit in found]
    answer = []
    for first, last in pairwise(bounds):
        inside = tuple(found[bisect_left(starts, first) : bisect_left(starts, last)])
        if inside:
            answer.append(Episode(first, last, inside))
    return answer


def _boundaries(lines: Sequence[str]) -> Iterator[int]:
    chained = False
    for at, line in enumerate(lines):
        if any(phrase in line for phrase in _CHAINED):
            chained = True
        elif _TRACEBACK in line and not line.startswith(" "):
            if not chained and at:
                yield at
            chained = False
        elif at and any(bound.search(line) for bound in _BOUNDARIES):
            yield at


def stack_of(lines: Sequence[str], episode: Episode, hit: MessageLine) -> list[StackFrame]:
    """Return the stack of the traced code, outermost first: torch's list of it, else the traceback."""
    behind = _user_stack(lines, hit.at, episode.last)
    if behind:
        return behind
    starts = [at for at in range(episode.first, hit.at) if _TRACEBACK in lines[at]]
    return list(frames(lines, starts[-1] if starts else episode.first, hit.at))


def _user_stack(lines: Sequence[str], first: int, last: int) -> list[StackFrame]:
    """Return the last user stack with a line of the user's, since torch repeats the stacks."""
    heads = [at for at in range(first, last) if any(head in lines[at] for head in _USER_STACKS)]
    best: list[StackFrame] = []
    for at, end in zip(heads, [*heads[1:], last], strict=False):
        stop = next((one for one in range(at, end) if _FRAMEWORK_STACK in lines[one] or _TRACEBACK in lines[one]), end)
        found = list(frames(lines, at, stop))
        if any(owner(frame.file) is not None for frame in found):
            best = found
    return best


def exception_of(lines: Sequence[str], at: int) -> tuple[str, str]:
    """Return the name and the message of the exception whose message contains a line."""
    for number in range(at, max(at - 8, -1), -1):
        match = _EXCEPTION.match(lines[number])
        if match and _IS_EXCEPTION.search(match["name"]):
            return match["name"].rpartition(".")[2], match["message"] or ""
    return "", ""


def exceptions(lines: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """Yield line, full name and message of every exception."""
    for at, line in enumerate(lines):
        match = _EXCEPTION.match(line) if line[:1].isalpha() or line[:1] in "_<" else None
        if match and _IS_EXCEPTION.search(match["name"]):
            yield at, match["name"], match["message"] or ""

"""Construction of a report from a text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ..export.outcome import SourcePlace
from . import askers, symbols
from .cleanup import Unreadable, clean_lines
from .episodes import Episode, MessageLine, episodes, exception_of, exceptions, stack_of
from .frames import StackFrame, frames, native_file, native_functions, owner, place, torch_name
from .kinds import KINDS
from .remedy import command
from .report import ExplainedError

_UNDECIDED = ("undecided-size", "value-read")
_LOOPS = re.compile(r"^(?:for |while |.*\bfor \w+ in range\()|\brange\(")
_READS = re.compile(r"\bint\(|\bfloat\(|\bbool\(|\.item\(\)|\.tolist\(\)|\.numpy\(\)|\bround\(")
_ENTRY = re.compile(r"\b(?:export|draft_export|compile|aoti_compile_and_package)\(|\bmake_fx\(")
_NO_SIZES = "(Size-like symbols: none)"
_BY_TORCH_FUNCTION = "in __torch_function__)"
_OF_SIZES = re.compile(r"size mismatch|stride mismatch|\.size\(\)|\.shape\b|\[[us]\d+\]|rank mismatch")
_NEAR = 40
_ADVICE = re.compile(r"^\s*(?:\d+\. )?(?P<check>torch\._check\w*\(.+\))$")
_HINT = re.compile(r"^\s*Hint: (?P<hint>.+)$")
_SUGGESTED = "Suggested fixes:"
_REASON = re.compile(r"^\s*(?:- (?:\d+/\d+: )?|last reason: \S+: )(?P<reason>.+)$")
_FUNCTION = re.compile(r"^\s*function: '(?P<function>[^']+)' \((?P<file>.+?):(?P<line>\d+)\)")
_BREAK_AT = re.compile(r"Graph break in user code at (?P<file>.+?):(?P<line>\d+)")
_CAUSED = re.compile(r"^Caused by: (?:(?P<code>.*?)  # (?P<file>[^:(]+):(?P<line>\d+) in (?P<function>\w+) |)\(")
_LONGEST = 300


class ForeignText(Unreadable):
    """Error for a text without an error of torch."""


@dataclass(frozen=True)
class _Stack:
    """The stack of an error, split at the innermost line that is not torch's."""

    user: StackFrame | None
    behind: Sequence[StackFrame]


@dataclass(frozen=True)
class _Found:
    """A report without the symbols and the command, which are searched in the whole text."""

    report: ExplainedError
    before: Sequence[StackFrame]
    """Frames above the message."""
    extension: str
    """C++ file of the user."""


def explain(text: str) -> ExplainedError:
    """Explain the first error about sizes. Raises ForeignText if the text has no error of torch."""
    lines = clean_lines(text)
    every = episodes(lines)
    hard = [one for one in every if any(not hit.message.soft for hit in one.hits)]
    found = _distinct(_read(lines, one) for one in hard or every)
    sized = [one for one in found if one.report.about_sizes]
    if sized:
        return _complete(lines, sized[0], len(sized) - 1 if hard else 0)
    return _complete(lines, found[0], 0) if found else _other(lines)


def _complete(lines: Sequence[str], found: _Found, more: int) -> ExplainedError:
    one = found.report
    file, code = (one.place.file, one.place.text) if one.place else ("", "")
    stack = [*found.before, *frames(lines, 0, len(lines))]
    return replace(
        one,
        symbols=symbols.sources(lines, one.expression, code),
        expression=symbols.readable(one.expression),
        command=command(one.kind, one.operator, file, found.extension, lines, stack),
        more=more,
    )


def _distinct(every: Iterable[_Found]) -> list[_Found]:
    """Return the errors without repetitions, which logs, chained exceptions and summaries cause."""
    kept: list[_Found] = []
    for one in every:
        at = next((number for number, other in enumerate(kept) if _is_same(one.report, other.report)), None)
        if at is None:
            kept.append(one)
        elif one.report.place is not None and kept[at].report.place is None:
            kept[at] = one
    return kept


def _is_same(one: ExplainedError, other: ExplainedError) -> bool:
    here, there = one.place, other.place
    if here and there and (here.file, here.line) != (there.file, there.line):
        return False
    if one.kind == "recompilation" or not (one.expression and other.expression):
        return one.kind == other.kind
    return one.expression == other.expression


def _read(lines: Sequence[str], episode: Episode) -> _Found:
    hit = _best(episode.hits)
    before = list(frames(lines, episode.first, hit.at))
    stack = _split(stack_of(lines, episode, hit), before)
    near = lines[hit.at : min(hit.at + _NEAR, episode.last)]
    at = _place(lines, hit, stack, near)
    asked = _inside(stack, near)
    native = list(native_functions(lines, episode.first, episode.last))
    extension = native_file(lines, episode.first, episode.last)
    code = at.text if at else ""
    kind = _kind(hit, code, asked, near)
    named = askers.plain(hit.group("operator")) if hit.group("operator") else ""
    inside = asked if hit.message.kind in (*_UNDECIDED, "in-torch", "symbolic-operand") else ""
    operator = (
        askers.operator(named, stack.behind, native, code) if named or kind in ("in-torch", "concrete-sizes") else ""
    )
    expression = _expression(hit, near)
    exception, message = exception_of(lines, hit.at)
    whose = owner(stack.user.file) or "" if stack.user and at else ""
    told = " ".join((message or lines[hit.at]).split())
    report = ExplainedError(
        kind=kind,
        title=KINDS[kind].title,
        exception=exception,
        message=told[:_LONGEST],
        expression=expression,
        symbols=(),
        place=at,
        owner=whose,
        inside=inside,
        operator=operator,
        mend=_mend(kind, expression, near),
        command="",
        more=0,
    )
    return _Found(report, before, extension)


def _best(found: Sequence[MessageLine]) -> MessageLine:
    """Return the best message: errors before log lines, and those with an expression before summaries."""
    return min(found, key=lambda hit: (hit.message.soft, hit.message.kind == "unsupported", not _tells(hit)))


def _tells(hit: MessageLine) -> bool:
    return bool(hit.group("expression") or hit.group("operator") or hit.group("value") or hit.group("file"))


def _split(stack: Sequence[StackFrame], before: Sequence[StackFrame]) -> _Stack:
    user = next((at for at in range(len(stack) - 1, -1, -1) if owner(stack[at].file) is not None), None)
    if user is None:
        return _Stack(None, stack)
    same = [at for at, one in enumerate(before) if (one.file, one.line) == (stack[user].file, stack[user].line)]
    # The traceback continues into torch where torch's own list of the user's stack ends.
    behind = before[same[-1] + 1 :] if same else ()
    return _Stack(stack[user], stack[user + 1 :] or behind)


def _place(lines: Sequence[str], hit: MessageLine, stack: _Stack, near: Sequence[str]) -> SourcePlace | None:
    if hit.group("file"):
        return SourcePlace(hit.group("file"), int(hit.group("line")), hit.group("function"))
    for line in [*near, *lines[max(hit.at - _NEAR, 0) : hit.at]]:
        match = (_FUNCTION.match(line) if hit.message.kind == "recompilation" else None) or (
            _BREAK_AT.search(line) if stack.user is None else None
        )
        if match:
            return SourcePlace(match["file"], int(match["line"]), match.groupdict().get("function") or "")
    if stack.user is not None:
        # The export call itself is not the cause.
        entry = hit.message.kind == "narrows-range" and bool(_ENTRY.search(stack.user.text))
        return None if entry else place(stack.user)
    caused = next(filter(None, (_CAUSED.match(line) for line in near)), None)
    if caused and caused["file"]:
        return SourcePlace(caused["file"], int(caused["line"]), caused["function"], caused["code"].strip())
    return None


def _inside(stack: _Stack, near: Sequence[str]) -> str:
    """Return the line of torch that required the size, from the stack or else from torch's own summary."""
    asked = askers.asked_in(stack.behind) if stack.user else ""
    caused = next((line for line in near if "Caused by: " in line), "")
    named = askers.asked_in_cause(caused)
    if named and (not asked or asked == askers.CALL):
        return named
    return asked


def _kind(hit: MessageLine, code: str, asked: str, near: Sequence[str]) -> str:
    kind = hit.message.kind
    if kind == "data-dependent-operator" and ("_local_scalar_dense" in hit.group("operator") or _READS.search(code)):
        return "value-read"
    if kind not in _UNDECIDED or hit.message.name.startswith("Unsupported"):
        return kind
    values = any(_NO_SIZES in line for line in near)
    if _LOOPS.search(code) and not asked:
        return "loop-over-data" if values or ".item()" in code or ".tolist()" in code else "loop-over-size"
    by_function = any(_BY_TORCH_FUNCTION in line for line in near)
    if by_function and (kind == "value-read" or _READS.search(code)):
        return "value-read"
    if by_function or (values and kind != "value-read" and not asked):
        return "value-dependent"
    if asked:
        return "in-torch"
    return kind


def _expression(hit: MessageLine, near: Sequence[str]) -> str:
    if hit.group("expression"):
        return hit.group("expression")
    if hit.group("value"):
        return f"{hit.group('name')} == {hit.group('value')}"
    if hit.message.kind == "recompilation":
        return next((match["reason"] for match in map(_REASON.match, near) if match), "")
    return askers.plain(hit.group("operator")) or hit.group("name") or hit.group("reason")


def _mend(kind: str, expression: str, near: Sequence[str]) -> str:
    usual = KINDS[kind].mend
    if kind == "recompilation" and expression and not _OF_SIZES.search(expression):
        return "keep what the guard compares the same for all calls, or pass it as a tensor"
    if kind == "unsupported":
        return next((match["hint"] for match in map(_HINT.match, near) if match), usual)
    if kind == "narrows-range" and _SUGGESTED in near:
        at = near.index(_SUGGESTED)
        given = [line.strip() for line in near[at + 1 : at + 9]]
        given = given[: given.index("")] if "" in given else given
        if given:
            return f"{usual} (torch suggests: {'; '.join(given)[:120]})"
    if kind in ("in-torch", "undecided-size"):
        checks = [match["check"] for match in map(_ADVICE.match, near) if match]
        if checks:
            return f"{usual} (torch suggests: {' or '.join(checks)[:120]})"
    return usual


def _other(lines: Sequence[str]) -> ExplainedError:
    """Build the report of an error of torch without a message of the table. Raises ForeignText."""
    found = list(exceptions(lines))
    shown = any(
        torch_name(line.partition('"')[2].partition('"')[0].replace("\\", "/")) for line in lines if 'File "' in line
    )
    torchs = [(at, name, message) for at, name, message in found if name.startswith("torch.")]
    if not torchs and found and (shown or any("torch." in line for line in lines)):
        torchs = found
    if not torchs:
        if any("Traceback (most recent call last)" in line for line in lines) and not found:
            raise ForeignText("the traceback ends before its error; paste its last lines too")
        raise ForeignText("no error of torch in this text")
    _, name, message = torchs[-1]
    told = " ".join(message.split())[:_LONGEST]
    return ExplainedError(
        kind="not-sizes", title=KINDS["not-sizes"].title, exception=name.rpartition(".")[2], message=told,
        expression="", symbols=(), place=None, owner="", inside="", operator="", mend="", command="", more=0,
    )  # fmt: skip

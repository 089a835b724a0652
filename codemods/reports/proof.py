"""Verification on one screen: the verdict, the checks that differ, those that do not, and the facts behind them."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence

from ..harness.observation import Observation
from ..verify.change import Check, RemainingUse, Verification

_WIDTH = 110
_TOLD = 220
"""Maximum length of a printed message. The evidence contains the whole message."""
_LISTED = 8
_SHORT = 0.05

_SAME = "the same before and after"
_GROUPS: tuple[tuple[str, Callable[[Check], bool]], ...] = (
    ("worse", lambda check: check.lost and not check.flaky),
    ("passes now, but not as eager does", lambda check: bool(check.gained and not check.flaky and check.deviates)),
    ("failed before, passes now", lambda check: check.gained and not check.flaky and not check.deviates),
    ("went otherwise once, and not again", lambda check: check.flaky),
    ("fails before and after", lambda check: not check.before.passed and not check.after.passed),
    (_SAME, lambda check: check.before.passed and check.after.passed),
)


def proof(verification: Verification) -> Iterator[str]:
    """Yield the lines of a verification."""
    # The message before the change is printed below.
    reason = verification.reason.partition("; before: ")[0]
    yield from _wrapped(f"{verification.verdict.value}: {reason}", "", "  ")
    for title, belongs in _GROUPS:
        checks = [check for check in verification.checks if belongs(check)]
        if checks:
            yield f"\n  {title}\n"
            yield from _uneventful(checks) if title == _SAME else _group(checks)
    facts = list(_facts(verification))
    width = max((len(name) for name, _ in facts), default=0)
    yield "\n"
    for name, text in facts:
        yield from _wrapped(text, f"  {name:<{width}}  ", " " * (width + 4))


def remaining(uses: Sequence[RemainingUse], others: Sequence[str]) -> Iterator[str]:
    """Yield the lines about sizes that do not stay symbolic in a change, and about files that are not judged."""
    changed, left = ([use for use in uses if use.changed is state] for state in (True, False))
    for title, listed in (("still concrete, or decided", changed), ("unchanged, in the same functions", left)):
        if listed:
            yield f"\n  {title}\n"
        for use in listed[:_LISTED]:
            yield from _wrapped(f"{use.path.name}:{use.line}: {use.detail}", "    ", "      ")
        if len(listed) > _LISTED:
            yield f"    and {len(listed) - _LISTED} more\n"
    if others:
        yield from _wrapped(_some(others), "\n  not judged  ", " " * 14)


def _group(checks: Sequence[Check]) -> Iterator[str]:
    for check in checks[:_LISTED]:
        yield from _check(check)
    if len(checks) > _LISTED:
        yield f"    and {len(checks) - _LISTED} more\n"


def _uneventful(checks: Sequence[Check]) -> Iterator[str]:
    """Yield a line for each protocol, since a check without a difference needs no line of its own."""
    for protocol in dict.fromkeys(check.protocol for check in checks):
        those = [check for check in checks if check.protocol == protocol]
        names = [f"{check.subject}{f': {check.after.message}' if check.after.message else ''}" for check in those]
        yield from _wrapped(f"{protocol} {_some(names)}{_took(*those)}", "    ", "      ")


def _took(*checks: Check) -> str:
    seconds = sum(check.after.seconds for check in checks)
    return f" ({seconds:.1f} s)" if seconds >= _SHORT else ""


def _check(check: Check) -> Iterator[str]:
    yield from _wrapped(f"{check.protocol} {check.subject}".strip() + _took(check), "    ", "      ")
    if not check.before.passed:
        yield from _wrapped(_say(check.before), "      before: ", "        ")
    if not check.after.passed and check.after.message != check.before.message:
        yield from _wrapped(_say(check.after), "      after:  ", "        ")
    if check.gained and check.after.message:
        yield from _wrapped(check.after.message, "      now:    ", "        ")
    if check.deviates:
        yield from _wrapped(check.deviates, "      but:    ", "        ")
    if check.reference is not None and check.reference.passed != check.after.passed:
        yield from _wrapped(_say(check.reference), "      torch as installed: ", "        ")


def _say(observation: Observation) -> str:
    if observation.passed:
        return "passes"
    return f"{'crashes: ' if observation.crashed else ''}{observation.message or 'fails'}"


def _facts(verification: Verification) -> Iterator[tuple[str, str]]:
    if verification.chosen:
        yield "tests chosen", verification.chosen
    swapped = sorted({f"{swap.kernel} ({swap.calls} calls)" for swap in verification.swaps if swap.swapped})
    if swapped:
        yield "swapped in", _some(swapped)
    left = [f"{swap.kernel}, {swap.state}" for swap in verification.swaps if not swap.swapped]
    if left:
        yield "not swapped in", _some(left)
    if verification.unrun:
        yield "nothing ran", _some(verification.unrun)
    if verification.omitted:
        count = len(verification.omitted)
        what = "definition or statement" if count == 1 else "definitions or statements"
        yield "left out", f"{count} {what} that this torch does not compile or has registered itself"
    if verification.untraced:
        yield "untraced", _some(verification.untraced)
    parts = [f"torch {verification.torch.partition(' ')[0]}", verification.compiler, f"{verification.seconds:.1f} s"]
    yield "with", ", ".join(filter(None, (*parts, "answered before" if verification.cached else "")))
    if verification.evidence is not None:
        yield "evidence", str(verification.evidence)


def _some(items: Sequence[str]) -> str:
    more = f" and {len(items) - _LISTED} more" if len(items) > _LISTED else ""
    return ", ".join(items[:_LISTED]) + more


def _wrapped(text: str, first: str, rest: str) -> Iterator[str]:
    line = " ".join(text.split())
    kept = line if len(line) <= _TOLD else line[:_TOLD].rstrip() + " …"
    for wrapped in textwrap.wrap(
        kept, _WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    ):
        yield wrapped + "\n"

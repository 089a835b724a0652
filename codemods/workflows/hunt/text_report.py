"""A sweep as lines for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from .failure import MEANING, Operator
from .failure_groups import FailureGroup, by_mode, by_place
from .sweep import FORWARD_FAILS, Sweep

_WIDTH = 110
_INDENT = 6


def table(sweep: Sweep) -> Iterator[str]:
    """Yield the places, those with most operators first, then the counts. Each line ends in a newline."""
    for held in by_place(sweep.failures):
        yield from _held(held)
    noun = sweep.kind.removesuffix("s")
    behind = by_place(failure.behind for failure in sweep.failures if failure.behind)
    if behind:
        yield "\nbehind the test's own code\n"
    for held in behind:
        yield from _held(held)
    if sweep.failures:
        yield "\n"
        yield f"{sweep.kind:9}  mode\n"
        for mode, count in by_mode(sweep.failures).items():
            yield f"{count:9}  {mode.value}: {MEANING[mode]}\n"
        yield "\n"
    if sweep.fixed:
        yield f"sizes that the call itself fixes, left unmarked: {plural(len(sweep.fixed), noun)}\n"
        yield from _wrapped(sweep.fixed)
        yield "\n"
    forward = sum(reason.startswith(FORWARD_FAILS) for reason in sweep.untestable.values())
    total = len(sweep.passed) + len(sweep.failed) + len(sweep.untestable)
    yield (
        f"torch {sweep.torch.split()[0]}, {sweep.protocol}: {plural(total, noun)}, {len(sweep.passed)} pass, "
        f"{len(sweep.failed)} fail, {len(sweep.untestable)} can't be tried"
        + (f", {forward} of them since the forward pass fails" if forward else "")
        + (f" ({len(sweep.outside)} more take no float32)" if sweep.outside else "")
        + (f"; {sweep.not_run} not run yet\n" if sweep.not_run else "\n")
    )


def _held(held: FailureGroup) -> Iterator[str]:
    yield f"{len(held.operators):4}  {_label(held)}  {held.words}\n"
    inner = " " * _INDENT
    if held.place and held.place.expression:
        yield f"{inner}{held.place.expression}\n"
    if held.expressions:
        more = f" and {len(held.expressions) - 3} more" if len(held.expressions) > 3 else ""
        yield f"{inner}undecided: {'; '.join(held.expressions[:3])}{more}\n"
    formulas = tuple(dict.fromkeys(failure.formula for failure in held.failures if failure.formula))
    if formulas:
        yield f"{inner}formula: {'; '.join(formulas)}\n"
    alone = len({failure.operator for failure in held.failures if failure.only_test})
    if alone:
        yield f"{inner}the test's own code; without it pass: {alone}\n"
    yield from _wrapped(held.operators)


def _wrapped(operators: Sequence[Operator]) -> Iterator[str]:
    for line in textwrap.wrap(", ".join(map(str, operators)), _WIDTH - _INDENT, break_on_hyphens=False):
        yield f"{' ' * _INDENT}{line}\n"


def _label(held: FailureGroup) -> str:
    return f"mode {held.mode.value}" if held.mode.value.isdigit() else held.mode.value


def plural(count: int, noun: str) -> str:
    """Return ``1 operator``, ``2 operators``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"

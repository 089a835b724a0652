"""Construction of a test that fails before a fix and passes after it, each run in its own child."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ....harness.process_limits import Ended
from ....harness.resilient_batch import Batch, BatchReport
from ....harness.temp_folder import new_name
from ....verify.before_after import Side
from .test_source import FailingCall, standalone, words_of

_BACKENDS = ("aot_eager", "eager")
"""Backend that reviewers expect, and a fallback if it fails for unrelated reasons."""
_DECOMPOSING = "aot_eager_decomp_partition"
"""Backend that computes with torch's decompositions, as Inductor does. The others only use their shapes."""
_MOST_OPERATORS = 3
_PATIENCE_SECONDS = 120.0


@dataclass(frozen=True)
class Regression:
    """A test that was run before and after a fix. Without ``words`` there is no test, and ``why`` is the reason."""

    words: FailingCall | None = None
    backend: str = ""
    before: str = ""
    """Failure before the fix."""
    why: str = ""
    wrong: str = ""
    """Failure with unbacked sizes only, if decompositions compute the values."""


def regression(operators: Sequence[str], samples: Mapping[str, int], before: Side, after: Side) -> Regression:
    """Return a test for the first of ``operators`` with a suitable sample.

    ``samples`` are the numbers of the failing samples. The test fails on ``before`` and passes on ``after``.
    """
    ordered = sorted(operators, key=lambda name: (name.count("."), len(name), name))[:_MOST_OPERATORS]
    candidates: list[FailingCall] = []
    refusals: list[str] = []
    for name, words in _worded(ordered, samples, before):
        if isinstance(words, FailingCall):
            candidates.append(words)
        else:
            refusals.append(f"{name}: {words}")
    for backend in _BACKENDS:
        for words in candidates:
            passed, said = _run(words, backend, after)
            if not passed:
                refusals.append(f"{words.operator} with {backend}, after the fix: {said}")
                continue
            passed, said = _run(words, backend, before)
            if not passed:
                wrong = next(filter(None, (_wrong(one, after) for one in candidates)), "")
                return Regression(words, backend, words.failure or said, wrong=wrong)
            refusals.append(f"{words.operator} with {backend}: passes before the fix")
    return Regression(why="; ".join(refusals) or "no operator has a sample")


def _wrong(words: FailingCall, after: Side) -> str:
    """Return the failure with decompositions and unbacked sizes, if known sizes give the right result, else ""."""
    passed, said = _run(words, _DECOMPOSING, after)
    if passed or not said.startswith("AssertionError"):
        return ""
    known, _ = _run(replace(words, marks=()), _DECOMPOSING, after)
    return f"{words.operator} with decompositions and unbacked sizes: {said}" if known else ""


def _worded(
    operators: Sequence[str], samples: Mapping[str, int], before: Side
) -> Iterator[tuple[str, FailingCall | str]]:
    said, broken = Batch(
        "sample_source",
        request=lambda left: {"operators": [(name, samples[name]) for name in left], "patience": _PATIENCE_SECONDS},
        parse_report=_heard,
        on_crash=lambda name, ended: {"refused": ended.died or "the child that words its samples ended early"},
        limits=lambda count: before.laboratory.limits,
    ).run(before.laboratory, before.variant, operators)
    for name in operators:
        row = said.get(name)
        if row is None:
            assert broken is not None
            yield name, broken.died or "the child that words its samples ended early"
        elif "words" in row:
            yield name, words_of(name, row["words"], row["failure"])
        else:
            yield name, row["refused"]


def _heard(rows: list[dict[str, Any]], ended: Ended) -> BatchReport[str, dict[str, Any]]:
    begun = [row["start"] for row in rows if "start" in row]
    return BatchReport(
        bool(rows), begun[-1] if begun else None, {row["operator"]: row for row in rows if "operator" in row}
    )


def _run(words: FailingCall, backend: str, side: Side) -> tuple[bool, str]:
    script = Path(side.laboratory.scratch / new_name("regression")).with_suffix(".py")
    script.write_bytes(standalone(words, backend))
    observed = side.replay(script)
    if observed.passed:
        return True, ""
    telling = [line for line in observed.detail.splitlines() if "Error" in line or "Exception" in line]
    return False, " ".join((telling or [observed.message])[-1].split())[:200]

"""Measure of progress between two trials of an operator, and descriptions of a candidate's effect."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from .edited_file import EditedFile
from .trials import Trial

_EXPRESSION = re.compile(r"data-dependent expression (.*?) \(unhinted|data-dependent expression (.*)")
_ADVICE = re.compile(
    r"\s*(?:\(unhinted: |Explanation: |consider using data-dependent|Caused by: |Hint: |User stack: ).*", re.DOTALL
)
_SENTENCES = re.compile(
    r"""! For more information, run with TORCH_LOGS="\+dynamic"\.|\s*If you're using mark_dynamic, .*?Dim\.AUTO\."""
    r"|\s*The error above occurred when calling torch\.export\.export\..*?`draft_export\(\)`\.",
    re.DOTALL,
)
"""Advice in the middle of an error about a dynamic dimension."""


def expression(message: str) -> str:
    """Return the undecided expression that an error names."""
    found = _EXPRESSION.search(message)
    return (found[1] or found[2]) if found else strip_advice(message)


def strip_advice(message: str) -> str:
    """Strip torch's advice and the location from an error, which are the same for each of them."""
    return _SENTENCES.sub("", _ADVICE.sub("", message))


def line_of(trial: Trial, drafts: Mapping[Path, EditedFile], others: Mapping[Path, EditedFile]) -> int:
    """Map the failing line to the original text. Return 0 for C++ and for a file that is not in both drafts."""
    path = Path(trial.frames[0].file) if trial.frames else Path()
    if path not in drafts or path not in others:
        return 0
    return drafts[path].origin(drafts[path].line_start(trial.frames[0].line))


def got_further(was: Trial, now: Trial, everything: bool, elsewhere: bool) -> bool:
    """Return whether an operator got further. With ``everything`` all samples were tried, some for the first time.

    ``elsewhere``: another line fails now, possibly on the same expression.
    """
    if now.silent or now.verdict == "untestable":
        return False
    if now.passed or now.sample > was.sample:
        return True
    if not now.frames:
        # Another failure without a place: nothing can be tried from there.
        return False
    if was.undecided and not now.undecided and not elsewhere:
        # The same line now fails for another reason than an undecided size: the candidate is at fault.
        return False
    here = (was.frames[:1] and was.frames[0].function, expression(was.message))
    as_far = now.sample == was.sample or (everything and now.sample < was.sample)
    return as_far and (elsewhere or here != (now.frames[:1] and now.frames[0].function, expression(now.message)))


def describe_outcome(pairs: Sequence[tuple[Trial, Trial]]) -> str:
    """Describe the effect of a candidate, from the trials of its operators before and after."""
    passed = sum(now.passed for _, now in pairs)
    silent = [now for _, now in pairs if now.silent]
    if silent:
        return f"{silent[0].operator} {silent[0].verdict}: {strip_advice(silent[0].message)}"
    if passed == len(pairs):
        return "passes"
    still = next(now for _, now in pairs if not now.passed)
    return f"{passed} of {len(pairs)} pass; {still.operator}: {strip_advice(still.message)}"

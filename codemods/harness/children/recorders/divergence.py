"""Line at which a model takes another way for a size of 0 or 1.

Torch assumes that a dynamic size is 2 or more, so a program has only the way of larger sizes, without a guard.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..overlay.import_hooks import collecting_nothing
from .failure_site import Place, is_others

_MOST = 500_000
"""Number of steps of a run that are recorded."""

Step = tuple[str, int, str, int]
"""File, line, function, and the instruction in its bytecode."""


def parting_line(one: Callable[[], Any], other: Callable[[], Any], changed: Mapping[str, str]) -> list[Place]:
    """Return the place of the last line that two runs have in common, [] where none decides or it was changed.

    ``changed`` contains the files of changed texts by the path of the original.
    """
    first, second = _steps_of(one), _steps_of(other)
    at = next((at for at, pair in enumerate(zip(first, second)) if pair[0] != pair[1]), 0)  # noqa: B905 - a prefix
    if at == 0:
        return []
    file, line, function, _ = first[at - 1]
    return [] if _is_new(file, line, changed) else [{"file": file, "line": line, "function": function, "sizes": {}}]


def _steps_of(call: Callable[[], Any]) -> list[Step]:
    """Return the steps outside of torch that a call runs, in order."""
    found: list[Step] = []

    def traced(frame: Any, event: str, argument: Any) -> Any:
        code = frame.f_code
        if not is_others(code.co_filename):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode" and len(found) < _MOST:
            found.append((code.co_filename, frame.f_lineno, code.co_name, frame.f_lasti))
        return traced

    before = sys.gettrace()
    # The garbage collector may call functions of others at any step.
    with collecting_nothing():
        sys.settrace(traced)
        try:
            call()
        finally:
            sys.settrace(before)
    return found


def _is_new(file: str, line: int, changed: Mapping[str, str]) -> bool:
    """Return whether a line of a changed file is not in the original."""
    if file not in changed:
        return False
    after, before = (Path(one).read_text("utf-8", "replace").splitlines() for one in (changed[file], file))
    return not 0 < line <= len(after) or after[line - 1] not in before

"""The command of symfix that fixes an error."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath

from .frames import StackFrame, owner

_PROGRAM = r"(?:[\w./~-]*/)?(?:python[\d.]*|torchrun|pytest|uv run|poetry run|accelerate launch)"
_PROMPT = re.compile(
    r"^(?:(?:\([\w.-]+\) ?)?(?:[\w.-]+@[\w.-]+[^$#]{0,80})?[$#%\u276f] |\++ |##\[group\]Run |Run |!|PS [^>]{0,80}> ?)"
    rf"(?P<command>(?:\w+=\S+ )*{_PROGRAM} \S.*)$"
)
_FAILED = re.compile(r"^(?:FAILED|ERROR) (?P<test>[^\s:]+\.py(?:::[^\s:\[]+)*)")
SCRIPT = "python your_script.py"
_TARGET = "symfix export --init target.py"
_EXTENSION = "your_extension.cpp"
_NOTEBOOK = "symfix.export(model, args, dynamic_shapes=…)"
_MODEL_KINDS = (
    "undecided-size", "value-read", "value-dependent", "loop-over-data", "loop-over-size", "narrows-range",
    "data-dependent-operator", "symbolic-operand",
)  # fmt: skip


def command(
    kind: str, operator: str, place: str, native: str, lines: Sequence[str], stack: Sequence[StackFrame]
) -> str:
    """Return the command, or "" if none helps. ``place`` is the file of the line, ``native`` a C++ file."""
    if kind == "in-torch":
        return f"symfix repair {operator}" if operator else "symfix hunt"
    if kind == "missing-fake-kernel":
        return f"symfix check {native or _EXTENSION}"
    if kind == "concrete-sizes":
        is_torchs = operator and not native and not operator.startswith("ops.")
        return f"symfix repair {operator}" if is_torchs else f"symfix fix {native or _EXTENSION}"
    if kind == "guard-failed":
        return _TARGET
    if kind == "recompilation":
        return f"symfix check --all-functions {shlex.quote(place)}" if _is_script(place) else _TARGET
    if kind not in _MODEL_KINDS:
        return ""
    if any(frame.file.startswith(("Cell In", "<ipython-input")) or "/ipykernel_" in frame.file for frame in stack):
        return _NOTEBOOK
    return f"symfix export -- {started(lines, stack)}"


def started(lines: Sequence[str], stack: Sequence[StackFrame]) -> str:
    """Return the command that wrote the text: as the text shows it, by its script, or a placeholder."""
    for line in lines:
        match = _PROMPT.match(line)
        if match and "symfix" not in line:
            return match["command"].strip()
    for line in lines:
        test = _FAILED.match(line) if line.startswith(("FAILED ", "ERROR ")) else None
        if test:
            return f"pytest {test['test']}"
    script = next((frame.file for frame in stack if frame.function == "<module>" and owner(frame.file) == ""), "")
    return f"python {shlex.quote(PurePosixPath(script).name)}" if _is_script(script) else SCRIPT


def _is_script(file: str) -> bool:
    return file.endswith(".py")

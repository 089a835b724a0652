"""Attribution of an error to the line or C++ function that forced a size, and to a failure mode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Any

from ...harness.torch_variant import one_line
from .failure import Failure, FailurePlace, Mode, Operator
from .frames import (
    Frame,
    asked_natively,
    machinery_line,
    native_path,
    operation,
    plain_name,
    python_path,
    user_path,
    wants_concrete,
)
from .sources import TorchSources

_THROWN = {
    "on tensor with symbolic sizes/strides": Mode.DIRECT_THROW,
    "TensorIterator does not support symbolic shapes": Mode.TENSOR_ITERATOR,
    "guard_int": Mode.IMPLICIT_INT,
    "with unbacked symints": Mode.BRANCH,
}
_BY_VALUES = ("DataDependentOutputException", "DynamicOutputShapeException")
_PINNED, _COINCIDENCE = "ConstraintViolationError", "Coincidence"
_INTEGERS = ("guard_int", "int_", "__int__", "__index__", "guard_float", "__float__")
DIED = "the process died: no frames"
_INT_IN_SCHEMA = "but instead found type 'SymInt'"
_NO_SHAPE_FUNCTION = "attempted to run this operator with Meta tensor"


@dataclass(frozen=True)
class Attribution:
    """Failure mode of an error, with the lines and C++ functions that led to it, innermost first, or why none."""

    mode: Mode
    path: tuple[FailurePlace, ...] = ()
    why: str = ""


def failures_of(
    operator: Operator, protocol: str, row: Mapping[str, Any], site: Path, modules: Mapping[str, Path]
) -> list[Failure]:
    """Return the failures in a row of the journal.

    ``site`` is the folder that contains torch. ``modules`` maps module names to the files that replace torch's.
    """
    found = []
    if row.get("crashed"):
        found.append(Failure(operator, protocol, Mode.UNKNOWN, row["crashed"], "", None, row["tried"], why=DIED))
    sources = TorchSources(site, modules)
    found += [_failure(operator, protocol, seen, sources) for seen in row["failures"]]
    if "behind" in row:
        behind = [_failure(operator, protocol, seen, sources) for seen in row["behind"]]
        found = [replace(one, behind=behind[0] if behind else None, only_test=not behind) for one in found]
    return found


def _failure(operator: Operator, protocol: str, seen: Mapping[str, Any], sources: TorchSources) -> Failure:
    judged = attribute(seen, sources)
    text = seen.get("text", "")
    return Failure(
        operator,
        protocol,
        judged.mode,
        message=seen.get("deviation") or f"{seen['type']}: {_first_line(text)}",
        expression=seen.get("condition", ""),
        place=judged.path[0] if judged.path else None,
        sample=seen["sample"],
        arguments=seen["arguments"],
        path=judged.path,
        why=judged.why,
        formula=": ".join(filter(None, seen.get("formula", ()))),
        error=seen.get("deviation") or text,
        call=seen.get("call", ""),
    )


def attribute(seen: Mapping[str, Any], sources: TorchSources) -> Attribution:
    """Attribute one error that a child explained."""
    if "deviation" in seen:
        return Attribution(Mode.DEVIATION, why="it traces: no line forced a size, one guessed it wrong")
    if seen["type"] == "ProcessDied":
        return Attribution(Mode.UNKNOWN, why=DIED)
    if seen["type"] == "GuardOnDataDependentSymNode":
        return _undecided(seen, sources)
    if seen["type"] == _PINNED:
        mode = Mode.COINCIDENCE if _COINCIDENCE in seen["types"] else Mode.SPECIALIZATION
        return replace(_undecided(seen, sources), mode=mode)
    lines = python_path(seen["frames"], sources) or user_path(seen["text"], sources)
    text = seen["text"]
    if seen["type"] in _BY_VALUES:
        path = (*_callers(native_path(seen["native"])), *(line for line in lines if not _is_fake(line)))
        return Attribution(Mode.DATA_DEPENDENT, path, "" if path else f"the operator itself: {_first_line(text)}")
    if _NO_SHAPE_FUNCTION in text:
        return Attribution(
            Mode.NO_SHAPE_FUNCTION, lines, "" if lines else f"the operator itself: {_first_line(text).split(': ')[0]}"
        )
    if _INT_IN_SCHEMA in text:
        return Attribution(Mode.IMPLICIT_INT, lines, "" if lines else f"the schema takes an int: {_first_line(text)}")
    if seen["type"] == "Unsupported":
        lines = user_path(text, sources) or lines
        return Attribution(
            Mode.NOT_OURS, lines, "" if lines else f"dynamo does not trace the call: {_first_line(text)}"
        )
    path = native_path(seen["native"]) + lines
    mode = next((mode for words, mode in _THROWN.items() if words in text), Mode.UNKNOWN)
    return Attribution(mode, path, "" if path else "the error keeps no frame of torch")


def _undecided(seen: Mapping[str, Any], sources: TorchSources) -> Attribution:
    """Classify a data-dependent guard on unbacked sizes."""
    python, native = seen["frames"], seen["native"]
    above = python_path(python, sources) or user_path(seen["text"], sources)
    by_values = "(Size-like symbols: none)" in seen["text"]
    if asked_natively(python, native, sources):
        mode = Mode.DATA_DEPENDENT if by_values else _native_mode(native)
        inside = native_path(native)
        if not inside:
            what = operation(native) or plain_name(native[0]["name"])
            return Attribution(mode, above, "" if above else f"the binding itself: {what}")
        # If tensor values decide, the Python line that requested one number is the one to look at.
        return Attribution(mode, above + inside if by_values else inside + above)
    mode = Mode.IMPLICIT_INT if _as_integer(python) else Mode.BRANCH
    path = above or tuple(filter(None, (machinery_line(python, sources),)))
    why = "" if above else "the tracer itself asks: no line of the operator is on the way"
    return Attribution(Mode.DATA_DEPENDENT if by_values else mode, path, why)


def _as_integer(frames: Sequence[Frame]) -> bool:
    """Return whether the first conversion among the frames makes a plain number, not a truth value."""
    for frame in frames:
        if frame["name"] in ("guard_bool", "bool_", "__bool__"):
            return False
        if frame["name"] in _INTEGERS:
            return True
    return False


def _native_mode(native: Sequence[Frame]) -> Mode:
    names = [plain_name(frame["name"]) for frame in native]
    if any("TensorIteratorBase::" in name for name in names):
        return Mode.TENSOR_ITERATOR
    if wants_concrete(native):
        return Mode.DIRECT_THROW
    return Mode.IMPLICIT_INT if any(name.endswith("guard_int") for name in names[:4]) else Mode.BRANCH


def _callers(inside: tuple[FailurePlace, ...]) -> tuple[FailurePlace, ...]:
    """Return the C++ callers of an operator that reads values, or the path itself if Python called it."""
    called = tuple(takewhile(lambda place: place.function.startswith("at::_ops::"), inside))
    callers = inside[len(called) :]
    return (replace(callers[0], expression=called[-1].function), *callers[1:]) if called and callers else callers


def _is_fake(line: FailurePlace) -> bool:
    return line.file.startswith("torch/_subclasses/")


def _first_line(text: str) -> str:
    return one_line(text.strip().partition("\n")[0])

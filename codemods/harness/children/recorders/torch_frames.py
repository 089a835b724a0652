"""Frames of torch, of Python and C++, that were open at one moment, without the machinery that asks for callers."""

from __future__ import annotations

import importlib
import traceback
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from .python_references import CALLS, composed, references

# Files whose frames request a size on behalf of their callers.
_MACHINERY = (
    "/torch/fx/",
    "/torch/_dynamo/",
    "/torch/_functorch/",
    "/torch/autograd/",
    "/torch/_subclasses/",
    "/torch/_library/",
    "/torch/utils/",
    "/torch/_ops.py",
    "/torch/_compile.py",
    "/torch/_guards.py",
    "/torch/_utils_internal.py",
    "/torch/_prims_common/wrappers.py",
    "/torch/overrides.py",
    "/torch/__init__.py",
    "/torch/_logging/",
    "/torch/_thunk.py",
)
_NATIVE = ("at::native::", "at::meta::", "torch::autograd::generated::details::")
_FRAMES = 12


@dataclass(frozen=True)
class TorchStack:
    """Python and C++ frames of one moment, and the frames that dynamo was tracing."""

    captured: Any = None
    user: list[Any] = field(default_factory=list)

    def frames(self) -> list[Any]:
        """Return the frames, the innermost first. C++ frames are symbolized here, which starts a process."""
        return self.captured.summary()[::-1] if self.captured else []

    def testimony(self) -> dict[str, Any]:
        """Return the frames of torch's own code, the innermost first, as ``[file, line, function]``.

        The file is empty for C++. ``references`` are those of the operators that C++ was composing, ``composed`` these
        operators themselves.
        """
        return {**told(self.frames()), "user": self.user}


def told(stack: Sequence[Any]) -> dict[str, Any]:
    """Return the frames of torch among those of a stack, and the references of the operators in it."""
    names = [frame.name for frame in stack if any(word in frame.name for word in CALLS)]
    return {"frames": told_of(stack), "references": references(names), "composed": composed(names)}


def stack_now() -> TorchStack:
    from torch._guards import TracingContext

    user = [
        [frame.filename, frame.lineno, frame.name]
        for frame in reversed(list(TracingContext.extract_stack() or traceback.StackSummary()))
        if "/torch/" in frame.filename
    ]
    return TorchStack(_captured(), user[:_FRAMES])


def told_of(stack: Iterable[Any]) -> list[list[Any]]:
    """Return the frames of torch in a stack, those of Python first.

    The order of Python and C++ frames in the mixed stack is unreliable, since it also depends on the build of Python.
    """
    return sorted(_of_torch(stack), key=lambda frame: not frame[0])[:_FRAMES]


def _of_torch(stack: Iterable[Any]) -> Iterator[list[Any]]:
    for frame in stack:
        if any(space in frame.name for space in _NATIVE):
            yield ["", 0, frame.name]
        elif "/torch/" in frame.filename and frame.filename.endswith(".py") and tells(frame.filename):
            yield [frame.filename, frame.lineno, frame.name]


def _captured() -> Any:
    tracebacks: Any = importlib.import_module("torch.utils._traceback")
    return tracebacks.CapturedTraceback.extract(cpp=True)


def tells(filename: str) -> bool:
    """Return whether a Python file is worth showing to the user: files of the tracing machinery are not."""
    return not any(part in filename for part in _MACHINERY) and "/children/" not in filename

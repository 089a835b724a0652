"""Source of an error: the Python and C++ frames that were open when a size was forced, as plain values."""

from __future__ import annotations

import contextlib
import itertools
import re
import sys
from collections.abc import Iterator, Sequence
from types import CodeType, FrameType, TracebackType
from typing import Any

_MOST_FRAMES = 120
_LONGEST_NAME = 400
_LONGEST_TEXT = 12_000
_STACK = "_symfix_stack"
_NODE = re.compile(r"torch::autograd::generated::(\w+)::apply\(")
_FORMULA = re.compile(
    r"(?:torch::autograd::generated::details|at::_ops|at::native|at)::(\w+)(?:::call|::redispatch)?\("
)
_NATIVE_LINE = re.compile(r"^(?:frame #\d+: (.+?) \+ 0x[0-9a-f]+ \(|#\d+ (.+?) from \S+:\d+$)", re.MULTILINE)
_RAISES = re.compile(r"c10::(?:Error|detail::torchCheckFail)|<unknown")
_GLUE = ("pybind11::", "torch::unwind", "std::", "void pybind11::", "torch::CapturedTraceback")

Frame = dict[str, Any]
"""Frame: ``file``, ``line`` (0 for most C++), ``name``, and in Python ``columns``: first and last line, first and last
column."""
_Place = tuple[CodeType, int, int]
"""Code object, the instruction, and its line."""


def watch() -> None:
    """Patch the data-dependent errors so that each keeps the frames that are open when it is created.

    Dynamo drops the traceback of an error that it wraps, and no traceback contains C++ frames.
    """
    from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException
    from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

    for kind in (GuardOnDataDependentSymNode, DataDependentOutputException, DynamicOutputShapeException):
        _keep_frames(kind)


def _keep_frames(kind: Any) -> None:
    plain = kind.__init__

    def keeping(self: Any, *args: Any, **kwargs: Any) -> None:
        plain(self, *args, **kwargs)
        setattr(self, _STACK, _open_frames())

    kind.__init__ = keeping


@contextlib.contextmanager
def specializations_kept() -> Iterator[None]:
    """Add, to a ConstraintViolationError of the block, the frames at which the first size became a constant."""
    from torch.fx.experimental.symbolic_shapes import ConstraintViolationError, ShapeEnv

    plain = ShapeEnv._log_guard
    found: list[Any] = []

    def keeping(env: Any, prefix: str, guard: Any, forcing_spec: bool) -> None:
        if guard.is_Equality and any(one.is_Integer for one in guard.args) and not found:
            found.append(_open_frames())
        plain(env, prefix, guard, forcing_spec)

    ShapeEnv._log_guard = keeping  # type: ignore[assignment,method-assign]
    try:
        yield
    except Exception as error:
        for one in causes(error):
            if isinstance(one, ConstraintViolationError):
                setattr(one, _STACK, found[0] if found else (None, []))
        raise
    finally:
        ShapeEnv._log_guard = plain  # type: ignore[method-assign]


def explain(error: BaseException) -> dict[str, Any]:
    """Return the root cause of an error: the chain of types, its text, the condition, and the frames, innermost first.

    ``native`` are the innermost C++ frames between two stretches of Python. They requested the size, or are below the
    Python code that did. For an error that C++ threw they are those in its text.
    """
    chain = list(causes(error))
    root = next((one for one in reversed(chain) if hasattr(one, _STACK)), chain[-1])
    text = str(root)
    native, python = getattr(root, _STACK, (None, None))
    stack = native.summary() if native else []
    if python is None:
        python = list(_of_traceback(root.__traceback__))
    return {
        "types": [type(one).__name__ for one in chain],
        "type": type(root).__name__,
        "text": text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + " …",
        "condition": str(getattr(root, "cond", "")),
        "frames": [_frame(*place) for place in python[:_MOST_FRAMES]],
        "native": _innermost(stack) if native else list(_thrown_from(text)),
        "formula": list(formula(stack)),
    }


def formula(stack: Sequence[Any]) -> tuple[str, str]:
    """Return the running autograd node and the function that its formula calls.

    An example is ``MmBackward0`` and ``mm_mat1_backward``.
    """
    called = ""
    for name in (frame.name for frame in reversed(stack) if "::" in frame.name):
        node = _NODE.match(name)
        if node:
            return node[1], called
        inner = _FORMULA.match(name)
        called = inner[1] if inner else called
    return "", ""


def _open_frames() -> tuple[Any, list[_Place]]:
    from torch.utils._traceback import CapturedTraceback

    python = []
    at: FrameType | None = sys._getframe(2)
    while at is not None:
        python.append((at.f_code, at.f_lasti, at.f_lineno))
        at = at.f_back
    return CapturedTraceback.extract(cpp=True), python  # type: ignore[no-untyped-call]


def _thrown_from(text: str) -> Iterator[Frame]:
    """Yield the C++ frames in the text of an error, innermost first."""
    for one, other in _NATIVE_LINE.findall(text):
        if not _RAISES.match(one or other):
            yield {"file": "", "line": 0, "name": (one or other)[:_LONGEST_NAME]}


def _innermost(stack: Any) -> list[Frame]:
    """Return the C++ frames that called Python last, up to the Python code that called them.

    The position of a Python frame in the mixed stack is unreliable, because one C frame of the interpreter runs many.
    """
    segments: list[list[Frame]] = [[]]
    for frame in reversed(stack):
        if frame.filename.endswith(".py") or frame.name.startswith("_PyEval"):
            segments.append([])
        elif "::" in frame.name and not frame.name.startswith(_GLUE):
            segments[-1].append({"file": frame.filename, "line": frame.lineno or 0, "name": frame.name[:_LONGEST_NAME]})
    return next((segment for segment in segments[1:] if segment), [])


def _of_traceback(traceback: TracebackType | None) -> Iterator[_Place]:
    entries = []
    while traceback is not None:
        entries.append((traceback.tb_frame.f_code, traceback.tb_lasti, traceback.tb_lineno))
        traceback = traceback.tb_next
    return reversed(entries)


def _frame(code: CodeType, instruction: int, line: int) -> Frame:
    frame: Frame = {"file": code.co_filename, "line": line, "name": code.co_name}
    columns = _columns(code, instruction)
    return {**frame, "columns": columns} if columns else frame


def _columns(code: CodeType, instruction: int) -> list[int] | None:
    if not hasattr(code, "co_positions"):
        return None
    found = next(itertools.islice(code.co_positions(), instruction // 2, None), None)
    if found is None or None in found:
        return None
    return [int(number or 0) for number in found]


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, the error that caused it, and so on."""
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        yield at
        at = at.__cause__ or at.__context__

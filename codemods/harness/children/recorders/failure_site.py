"""Source locations at which the export of a model fails, outside of torch, with the local spellings of its sizes."""

from __future__ import annotations

import contextlib
import os
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from typing import Any

import torch

from ..overlay.own_folders import OWN_FOLDERS
from .frame_capture import causes
from .torch_frames import stack_now

_HELD = "_symfix_places"
_STACK = "_symfix_torch_stack"
_FRAMES = 6
_DECIDING = (
    "fx/", "_subclasses/", "utils/", "_ops.py", "_export/", "__init__", "_dynamo/", "_library/", "_logging/",
    "_utils_internal.py", "_compile.py", "overrides.py", "nn/modules/module.py", "_prims_common/wrappers.py",
)  # fmt: skip
"""Files of torch, and folders of files, that request a size on behalf of their callers."""
_RUNS_CALL = "get_fake_value"
_BOTTOM = os.path.join(os.path.dirname(os.path.dirname(__file__)), "entrypoints", "exported_model.py")  # noqa: PTH118, PTH120
"""File of the frame at which a walk of the stack ends. The frames below belong to the caller, such as those of a forked
live process."""
_STANDARD = sysconfig.get_paths()["stdlib"] + os.sep

Place = dict[str, Any]
"""Source location: ``file``, ``line``, ``function``, and ``sizes``, the local spelling of each symbol."""


class FailureRecorder:
    """Recorder of the location of each data-dependent error and of each guard."""

    def __init__(self, *, inside_torch: bool = False) -> None:
        """With ``inside_torch``, the frames of torch are recorded too, at the cost of reading symbols of C++."""
        self._guards: list[tuple[Any, list[Place]]] = []
        self._watches = False
        _keep_places(inside_torch)
        self._keep_guards()

    def forget(self) -> None:
        self._guards = []

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Collect the guards that are added in the block."""
        self._guards = []
        self._watches = True
        try:
            yield
        finally:
            self._watches = False

    def testimony(self, error: BaseException) -> dict[str, Any]:
        """Return the source of ``error``: the places outside of torch, the innermost first, and the condition."""
        chain = list(causes(error))
        root = next((one for one in reversed(chain) if hasattr(one, _HELD)), None)
        if root is None:
            specialized = next((at for guard, at in self._guards if at and guard.is_Equality), [])
            if "specialized" in str(error) and specialized:
                return {"places": specialized, "kind": "guard"}
            return {"places": _of_traceback(chain[-1]), "kind": type(chain[-1]).__name__}
        places, inside = getattr(root, _HELD)
        condition = getattr(root, "cond", None)
        return {
            "places": places,
            "inside": inside,
            "kind": type(root).__name__,
            "condition": "" if condition is None else str(condition),
            # A line whose own condition fails gets a default instead.
            "stated": [_stated(condition, place["sizes"]) if inside else [] for place in places],
            "values": "(Size-like symbols: none)" in str(root),
            **(getattr(root, _STACK).testimony() if inside and hasattr(root, _STACK) else {}),
        }

    def narrowings(self, program: Any) -> Iterator[tuple[str, tuple[int, int | None], list[Place]]]:
        """Yield each symbol whose range in the program is narrower than requested, with that range and the places.

        The largest size is None if it is unlimited.
        """
        for symbol, allowed in program.range_constraints.items():
            if not str(symbol).startswith("s") or (allowed.lower <= 2 and allowed.upper > 2**31):
                continue
            places = next((at for guard, at in self._guards if symbol in guard.free_symbols and at), [])
            yield str(symbol), (int(allowed.lower), int(allowed.upper) if allowed.upper <= 2**31 else None), places

    def violated(self, values: Mapping[str, int]) -> dict[str, Any]:
        """Return the place of the first guard that is false for the ``values`` of symbols, {} if none is known."""
        for guard, places in self._guards:
            known = {symbol: values[str(symbol)] for symbol in guard.free_symbols if str(symbol) in values}
            if places and len(known) == len(guard.free_symbols) and guard.subs(known) == False:  # noqa: E712
                return {"places": places, "kind": "guard", "condition": str(guard)}
        return {}

    def _keep_guards(self) -> None:
        from torch.fx.experimental.symbolic_shapes import ShapeEnv

        plain = ShapeEnv._log_guard
        witness = self

        def keeping(env: Any, prefix: str, guard: Any, forcing_spec: bool) -> None:
            if witness._watches:
                witness._guards.append((guard, _open_places()[0]))
            plain(env, prefix, guard, forcing_spec)

        ShapeEnv._log_guard = keeping  # type: ignore[assignment,method-assign]


def _keep_places(inside_torch: bool) -> None:
    from torch._dynamo.exc import Unsupported
    from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException
    from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

    for kind in (GuardOnDataDependentSymNode, DataDependentOutputException, DynamicOutputShapeException, Unsupported):
        plain = kind.__init__

        def keeping(self: Any, *args: Any, plain: Any = plain, **kwargs: Any) -> None:
            plain(self, *args, **kwargs)
            setattr(self, _HELD, _open_places())
            if inside_torch:
                setattr(self, _STACK, stack_now())

        kind.__init__ = keeping  # type: ignore[method-assign]


def _open_places() -> tuple[list[Place], str]:
    """Return the current places outside of torch, and the line inside torch that requested the size, if one did."""
    traced, running = list(_traced_frames()), list(_python_frames())
    frames = traced or running
    places = [_place(*one) for one in frames if is_others(one[0])]
    # Generated code can't be changed, but its line identifies the failure.
    generated = [] if places else [_place(*one) for one in frames if _is_generated(one[0])]
    # Dynamo runs a call of torch on fake tensors, but decides a branch without running it.
    called = not traced or _runs_call()
    inner = [one for one in (*traced[:1], *running) if one[0].startswith(OWN_FOLDERS[0]) and not _decides(one[0])]
    direct = not traced and bool(running) and (is_others(running[0][0]) or bool(generated))
    inside = ""
    if called and not direct:
        inside = next((f"{_inner(file)}:{line} in {name}" for file, line, name, _ in inner), "a call of torch")
    return (places or generated)[:_FRAMES], inside


def _runs_call() -> bool:
    at: Any = sys._getframe(1)
    while at is not None and at.f_code.co_name != _RUNS_CALL:
        at = at.f_back
    return at is not None


def _inner(file: str) -> str:
    """Return the path of a file of torch relative to the folder that contains torch."""
    return "torch/" + file.removeprefix(OWN_FOLDERS[0]) if file.startswith(OWN_FOLDERS[0]) else file


def _traced_frames() -> Iterator[tuple[str, int, str, dict[str, Any]]]:
    """Yield the frames that dynamo is tracing, the innermost first. The Python stack contains only dynamo's own."""
    from torch._dynamo.symbolic_convert import InstructionTranslatorBase

    at: Any = sys._getframe(1)
    while at is not None and at.f_code.co_filename != _BOTTOM:
        tracer = at.f_locals.get("self") if at.f_code.co_name == "step" else None
        if isinstance(tracer, InstructionTranslatorBase):
            names = {name: _example(variable) for name, variable in tracer.symbolic_locals.items()}
            yield tracer.f_code.co_filename, tracer.lineno, tracer.f_code.co_name, names
        at = at.f_back


def _example(variable: Any) -> Any:
    """Return the fake value of a tensor or size that dynamo tracks, or None if it is not realized yet.

    Realizing it would change dynamo's guards.
    """
    from torch._dynamo.variables.lazy import LazyVariableTracker
    from torch._dynamo.variables.tensor import SymNodeVariable, TensorVariable

    if isinstance(variable, LazyVariableTracker):
        if not variable.is_realized():
            return None
        variable = variable.realize()
    known = isinstance(variable, (TensorVariable, SymNodeVariable))
    return variable.as_proxy().node.meta.get("example_value") if known else None


def _python_frames() -> Iterator[tuple[str, int, str, dict[str, Any]]]:
    at = sys._getframe(1)
    deciding = True
    while at is not None and at.f_code.co_filename != _BOTTOM:
        file = at.f_code.co_filename
        deciding = deciding and file.startswith(OWN_FOLDERS) and _decides(file)
        if not deciding:
            yield file, at.f_lineno, at.f_code.co_name, at.f_locals
        at = at.f_back  # type: ignore[assignment]


def _decides(file: str) -> bool:
    """Return whether the file requests sizes on behalf of its callers."""
    inner = file.removeprefix(OWN_FOLDERS[0])
    return file.startswith(OWN_FOLDERS[1]) or inner.startswith(_DECIDING)


def is_others(file: str) -> bool:
    """Return whether a file belongs neither to torch, nor to Python, nor to symfix, so that the user can change it."""
    if not file.endswith(".py") or file.startswith(OWN_FOLDERS) or "<" in file:
        return False
    return "site-packages" in file or not file.startswith(_STANDARD)


def _is_generated(file: str) -> bool:
    return "<" in file and not file.startswith("<frozen")


def _place(file: str, line: int, name: str, names: Mapping[str, Any]) -> Place:
    return {"file": file, "line": line, "function": name, "sizes": _spelled(names)}


def _spelled(names: Mapping[str, Any]) -> dict[str, str]:
    """Return, by symbol, the shortest spelling in terms of local names: ``n`` or ``x.shape[0]``."""
    found: dict[str, str] = {}
    for name, value in names.items():
        if not name.isidentifier():
            continue
        sizes = enumerate(value.shape) if isinstance(value, torch.Tensor) else ()
        spelled: list[tuple[str, Any]] = [(name, value)] if isinstance(value, torch.SymInt) else []
        spelled += [(f"{name}.shape[{dimension}]", size) for dimension, size in sizes]
        for text, size in spelled:
            expression = getattr(getattr(size, "node", None), "expr", None)
            if getattr(expression, "is_Symbol", False):
                known = found.get(str(expression))
                if known is None or ("." in known and "." not in text):
                    found[str(expression)] = text
    return found


def _stated(condition: Any, sizes: Mapping[str, str]) -> list[str]:
    """Return the facts that would decide ``condition``, in terms of local names, or [] if they can't be expressed.

    For a product compared with 0, none of its sizes is 0. For a size compared with 1, it is not 1.
    """
    arguments = getattr(condition, "args", ())
    if type(condition).__name__ not in ("Equality", "Unequality") or len(arguments) != 2:
        return []
    number = next((int(one) for one in arguments if one.is_Integer), None)
    expression = next((one for one in arguments if not one.is_Integer), None)
    if expression is None or number not in (0, 1) or (number == 1 and not expression.is_Symbol):
        return []
    factors = expression.as_powers_dict() if expression.is_Mul or expression.is_Pow else {expression: 1}
    symbols = [str(factor) for factor in factors if not factor.is_Integer]
    return [f"{sizes[one]} != {number}" for one in sorted(symbols)] if all(one in sizes for one in symbols) else []


def _of_traceback(error: BaseException) -> list[Place]:
    """Return the places in the traceback of an error without information about sizes."""
    found: list[Place] = []
    at = error.__traceback__
    while at is not None:
        code = at.tb_frame.f_code
        if is_others(code.co_filename):
            found.insert(0, {"file": code.co_filename, "line": at.tb_lineno, "function": code.co_name, "sizes": {}})
        at = at.tb_next
    return found[:_FRAMES]

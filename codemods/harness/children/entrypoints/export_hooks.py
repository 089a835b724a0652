"""Hooks on the exports of a user's own process: the first that fails is kept, for symfix to try in forks."""

from __future__ import annotations

import ctypes
import functools
import inspect
import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import torch

from ..overlay.own_folders import OWN_FOLDERS
from ..overlay.report_writer import write
from . import live_target

EXPORT, DRAFT, ONNX, COMPILE = "torch.export.export", "torch.export.draft_export", "torch.onnx.export", "torch.compile"
_MESSAGE = 300


@dataclass
class SeenCall:
    """Observed call, and the way in which symfix exports its model."""

    kind: str
    call: live_target.ExportCall
    way: str = "export"
    unbacked: bool = False


class _Thread(threading.local):
    """State of a thread: the kind of the outermost observed call, and the first export that failed within it."""

    within = ""
    failed: tuple[SeenCall, Exception] | None = None


_thread = _Thread()
_folder = ""


def install(folder: str) -> None:
    """Install the hooks, which write their results for symfix to ``folder``."""
    global _folder
    _folder = folder
    _note("torch", torch.__version__)
    exports: Any = torch.export
    exports.export = _watched(EXPORT, exports.export, _exported)
    if hasattr(exports, "draft_export"):
        exports.draft_export = _watched(DRAFT, exports.draft_export, _exported)
    onnx: Any = getattr(torch, "onnx", None)
    if onnx is not None:
        onnx.export = _watched(ONNX, onnx.export, None)
    whole: Any = torch
    whole.compile = _compiling(whole.compile)


def _watched(kind: str, plain: Callable[..., Any], read: Callable[..., SeenCall] | None) -> Callable[..., Any]:
    """Return the function with a hook. If ``read`` is None, the failed export that it made is kept instead."""

    @functools.wraps(plain)
    def calling(*args: Any, **kwargs: Any) -> Any:
        if _thread.within and not (_thread.within == ONNX and kind == EXPORT):
            return plain(*args, **kwargs)
        outermost = not _thread.within
        try:
            if outermost:
                _thread.within, _thread.failed = kind, None
                _note("calls", kind)
            result = plain(*args, **kwargs)
        except Exception as error:
            seen = _read(kind, plain, read, args, kwargs)
            if not outermost:
                _thread.failed = _thread.failed or (seen, error) if seen else _thread.failed
            else:
                _thread.within = ""
                if seen is None and _thread.failed is not None and type(error).__name__ == "TorchExportError":
                    _hold(kind, *_thread.failed)
                else:
                    _hold(kind, seen, error)
            raise
        finally:
            if outermost:
                _thread.within = ""
        report = getattr(result, "_report", None) if kind == DRAFT else None
        if report is not None and not report.successful():
            _hold(
                kind, _read(kind, plain, read, args, kwargs), RuntimeError(f"{len(report.failures)} failures reported")
            )
        return result

    return calling


def _read(
    kind: str, plain: Callable[..., Any], read: Callable[..., SeenCall] | None, args: Any, kwargs: Any
) -> SeenCall | None:
    if read is None:
        return None
    try:
        given = inspect.signature(plain).bind(*args, **kwargs).arguments
    except TypeError:
        return None
    return read(kind, given)


def _exported(kind: str, given: dict[str, Any]) -> SeenCall:
    call = live_target.ExportCall(given["mod"], tuple(given.get("args", ())), dict(given.get("kwargs") or {}))
    call.shapes = given.get("dynamic_shapes")
    return SeenCall(kind, call, "strict" if given.get("strict") else "export")


def _compiling(plain: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(plain)
    def compiling(model: Any = None, *args: Any, **kwargs: Any) -> Any:
        compiled = plain(model, *args, **kwargs)
        if model is None or compiled is model or torch.compiler.is_compiling():
            return compiled
        if isinstance(compiled, torch.nn.Module):
            vars(compiled)["forward"] = _first_call(compiled.forward, model)
            return compiled
        return _first_call(compiled, model)

    return compiling


def _first_call(compiled: Callable[..., Any], model: Any) -> Callable[..., Any]:
    watching = True

    @functools.wraps(compiled)
    def calling(*args: Any, **kwargs: Any) -> Any:
        nonlocal watching
        if torch.compiler.is_compiling() or not watching or _thread.within:
            return compiled(*args, **kwargs)
        watching = False
        _thread.within = COMPILE
        _note("calls", COMPILE)
        try:
            return compiled(*args, **kwargs)
        except torch._dynamo.exc.TorchDynamoException as error:
            _thread.within = ""
            _hold(COMPILE, _compiled(model, args, kwargs), error)
            raise
        finally:
            _thread.within = ""

    return calling


def _compiled(model: Any, args: Any, kwargs: Any) -> SeenCall | None:
    from torch.utils import _pytree as pytree

    from ..samples.dimensions import is_marked, of_marks
    from ..samples.export_targets import BadTarget

    # `Module.compile` compiles a method.
    owner = getattr(model, "__self__", None)
    model = owner if isinstance(owner, torch.nn.Module) and model.__name__ in ("_call_impl", "forward") else model
    call = live_target.ExportCall(model, args, kwargs)
    try:
        call.dynamic = of_marks(args, kwargs, model)
    except BadTarget:
        return None
    tensors = [one for one in pytree.tree_leaves((args, kwargs)) if isinstance(one, torch.Tensor)]
    return SeenCall(COMPILE, call, "compile", any(is_marked(one, "unbacked") for one in tensors))


def _hold(kind: str, seen: SeenCall | None, error: Exception) -> None:
    """Serve forks of this process with the call, if it is the first that failed. Then end the process."""
    if seen is None:
        return
    try:
        os.close(os.open(f"{_folder}/claimed", os.O_CREAT | os.O_EXCL))
    except OSError:
        return
    told = {
        "kind": kind,
        "where": _caller(),
        "error": f"{type(error).__name__}: {' '.join(str(error).split())}"[:_MESSAGE],
        "name": live_target.name_of(seen.call.model),
        "way": seen.way,
        "unbacked": seen.unbacked,
        "python": sys.executable,
        "process": os.getpid(),
    }
    _serve(seen.call, told)


def _serve(call: live_target.ExportCall, told: dict[str, Any]) -> NoReturn:
    code = 1
    try:
        for number, answer in ((signal.SIGINT, signal.SIG_IGN), (signal.SIGTERM, signal.SIG_DFL)):
            with suppress(ValueError):
                signal.signal(number, answer)
        ctypes.CDLL(None).fflush(None)
        live_target.hold(told["name"], call)
        serving = live_target.serve(json.loads(Path(_folder, "pipes").read_bytes()))
        write(f"{_folder}/held", told)
        for server in serving:
            os.waitpid(server, 0)
        code = 0
    except BaseException as error:
        write(f"{_folder}/held", {**told, "broken": f"{type(error).__name__}: {error}"})
    finally:
        os._exit(code)


def _caller() -> str:
    at: Any = sys._getframe(1)
    while at is not None and at.f_code.co_filename.startswith(OWN_FOLDERS):
        at = at.f_back
    return f"{at.f_code.co_filename}:{at.f_lineno}" if at is not None else ""


def _note(name: str, line: str) -> None:
    with suppress(OSError), open(f"{_folder}/{name}", "a") as file:  # noqa: PTH123
        file.write(f"{line}\n")

"""Model that is live in this process, tried in forks with the changed code in its live functions."""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from ..overlay.hot_swap import TooDeep, exchange_files
from ..recorders.branch_coverage import count_in, count_sides, helpers
from . import exported_model, fork_server_main
from .operators import say

_CHILDREN = __package__.rpartition(".")[0]
_NEEDED = (
    "protocols.dynamo_setup", "recorders.failure_site", "samples.dimensions", "samples.export_targets",
    "samples.samples",
)  # fmt: skip


@dataclass
class ExportCall:
    """Call that exports: the model, its arguments, and ``shapes`` as `torch.export.export` accepts them."""

    model: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    shapes: Any = None
    more: list[tuple[tuple[Any, ...], dict[str, Any]]] = field(default_factory=list)
    training: bool = False
    dynamic: dict[str, Any] | None = None
    """Dynamic dimensions in the form of a target, instead of ``shapes``, or None."""

    def read(self) -> Any:
        """Return the call as a `Model`. Raises BadTarget."""
        import torch
        from torch._subclasses.fake_tensor import FakeTensor
        from torch.utils import _pytree as pytree

        from ..samples.dimensions import convert
        from ..samples.export_targets import BadTarget, read

        if isinstance(self.model, torch.jit.ScriptModule):
            raise BadTarget("the model is compiled by TorchScript: its Python is not run")
        args, kwargs = pytree.tree_map_only(torch.Tensor, _leaf, (self.args, self.kwargs))
        if any(isinstance(one, FakeTensor) for one in pytree.tree_leaves((args, kwargs))):
            raise BadTarget("the inputs are fake tensors, which hold no values: make real ones")
        dynamic = convert(self.model, args, kwargs, self.shapes) if self.dynamic is None else self.dynamic
        given = {
            "model": self.model,
            "args": args,
            "kwargs": kwargs,
            "dynamic": dynamic,
            "more": self.more,
            "training": self.training,
        }
        return read(given, fixed=True)


def _leaf(tensor: Any) -> Any:
    """Return the tensor, detached if it is not a leaf, which can't be copied, or has dynamo's marks."""
    if tensor.is_leaf and not any(name.startswith("_dynamo_") for name in vars(tensor)):
        return tensor
    return tensor.detach().requires_grad_(tensor.is_leaf and tensor.requires_grad)


def name_of(model: Any) -> str:
    """Return the name of a model: that of its class, or of a function."""
    return str(getattr(model, "__qualname__", type(model).__qualname__)).rpartition("<locals>.")[2]


def hold(name: str, call: ExportCall) -> None:
    """Register a call under a name for forks of this process."""
    exported_model.living[name] = call.read


def serve(pipes: Sequence[tuple[str, str]]) -> dict[int, Path]:
    """Fork a server for each pair of pipes, and return the pipe for its results by process."""
    for name in _NEEDED:
        importlib.import_module(f"{_CHILDREN}.{name}")
    for stream in (sys.stdout, sys.stderr):
        # A stream may be closed, or None.
        with suppress(AttributeError, OSError, ValueError):
            stream.flush()
    serving = {}
    for orders, endings in pipes:
        server = os.fork()
        if server == 0:
            _serve(Path(orders), Path(endings))
        serving[server] = Path(endings)
    return serving


def _serve(orders: Path, endings: Path) -> NoReturn:
    try:
        # A fork must not trigger the handlers and hooks that the parent process has set up.
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        for number in (signal.SIGTERM, signal.SIGCHLD, signal.SIGALRM):
            signal.signal(number, signal.SIG_DFL)
        for unset in (sys.settrace, sys.setprofile, threading.settrace, threading.setprofile):
            unset(None)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    except BaseException:
        os._exit(1)
    fork_server_main.serve_all(orders, endings)


def main(request_path: str) -> None:
    """Run the request in the JSON file at ``request_path`` like `exporting`, in a fork of the model's process."""
    import torch

    # A fork has none of the parent's threads, so waiting for one would block forever.
    torch.set_num_threads(1)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", closefd=False, errors="replace") for number in (1, 2))
    request: dict[str, Any] = json.loads(Path(request_path).read_bytes())
    plain = helpers()
    if request["sides"]:
        count_sides()
    try:
        spaces = exchange_files(request["modules"])
    except TooDeep as reason:
        _refuse(request, str(reason))
        return
    if request["sides"]:
        count_in(spaces, plain)
    Path(request_path).write_text(json.dumps({**request, "modules": {}, "changed": bool(request["modules"])}))
    exported_model.main(request_path)


def _refuse(request: dict[str, Any], reason: str) -> None:
    with Path(request["report"]).open("a") as report:
        say(report, {"swaps": []})
        for words in request["targets"]:
            say(report, {"start": words})
            message = f"not tried, since the model lives already: {reason}"
            say(report, {"target": words, "verdict": "failed", "message": message})

"""Protocol of Inductor: lowering, scheduling and code generation of a call that traces with unbacked sizes."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

import torch

from ..recorders.frame_capture import causes
from ..samples.samples import Sample, attempt
from .dynamo_setup import compile_anew
from .unbacked_protocol import NoSample, eager_result


class _Generated(Exception):
    """Exception raised behind code generation, in place of compiling what was generated."""


def inductor(sample: Sample) -> dict[str, Any] | None:
    """Trace a call with unbacked sizes, and let Inductor generate its code. No code is compiled or run.

    Return None if no dimension can be marked. Raises NoSample for a call that the tracer alone refuses, and the error
    of Inductor.
    """
    if not sample.resizable:
        return None
    eager_result(sample)
    _stop_behind_generation()
    try:
        _compile(sample, "inductor")
    except Exception as error:
        if any(isinstance(one, _Generated) for one in causes(error)):
            return {}
        _, refusal = attempt(lambda: _compile(sample, "eager"))
        if refusal:
            raise NoSample(f"its trace with unbacked sizes fails: {refusal}") from None
        raise
    return {}


def _compile(sample: Sample, backend: str) -> None:
    compile_anew()
    function = sample.function
    call = torch.compile(lambda *args, **kwargs: function(*args, **kwargs), fullgraph=True, backend=backend)
    sample.call(call, unbacked=True)


@cache
def _stop_behind_generation() -> None:
    import torch._inductor.compile_fx
    import torch._inductor.config

    def generate(graph: Any) -> None:
        graph.codegen()
        raise _Generated

    lowering: Any = importlib.import_module("torch._inductor.graph").GraphLowering
    lowering.compile_to_module = generate
    torch._inductor.config.force_disable_caches = True
    torch._inductor.config.compile_threads = 1

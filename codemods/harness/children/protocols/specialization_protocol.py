"""Protocol of specialization: a dimension that is marked dynamic must not become a constant."""

from __future__ import annotations

from typing import Any

import torch
from torch._dynamo.decorators import mark_dynamic

from ..recorders.frame_capture import specializations_kept
from ..samples.samples import SEED, Sample, seed
from .dynamo_setup import compile_anew
from .unbacked_protocol import compare, eager_result, plain_call


def dynamic(sample: Sample) -> dict[str, Any] | None:
    """Compile with every dimension of two or more marked dynamic, and compare with eager.

    Return None if no dimension can be marked. A ConstraintViolationError is raised with the frames of the guard that
    made a constant.
    """
    if not sample.resizable:
        return None
    expected = eager_result(sample)
    compile_anew()
    compiled = torch.compile(plain_call(sample), backend=sample.backend, fullgraph=True)
    args, kwargs = sample.marked_by(mark_dynamic)
    seed(SEED)
    with specializations_kept():
        result = compiled(*args, **kwargs)
    compare(sample, result, expected)
    return {}

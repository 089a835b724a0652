"""Child process that runs operators on unbacked fake tensors and by make_fx, and records the executed lines."""

from __future__ import annotations

import hashlib
import json
import logging
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from symfix.codemods.harness.children.overlay.changed_torch import overlay


def main(request: str) -> None:
    asked: dict[str, Any] = json.loads(Path(request).read_bytes())
    overlay(asked["modules"])
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    import torch
    from torch.testing._internal.common_methods_invocations import op_db, python_ref_db

    torch.set_num_threads(1)
    lines = {file: set(numbers) for file, numbers in asked["lines"].items()}
    answers: dict[str, dict[str, Any]] = {}
    for number, operator in enumerate([*op_db, *python_ref_db]):
        if number % asked["every"] == 0 and torch.float32 in operator.supported_dtypes("cpu"):
            name = ".".join(filter(None, (operator.name, operator.variant_test_name)))
            answers[f"{name}#{number}"] = _answer(operator, lines)
    Path(asked["report"]).write_text(json.dumps({"operators": answers}))


def _answer(operator: Any, lines: dict[str, set[int]]) -> dict[str, Any]:
    import torch

    torch.manual_seed(0)
    reached: set[tuple[str, int]] = set()
    said: dict[str, Any] = {}
    try:
        samples = list(operator.sample_inputs("cpu", torch.float32, requires_grad=False))
    except Exception as error:
        return {"lines": [], "unbacked": f"no sample: {type(error).__name__}"}
    sample = samples[len(samples) // 2]
    said["unbacked"] = _said(lambda: _shapes(_unbacked(operator, sample)), lines, reached)
    touched = bool(reached)
    if touched:
        said["backed"] = _said(lambda: _graph(operator, sample), lines, reached)
    return {**said, "lines": sorted(reached)}


def _said(call: Callable[[], str], lines: dict[str, set[int]], reached: set[tuple[str, int]]) -> str:
    def each_line(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line" and frame.f_lineno in lines[frame.f_code.co_filename]:
            reached.add((frame.f_code.co_filename, frame.f_lineno))
        return each_line

    def each_call(frame: FrameType, event: str, argument: Any) -> Any:
        wanted = lines.get(frame.f_code.co_filename)
        if not wanted:
            return None
        first = frame.f_code.co_firstlineno
        last = max((line for _, _, line in frame.f_code.co_lines() if line), default=first)
        return each_line if any(first <= line <= last for line in wanted) else None

    sys.settrace(each_call)
    try:
        return call()
    except Exception as error:
        words = str(error).splitlines()
        return f"error: {type(error).__name__}: {words[0][:160] if words else ''}"
    finally:
        sys.settrace(None)


def _unbacked(operator: Any, sample: Any) -> Any:
    """Call the operator on fake tensors, with every dimension of two or more unbacked."""
    import torch
    from torch._dynamo.source import ConstantSource
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext
    from torch.utils._pytree import tree_map

    mode = FakeTensorMode(
        shape_env=ShapeEnv(allow_scalar_outputs=True, allow_dynamic_output_shape_ops=True), allow_non_fake_inputs=True
    )
    count = 0

    def fake(leaf: Any) -> Any:
        nonlocal count
        if not isinstance(leaf, torch.Tensor) or leaf.layout != torch.strided:
            return leaf
        count += 1
        kinds = [DimDynamic.UNBACKED if size >= 2 else DimDynamic.STATIC for size in leaf.shape]
        context: Any = StatelessSymbolicContext(dynamic_sizes=kinds)
        return mode.from_tensor(leaf, symbolic_context=context, source=ConstantSource(f"t{count}"))

    args, kwargs = tree_map(fake, ((sample.input, *sample.args), sample.kwargs))
    with mode:
        return operator.op(*args, **kwargs)


def _shapes(result: Any) -> str:
    from torch.utils._pytree import tree_leaves

    return " ".join(f"{tuple(leaf.shape)}" if hasattr(leaf, "shape") else str(leaf) for leaf in tree_leaves(result))


def _graph(operator: Any, sample: Any) -> str:
    """Hash the graph of make_fx with backed sizes and inductor's decompositions."""
    import torch
    from torch._inductor.decomposition import select_decomp_table
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.utils._pytree import tree_flatten, tree_unflatten

    leaves, structure = tree_flatten(((sample.input, *sample.args), sample.kwargs))
    places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]

    def call(*tensors: Any) -> Any:
        filled = list(leaves)
        for place, tensor in zip(places, tensors, strict=True):
            filled[place] = tensor
        args, kwargs = tree_unflatten(filled, structure)
        return operator.op(*args, **kwargs)

    traced = make_fx(call, tracing_mode="symbolic", decomposition_table=select_decomp_table())(
        *(leaves[place] for place in places)
    )
    return hashlib.sha256(traced.code.encode()).hexdigest()[:16]


if __name__ == "__main__":
    main(sys.argv[1])

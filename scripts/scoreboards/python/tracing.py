"""Child process that runs PyTorch's unbacked test of some operators, compared with eager. It prints a line for each."""

from __future__ import annotations

import copy
import json
import logging
import re
import signal
import sys
import traceback
import warnings
from pathlib import Path
from types import FrameType
from typing import Any

from symfix.codemods.harness.children.overlay.changed_torch import overlay

_CAUSE = re.compile(r"\(([^()\s]+:\d+ in [^()]*)\)\n")
# Code that evaluates guards. The line that caused the guard is further up the stack.
_MACHINERY = ("symbolic_shapes.py", "sym_node.py", "recording.py", "_dynamo", "fake_tensor.py", "_stats.py", "_ops.py")


PROBED = 4
"""Number of samples of an operator that are called at other sizes."""


class Overtime(BaseException):
    """Error for an operator that exceeds its time limit."""


def main(request: str) -> None:
    asked: dict[str, Any] = json.loads(Path(request).read_bytes())
    overlay(asked["modules"])
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    import torch
    from torch.testing._internal.common_methods_invocations import op_db
    from torch.testing._internal.common_ops_unbacked import ops_dde_xfail

    torch.set_num_threads(1)
    signal.signal(signal.SIGALRM, _overtime)
    failing = {(entry[0], entry[1]) for entry in ops_dde_xfail}
    with Path(asked["report"]).open("a") as report:
        for operator in op_db:
            name = ".".join(filter(None, (operator.name, operator.variant_test_name)))
            known = (operator.name, operator.variant_test_name) in failing
            wanted = name in asked["operators"] if asked["operators"] else known or asked["all"]
            if wanted and torch.float32 in operator.supported_dtypes("cpu"):
                said = answer(operator, asked["patience"])
                if said["verdict"] == "passed" and asked["probe"]:
                    said["deviations"] = deviations(operator, asked["patience"])
                report.write(json.dumps({"operator": name, **said}) + "\n")
                report.flush()


def answer(operator: Any, patience: int) -> dict[str, Any]:
    """Run one operator and return its verdict, with the error and the line that forced a size if it failed."""
    import torch

    torch.manual_seed(0)
    signal.alarm(patience)
    try:
        count = trace_every_sample(operator)
    except Overtime:
        return {"verdict": "overtime", "words": f"more than {patience} s", "line": ""}
    except Exception as error:
        root = _root(error)
        words = f"{type(root).__name__}: {root}"
        return {"verdict": "failed", "words": words.partition("\n")[0][:300], "line": _line(root)}
    finally:
        signal.alarm(0)
    return {"verdict": "passed" if count else "no sample", "words": f"{count} samples", "line": ""}


def trace_every_sample(operator: Any) -> int:
    """Trace every sample with unbacked dimensions of at least 2, and return their number.

    Raises the errors of tracing, and AssertionError for another result.
    """
    import torch
    from torch._dynamo.decorators import mark_unbacked
    from torch.utils._pytree import tree_leaves

    count = 0
    for sample in operator.sample_inputs("cpu", torch.float32, requires_grad=False):
        inputs = ((sample.input, *sample.args), sample.kwargs)
        traced = copy.deepcopy(inputs)
        marked = [
            mark_unbacked(leaf, dim)
            for leaf in tree_leaves(traced)
            if isinstance(leaf, torch.Tensor) and leaf.layout == torch.strided
            for dim in range(leaf.dim())
            if leaf.shape[dim] >= 2
        ]
        if not marked:
            continue
        count += 1
        args, kwargs = copy.deepcopy(inputs)
        expected = operator.op(*args, **kwargs)
        torch._dynamo.reset()
        compiled = torch.compile(lambda *a, **k: operator.op(*a, **k), backend="eager", fullgraph=True)
        got = compiled(*traced[0], **traced[1])
        torch.testing.assert_close(got, expected, equal_nan=True)
    return count


def deviations(operator: Any, patience: int) -> list[str]:
    """Return the distinct deviations from eager at sizes 0, 1 and larger, for a few samples."""
    from symfix.codemods.harness.children.entrypoints.operators import spread
    from symfix.codemods.harness.children.protocols.protocols import unbacked
    from symfix.codemods.harness.children.samples.samples import samples_of

    found: dict[str, None] = {}
    signal.alarm(patience)
    try:
        for sample in spread([one for one in samples_of(operator) if one.resizable], PROBED):
            for size, deviation in unbacked(sample).get("probes", {}).items():
                # An error or recompilation at 0 and 1 is not another result. A larger size has to be covered.
                if deviation and (deviation["kind"] == "silent" or size == "larger"):
                    said = f"at size {size}, {deviation['kind']}: {deviation['said']}"
                    found[said.partition("\n")[0][:200]] = None
    except Overtime:
        found[f"not all probed within {patience} s"] = None
    finally:
        signal.alarm(0)
    return list(found)


def _overtime(number: int, frame: FrameType | None) -> None:
    raise Overtime


def _root(error: BaseException) -> BaseException:
    """Return the root exception in a chain of exceptions."""
    seen: list[BaseException] = []
    at: BaseException | None = error
    while at is not None and at not in seen:
        seen.append(at)
        at = at.__cause__ or at.__context__
    data_dependent = [one for one in seen if "DataDependent" in type(one).__name__]
    return (data_dependent or seen)[-1]


def _line(error: BaseException) -> str:
    """Return ``file:line in function`` of the torch code that forced a size, or "" if it is unknown."""
    said = _CAUSE.search(str(error))
    if said and not said.group(1).startswith(("_dynamo/", "_ops.py", "utils/_stats.py")):
        return said.group(1)
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if "/torch/" in frame.filename and not any(part in frame.filename for part in _MACHINERY):
            return f"{frame.filename.rpartition('/torch/')[2]}:{frame.lineno} in {frame.name}"
    return ""


if __name__ == "__main__":
    main(sys.argv[1])

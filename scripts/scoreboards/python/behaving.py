"""Child process that hashes the results and errors of operators in eager mode."""

from __future__ import annotations

import hashlib
import json
import logging
import sys
import warnings
from pathlib import Path
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
    torch.use_deterministic_algorithms(True, warn_only=True)
    operators = [*python_ref_db, *op_db]
    chosen = operators[:: max(1, len(operators) // asked["count"])]
    with Path(asked["report"]).open("a") as report:
        for operator in chosen:
            if torch.float32 in operator.supported_dtypes("cpu"):
                name = ".".join(filter(None, (operator.name, operator.variant_test_name)))
                report.write(json.dumps({"operator": name, **_digests(operator)}) + "\n")


def _digests(operator: Any) -> dict[str, str]:
    import torch

    torch.manual_seed(0)
    results = hashlib.sha256()
    try:
        for sample in operator.sample_inputs("cpu", torch.float32, requires_grad=False):
            try:
                _take(results, operator(sample.input, *sample.args, **sample.kwargs))
            except Exception as error:
                results.update(f"{type(error).__name__}: {error}".encode())
    except Exception as error:  # the samples themselves can't be made
        results.update(f"{type(error).__name__}: {error}".encode())
    return {"results": results.hexdigest(), "errors": _errors(operator)}


def _errors(operator: Any) -> str:
    """Hash the errors of the operator on its invalid inputs."""
    said = hashlib.sha256()
    try:
        for bad in operator.error_inputs("cpu"):
            sample = bad.sample_input
            try:
                operator(sample.input, *sample.args, **sample.kwargs)
                said.update(b"accepted")
            except Exception as error:
                said.update(f"{type(error).__name__}: {error}".encode())
    except Exception as error:
        said.update(f"{type(error).__name__}: {error}".encode())
    return said.hexdigest()


def _take(digest: Any, value: Any) -> None:
    import torch
    from torch.utils._pytree import tree_leaves

    for leaf in tree_leaves(value):
        if isinstance(leaf, torch.Tensor):
            digest.update(f"{leaf.dtype} {tuple(leaf.shape)} {leaf.layout}".encode())
            plain = leaf.detach().to_dense() if leaf.layout != torch.strided else leaf.detach()
            digest.update(repr(plain.contiguous().view(-1).tolist()).encode())
        else:
            digest.update(repr(leaf).encode())


if __name__ == "__main__":
    main(sys.argv[1])

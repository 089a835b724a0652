"""Inputs that a model refuses: which of them the program that is traced from it takes.

Reads a JSON object (`way`, `unbacked`, `scripts`) from standard input and prints one line of JSON for each script.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

from symfix.codemods.lab.children.exporting import _WAYS, Case, _cases
from symfix.codemods.lab.children.samples import attempt
from symfix.codemods.lab.children.stopping import Witness
from symfix.codemods.lab.children.targets import load, read


def main() -> None:
    request = json.load(sys.stdin)
    witness = Witness()
    for script in request["scripts"]:
        taken, why = attempt(partial(_taken, script, request["way"], request["unbacked"], witness))
        print(json.dumps({"script": script, "taken": taken or [], "why": why}), flush=True)


def _taken(script: str, way: str, unbacked: bool, witness: Any) -> list[str]:
    """The further inputs that the program takes although the model refuses them."""
    import torch

    torch.manual_seed(0)
    model = read(load(script, str(Path(script).parent))())
    with torch.set_grad_enabled(model.training):
        refused = [case for case in _cases(model) if case.error and case.name.startswith("further")]
        if not refused:
            return []
        torch._dynamo.reset()
        witness.forget()
        program, _ = _WAYS[way](model, unbacked, witness)
        return [case.name for case in refused if not _refusal(case, program)]


def _refusal(case: Case, program: Any) -> str:
    return attempt(lambda: case.call(program))[1]


if __name__ == "__main__":
    main()

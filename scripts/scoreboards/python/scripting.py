"""Child process that tests which functions of a replaced ``torch.nn.functional`` TorchScript compiles."""

from __future__ import annotations

import importlib
import json
import sys
import warnings
from pathlib import Path
from typing import Any

from symfix.codemods.harness.children.overlay.changed_torch import overlay


def main(request: str) -> None:
    asked: dict[str, Any] = json.loads(Path(request).read_bytes())
    warnings.simplefilter("ignore")
    overlay(asked["modules"])
    torch: Any = importlib.import_module("torch")
    answers = {}
    for name in asked["functions"]:
        try:
            torch.jit.script(getattr(torch.nn.functional, name))
            answers[name] = ""
        except Exception as error:
            answers[name] = f"{type(error).__name__}: {error}"
    Path(asked["report"]).write_text(json.dumps(answers))


if __name__ == "__main__":
    main(sys.argv[1])

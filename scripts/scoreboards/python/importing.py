"""Child process without torch that tests which modules of another release can replace the installed ones.

Each test runs in a separate process. Modules that ``import torch`` does not load share one import of torch.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from symfix.codemods.harness.children.overlay.changed_torch import overlay


def main(request: str) -> None:
    asked: dict[str, Any] = json.loads(Path(request).read_bytes())
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    loaded = set(json.loads(forked(_loaded_by_torch)))
    answers: dict[str, dict[str, str]] = {}
    # Modules that torch loads come first, since this process imports torch afterwards.
    for module in sorted(asked["modules"], key=lambda name: (name not in loaded, name)):
        if module not in loaded and "torch" not in sys.modules:
            importlib.import_module("torch")
        answers[module] = {
            label: forked(partial(_imported, module, laid)) for label, laid in asked["modules"][module].items()
        }
    Path(asked["report"]).write_text(json.dumps(answers))


def forked(question: Callable[[], str]) -> str:
    """Return the result of ``question`` in a fork of this process, or the first line of its error."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        try:
            said = question()
        except BaseException as error:
            lines = f"{type(error).__name__}: {error}".splitlines()
            said = lines[0] if lines else "an error"
        with os.fdopen(writing, "w") as pipe:
            pipe.write(said)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    return answer or (f"ended by signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "")


def _loaded_by_torch() -> str:
    importlib.import_module("torch")
    return json.dumps([name for name in sys.modules if name.partition(".")[0] == "torch"])


def _imported(module: str, laid: str) -> str:
    """Import the module and return "". Errors are raised."""
    if laid:
        overlay({module: laid})
    importlib.import_module("torch")
    importlib.import_module(module)
    return ""


if __name__ == "__main__":
    main(sys.argv[1])

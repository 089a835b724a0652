"""Run of a user's script on a torch with changed kernels or modules, with a report of the result."""

from __future__ import annotations

import json
import os
import random
import runpy
import sys
import traceback
from pathlib import Path
from typing import Any

from ..overlay.changed_torch import Kernels, overlay
from ..overlay.report_writer import write


def main(request_path: str) -> None:
    """Run the request in the JSON file at ``request_path``, and write the report that it names."""
    request: dict[str, Any] = json.loads(Path(request_path).read_bytes())
    report: dict[str, Any] = {"passed": False, "error": "", "trace": "", "swaps": []}
    recorder = overlay(request["modules"], request["wanted"])
    kernels = Kernels(request["library"], request["kernels"]) if request["library"] else None
    if kernels:
        report["swaps"] = kernels.states()
        write(request["report"], report)
    seed()
    try:
        if request["script"]:
            sys.argv = [request["script"]]
            sys.path.insert(0, str(Path(request["script"]).parent))
            with recorder.recording():
                runpy.run_path(request["script"], run_name="__main__")
        report["passed"] = True
    except SystemExit as stop:
        report["passed"] = stop.code in (None, 0)
        report["error"] = "" if report["passed"] else f"exit {stop.code}"
    except BaseException as error:
        report["error"] = f"{type(error).__name__}: {error}"
        report["trace"] = traceback.format_exc()
    if kernels:
        report["calls"] = kernels.calls()
    report["ran"] = recorder.ran
    write(request["report"], report)
    sys.stdout.flush()
    sys.stderr.flush()
    # A library laid over torch's must not exist during torch's own teardown.
    os._exit(0)


def seed() -> None:
    random.seed(0)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(0)

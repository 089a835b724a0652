"""Script that runs all probes of an installed torch in one child process, since each import of torch takes seconds.

It imports nothing else of symfix, and prints a line of JSON for each probe: its name and the names that it found, or
the error that ended it.
"""

from __future__ import annotations

import importlib
import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

_FOLDER = Path(__file__).resolve().parent


def main() -> None:
    """Run the probes. That of TorchScript imports much else, and is the last."""
    sys.path.insert(0, str(_FOLDER))
    probes = {name: importlib.import_module(f"{name}_probe") for name in ("dynamo", "inlining", "graph", "torchscript")}
    # The folder of this script contains modules that shadow others.
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != _FOLDER]
    warnings.simplefilter("ignore")
    for name, probe in probes.items():
        print(json.dumps({"probe": name, **_result(probe)}), flush=True)


def _result(probe: ModuleType) -> dict[str, object]:
    find: Callable[[], list[str]] = probe.find_names
    try:
        return {"names": find(), "error": None}
    except Exception as error:  # a torch may lack what a probe reads, and the other probes go on
        return {"names": [], "error": f"{type(error).__name__}: {error}"}


if __name__ == "__main__":
    main()

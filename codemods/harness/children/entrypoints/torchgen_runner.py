"""Run of a tree's own torchgen on changed schemas: ``generating.py ROOT FOLDER`` prints one line for an error.

``FOLDER`` contains ``aten`` (``native`` with yamls, ``templates``) and ``derivatives.yaml``. Headers are written to
``headers``.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path


def main(root: Path, folder: Path) -> int:
    """Generate the declarations of all operators, match the formulas with the schemas, and return the exit code."""
    sys.path[:] = [str(root), *(entry for entry in sys.path if Path(entry) != Path(__file__).resolve().parent)]
    native = folder / "aten" / "native"
    sys.argv = [
        "torchgen",
        *("--source-path", str(folder / "aten")),
        *("--install-dir", str(folder / "headers")),
        *("--per-operator-headers", "--generate", "headers"),
    ]
    try:
        importlib.import_module("torchgen.gen").main()
        derivatives = importlib.import_module("tools.autograd.load_derivatives")
        yamls = (folder / "derivatives.yaml", native / "native_functions.yaml", native / "tags.yaml")
        derivatives.load_derivatives(*map(str, yamls))
    except Exception as error:
        words = " ".join(str(error).split())[:400]
        print(f"{type(error).__name__}: {words}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))

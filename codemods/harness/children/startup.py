"""Start-up hook for a user's own command, copied to a folder as ``sitecustomize.py`` so that Python imports it.

It changes torch in that process before the first import of torch.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from pathlib import Path


def main() -> None:
    """Change torch as ``SYMFIX_VARIANT`` specifies, then run the ``sitecustomize`` that this one shadows."""
    own = Path(__file__).resolve().parent
    children = Path(os.environ["SYMFIX_CHILDREN"])
    spec = importlib.util.spec_from_file_location(
        "symfix_children", children / "__init__.py", submodule_search_locations=[str(children)]
    )
    assert spec is not None
    assert spec.loader is not None
    package = sys.modules["symfix_children"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
    importlib.import_module("symfix_children.overlay.changed_torch").install(os.environ["SYMFIX_VARIANT"])
    sys.path[:] = [entry for entry in sys.path if not entry or Path(entry).resolve() != own]
    del sys.modules["sitecustomize"]
    if importlib.util.find_spec("sitecustomize"):
        importlib.import_module("sitecustomize")


if __name__ == "sitecustomize":
    try:
        main()
    except Exception as error:
        # Python goes on after an exception in this file; the command would then run on the torch as installed.
        sys.exit(f"symfix cannot change torch in this process: {type(error).__name__}: {error}")

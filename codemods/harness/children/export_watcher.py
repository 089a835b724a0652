"""Start-up hook for a user's own command, copied to a folder as ``sitecustomize.py`` so that Python imports it.

It installs the hooks on torch's exports as soon as the process imports torch. Until then it imports only modules that
are already loaded.
"""
# ruff: noqa: PTH120

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Onlooker:
    """Import hook that finds torch as usual, and installs the hooks on its exports after the import."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname != "torch":
            return None
        sys.meta_path.remove(self)
        from importlib.util import find_spec

        spec = find_spec("torch")
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def then_watch(module: Any) -> None:
            execute(module)
            try:
                watch()
            except Exception as error:
                # The command continues as it would without symfix.
                note("broken", f"{type(error).__name__}: {error}")

        spec.loader.exec_module = then_watch  # type: ignore[method-assign]
        return spec


def watch() -> None:
    """Install the hooks on the exports of the imported torch."""
    import importlib
    from importlib.util import module_from_spec, spec_from_file_location

    folder = os.environ["SYMFIX_CHILDREN"]
    spec = spec_from_file_location("symfix_children", f"{folder}/__init__.py", submodule_search_locations=[folder])
    assert spec is not None
    assert spec.loader is not None
    package = sys.modules["symfix_children"] = module_from_spec(spec)
    spec.loader.exec_module(package)
    importlib.import_module("symfix_children.entrypoints.export_hooks").install(os.environ["SYMFIX_LIVE"])


def note(name: str, line: str) -> None:
    """Append a line to one of the files that symfix reads."""
    with open(f"{os.environ['SYMFIX_LIVE']}/{name}", "a") as file:  # noqa: PTH123
        file.write(f"{line}\n")


def give_way() -> None:
    """Run the ``sitecustomize`` that this one shadows."""
    own = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != own or not entry]  # noqa: PTH100
    this = sys.modules.pop("sitecustomize")
    try:
        __import__("sitecustomize")
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
        # The import system requires the module that it has imported.
        sys.modules["sitecustomize"] = this


if __name__ == "sitecustomize":
    sys.meta_path.insert(0, Onlooker())
    give_way()

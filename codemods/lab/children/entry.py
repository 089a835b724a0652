"""Start a child: ``python entry.py CHILD ARGUMENTS…`` calls ``main`` of the module of that name beside this file.

A file, and no ``-c``: a caller without one is looked for in every module, as often as torch asks who calls.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Have the children as a package of their own: the target's interpreter has no symfix."""
    folder = __file__.rpartition("/")[0]
    # No module shall be found here that somebody else imports.
    if sys.path and sys.path[0] == folder:
        del sys.path[0]
    import importlib
    import importlib.util

    spec = importlib.util.spec_from_file_location(
        "symfix_children", f"{folder}/__init__.py", submodule_search_locations=[folder]
    )
    assert spec is not None
    assert spec.loader is not None
    package = sys.modules["symfix_children"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
    child, *arguments = sys.argv[1:]
    importlib.import_module(f"symfix_children.{child}").main(*arguments)


if __name__ == "__main__":
    main()

"""Entry point of a child: ``python entry.py CHILD ARGUMENTS…`` calls ``main`` of the module CHILD of entrypoints.

It is a file, not ``-c``: for a caller without a file, each stack inspection by torch searches every module.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_SLOTS = 8 * 2**20 // 8
"""Stack size of a frame in slots. Its 8 MiB are in a chunk of 16 MiB, which has room for as much again."""


def main() -> None:
    """Import the children as a package of their own, since the target's interpreter has no symfix, and run one."""
    folder = __file__.rpartition("/")[0]
    # Imports by other code must not find a module in this folder.
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
    importlib.import_module(f"symfix_children.entrypoints.{child}").main(*arguments)


def in_one_piece(call: Callable[[], None]) -> None:
    """Call with all frames in one memory chunk.

    Since 3.11 Python keeps its frames in chunks of 16 KB, and frees a chunk when its last frame returns. A call that is
    the first in a chunk takes 9 µs where another takes 0.06, and tracers are deep. A frame that requests eight
    megabytes gets a chunk of sixteen, of which only the used part is touched.
    """

    def run() -> None:
        call()

    if sys.version_info >= (3, 11):
        run.__code__ = run.__code__.replace(co_stacksize=_SLOTS)
    run()


if __name__ == "__main__":
    in_one_piece(main)

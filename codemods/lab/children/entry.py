"""Start a child: ``python entry.py CHILD ARGUMENTS…`` calls ``main`` of the module of that name beside this file.

A file, and no ``-c``: a caller without one is looked for in every module, as often as torch asks who calls.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_SLOTS = 8 * 2**20 // 8
"""Of a frame, so that its piece of memory has room for as much again."""


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


def in_one_piece(call: Callable[[], None]) -> None:
    """Call with all frames in one piece of memory.

    From 3.11 on Python keeps its frames in pieces of 16 KB, and gives a piece back to the kernel when its last frame is
    gone: a call that is the first in one takes 9 µs where another takes 0.06, and tracers are deep. A frame that asks
    for eight megabytes gets a piece of sixteen, of which no more is touched than frames need.
    """

    def run() -> None:
        call()

    if sys.version_info >= (3, 11):
        run.__code__ = run.__code__.replace(co_stacksize=_SLOTS)
    run()


if __name__ == "__main__":
    in_one_piece(main)

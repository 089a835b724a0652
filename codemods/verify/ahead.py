"""What each verification of C++ asks of a torch and of the compilers, asked beside the rules."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from threading import Thread

from ..torchapi import TorchApi
from ..torchapi.errors import TorchError
from ..torchapi.locating import locate
from .build.toolchain import CompilerMissing, find_toolchain
from .command import CPP_SUFFIXES


def ask_ahead(paths: Iterable[Path], torch_python: Path | None) -> Thread | None:
    """Begin to read the installed torch's schemas and to ask the compilers about its headers, in a thread.

    None is begun where no path is a C++ file. The answers are kept, and made once however many ask: who needs one
    before it is there waits for it. What is wrong is said by who needs it.
    """
    if not any(path.suffix in CPP_SUFFIXES for path in paths):
        return None
    thread = Thread(target=_ask, args=(torch_python,), daemon=True)
    thread.start()
    return thread


def _ask(torch_python: Path | None) -> None:
    with suppress(TorchError, OSError):
        TorchApi.load(None, torch_python)
    with suppress(TorchError, CompilerMissing, OSError):
        find_toolchain(locate(None, torch_python))

"""Prefetch of the torch schemas and the compiler checks that every verification of C++ needs."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from threading import Thread

from ..torchapi import TorchApi
from ..torchapi.errors import TorchError
from ..torchapi.torch_finder import locate
from .build.toolchain import CompilerMissing, find_toolchain
from .command import CPP_SUFFIXES


def ask_ahead(paths: Iterable[Path], torch_python: Path | None) -> Thread | None:
    """Start a thread that reads the installed torch's schemas and checks the compilers against its headers.

    Return None if no path is a C++ file. The results are cached, and a caller that needs one waits for the thread.
    Errors surface in the caller that needs the result.
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

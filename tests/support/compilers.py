"""C++ compilers of this machine."""

from __future__ import annotations

import shutil


def compilers() -> list[str]:
    """Return one name for each kind of compiler. Clang may only exist under a name with its release."""
    releases = [f"clang++-{number}" for number in range(25, 13, -1)]
    clang = next(filter(shutil.which, ["clang++", *releases]), None)
    return [name for name in ("g++", clang) if name and shutil.which(name)]

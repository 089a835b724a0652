"""C++ compiler for extensions that tests build. Torch's large headers are compiled once for all of them.

``python precompiling.py FOLDER WORDS…`` replaces ``g++ WORDS…``. The headers in `LARGE` that a source includes, itself
or by headers of its folder, are precompiled in FOLDER for its flags. Such sources are compiled by a clang++ if there is
one, because it keeps instantiated templates in a precompiled header. If it rejects a source, g++ compiles that.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

LARGE = ("ATen/ATen.h", "ATen/core/Tensor.h", "torch/csrc/autograd/custom_function.h", "torch/library.h")
STALE = 7 * 24 * 3600.0
_INCLUDED = re.compile(r'(?m)^#include (?:<([^>]+)>|"([^"]+)")')


def compiler(folder: Path, kept: Path) -> dict[str, str]:
    """Return the environment that selects this compiler. It starts in ``folder`` and stores headers in ``kept``."""
    script = folder / "g++"
    folder.mkdir(parents=True)
    words = [sys.executable, "-I", "-S", __file__, str(kept)]
    script.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    script.chmod(0o755)
    return {"CC": str(script), "CXX": str(script)}


def clear(kept: Path) -> None:
    """Remove precompiled headers that were not used for a week. Each release of torch adds its own."""
    for ready in [*kept.glob("*.gch"), *kept.glob("*.pch")]:
        with contextlib.suppress(FileNotFoundError):
            if time.time() - ready.stat().st_mtime > STALE:
                ready.unlink()


def _included(source: Path) -> Iterator[str]:
    for name, beside in _INCLUDED.findall(source.read_text(encoding="utf-8")):
        if name:
            yield name
        elif (source.parent / beside).is_file():
            yield from _included(source.parent / beside)


def _ahead(kept: Path, clang: bool, words: list[str]) -> list[str]:
    """Return the words that include precompiled headers before the source in ``words``, if it includes any."""
    if "-c" not in words or "-o" not in words:
        return []
    source, target = words[words.index("-c") + 1], words[words.index("-o") + 1]
    included = set(_included(Path(source)))
    text = "".join(f"#include <{name}>\n" for name in LARGE if name in included)
    if not text:
        return []
    flags = [word for word in words if word not in (source, target, "-c", "-o")]
    # Each copy of a project has its own interpreter.
    named = [flag for flag in flags if not flag.startswith("-I") or "/torch/include" in flag]
    header = kept / f"large-{hashlib.sha256(repr((named, text)).encode()).hexdigest()[:16]}.h"
    ready = header.with_suffix(".pch" if clang else ".h.gch")
    making = ["clang++", "-fpch-instantiate-templates"] if clang else ["g++"]
    with header.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ready.exists():
            header.write_text(text, encoding="utf-8")
            half = header.with_suffix(".half")
            subprocess.run([*making, *flags, "-x", "c++-header", str(header), "-o", str(half)], check=True)
            half.replace(ready)
            clear(kept)
        ready.touch()
    return ["-include-pch", str(ready)] if clang else ["-include", str(header)]


def main(kept: str, *words: str) -> None:
    """Compile or link as g++ does, without a precompiled header if none can be stored."""
    clang = shutil.which("clang++") is not None
    try:
        ahead = _ahead(Path(kept), clang, list(words))
    except (OSError, subprocess.CalledProcessError):
        ahead = []
    if clang and ahead:
        if subprocess.run(["clang++", *ahead, *words], capture_output=True, check=False).returncode == 0:
            return
        ahead = []
    os.execvp("g++", ["g++", *ahead, *words])


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Compiles C++ against the installed torch's headers, with a shared precompiled header and a memory."""

from __future__ import annotations

import hashlib
import subprocess
from functools import lru_cache
from pathlib import Path

from filelock import FileLock
from symfix.codemods.engine import storage
from symfix.codemods.torchapi.locating import locate
from symfix.codemods.verify.build.toolchain import Toolchain, find_toolchain

# What nearly every operator file includes anyway: a header that a fix adds is not hidden by these.
COMMON = b"""#include <ATen/core/Tensor.h>
#include <ATen/ExpandUtils.h>
#include <ATen/TensorUtils.h>
#include <ATen/ops/empty.h>
"""


def complaint(content: bytes, name: str) -> str | None:
    """What the compiler says against this text, or None; a text that compiled once is not compiled again."""
    toolchain = _toolchain()
    digest = hashlib.blake2b(toolchain.identity.encode() + b"\0" + COMMON + b"\0" + content, digest_size=16)
    known = storage.folder("syntax") / digest.hexdigest()
    if known.exists():
        return None
    command = [*_base(toolchain), "-fsyntax-only", "-include", str(_precompiled()), "-x", "c++", "-"]
    ended = subprocess.run(command, input=content, capture_output=True, check=False, timeout=600)
    if ended.returncode == 0:
        storage.store(known, b"")
        return None
    return ended.stderr.decode(errors="replace").replace("<stdin>", name)


@lru_cache(maxsize=1)
def _toolchain() -> Toolchain:
    return find_toolchain(locate(None, None))


def _base(toolchain: Toolchain) -> list[str]:
    return [str(toolchain.compiler), *toolchain.flags, *(f"-I{folder}" for folder in toolchain.includes)]


@lru_cache(maxsize=1)
def _precompiled() -> Path:
    toolchain = _toolchain()
    digest = hashlib.blake2b(toolchain.identity.encode() + COMMON, digest_size=8).hexdigest()
    header = storage.folder("syntax") / f"common-{digest}.h"
    header.parent.mkdir(parents=True, exist_ok=True)
    ready = header.with_suffix(".h.gch")
    with FileLock(f"{header}.lock"):
        if not ready.exists():
            header.write_bytes(COMMON)
            half = header.with_suffix(".half")
            command = [*_base(toolchain), "-x", "c++-header", str(header), "-o", str(half)]
            subprocess.run(command, check=True, capture_output=True, timeout=600)
            half.replace(ready)
    return header

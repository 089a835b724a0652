"""Compilation of C++ against the installed torch's headers, with precompiled headers and cached results."""

from __future__ import annotations

import hashlib
import re
import subprocess
from functools import lru_cache
from pathlib import Path

from filelock import FileLock
from precompiling import clear
from symfix.codemods.system import cache_folder
from symfix.codemods.torchapi.torch_finder import locate
from symfix.codemods.verify.build.prelude import headers_in
from symfix.codemods.verify.build.toolchain import Toolchain, find_toolchain

# Headers that nearly every operator file includes. They do not hide that a header which a fix must add is missing.
COMMON = b"""#include <ATen/core/Tensor.h>
#include <ATen/ExpandUtils.h>
#include <ATen/TensorUtils.h>
#include <ATen/ops/empty.h>
"""
TENSOR = b"#include <ATen/core/Tensor.h>\n"
"""Header that the compiler reads in a third of the time of COMMON."""
WHOLE = b"#include <ATen/ATen.h>\n"
_INCLUDED = re.compile(rb"(?m)^#include <([^>]+)>")


def complaint(content: bytes, name: str) -> str | None:
    """Return the compiler's errors for this text, or None. Success is cached."""
    toolchain = _toolchain()
    digest = hashlib.blake2b(toolchain.identity.encode() + b"\0" + COMMON + b"\0" + content, digest_size=16)
    known = cache_folder.folder("syntax") / digest.hexdigest()
    if known.exists():
        return None
    said = ""
    for headers in _preludes(content):
        command = [*_base(toolchain), "-fsyntax-only", "-include", str(_precompiled(headers)), "-x", "c++", "-"]
        ended = subprocess.run(command, input=content, capture_output=True, check=False, timeout=600)
        if ended.returncode == 0:
            cache_folder.store(known, b"")
            return None
        said = ended.stderr.decode(errors="replace").replace("<stdin>", name)
    return said


def _preludes(content: bytes) -> list[bytes]:
    """Return the headers to include before a text: COMMON, after headers of its own that contain all or most others.

    Only an error with COMMON counts.
    """
    included = set(_INCLUDED.findall(content))
    if WHOLE in content:
        return [WHOLE, COMMON]
    return [TENSOR, COMMON] if TENSOR in content and included <= _brought(TENSOR) else [COMMON]


@lru_cache(maxsize=1)
def _toolchain() -> Toolchain:
    return find_toolchain(locate(None, None))


def _base(toolchain: Toolchain) -> list[str]:
    return [str(toolchain.compiler), *toolchain.flags, *(f"-I{folder}" for folder in toolchain.includes)]


@lru_cache
def _brought(headers: bytes) -> frozenset[bytes]:
    """Return the headers that these headers include, by the names used to include them."""
    brought = set()
    for path in map(Path, headers_in(_precompiled(headers).with_suffix(".d").read_text())):
        brought.add(path.name.encode())
        for folder in _toolchain().includes:
            if path.is_relative_to(folder):
                brought.add(path.relative_to(folder).as_posix().encode())
    return frozenset(brought)


@lru_cache
def _precompiled(headers: bytes) -> Path:
    toolchain = _toolchain()
    digest = hashlib.blake2b(toolchain.identity.encode() + headers, digest_size=8).hexdigest()
    header = cache_folder.folder("syntax") / f"ahead-{digest}.h"
    header.parent.mkdir(parents=True, exist_ok=True)
    ready = header.with_suffix(".h.gch")
    with FileLock(f"{header}.lock"):
        if not ready.exists():
            header.write_bytes(headers)
            half = header.with_suffix(".half")
            command = [*_base(toolchain), "-x", "c++-header", str(header), "-o", str(half)]
            command += ["-MD", "-MF", str(header.with_suffix(".d"))]
            subprocess.run(command, check=True, capture_output=True, timeout=600)
            half.replace(ready)
            clear(ready.parent)
        ready.touch()
    return header

"""Compilation checks of operator files by the verifier's compiler and flags, cached for each text."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import syntax
from symfix.codemods.torchapi.torch_finder import locate
from symfix.codemods.verify.build.toolchain import Toolchain, find_toolchain

from .corpus import remembered

_ERROR = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+):\d+: (?:fatal )?error: (?P<what>.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Complaint:
    """First error of a compiler. ``line`` is the nearest line in the file itself, or 0 if the error contains none."""

    line: int
    what: str


class Compiler:
    """Checker of files against the installed torch's headers.

    ``plain`` omits the precompiled header, which adds a few of torch's own headers to every file.
    """

    def __init__(self, *, plain: bool) -> None:
        self._toolchain: Toolchain = find_toolchain(locate(None, None))
        self._plain = plain

    def complaint(self, path: Path, content: bytes) -> Complaint | None:
        """Return the first compiler error of the file, or None."""
        parts: list[str | bytes] = [self._toolchain.identity, str(self._plain), syntax.COMMON, path.name, content]
        return remembered("syntax", parts, lambda: self._ask(path, content))

    def _ask(self, path: Path, content: bytes) -> Complaint | None:
        output = self._alone(path, content) if self._plain else syntax.complaint(content, path.name)
        return None if output is None else first_error(output, path.name)

    def _alone(self, path: Path, content: bytes) -> str | None:
        tools = self._toolchain
        places = [f"-iquote{path.parent}", *(f"-I{folder}" for folder in tools.includes)]
        command = [str(tools.compiler), *tools.flags, *places, "-fsyntax-only", "-x", "c++", "-"]
        ended = subprocess.run(command, input=content, capture_output=True, check=False, timeout=1200)
        if ended.returncode == 0:
            return None
        return ended.stderr.decode(errors="replace").replace("<stdin>", path.name)


def first_error(output: str, name: str) -> Complaint:
    """Return the first error of a compiler's output, at a line of the file ``name`` if lines or notes mention it."""
    found = _ERROR.search(output)
    if found is None:
        return Complaint(0, (output.strip().splitlines() or ["it failed without a word"])[0])
    if found["file"] == name:
        return Complaint(int(found["line"]), found["what"])
    mention = re.search(rf"(?:^|\bfrom ){re.escape(name)}:(\d+)", output, re.MULTILINE)
    return Complaint(int(mention[1]) if mention else 0, found["what"])

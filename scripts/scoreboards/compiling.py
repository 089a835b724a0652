"""Does an operator file compile? By the verifier's compiler and flags; a text is compiled once."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import syntax
from symfix.codemods.torchapi.locating import locate
from symfix.codemods.verify.build.toolchain import Toolchain, find_toolchain

from .corpus import remembered

_ERROR = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+):\d+: (?:fatal )?error: (?P<what>.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Complaint:
    """The first error of a compiler: ``line`` is the nearest place in the file itself, 0 if it names none."""

    line: int
    what: str


class Compiler:
    """Checks files against the installed torch's headers.

    ``plain`` leaves out the precompiled header, which brings a few of torch's own headers whether or not a file
    includes them.
    """

    def __init__(self, *, plain: bool) -> None:
        self._toolchain: Toolchain = find_toolchain(locate(None, None))
        self._plain = plain

    def complaint(self, path: Path, content: bytes) -> Complaint | None:
        """What the compiler says first against the file, or None."""
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
    """The first error of a compiler's output, placed in the file called ``name`` if its lines or notes mention it."""
    found = _ERROR.search(output)
    if found is None:
        return Complaint(0, (output.strip().splitlines() or ["it failed without a word"])[0])
    if found["file"] == name:
        return Complaint(int(found["line"]), found["what"])
    mention = re.search(rf"(?:^|\bfrom ){re.escape(name)}:(\d+)", output, re.MULTILINE)
    return Complaint(int(mention[1]) if mention else 0, found["what"])

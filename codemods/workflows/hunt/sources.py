"""Text of torch's Python files as the children ran them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

_LONGEST = 200


class TorchSources:
    """Files below ``site``, the folder that contains torch, with some replaced by ``modules`` (name to file)."""

    def __init__(self, site: Path, modules: Mapping[str, Path]) -> None:
        self.site = site
        self._over = {name.replace(".", "/"): path for name, path in modules.items()}
        self._lines: dict[str, list[bytes]] = {}

    def relative(self, file: str) -> str | None:
        """Return ``file`` relative to the folder that contains torch, or None for a file that is not torch's."""
        for folder in (self.site, self.site.resolve()):
            path = Path(file)
            if path.is_relative_to(folder):
                relative = path.relative_to(folder).as_posix()
                return relative if relative.partition("/")[0] in ("torch", "functorch") else None
        return None

    def text(self, file: str, line: int, end_line: int, start: int, end: int) -> str:
        """Return the text at a place, joined to one line, or the whole line for unknown columns (``end`` is 0)."""
        lines = self._read(file)
        if not 0 < line <= len(lines):
            return ""
        if not end:
            words = lines[line - 1]
        elif end_line <= line:
            words = lines[line - 1][start:end]
        else:
            words = b" ".join([lines[line - 1][start:], *lines[line : end_line - 1], lines[end_line - 1][:end]])
        text = " ".join(words.decode("utf-8", "replace").split())
        return text if len(text) <= _LONGEST else text[:_LONGEST] + " …"

    def _read(self, file: str) -> list[bytes]:
        if file not in self._lines:
            module = file.removesuffix(".py").removesuffix("/__init__")
            try:
                self._lines[file] = self._over.get(module, self.site / file).read_bytes().splitlines()
            except OSError:
                self._lines[file] = []
        return self._lines[file]

"""Paths that a client may name: those in its roots, with links resolved."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from mcp.server.mcpserver.exceptions import ToolError

from ..engine.file_discovery import find
from ..engine.registry import Registry

_LONGEST = 200


class PathRefused(ToolError):
    """Path that a client may not name. ``str()`` is the one line for the client."""


@dataclass(frozen=True)
class AllowedPaths:
    """Folders of a client. A relative path starts at the first one."""

    folders: tuple[Path, ...]

    @classmethod
    def of(cls, roots: Iterable[str], working_folder: Path) -> AllowedPaths:
        """Return the folders of a client's roots (URIs), or the working folder if there are no roots."""
        named = list(roots)
        parts = [urlsplit(root) for root in named]
        local = [Path(unquote(one.path)) for one in parts if one.scheme == "file" and one.netloc in ("", "localhost")]
        return cls(tuple(folder.resolve() for folder in (local if named else [working_folder])))

    @property
    def start(self) -> Path:
        """Return the folder at which relative paths start. Raises PathRefused if none of the roots is a folder."""
        for folder in self.folders:
            if folder.is_dir():
                return folder
        raise PathRefused("none of the client's roots is a folder of this machine; name one")

    def file(self, name: str) -> Path:
        """Return the resolved path of a file or folder. Raises PathRefused if it is outside or absent."""
        shown = repr(name if len(name) <= _LONGEST else f"{name[:_LONGEST]}…")
        try:
            path = (self.start / name).resolve()
            inside = any(path.is_relative_to(folder) for folder in self.folders)
            there = inside and path.exists()
        except (OSError, RuntimeError, ValueError) as error:
            raise PathRefused(f"{shown}: is no path: {getattr(error, 'strerror', None) or error}") from None
        if not inside:
            among = ", ".join(map(str, self.folders))
            raise PathRefused(f"{shown}: is outside of the allowed folders ({among}); name a path in them")
        if not there:
            raise PathRefused(f"{shown}: no such file or folder")
        return path

    def sources(self, names: Iterable[str]) -> list[Path]:
        """Return the resolved paths of files and folders. Raises PathRefused if a source below leads outside."""
        found = [self.file(name) for name in names]
        if not found:
            raise PathRefused("no path was named; name a file or a folder")
        for source in find(found, frozenset(Registry().suffixes)):
            if source.path.is_symlink():
                self.file(str(source.path))
        return found

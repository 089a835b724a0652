"""Names of files in a patch: relative to the project, or to the folder of packages with the package's version."""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import distributions
from pathlib import Path

from ...torchapi.torch_finder import TorchInstallation

_PACKAGES = ("site-packages", "dist-packages")


class PatchNames:
    """Names of files for display and for ``git apply``. ``folder`` contains the user's own code.

    ``torch`` is the target torch, which may be installed from its source tree.
    """

    def __init__(self, folder: Path, torch: TorchInstallation) -> None:
        self._folder = folder.resolve()
        self._torch = torch

    def is_of_torch(self, path: Path) -> bool:
        """Return whether a file belongs to the target torch."""
        return path.is_relative_to(self._torch.package)

    def short(self, path: Path) -> str:
        """Return the name relative to the folder of packages, else to the user's folder, else to the root."""
        root = self._torch.package.parent if self.is_of_torch(path) else _package_root(path)
        if root is not None:
            return path.relative_to(root).as_posix()
        whole = path.resolve()
        if whole.is_relative_to(self._folder):
            return whole.relative_to(self._folder).as_posix()
        return whole.relative_to(whole.anchor).as_posix()

    def package(self, path: Path) -> str:
        """Return ``NAME VERSION`` of the installed package that contains the file, or ""."""
        if self.is_of_torch(path):
            return f"torch {self._torch.version}"
        root = _package_root(path)
        return _packages(root).get(path.relative_to(root).parts[0], "") if root is not None else ""


def _package_root(path: Path) -> Path | None:
    return next((parent for parent in path.parents if parent.name in _PACKAGES), None)


@lru_cache(maxsize=8)
def _packages(root: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in distributions(path=[str(root)]):
        # Each access reads and parses the metadata again.
        name = f"{one.metadata['Name']} {one.version}"
        for top in dict.fromkeys(file.parts[0] for file in one.files or ()):
            found.setdefault(top, name)
    return found

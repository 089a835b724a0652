"""Location of the target torch, found without importing it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

from .errors import NotATorchTree, TorchMissing, TorchTooOld, YamlUnreadable

OLDEST_INSTALLED = (2, 8)

_NATIVE = Path("aten", "src", "ATen", "native")
# The current folder is removed from the path before any import, since it may contain a module of any name.
_FIND = """
import sys
sys.path[:] = [entry for entry in sys.path if entry]
from importlib.util import find_spec
spec = find_spec("torch")
print(spec.origin if spec and spec.origin else "")
"""
_SECONDS_TO_START = 60
_VERSION = re.compile(r"__version__\s*=\s*['\"]([^'\"]+)['\"]")


@dataclass(frozen=True)
class TorchInstallation:
    """Files of one torch: an installed package or a source tree."""

    version: str
    build: str
    """Version with all details that distinguish two builds."""
    python: Path
    """Interpreter with the torch that changes are verified against."""
    package: Path
    """Folder ``torch`` with its Python files."""
    native: Path
    """Folder with ``native_functions.yaml`` and ``tags.yaml``."""
    torchgens: tuple[Path, ...]
    """Folders ``torchgen``, the matching one first."""
    include_dirs: tuple[Path, ...]
    root: Path | None = None


def locate(torch_root: Path | None, torch_python: Path | None, *, tree_code: bool = True) -> TorchInstallation:
    """Return the torch of a source tree, or else the one installed for ``torch_python`` (default: this interpreter).

    Without ``tree_code`` the tree's own torchgen is not among those that may be run to read its schemas. Raises
    TorchMissing, TorchTooOld, NotATorchTree or YamlUnreadable.
    """
    python = torch_python or Path(sys.executable)
    package = _installed_package(torch_python)
    if torch_root is not None:
        return _tree(torch_root.resolve(), python, package, tree_code)
    if package is None:
        raise TorchMissing(
            f"no torch in {python}: install symfix[verify] there, or name another interpreter with --torch-python; "
            "to get the CPU build, first install torch there with --index-url and the address of PyTorch's CPU wheels"
        )
    return _installed(package, python)


def tree_around(path: Path) -> Path | None:
    """Return the PyTorch source tree that contains a file or folder, or None. Only such a tree has certain files."""
    here = path.absolute()
    return next((folder for folder in (here, *here.parents) if _is_tree(folder)), None)


def tree_version(root: Path) -> str | None:
    """Return the version of a source tree, or None if it has no valid ``version.txt``."""
    try:
        version = (root / "version.txt").read_text().strip()
        release(version)
    except (OSError, ValueError):
        return None
    return version


def installed_version(torch_python: Path | None) -> str | None:
    """Return the version of the torch installed for an interpreter, or None without one. Raises TorchMissing."""
    package = _installed_package(torch_python)
    match = _VERSION.search((package / "version.py").read_text()) if package else None
    return match[1].partition("+")[0] if match else None


def _is_tree(folder: Path) -> bool:
    try:
        return (folder / _NATIVE / "native_functions.yaml").is_file() and (folder / "version.txt").is_file()
    except OSError:
        return False


def release(version: str) -> tuple[int, int]:
    """Return the major and minor number of a version such as ``2.13.0+cpu`` or ``1.13.0a0``."""
    match = re.match(r"(\d+)\.(\d+)", version)
    if match is None:
        raise ValueError(f"not a torch version: {version!r}")
    return int(match[1]), int(match[2])


def _tree(root: Path, python: Path, installed: Path | None, tree_code: bool) -> TorchInstallation:
    native = root / _NATIVE
    if not native.is_dir():
        raise NotATorchTree(f"{root} has no {_NATIVE}: --torch-root takes the top folder of a PyTorch source tree")
    version = tree_version(root)
    if version is None:
        raise NotATorchTree(f"{root} has no version.txt with a version: is the source tree complete?")
    torchgens = [root / "torchgen"] if tree_code else []
    if installed is not None:
        # A torchgen of the same release reads all of the schemas, so the tree's code is not needed.
        same = _release_of(installed) == release(version)
        torchgens.insert(0 if same else len(torchgens), installed.parent / "torchgen")
    return TorchInstallation(
        version=version.partition("+")[0],
        build=version,
        python=python,
        package=root / "torch",
        native=_with_yaml(native),
        torchgens=_existing(torchgens),
        include_dirs=(root / "aten" / "src", root),
        root=root,
    )


def _release_of(package: Path) -> tuple[int, int] | None:
    match = _VERSION.search((package / "version.py").read_text())
    return release(match[1]) if match else None


def _installed(package: Path, python: Path) -> TorchInstallation:
    text = (package / "version.py").read_text()
    match = _VERSION.search(text)
    if match is None:
        raise TorchMissing(f"{package / 'version.py'} names no version: reinstall torch in {python}")
    version = match[1]
    if release(version) < OLDEST_INSTALLED:
        oldest = ".".join(map(str, OLDEST_INSTALLED))
        raise TorchTooOld(f"torch {version} in {python} is too old: symfix needs {oldest} or newer")
    git = re.search(r"git_version\s*=\s*['\"](\w+)['\"]", text)
    packaged = package.parent / "torchgen" / "packaged" / "ATen" / "native"
    include = package / "include"
    return TorchInstallation(
        version=version.partition("+")[0],
        build=f"{version} {git[1]}" if git else version,
        python=python,
        package=package,
        native=_with_yaml(packaged if packaged.is_dir() else package.parent / _NATIVE),
        torchgens=_existing([package.parent / "torchgen"]),
        include_dirs=(include, include / "torch" / "csrc" / "api" / "include"),
    )


def _existing(folders: list[Path]) -> tuple[Path, ...]:
    return tuple(folder for folder in folders if (folder / "gen.py").is_file())


def _with_yaml(native: Path) -> Path:
    for name in ("native_functions.yaml", "tags.yaml"):
        if not (native / name).is_file():
            raise YamlUnreadable(f"{native / name} is missing: reinstall torch, or complete the source tree")
    return native


def _installed_package(python: Path | None) -> Path | None:
    if python is None or python.absolute() == Path(sys.executable).absolute():
        return _package_here()
    return _asked(python)


@lru_cache
def _asked(python: Path) -> Path | None:
    import subprocess

    try:
        child = subprocess.run(
            [python, "-c", _FIND], capture_output=True, text=True, timeout=_SECONDS_TO_START, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it does not start"
        raise TorchMissing(f"--torch-python {python}: {reason}; name a Python interpreter") from None
    return _built(child.stdout.strip())


def _package_here() -> Path | None:
    packages = (_built(spec.origin) for spec in _specs_here() if spec is not None and spec.origin)
    return next((package for package in packages if package is not None), None)


def _specs_here() -> Iterator[ModuleSpec | None]:
    # A PyTorch checkout as working folder must not pass for an installed torch. Where an editable install put it on the
    # path, under its full name, it is one.
    named = [entry for entry in sys.path if entry]
    yield PathFinder.find_spec("torch", [entry for entry in named if Path(entry) != Path.cwd()])
    for finder in sys.meta_path:
        if finder is not PathFinder:
            yield finder.find_spec("torch", None)
    yield PathFinder.find_spec("torch", named)


def _built(origin: str) -> Path | None:
    package = Path(origin).parent
    return package if origin and (package / "version.py").is_file() else None

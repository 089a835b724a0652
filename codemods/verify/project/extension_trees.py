"""Scratch copies of a user's project, each with a Python environment of its own. The project itself is only read."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...harness.process_limits import CHILDREN, Limits, run
from ...system import repository
from ..change import Change

_PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg")
_PRODUCTS = frozenset({"__pycache__", "build", "dist", ".git", ".hg", ".tox", ".nox", ".pytest_cache", ".mypy_cache"})
_WATCHING = CHILDREN / "entrypoints" / "pytest_plugin.py"
_LOADED_BY_IT = ("recorded_calls", "captures")
WATCHER = "symfix_watching"
"""Name of a pytest plugin in the copy's environment, which reports the loaded files and the outcome of each test."""
_OURS = ("_symfix", "symfix_", "_virtualenv", "__pycache__")
_LIMITS = Limits(wall=120)


class NoProject(Exception):
    """Error raised when the files do not belong to one project. ``str()`` is the one line for the user."""


@dataclass(frozen=True)
class ProjectFolder:
    """Folder that is copied (``top``), and the folder in it, or equal to it, where the commands run."""

    top: Path
    folder: Path

    @property
    def in_git(self) -> bool:
        return (self.top / ".git").exists()

    def files(self) -> list[Path]:
        """Return the files of the project, relative to its top.

        These are all that git does not ignore, or without git all but build products.
        """
        if not self.in_git:
            return sorted(_walk(self.top, self.top))
        listed = _git(self.top, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        names = {Path(os.fsdecode(name)) for name in listed.split(b"\0") if name}
        found: list[Path] = []
        for name in sorted(names):
            # A submodule is listed as one name.
            inside = self.top / name
            if inside.is_dir() and not inside.is_symlink():
                found += sorted(_walk(inside, self.top))
            elif inside.exists() or inside.is_symlink():
                found.append(name)
        return found

    def state(self, changes: Sequence[Change]) -> str:
        """Return a hash of the project before ``changes``, which is stable while none of its files is written."""
        digest = hashlib.sha256(os.fsencode(self.folder))
        changed = {change.path.resolve() for change in changes if change.path.read_bytes() != change.before}
        for name in self.files():
            if (self.top / name).resolve() not in changed:
                stat = (self.top / name).lstat()
                digest.update(f"{name}\0{stat.st_size}\0{stat.st_mtime_ns}\0".encode())
        for change in sorted(changes, key=lambda change: change.path):
            if change.path.resolve() in changed:
                digest.update(os.fsencode(change.path) + b"\0" + change.before)
        return digest.hexdigest()


def find_project(paths: Sequence[Path]) -> ProjectFolder:
    """Return the project that contains all of ``paths``: their repository, or the nearest folder with a build file.

    The commands run in the nearest folder at or above the files that has a build file (``pyproject.toml``,
    ``setup.py``, ``setup.cfg``). Raises NoProject if there is no such folder and no repository.
    """
    resolved = [path.resolve() for path in paths]
    shared = Path(os.path.commonpath([path.parent for path in resolved]))
    top = repository.top(shared)
    above = [place for place in (shared, *shared.parents) if top is None or place.is_relative_to(top)]
    folder = next((place for place in above if any((place / name).is_file() for name in _PROJECT_FILES)), top)
    if folder is None:
        names = ", ".join(str(path) for path in paths)
        raise NoProject(f"{names}: in no repository, and no {' or '.join(_PROJECT_FILES)} above: no project to build")
    return ProjectFolder(top or folder, folder)


@dataclass(frozen=True)
class ProjectCopy:
    """Copy of a project (``top``), and the environment of its commands."""

    project: ProjectFolder
    top: Path
    environment: Path

    @property
    def folder(self) -> Path:
        return self.top / self.project.folder.relative_to(self.project.top)

    @property
    def python(self) -> Path:
        return self.environment / "bin" / "python"

    @property
    def site(self) -> Path:
        return next((self.environment / "lib").glob("python*/site-packages"))

    @property
    def installed(self) -> bool:
        """Return whether a package was installed into the environment."""
        return any(not item.name.startswith(_OURS) for item in self.site.iterdir())

    def write(self, path: Path, content: bytes) -> None:
        """Write ``content`` to the copy of the project's file ``path``."""
        target = self.top / path.resolve().relative_to(self.project.top.resolve())
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        target.write_bytes(content)
        if path.exists():
            shutil.copymode(path, target)


def plant(project: ProjectFolder, place: Path, python: Path) -> ProjectCopy:
    """Copy ``project`` below the new folder ``place``, with an environment that has the packages of ``python``.

    Raises NoProject if the copy or the environment can't be made.
    """
    place.mkdir()
    tree = ProjectCopy(project, place / project.top.name, place / "environment")
    if project.in_git:
        _clone(project.top, tree.top)
    tree.top.mkdir(exist_ok=True)
    for name in project.files():
        target = tree.top / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(project.top / name, target, follow_symlinks=False)
    _make_environment(tree, place, python)
    return tree


def _make_environment(tree: ProjectCopy, scratch: Path, python: Path) -> None:
    asked = "import json, sys; print(json.dumps([p for p in sys.path if p.endswith('-packages')]))"
    sites = run([str(python), "-c", asked], scratch=scratch, limits=_LIMITS, environment=clean(os.environ))
    made = run(
        [str(python), "-I", "-m", "venv", "--without-pip", "--symlinks", str(tree.environment)],
        scratch=scratch, limits=_LIMITS, environment=clean(os.environ),
    )  # fmt: skip
    if made.code != 0 or sites.code != 0:
        told = (made.stderr or sites.stderr).strip().splitlines()[-1:]
        raise NoProject(f"no scratch environment can be made with {python}: {' '.join(told)}")
    lines = [f"import site; site.addsitedir({folder!r})" for folder in json.loads(sites.stdout.splitlines()[-1])]
    (tree.site / "_symfix.pth").write_text("\n".join([*lines, f"import {WATCHER}", ""]))
    shutil.copyfile(_WATCHING, tree.site / f"{WATCHER}.py")
    for name in _LOADED_BY_IT:
        shutil.copyfile(CHILDREN / "recorders" / f"{name}.py", tree.site / f"symfix_{name}.py")
    card = tree.site / f"{WATCHER}-0.dist-info"
    card.mkdir()
    (card / "METADATA").write_text("Metadata-Version: 2.1\nName: symfix-watching\nVersion: 0\n")
    # Under its module's name pytest registers it only once.
    (card / "entry_points.txt").write_text(f"[pytest11]\n{WATCHER} = {WATCHER}\n")
    _carry_over_scripts(python, tree.environment / "bin")


def _carry_over_scripts(python: Path, target: Path) -> None:
    """Copy the scripts of ``python`` (pip, pytest) with the environment's own interpreter."""
    for script in python.parent.iterdir():
        copy = target / script.name
        if not script.is_file() or copy.exists() or copy.is_symlink():
            continue
        with script.open("rb") as stream:
            first, rest = stream.readline(4096), stream.read() if script.stat().st_size < 65536 else b""
        if rest and first.startswith(b"#!") and b"python" in first and os.fsencode(python.parent) in first:
            copy.write_bytes(b"#!" + os.fsencode(target / "python") + b"\n" + rest)
            copy.chmod(0o755)


def clean(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without the variables that bind its children to another checkout or interpreter."""
    dropped = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "PYTHONHOME", "PYTHONSTARTUP", "__PYVENV_LAUNCHER__")
    return {name: word for name, word in environment.items() if name not in dropped}


def _clone(top: Path, target: Path) -> None:
    # For builds that read a version from git; objects are shared, and the repository itself is only read.
    command = ["git", "clone", "--quiet", "--shared", "--no-checkout", str(top), str(target)]
    try:
        subprocess.run(command, capture_output=True, check=True, env=clean(os.environ))
        subprocess.run(["git", "-C", str(target), "reset", "--quiet"], capture_output=True, check=False)
    except (OSError, subprocess.CalledProcessError):
        shutil.rmtree(target, ignore_errors=True)


def _git(top: Path, *words: str) -> bytes:
    try:
        return subprocess.run(
            ["git", "-C", str(top), *words], capture_output=True, check=True, env=clean(os.environ)
        ).stdout
    except FileNotFoundError:
        raise NoProject(f"{top} is a git repository, but there is no git to list its files") from None
    except subprocess.CalledProcessError as error:
        told = error.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise NoProject(f"git can't list the files of {top}: {' '.join(told)}") from None


def _walk(folder: Path, top: Path) -> Iterator[Path]:
    for item in folder.iterdir():
        if item.is_dir() and not item.is_symlink():
            skipped = item.name in _PRODUCTS or item.name.endswith(".egg-info") or (item / "pyvenv.cfg").exists()
            if not skipped:
                yield from _walk(item, top)
        elif item.is_file() or item.is_symlink():
            yield item.relative_to(top)

"""``doctor``: environment check, with a remedy for each missing dependency."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

import click
from platformdirs import user_cache_path

from ..harness.process_limits import Limits, run
from ..harness.temp_folder import scratch_folder
from ..system.cache_folder import doubt
from ..torchapi.errors import TorchError
from ..torchapi.torch_finder import TorchInstallation, locate
from ..verify.build.toolchain import CompilerMissing, find_toolchain
from .arguments import TargetArguments
from .torch_tree import say_untried

_REQUIREMENT = re.compile(r"([\w.-]+)[^;]*(?:;.*extra == ['\"](\w+)['\"])?")


@dataclass(frozen=True)
class Dependency:
    """One dependency of symfix. ``needed_for`` is empty if nothing works without it."""

    what: str
    found: str | None
    otherwise: str = ""
    needed_for: str = ""


_USES = {"format": "wrapping of long lines", "review": "the page of series build"}
_UNCOUNTED = "; which lines of C++ ran is not counted: install gcov, for clang llvm-cov and libclang-rt"


def doctor(asked: TargetArguments) -> int:
    """Print one line per dependency. Return 1 if one that `check` needs is missing."""
    findings = list(_look(asked.torch_root, asked.torch_python))
    for finding in findings:
        if finding.found is not None:
            click.echo(f"ok       {finding.what}: {finding.found}")
        else:
            use = f"; needed for {finding.needed_for}" if finding.needed_for else ""
            click.echo(f"missing  {finding.what}: {finding.otherwise}{use}")
    say_untried(asked.torch_python)
    return 1 if any(finding.found is None and not finding.needed_for for finding in findings) else 0


def _look(torch_root: Path | None, torch_python: Path | None) -> Iterator[Dependency]:
    yield Dependency("symfix", f"{version('symfix')} on Python {sys.version.split()[0]}")
    for name, extra in _requirements():
        if extra in ("", "format", "review", "verify") and name not in ("torch", "symfix"):
            yield _distribution(name, _USES.get(extra, extra))
    place, finding = _torch(None, torch_python)
    if torch_root is not None:
        yield _torch(torch_root, torch_python)[1]
        finding = Dependency("installed torch", finding.found, finding.otherwise, "verify")
    yield finding
    if place is not None:
        headers = place.include_dirs[0]
        there = (headers / "ATen" / "core" / "Tensor.h").is_file()
        yield Dependency("headers", str(headers) if there else None, "this torch has none; install the wheel", "verify")
    yield _compiler(place)
    formatter = shutil.which("clang-format", path=str(Path(sys.executable).parent)) or shutil.which("clang-format")
    yield Dependency("clang-format", _first_line(formatter), "pip install clang-format", "wrapping of long lines")
    yield Dependency("git", _first_line(shutil.which("git")), "install git", "fix in a repository, verify")
    yield Dependency("sandbox", _sandbox(), "install bubblewrap", "verify --sandbox=require")
    yield _cache()


def _torch(torch_root: Path | None, torch_python: Path | None) -> tuple[TorchInstallation | None, Dependency]:
    try:
        place = locate(torch_root, torch_python)
    except TorchError as error:
        return None, Dependency("PyTorch tree" if torch_root else "torch", None, str(error))
    what = "PyTorch tree" if torch_root else "torch"
    return place, Dependency(what, f"{place.version} in {place.root or place.package}")


def _compiler(place: TorchInstallation | None) -> Dependency:
    try:
        found = None if place is None else find_toolchain(place)
    except CompilerMissing as error:
        return Dependency("C++ compiler", None, str(error), "verify")
    said = f"{found.version}{'' if found.gcov else _UNCOUNTED}" if found else None
    return Dependency("C++ compiler", said, "not looked for without torch", "verify")


def _sandbox() -> str | None:
    with scratch_folder() as scratch:
        ended = run(["true"], scratch=scratch, limits=Limits(wall=60))
    if ended.walled:
        return "bubblewrap: no network, no writing but in scratch folders"
    return "the kernel's: no network" if ended.offline else None


def _cache() -> Dependency:
    place = user_cache_path("symfix")
    why = doubt(place)
    return Dependency("cache folder", None if why else str(place), f"{why}: nothing is kept", "a quick second run")


def _requirements() -> Iterator[tuple[str, str]]:
    """Yield the declared dependencies of symfix, each with its extra or ''.

    Those for particular Python versions are omitted.
    """
    for text in sorted(requires("symfix") or (), key=lambda text: ("extra" in text, text.lower())):
        match = _REQUIREMENT.fullmatch(text)
        if match is not None and "python_version" not in text:
            yield match[1], match[2] or ""


def _distribution(name: str, needed_for: str) -> Dependency:
    try:
        return Dependency(name, version(name))
    except PackageNotFoundError:
        return Dependency(name, None, f"pip install {name}", needed_for)


def _first_line(program: str | None) -> str | None:
    if program is None:
        return None
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    return f"{said.splitlines()[0] if said else 'no version'} ({program})"

"""Run of `extractor` in a child process, with the first torchgen and the first interpreter that succeed."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import TorchgenFailed, YamlUnreadable
from .torch_finder import TorchInstallation

if TYPE_CHECKING:
    import subprocess

EXTRACTOR = Path(__file__).with_name("extractor.py")

_SECONDS = 300


def yamls(place: TorchInstallation) -> tuple[Path, Path]:
    """Return the files with the operators and with the tags."""
    return place.native / "native_functions.yaml", place.native / "tags.yaml"


def extract(place: TorchInstallation) -> bytes:
    """Return the rows of a torch. Raises YamlUnreadable or TorchgenFailed."""
    from .extractor import NO_YAML, UNREADABLE

    failures: list[str] = []
    unreadable: list[str] = []
    without_pyyaml: list[str] = []
    for torchgen in place.torchgens:
        for python in dict.fromkeys([str(place.python), sys.executable]):
            child = _run(python, torchgen, place)
            if child.returncode == 0:
                return child.stdout
            last = (child.stderr.decode(errors="replace").strip().splitlines() or ["no message"])[-1]
            if child.returncode == NO_YAML:
                without_pyyaml.append(python)
                continue
            (unreadable if child.returncode == UNREADABLE else failures).append(f"{last} ({torchgen})")
            break
    if _held_back(place) and (unreadable or failures):
        raise TorchgenFailed(
            f"the installed torchgen does not read torch {place.version} ({[*unreadable, *failures][0]}): "
            f"--torch-root {place.root} without --installed-torchgen runs the tree's own"
        )
    if unreadable:
        raise YamlUnreadable(f"{yamls(place)[0]} does not parse: {unreadable[0]}")
    if without_pyyaml:
        raise TorchgenFailed(f"torchgen needs PyYAML: run {without_pyyaml[0]} -m pip install pyyaml")
    found = failures[0] if failures else f"there is none beside {place.package}"
    raise TorchgenFailed(f"no torchgen reads torch {place.version} ({found}): install a torch of about that release")


def _held_back(place: TorchInstallation) -> bool:
    """Return whether the tree has a torchgen that must not be run."""
    own = place.root and place.root / "torchgen"
    return own is not None and own not in place.torchgens and (own / "gen.py").is_file()


def _run(python: str, torchgen: Path, place: TorchInstallation) -> subprocess.CompletedProcess[bytes]:
    import subprocess

    return subprocess.run(
        [python, EXTRACTOR, torchgen, *yamls(place)],
        capture_output=True,
        timeout=_SECONDS,
        # No bytecode: a source tree must stay as it was.
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8"},
    )

"""Harness whose children run on other machines, which have the same torch and symfix and share no disk with this one.

Inputs and reports are sent as file contents. Children that load a library compiled here run on this machine, and so do
the user's own commands.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..system.cluster import UnlikeWorker
from ..torchapi.torch_finder import locate
from .fork_server_cache import kept
from .process_limits import Ended, Limits, children_digest
from .temp_folder import new_name, scratch_folder
from .torch_variant import Harness, Variant

_TRAVELS = frozenset({"operators", "trial_runner", "exported_model"})
_AT_ONCE = 4
"""Number of items in a task on a torch with changed modules, since a worker may have to start it for them."""
_CARRIED = frozenset({".py", ".json", ".txt"})


@dataclass(frozen=True)
class FarLaboratory(Harness):
    """Harness on the workers of ``executor``. The sources and data in ``folder`` are sent too. A child starts there."""

    executor: Executor | None = None
    folder: Path | None = None
    build: str = field(default_factory=lambda: locate(None, None).build)

    @property
    def piece(self) -> int:
        return _AT_ONCE

    def ask(
        self, child: str, variant: Variant, request: Mapping[str, Any], report: Path, limits: Limits | None = None
    ) -> tuple[Ended, dict[str, Any]]:
        """Run as in the local harness. Raises WorkerLost, and UnlikeWorker if a worker has another torch or symfix."""
        if child not in _TRAVELS or variant.library is not None or self.executor is None:
            return super().ask(child, variant, request, report, limits)
        parcel = _Parcel(
            child,
            variant,
            {name: file.read_bytes() for name, file in variant.modules.items()},
            json.dumps(dict(request)),
            limits or self.limits,
            child == "trial_runner",
            (self.build, children_digest()),
            _homes(self.folder),
            _files(self.folder) if self.folder is not None else {},
        )
        ended, said = self.executor.submit(_ask, parcel).result()
        report.write_bytes(said)
        return ended, {}


def laboratory(
    python: Path, scratch: Path, limits: Limits, executor: Executor | None, folder: Path | None = None
) -> Harness:
    """Build a harness on the workers of ``executor``, or a local one without an executor."""
    if executor is None:
        return Harness(python, scratch, limits)
    return FarLaboratory(python, scratch, limits, executor, folder)


@dataclass(frozen=True)
class _Parcel:
    child: str
    variant: Variant
    modules: Mapping[str, bytes]
    request: str
    limits: Limits
    tries: bool
    """True if the task is a trial, not a proof. A running torch may then swap modules for it."""
    builds: tuple[str, str]
    homes: tuple[str, ...]
    """Folders whose paths occur in the task, as named on the requesting machine."""
    files: Mapping[str, bytes]


def _homes(folder: Path | None) -> tuple[str, ...]:
    places = [locate(None, None).package.parent, *([folder] if folder is not None else [])]
    return tuple(str(one.absolute()) for one in places)


def _files(folder: Path) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for place, folders, names in os.walk(folder):
        folders[:] = [one for one in folders if not one.startswith(".")]
        for path in (Path(place, name) for name in names if Path(name).suffix in _CARRIED):
            found[path.relative_to(folder).as_posix()] = path.read_bytes()
    return found


def _ask(parcel: _Parcel) -> tuple[Ended, bytes]:
    """Run a task on a worker, and return its end and its report with the paths of the requesting machine."""
    torch = locate(None, None)
    for what, own, theirs in zip(("torch", "symfix"), (torch.build, children_digest()), parcel.builds, strict=True):
        if own != theirs:
            raise UnlikeWorker(f"a worker has another {what} than this machine ({own}, here {theirs})")
    with _place(parcel, torch.python) as (here, laid):
        scratch = here.scratch
        folder = scratch / "folder"
        for name, content in parcel.files.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        pairs = list(zip(parcel.homes, _homes(folder), strict=False))
        modules = {_renamed(name, pairs): file for name, file in laid.items()}
        for name in parcel.modules.keys() - laid.keys():
            modules[_renamed(name, pairs)] = scratch / new_name("module.py")
            modules[_renamed(name, pairs)].write_bytes(parcel.modules[name])
        claims = scratch / "claims"
        claims.mkdir()
        request = {**json.loads(_renamed(parcel.request, pairs)), "claims": str(claims)}
        report = scratch / "report"
        report.touch()
        variant = replace(parcel.variant, modules=modules)
        ended, _ = here.ask(parcel.child, variant, request, report, parcel.limits)
        back = [(theirs, ours) for ours, theirs in pairs]
        return ended, _renamed(report.read_text(encoding="utf-8"), back).encode()


@contextmanager
def _place(parcel: _Parcel, python: Path) -> Iterator[tuple[Harness, Mapping[str, Path]]]:
    """Yield a harness for a task, and the files of those of its modules that were overlaid on torch when it started."""
    if parcel.files or any(os.sep in name for name in parcel.modules):
        # A user's own code may affect how torch is imported.
        with scratch_folder() as scratch:
            yield Harness(python, scratch, parcel.limits), {}
    elif parcel.tries or not parcel.modules:
        with kept(python, parcel.limits) as found:
            yield found
    else:
        with kept(python, parcel.limits, parcel.modules, parcel.variant.wanted) as found:
            yield found


def _renamed(text: str, pairs: list[tuple[str, str]]) -> str:
    for old, new in sorted(pairs, key=lambda pair: -len(pair[0])):
        text = text.replace(old, new)
    return text

"""The result as a folder: a patch for each group of targets that share it, and everything as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ...reports.patch import patch
from .outcome import Exported, ExportOutcome, FilePatch
from .text import patch_head


@dataclass(frozen=True)
class ExportPatch:
    """A patch of one owner, the user with packages or torch. The targets share it."""

    name: str
    targets: list[Exported]
    files: tuple[FilePatch, ...]


def write(outcome: ExportOutcome, folder: Path) -> list[Path]:
    """Write the outcome below ``folder`` and return the paths of the patches."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for one in patches(outcome):
        path = folder / f"{one.name}.patch"
        path.write_bytes(text_of(one, outcome))
        written.append(path)
    (folder / "export.json").write_text(json.dumps(to_json(outcome), indent=1) + "\n")
    return written


def patches(outcome: ExportOutcome) -> Iterator[ExportPatch]:
    """Yield the patches. That of a target that still fails is partial, and changes of torch are one of their own."""
    shared: dict[tuple[bool, tuple[FilePatch, ...]], list[Exported]] = {}
    for one in outcome.targets:
        if one.files:
            shared.setdefault((one.left is None, one.files), []).append(one)
    taken: set[str] = set()
    for (whole, files), targets in shared.items():
        stem = re.sub(r"\W+", "-", targets[0].target).strip("-") or "target"
        name = next(one for one in (stem, *(f"{stem}-{number}" for number in range(2, 999))) if one not in taken)
        taken.add(name)
        for of_torch in (False, True):
            own = tuple(file for file in files if file.of_torch is of_torch)
            if own:
                yield ExportPatch(f"{name}{'.torch' * of_torch}{'' if whole else '.partial'}", targets, own)


def text_of(one: ExportPatch, outcome: ExportOutcome) -> bytes:
    """Return the patch with its head."""
    head = "".join(f"{line}\n" for line in patch_head(one.targets, one.files, outcome)).encode()
    return head + b"\n" + b"".join(patch(file.name, file.before, file.after) for file in one.files)


def to_json(outcome: ExportOutcome) -> dict[str, Any]:
    """Return the outcome as plain values. The texts of files are only in the patches."""
    targets = []
    for one in outcome.targets:
        row = {**asdict(replace(one, files=())), "verdict": one.verdict.name.lower().replace("_", "-")}
        row["files"] = [{"name": file.name, "package": file.package} for file in one.files]
        targets.append(row)
    return {
        "version": 1,
        "torch": outcome.torch,
        "ways": list(outcome.ways),
        "unbacked": outcome.unbacked,
        "seconds": outcome.seconds,
        "targets": targets,
    }

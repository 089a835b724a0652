"""The result as a folder: a patch for each group of targets that share it, and everything as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ...reports.patch import patch
from .outcome import Exported, ExportOutcome, FilePatch, TargetVerdict
from .text import patch_head

_WRITTEN = (TargetVerdict.PROVEN, TargetVerdict.ONE_SIDED)


def write(outcome: ExportOutcome, folder: Path) -> list[Path]:
    """Write the outcome below ``folder`` and return the paths of the patches."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, targets in patches(outcome):
        path = folder / f"{name}.patch"
        path.write_bytes(text_of(targets, outcome))
        written.append(path)
    (folder / "export.json").write_text(json.dumps(to_json(outcome), indent=1) + "\n")
    return written


def patches(outcome: ExportOutcome) -> Iterator[tuple[str, list[Exported]]]:
    """Yield the name of each patch with its targets."""
    shared: dict[tuple[FilePatch, ...], list[Exported]] = {}
    for one in outcome.targets:
        if one.verdict in _WRITTEN:
            shared.setdefault(one.files, []).append(one)
    taken: set[str] = set()
    for targets in shared.values():
        stem = re.sub(r"\W+", "-", targets[0].target).strip("-") or "target"
        name = next(one for one in (stem, *(f"{stem}-{number}" for number in range(2, 999))) if one not in taken)
        taken.add(name)
        yield name, targets


def text_of(targets: list[Exported], outcome: ExportOutcome) -> bytes:
    """Return the patch with its head."""
    head = "".join(f"{line}\n" for line in patch_head(targets, outcome)).encode()
    return head + b"\n" + b"".join(patch(file.name, file.before, file.after) for file in targets[0].files)


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

"""Tables and counts for a terminal, and JSON files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from symfix.codemods.system import cache_folder


def table(rows: Iterable[Sequence[object]], *, indent: str = "") -> str:
    """Format rows of columns, with numbers aligned right and words left."""
    listed = [[str(cell) for cell in row] for row in rows]
    if not listed:
        return ""
    widths = [max(len(row[column]) for row in listed) for column in range(len(listed[0]))]
    lines = []
    for row in listed:
        cells = [
            cell.rjust(width) if cell.rstrip("%").replace(".", "").isdigit() else cell.ljust(width)
            for cell, width in zip(row, widths, strict=True)
        ]
        lines.append((indent + "  ".join(cells)).rstrip())
    return "\n".join(lines)


def counted(counts: Counter[str], *, most: int | None = None) -> list[tuple[int, str]]:
    """Return the counts, largest first and then by name."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [(count, name) for name, count in ordered[:most]]


def write_json(name: str, path: Path | None, document: dict[str, Any]) -> Path:
    """Write the figures to ``path``, or into symfix's cache folder."""
    place = path or cache_folder.folder("scoreboards") / f"{name}.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(document, indent=1) + "\n")
    return place

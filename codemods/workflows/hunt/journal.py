"""Recorded results, one line for each operator, so that an interrupted sweep can resume."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...system import cache_folder
from .failure import Operator

Row = dict[str, Any]
"""Report of a child on one operator."""


class HuntJournal:
    """Rows in the file at ``path``. An incomplete line of an interrupted run is ignored."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: dict[Operator, Row] = {}
        for line in cache_folder.rows(path):
            try:
                row = json.loads(line)
                self.rows[Operator(*row["operator"])] = row
            except (ValueError, KeyError, TypeError):
                continue

    def forget(self) -> None:
        """Delete all rows."""
        with suppress(OSError):
            self.path.unlink()
        self.rows.clear()

    def add(self, row: Row) -> None:
        """Record the row of one operator."""
        cache_folder.append(self.path, [json.dumps(row)])
        self.rows[Operator(*row["operator"])] = row

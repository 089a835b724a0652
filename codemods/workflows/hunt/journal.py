"""What has been found out already, a line an operator, so that an interrupted sweep goes on where it was."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...engine import storage
from .failure import Operator

Row = dict[str, Any]
"""What a child said of one operator."""


class Journal:
    """The rows at ``path``; a line that was cut off by an interruption is as if it had never been written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: dict[Operator, Row] = {}
        for line in storage.rows(path):
            try:
                row = json.loads(line)
                self.rows[Operator(*row["operator"])] = row
            except (ValueError, KeyError, TypeError):
                continue

    def forget(self) -> None:
        """Start anew."""
        with suppress(OSError):
            self.path.unlink()
        self.rows.clear()

    def add(self, row: Row) -> None:
        """Keep what was found out about one operator."""
        storage.append(self.path, [json.dumps(row)])
        self.rows[Operator(*row["operator"])] = row

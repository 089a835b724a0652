"""What has been found out already, a line an operator, so that an interrupted sweep goes on where it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .failure import Operator

Row = dict[str, Any]
"""What a child said of one operator."""


class Journal:
    """The rows at ``path``; a line that was cut off by an interruption is as if it had never been written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: dict[Operator, Row] = {}
        self._whole = True
        content = path.read_bytes() if path.is_file() else b""
        self._whole = not content or content.endswith(b"\n")
        for line in content.splitlines():
            try:
                row = json.loads(line)
                self.rows[Operator(*row["operator"])] = row
            except (ValueError, KeyError, TypeError):
                continue

    def forget(self) -> None:
        """Start anew."""
        self.path.unlink(missing_ok=True)
        self._whole = True
        self.rows.clear()

    def add(self, row: Row) -> None:
        """Keep what was found out about one operator."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            file.write((b"" if self._whole else b"\n") + json.dumps(row).encode() + b"\n")
        self._whole = True
        self.rows[Operator(*row["operator"])] = row

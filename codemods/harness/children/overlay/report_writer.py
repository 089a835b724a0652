"""Writer of a child's report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def write(path: str, report: Any) -> None:
    """Replace the report at ``path`` atomically."""
    fresh = Path(path + ".new")
    fresh.write_text(json.dumps(report))
    fresh.replace(path)

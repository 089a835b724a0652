"""The names of all operators, or of all modules, that torch has tests for."""

from __future__ import annotations

import json
from pathlib import Path

from .reporting import write


def main(request_path: str) -> None:
    """Do what the JSON file at ``request_path`` asks."""
    from .subjects import subjects

    request = json.loads(Path(request_path).read_bytes())
    write(request["report"], {"operators": list(subjects(request["kind"]))})

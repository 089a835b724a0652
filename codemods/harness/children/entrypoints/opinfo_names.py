"""Names of all operators, or of all modules, that torch has tests for."""

from __future__ import annotations

import json
from pathlib import Path

from ..overlay.report_writer import write


def main(request_path: str) -> None:
    """Run the request in the JSON file at ``request_path``, and write the names to the report."""
    from ..samples.test_cases import subjects

    request = json.loads(Path(request_path).read_bytes())
    write(request["report"], {"operators": list(subjects(request["kind"]))})

"""The names of all operators that torch has tests for."""

from __future__ import annotations

import json
from pathlib import Path

from .reporting import write


def main(request_path: str) -> None:
    """Do what the JSON file at ``request_path`` asks."""
    from torch.testing._internal.common_methods_invocations import op_db

    request = json.loads(Path(request_path).read_bytes())
    names = {(operator.name, operator.variant_test_name): None for operator in op_db}
    write(request["report"], {"operators": list(names)})

"""The generated pages of docs: docs/rules/ and docs/use/command-line.md."""

from __future__ import annotations

import sys

import commandpage
import rulepages


def stale() -> list[str]:
    """Return the pages that are missing, out of date or left over, as paths."""
    found = [f"docs/rules/{name}" for name in rulepages.stale()]
    return [*found, *(["docs/use/command-line.md"] if commandpage.stale() else [])]


def main() -> int:
    """Write the pages, or with --check list those that are out of date."""
    if "--check" not in sys.argv[1:]:
        rulepages.write()
        commandpage.write()
        return 0
    found = stale()
    for name in found:
        print(f"{name} is out of date; scripts/docs writes it")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

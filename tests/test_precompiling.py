"""Test that old precompiled headers of tests are removed."""

from __future__ import annotations

import os
import time
from pathlib import Path

from precompiling import STALE, clear


def test_precompiled_headers_that_nobody_took_for_long_go(tmp_path: Path) -> None:
    for name, age in (("old.h.gch", 2 * STALE), ("old.pch", 2 * STALE), ("old.h", 2 * STALE), ("taken.pch", 0.0)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    clear(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old.h", "taken.pch"]

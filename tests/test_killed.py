"""Tests of runs that are killed at any time: files are whole, and the next run removes the remains."""

from __future__ import annotations

from pathlib import Path

from scoreboards.killed_fifty import cases, run


def test_killed_at_a_few_instants(tmp_path: Path) -> None:
    fixing = next(iter(cases(tmp_path, 100)))
    instants = run([fixing], instants=5, seed=1, warm=2)
    assert [instant.wrong for instant in instants] == [()] * 5

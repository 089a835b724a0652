"""A run killed at any instant leaves whole files and nothing that the next one does not clear."""

from __future__ import annotations

from pathlib import Path

from scoreboards.killed_fifty import cases, run


def test_killed_at_a_few_instants(tmp_path: Path) -> None:
    fixing = next(iter(cases(tmp_path, 100)))
    instants = run([fixing], instants=5, seed=1, warm=2)
    assert [instant.wrong for instant in instants] == [()] * 5

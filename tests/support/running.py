"""Runs the command line as a person would, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SHAPES = "import torch\n\n\ndef f(x: torch.Tensor):\n    torch._check_is_size(x.shape[0])\n    return x\n"
"""A module with one safe fix."""
MENDED = "torch._check(x.shape[0] >= 0)"
"""What that fix writes."""


def symfix(
    *words: object, cwd: Path, code: int, text: str | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run ``symfix`` with these words and expect this exit code; a traceback is never an answer."""
    ended = subprocess.run(
        [sys.executable, "-m", "symfix.codemods.cli", *map(str, words)],
        cwd=cwd,
        capture_output=True,
        text=True,
        errors="surrogateescape",
        input=text,
        env={**os.environ, "COLUMNS": "100", **environment},
        check=False,
    )
    assert ended.returncode == code, f"exit {ended.returncode}\n{ended.stdout}\n{ended.stderr}"
    assert "Traceback" not in ended.stderr
    return ended


def git(cwd: Path, *words: str) -> None:
    """Run git there, as nobody in particular."""
    who = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *words], cwd=cwd, check=True, capture_output=True)

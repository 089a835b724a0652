"""Runs of the command line in its own process, as a person starts it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SHAPES = "import torch\n\n\ndef f(x: torch.Tensor):\n    torch._check_is_size(x.shape[0])\n    return x\n"
"""Module with one safe fix."""
MENDED = "torch._check(x.shape[0] >= 0)"
"""Text that this fix writes."""


def symfix(
    *words: object, cwd: Path, code: int, text: str | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run ``symfix`` with these words. Fail if it exits with another code or prints a traceback."""
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
    """Run git in a folder with the name of an invented user."""
    who = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *words], cwd=cwd, check=True, capture_output=True)

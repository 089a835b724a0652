"""Runs of the command line on a pseudo terminal whose output is recorded."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


def on_a_terminal(*words: object, cwd: Path, typed: str = "", **environment: str) -> tuple[int, str]:
    """Run symfix and return its exit code and the terminal's content: stdout and stderr with colours."""
    command = [sys.executable, "-m", "symfix.codemods.cli", *map(str, words)]
    return run_on_a_terminal(command, cwd=cwd, typed=typed, **environment)


def run_on_a_terminal(command: Sequence[str], *, cwd: Path, typed: str = "", **environment: str) -> tuple[int, str]:
    """Run any command and return its exit code and the terminal's content."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command, cwd=cwd, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        env={**os.environ, "COLUMNS": "100", "TERM": "xterm-256color", **environment},
    )  # fmt: skip
    os.close(theirs)
    os.write(ours, typed.encode())
    seen = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        seen += piece
    os.close(ours)
    return process.wait(), seen.decode("utf-8", "replace").replace("\r\n", "\n")


def without_colour(seen: str) -> str:
    """Return the text without colours."""
    return _COLOUR.sub("", seen)

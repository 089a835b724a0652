"""Small git repository with code that rules change, and the state that a series must not change."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import sys
from pathlib import Path

from running import git

CHECKED = "import torch\n\n\ndef {name}(x: torch.Tensor):\n    torch._check_is_size(x.shape[0])\n    return x\n"
"""Module with one safe fix."""
SMALLER = '''\
import torch


def {name}(x: torch.Tensor, y: torch.Tensor, *rest: torch.Tensor):
    """Rows that both have."""
    rows = min(x.shape[0], y.shape[0])
    return x[:rows] + y[:rows]
'''
"""Module with another fix, in a function that TorchScript does not compile."""


def project(folder: Path, files: dict[str, str]) -> Path:
    """Create a repository at ``folder`` with these files in one commit."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "user.name", "A Person")
    git(folder, "config", "user.email", "person@example.org")
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    commit(folder, "first")
    return folder


def commit(folder: Path, message: str) -> str:
    """Commit all changes and return the commit's name."""
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", message)
    return say(folder, "rev-parse", "HEAD")


def say(folder: Path, *words: str) -> str:
    """Run git and return its output."""
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def torchlike(count: int = 3) -> dict[str, str]:
    """Return files with paths as in torch. Some are changed by one rule and one by two."""
    files = {f"torch/nn/checked{number}.py": CHECKED.format(name=f"take{number}") for number in range(count)}
    files |= {f"torch/_refs/smaller{number}.py": SMALLER.format(name=f"meet{number}") for number in range(count)}
    both = CHECKED.format(name="first") + SMALLER.format(name="second").partition("\n")[2]
    return {**files, "torch/fft/both.py": both}


def traces(folder: Path) -> dict[str, str]:
    """Return the state of the checkout, the index and HEAD, such that any modification changes it."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if ".git" not in path.relative_to(folder).parts and path.is_file():
            kept = path.stat()
            found[str(path)] = f"{_digest(path)} {stat.filemode(kept.st_mode)} {kept.st_mtime_ns}"
    for name in ("index", "HEAD"):
        found[name] = _digest(folder / ".git" / name)
    return {
        **found,
        "status": say(folder, "--no-optional-locks", "status", "--porcelain"),
        "main": say(folder, "rev-parse", "main"),
    }


def branches(folder: Path) -> dict[str, str]:
    """Return the branches that symfix made, with their commits."""
    rows = say(folder, "for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", "refs/heads/symfix").splitlines()
    return dict(row.split(" ", 1) for row in rows)


def start(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    """Start ``symfix`` in its own process group, which can be killed with all children."""
    return subprocess.Popen(
        [sys.executable, "-m", "symfix.codemods.cli", *words],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=dict(os.environ),
    )


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()

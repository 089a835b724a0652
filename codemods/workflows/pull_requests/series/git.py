"""Git plumbing that makes commits and branches without a checkout, so the user's files and index stay untouched."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ....system import repository

_WHOSE = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX")


class GitError(Exception):
    """Error of git. ``str()`` is the one line for the user."""


@dataclass(frozen=True)
class CommittedFile:
    """File of a commit."""

    mode: str
    name: str
    content: bytes


class Repository:
    """Repository whose checkout is at ``top``."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self._started = time.time()
        common = self.ask("rev-parse", "--git-common-dir").strip()
        self.common = Path(os.path.normpath(top / common))

    @classmethod
    def around(cls, path: Path) -> Repository:
        """Return the repository that contains ``path``. Raises GitError if there is none."""
        absolute = path.absolute()
        top = repository.top(absolute if absolute.is_dir() else absolute.parent)
        if top is None:
            raise GitError(f"{path} is in no git repository: a series is made of commits")
        return cls(top)

    def run(
        self, *words: str, text: bytes = b"", here: Path | None = None, environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        """Run git and return its result, even on failure. Optional locks are not taken."""
        # The user's git may export variables that select another repository or index: drop them.
        given = {key: value for key, value in os.environ.items() if key not in _WHOSE}
        command = ["git", "-C", str(here or self.top), "-c", "core.quotePath=false", *words]
        try:
            return subprocess.run(
                command,
                input=text,
                capture_output=True,
                check=False,
                env={**given, "GIT_OPTIONAL_LOCKS": "0", **(environment or {})},
            )
        except FileNotFoundError:
            raise GitError("no git: install it") from None

    def ask(
        self, *words: str, text: bytes = b"", here: Path | None = None, environment: Mapping[str, str] | None = None
    ) -> str:
        """Run git and return its stdout. Raises GitError with the first line of stderr."""
        ended = self.run(*words, text=text, here=here, environment=environment)
        if ended.returncode:
            said = ended.stderr.decode(errors="replace").strip().splitlines()
            raise GitError(f"git {words[0]}: {said[0] if said else 'failed'}")
        return ended.stdout.decode("utf-8", "surrogateescape")

    def commit(self, revision: str) -> str:
        """Resolve ``revision`` to a commit name. Raises GitError if it is no commit."""
        ended = self.run("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
        if ended.returncode:
            raise GitError(f"{revision} is no commit of {self.top}")
        return ended.stdout.decode().strip()

    def identity(self) -> tuple[str, str]:
        """Return name and address of the configured author. Raises GitError if git has none."""
        ended = self.run("var", "GIT_AUTHOR_IDENT")
        if ended.returncode:
            raise GitError("git does not know who you are: git config user.name and user.email")
        name, _, rest = ended.stdout.decode(errors="replace").partition(" <")
        return name, rest.partition(">")[0]

    def content_name(self, content: bytes) -> str:
        """Return git's object name of a content in this repository."""
        wide = self.ask("rev-parse", "--show-object-format").strip() == "sha256"
        return blob_name(content, wide)

    def entries(self, commit: str, paths: Iterable[str]) -> dict[str, CommittedFile]:
        """Return the files of a commit among ``paths``. Paths without a file are omitted."""
        wanted = sorted(set(paths))
        found: dict[str, CommittedFile] = {}
        for chunk in (wanted[at : at + 500] for at in range(0, len(wanted), 500)):
            listed = self.ask("ls-tree", "-z", "--full-tree", commit, "--", *chunk)
            rows = [row.partition("\t") for row in listed.split("\0") if row]
            fields = [(path, *fields.split()) for fields, _, path in rows]
            files = [(path, mode, name) for path, mode, kind, name in fields if kind == "blob"]
            contents = self._contents([name for _, _, name in files])
            found |= {path: CommittedFile(mode, name, contents[name]) for path, mode, name in files}
        return found

    def _contents(self, names: Sequence[str]) -> dict[str, bytes]:
        output = self.run("cat-file", "--batch", text="".join(f"{name}\n" for name in names).encode()).stdout
        contents: dict[str, bytes] = {}
        at = 0
        for name in names:
            end = output.index(b"\n", at)
            size = int(output[at:end].split()[2])
            contents[name] = output[end + 1 : end + 1 + size]
            at = end + 1 + size + 1
        return contents

    def tree(self, commit: str, changed: Mapping[str, tuple[str, bytes]], index: Path) -> str:
        """Write the tree of ``commit`` with the changed files (mode, content), using ``index`` as a scratch index."""
        environment = {"GIT_INDEX_FILE": str(index)}
        for stale in (index, index.with_name(index.name + ".lock")):
            stale.unlink(missing_ok=True)
        self.ask("read-tree", commit, environment=environment)
        rows = []
        for path, (mode, content) in sorted(changed.items()):
            name = self.ask("hash-object", "-w", "--stdin", text=content).strip()
            rows.append(f"{mode} {name}\t{path}\0")
        text = "".join(rows).encode("utf-8", "surrogateescape")
        self.ask("update-index", "-z", "--add", "--index-info", text=text, environment=environment)
        tree = self.ask("write-tree", environment=environment).strip()
        index.unlink()
        return tree

    def make_commit(self, tree: str, parent: str, message: str, made: int) -> str:
        """Commit as the configured author with the date ``made``. The same arguments give the same commit."""
        name, address = self.identity()
        environment = {
            f"GIT_{role}_{key}": value
            for role in ("AUTHOR", "COMMITTER")
            for key, value in (("NAME", name), ("EMAIL", address), ("DATE", f"{made} +0000"))
        }
        words = ("-c", "commit.gpgsign=false", "commit-tree", tree, "-p", parent, "-F", "-")
        return self.ask(*words, text=message.encode("utf-8", "backslashreplace"), environment=environment).strip()

    def branch(self, name: str) -> str | None:
        """Return the commit of a branch, or None if the branch does not exist."""
        ended = self.run("rev-parse", "--verify", "--quiet", f"refs/heads/{name}")
        return ended.stdout.decode().strip() or None

    def branches(self, prefix: str) -> dict[str, str]:
        """Return the branches below ``prefix`` with their commits."""
        rows = self.ask("for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", f"refs/heads/{prefix}")
        return dict(row.split(" ", 1) for row in rows.splitlines())

    def checked_out(self) -> dict[str, str]:
        """Return the branches that a worktree has checked out, with its path."""
        where: dict[str, str] = {}
        place = ""
        for line in self.ask("worktree", "list", "--porcelain").splitlines():
            word, _, rest = line.partition(" ")
            place = rest if word == "worktree" else place
            if word == "branch":
                where[rest.removeprefix("refs/heads/")] = place
        return where

    def set_branch(self, name: str, commit: str, old: str | None) -> None:
        """Move a branch from ``old`` (None for a new branch) to ``commit``. Raises GitError if it moved meanwhile."""
        words = ("update-ref", f"refs/heads/{name}", commit, old or "0" * len(commit))
        ended = self.run(*words)
        lock = self.common / "refs" / "heads" / f"{name}.lock"
        if ended.returncode and lock.exists() and lock.stat().st_mtime < self._started:
            # Only a series writes its branches, one process at a time: a lock this old is from a killed process.
            lock.unlink(missing_ok=True)
            ended = self.run(*words)
        if ended.returncode:
            said = ended.stderr.decode(errors="replace").strip().splitlines()
            raise GitError(f"{name} can't be written: {said[0] if said else 'git gave no reason'}")

    def merged(self, base: bytes, ours: bytes, theirs: bytes, folder: Path) -> bytes | None:
        """Merge three versions of a file. Return None if they conflict."""
        folder.mkdir(parents=True, exist_ok=True)
        files = [folder / name for name in ("ours", "base", "theirs")]
        for file, content in zip(files, (ours, base, theirs), strict=True):
            file.write_bytes(content)
        ended = self.run("merge-file", "-p", "-q", *map(str, files))
        shutil.rmtree(folder)
        return ended.stdout if ended.returncode == 0 else None

    def scratch_worktree(self, path: Path, commit: str) -> Path:
        """Return a clean worktree at ``path`` on ``commit``, reusing the existing one if possible."""
        if (path / ".git").is_file():
            head = self.run("rev-parse", "HEAD", here=path)
            status = self.run("status", "--porcelain", "--untracked-files=no", here=path)
            stands = head.returncode == 0 and head.stdout.decode().strip() == commit
            if stands and status.returncode == 0 and not status.stdout.strip():
                return path
        self.drop_worktree(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        self.ask("worktree", "add", "--quiet", "--detach", str(path), commit)
        return path

    def drop_worktree(self, path: Path) -> None:
        """Remove a worktree of a series, even one that a killed run left incomplete."""
        self.run("worktree", "remove", "--force", "--force", str(path))
        shutil.rmtree(path, ignore_errors=True)
        for record in (self.common / "worktrees").glob("*/gitdir"):
            if record.read_text().strip() == str(path / ".git"):
                shutil.rmtree(record.parent)
        self.run("worktree", "prune")


def blob_name(content: bytes, wide: bool = False) -> str:
    """Return git's object name of a content: SHA-1, or SHA-256 if ``wide``."""
    text = b"blob %d\0%s" % (len(content), content)
    return (hashlib.sha256(text) if wide else hashlib.sha1(text)).hexdigest()

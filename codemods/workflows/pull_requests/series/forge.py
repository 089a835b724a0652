"""Clients that open pull requests: `gh` and `ghstack`, which do their own sign-in. symfix reads no token."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from .plan import PullRequest
from .pr_text import TRAILER


class HubError(Exception):
    """Refusal by the hub, in its own words. The request may be retried."""


@dataclass(frozen=True)
class Opened:
    """Existing pull request: its address, and ``OPEN``, ``MERGED`` or ``CLOSED``."""

    url: str
    state: str


class Hub(Protocol):
    """Interface of a hub, as sending requires it."""

    def existing(self, request: PullRequest) -> Opened | None:
        """Return the pull request with the request's trailer, in any state, or None."""

    def open_now(self) -> frozenset[str]:
        """Return the addresses of this user's open pull requests made by symfix. The newest may be missing."""

    def is_open(self, url: str) -> bool:
        """Return whether the pull request at an address is open."""

    def create(self, request: PullRequest, body: Path, commit: str, *, draft: bool) -> str:
        """Open a pull request and return its address. Raises HubError."""

    def command(self, request: PullRequest, body: Path, commit: str, *, draft: bool) -> Sequence[str]:
        """Return the command line that `create` would run."""


@dataclass(frozen=True)
class GitHub:
    """Plain pull requests by ``gh``.

    Pull requests from a fork need ``repo`` (OWNER/NAME) and the ``owner`` of the branch.
    """

    top: Path
    onto: str
    repo: str | None = None
    owner: str | None = None

    def existing(self, request: PullRequest) -> Opened | None:
        # The search finds a new pull request only after a while, but the list by branch finds it at once.
        by_branch = self._list("--head", request.branch)
        by_trailer = self._list("--search", f'"{TRAILER}: {request.id}" in:body')
        for row in (*by_branch, *by_trailer):
            if f"{TRAILER}: {request.id}" in row["body"].splitlines():
                return Opened(row["url"], row["state"])
        return None

    def open_now(self) -> frozenset[str]:
        rows = self._list("--author", "@me", "--search", f'"{TRAILER}" in:body', state="open")
        return frozenset(row["url"] for row in rows if f"{TRAILER}: " in row["body"])

    def is_open(self, url: str) -> bool:
        return _run(["gh", "pr", "view", url, "--json", "state", "--jq", ".state"], self.top).strip() == "OPEN"

    def create(self, request: PullRequest, body: Path, commit: str, *, draft: bool) -> str:
        said = _run(self.command(request, body, commit, draft=draft), self.top)
        return said.strip().rpartition("\n")[2]

    def command(self, request: PullRequest, body: Path, commit: str, *, draft: bool) -> Sequence[str]:
        head = f"{self.owner}:{request.branch}" if self.owner else request.branch
        words = ["gh", "pr", "create", "--title", request.title, "--body-file", str(body), "--base", self.onto]
        words += ["--head", head, *(["--draft"] if draft else [])]
        words += [word for label in request.labels for word in ("--label", label)]
        return [*words, *self._where]

    def _list(self, *words: str, state: str = "all") -> list[dict[str, str]]:
        command = ["gh", "pr", "list", "--state", state, "--limit", "100", "--json", "url,state,body", *words]
        text = _run([*command, *self._where], self.top)
        try:
            rows: list[dict[str, str]] = json.loads(text or "[]")
            return rows
        except ValueError:
            raise HubError(f"gh pr list answered no JSON: {text[:200]}") from None

    @property
    def _where(self) -> list[str]:
        return ["--repo", self.repo] if self.repo else []


@dataclass(frozen=True)
class Ghstack:
    """Pull requests by ``ghstack``, one for each commit, from a scratch worktree. ``github`` finds existing ones."""

    worktree: Path
    github: GitHub

    def existing(self, request: PullRequest) -> Opened | None:
        return self.github.existing(request)

    def open_now(self) -> frozenset[str]:
        return self.github.open_now()

    def is_open(self, url: str) -> bool:
        return self.github.is_open(url)

    def create(self, request: PullRequest, body: Path, commit: str, *, draft: bool) -> str:
        _run(["git", "checkout", "--quiet", "--detach", commit], self.worktree)
        said = _run(self.command(request, body, commit, draft=draft), self.worktree)
        return next((word for word in said.split() if word.startswith("https://")), said.strip())

    def command(self, request: PullRequest, body: Path, commit: str, *, draft: bool) -> Sequence[str]:
        return ["ghstack", "submit", *(["--draft"] if draft else []), "--no-stack", "HEAD"]


def _run(words: Sequence[str], here: Path) -> str:
    try:
        ended = subprocess.run(words, cwd=here, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    except FileNotFoundError:
        raise HubError(f"no {words[0]}: install it and sign in with it") from None
    if ended.returncode:
        said = (ended.stderr or ended.stdout).strip().splitlines()
        raise HubError(f"{' '.join(words[:3])}: {said[-1] if said else f'exit {ended.returncode}'}")
    return ended.stdout

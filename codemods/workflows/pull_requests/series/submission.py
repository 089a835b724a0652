"""`series send`: pull requests, opened one after the other and never twice."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .build_state import BuildState, Standing
from .builder import SeriesBuilder
from .forge import Hub, HubError
from .git import GitError
from .plan import PullRequest

MOST_OPEN = 5
SECONDS_APART = 30.0
_INDEXED_WITHIN = 3600.0


@dataclass(frozen=True)
class Sent:
    """Outcome of one request: ``opened``, ``there already``, ``waiting`` (too many are open), ``refused``…"""

    request: PullRequest
    outcome: str
    detail: str = ""


@dataclass(frozen=True)
class RequestLog:
    """Log of the requests sent from a folder. It is used for rate limiting, while the hub is authoritative."""

    path: Path

    def note(self, request: PullRequest, outcome: str, detail: str, now: float) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as lines:
            lines.write(json.dumps({"id": request.id, "at": now, "outcome": outcome, "detail": detail}) + "\n")

    def events(self) -> Iterator[dict[str, Any]]:
        """Yield the events in order. A line that a killed process left incomplete is skipped."""
        try:
            text = self.path.read_text()
        except OSError:
            return
        for line in text.splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                continue

    def url(self, request: PullRequest) -> str | None:
        """Return the address of the request's pull request according to the log, or None."""
        ones = [one for one in self.events() if one["id"] == request.id and one["outcome"] in ("opened", "there")]
        return ones[-1]["detail"] if ones else None

    def last_opened(self) -> float | None:
        return max((one["at"] for one in self.events() if one["outcome"] in ("opened", "refused")), default=None)


@dataclass(frozen=True)
class Sender:
    """Sender from a workshop to a hub. Branches are pushed to ``remote``, or by the hub if it is None."""

    workshop: SeriesBuilder
    hub: Hub
    remote: str | None
    draft: bool = True
    most_open: int = MOST_OPEN
    seconds_apart: float = SECONDS_APART
    clock: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep
    progress: Callable[[str], None] = lambda _: None
    journal: RequestLog = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "journal", RequestLog(self.workshop.folder / "sent.jsonl"))

    def commands(self, request: PullRequest, standing: Standing) -> list[str]:
        """Return the commands that sending would run, for display only."""
        commit = self._commit(request, standing)
        if commit is None:
            return [f"# {standing.state.value}: {standing.reason or 'build it first'}"]
        words = self.hub.command(request, self.workshop.body(request), commit, draft=self.draft)
        push = [shlex.join(["git", *self._push_words(request, commit, None)])] if self.remote else []
        return [*push, shlex.join(words)]

    def send(self, request: PullRequest, standing: Standing) -> Sent:
        """Find an existing pull request, or wait, push and open one. A failed request can be sent again."""
        commit = self._commit(request, standing)
        if commit is None:
            return Sent(request, "not built", standing.reason or "build the series first")
        try:
            there = self.hub.existing(request)
            if there is not None:
                self.journal.note(request, "there", there.url, self.clock())
                return Sent(request, "there already", f"{there.url} ({there.state.lower()})")
            if self._open_now() >= self.most_open:
                return Sent(request, "waiting", f"{self.most_open} are open; send it when one is merged or closed")
            self._keep_the_pace()
            self._push(request, commit)
            return self._opened(request, commit)
        except (HubError, GitError) as error:
            return Sent(request, "refused", str(error))

    def _open_now(self) -> int:
        """Count the open pull requests. The search misses new ones, so those of the last hour are checked singly."""
        found = self.hub.open_now()
        young = {one["detail"] for one in self.journal.events() if one["outcome"] == "opened" and self._is_young(one)}
        return len(found) + sum(self.hub.is_open(url) for url in sorted(young - found))

    def _is_young(self, event: Mapping[str, Any]) -> bool:
        return float(event["at"]) > self.clock() - _INDEXED_WITHIN

    def _opened(self, request: PullRequest, commit: str) -> Sent:
        body = self.workshop.body(request)
        try:
            url = self.hub.create(request, body, commit, draft=self.draft)
        except HubError as error:
            # The pull request may have been opened although the response was lost.
            there = self.hub.existing(request)
            if there is None:
                self.journal.note(request, "refused", str(error), self.clock())
                raise
            url = there.url
        self.journal.note(request, "opened", url, self.clock())
        return Sent(request, "opened", url)

    def _commit(self, request: PullRequest, standing: Standing) -> str | None:
        if standing.state not in (BuildState.BUILT, BuildState.KEPT):
            return None
        return self.workshop.repository.branch(request.branch)

    def _keep_the_pace(self) -> None:
        last = self.journal.last_opened()
        wait = 0.0 if last is None else last + self.seconds_apart - self.clock()
        if wait > 0:
            # If the clock was set back, limit the wait.
            wait = min(wait, self.seconds_apart)
            self.progress(f"waiting {wait:.0f} s: one pull request in {self.seconds_apart:.0f} s")
            self.sleep(wait)

    def _push(self, request: PullRequest, commit: str) -> None:
        if self.remote is None:
            return
        repository = self.workshop.repository
        quiet = {"GIT_TERMINAL_PROMPT": "0"}
        listed = repository.ask("ls-remote", "--heads", self.remote, f"refs/heads/{request.branch}", environment=quiet)
        there = listed.split()[0] if listed.split() else None
        if there == commit:
            return
        if there is not None and there not in self.workshop.made():
            raise GitError(f"{self.remote} has {request.branch} at {there[:10]}, which a person made; look at it")
        repository.ask(*self._push_words(request, commit, there), environment=quiet)

    def _push_words(self, request: PullRequest, commit: str, there: str | None) -> Sequence[str]:
        assert self.remote is not None
        lease = [f"--force-with-lease=refs/heads/{request.branch}:{there}"] if there else []
        return ["push", "--quiet", *lease, self.remote, f"{commit}:refs/heads/{request.branch}"]

"""`series build`: a commit and a branch for each request, the stack of all requests, and patches.

The same plan and base give the same commits.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ....verify.change import Change, Verdict, Verification
from . import pr_text
from .build_state import BuildState, Record, Standing, load, save, write_whole
from .decisions import Decisions
from .git import GitError, Repository
from .hunks import Mismatch
from .plan import PullRequest, PullRequestPlan
from .planner import as_built
from .rebased_content import Content, Contents, Redo, Texts, union

Prove = Callable[[Sequence[Change], Path, PullRequest | None], Verification]
"""Function that verifies changes of files in a worktree, by the operator tests of a request or by those that reach the
change."""

BORNE_OUT = frozenset((Verdict.PROVEN, Verdict.NEUTRAL))


@dataclass(frozen=True)
class SeriesOptions:
    """Options of a build.

    Without ``prove`` nothing is verified. With ``unproven`` requests with an unverifiable fix are built too.
    """

    base: str
    prove: Prove | None
    redo: Redo
    decisions: Decisions = field(default_factory=Decisions)
    unproven: bool = False
    commands: tuple[str, ...] = ()
    progress: Callable[[str], None] = lambda _: None


class SeriesBuilder:
    """Folder of a series with its plan, record, bodies, patches and scratch worktree.

    Only one process at a time may build in it.
    """

    def __init__(self, folder: Path, repository: Repository) -> None:
        self.folder = folder
        self.repository = repository

    @property
    def plan(self) -> Path:
        return self.folder / "plan.json"

    @property
    def record(self) -> Path:
        return self.folder / "built.json"

    @property
    def worktree(self) -> Path:
        return self.folder / "worktree"

    @property
    def patches(self) -> Path:
        return self.folder / "patches"

    @property
    def evidence(self) -> Path:
        return self.folder / "evidence"

    def body(self, request: PullRequest) -> Path:
        return self.folder / "bodies" / f"{request.branch.rpartition('/')[2]}.md"

    def made(self) -> frozenset[str]:
        """Return every commit that a build ever put on a branch. Any other commit was made by a person."""
        try:
            return frozenset((self.folder / "made").read_text().split())
        except OSError:
            return frozenset()

    def remember(self, commit: str) -> None:
        """Record a commit before a branch is moved to it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "made").open("a") as notes:
            notes.write(f"{commit}\n")

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Lock the folder. Raises GitError when another process holds the lock, which ends with its process."""
        from filelock import FileLock, Timeout

        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(self.folder / "lock", timeout=0):
                yield
        except Timeout:
            raise GitError(f"another symfix works in {self.folder}; wait for it") from None


def build(plan: PullRequestPlan, workshop: SeriesBuilder, wishes: SeriesOptions) -> Record:
    """Compute each request, compare it with its branch, and write the ones that differ. Return the record."""
    return _Build(plan, workshop, wishes).run()


class _Build:
    def __init__(self, plan: PullRequestPlan, workshop: SeriesBuilder, wishes: SeriesOptions) -> None:
        self._plan = plan
        self._workshop = workshop
        self._wishes = wishes
        self._repository = workshop.repository
        paths = [path for request in plan.requests for path in request.paths]
        planned = self._repository.entries(plan.base, paths)
        self._base = planned if wishes.base == plan.base else self._repository.entries(wishes.base, paths)
        scratch = workshop.folder / "merging"
        self._texts = Texts(self._repository, planned, self._base, scratch, wishes.redo)
        before = load(workshop.record)
        known = {request.id for request in plan.requests}
        kept = {key: one for key, one in before.standings.items() if key in known} if before else {}
        self._record = Record(wishes.base, kept)

    def run(self) -> Record:
        if self._wishes.prove:
            self._repository.scratch_worktree(self._workshop.worktree, self._wishes.base)
        built: list[tuple[Contents, Standing]] = []
        for number, request in enumerate(self._plan.requests, 1):
            self._wishes.progress(f"{number} of {len(self._plan.requests)}: {request.title}")
            contents, standing = self._request(request)
            if standing.state in (BuildState.BUILT, BuildState.KEPT) and standing.commit:
                built.append((contents, standing))
            self._record = self._record.with_standing(request.id, standing)
            save(self._record, self._workshop.record)
        self._stack(built)
        save(self._record, self._workshop.record)
        return self._record

    def _request(self, request: PullRequest) -> tuple[Contents, Standing]:
        contents = self._texts.of(request, self._wishes.decisions)
        if contents.conflicts:
            return contents, self._without_branch(request, BuildState.CONFLICT, "; ".join(contents.conflicts))
        if not contents.files:
            state = BuildState.REJECTED if contents.dropped else BuildState.LANDED
            return contents, self._without_branch(request, state, "; ".join(contents.dropped))
        contents, verification = self._verified(self._as_built(request, contents), contents)
        # From here on `request` describes the contents of the commit.
        request = self._as_built(request, contents)
        if verification is not None and not self._borne_out(verification):
            reason = f"{verification.verdict.value}: {verification.reason}"
            held = self._without_branch(request, BuildState.HELD, reason)
            return contents, replace(held, verification=verification, dropped=contents.dropped, request=request)
        message = pr_text.commit_message(request, self._plan.tool, verification, self._wishes.commands)
        text = pr_text.body(request, self._plan.tool, verification, self._wishes.commands)
        commit = self._commit(contents.files, self._wishes.base, message)
        write_whole(self._workshop.body(request), text.encode("utf-8", "backslashreplace"))
        state, reason = self._put_branch(request.branch, commit)
        return contents, Standing(state, reason, commit, contents.dropped, verification, request)

    def _as_built(self, request: PullRequest, contents: Contents) -> PullRequest:
        return as_built(request, [part for file in contents.files for part in file.parts], self._plan.rules)

    def _verified(self, request: PullRequest, contents: Contents) -> tuple[Contents, Verification | None]:
        """Return the request's contents and their verdict. Of several files, unconfirmed ones are dropped."""
        if not (self._wishes.prove and any(file.role == "fix" for file in contents.files)):
            return contents, None
        whole = self._proved(request, contents.files)
        fixes = [file for file in contents.files if file.role == "fix"]
        if self._borne_out(whole) or len(fixes) < 2 or request.opinfos:
            return contents, whole
        good, dropped = [], []
        for file in fixes:
            self._wishes.progress(f"{request.title}: {file.path} alone")
            alone = self._proved(request, [file])
            if self._borne_out(alone):
                good.append(file)
            else:
                dropped.append(f"{file.path}: {alone.verdict.value}: {alone.reason}")
        if not good or not dropped:
            return contents, whole
        rest = [file for file in contents.files if file in good or file.role != "fix"]
        return replace(contents, files=tuple(rest), dropped=(*contents.dropped, *dropped)), self._proved(request, good)

    def _borne_out(self, verification: Verification) -> bool:
        accepted = BORNE_OUT | ({Verdict.UNVERIFIABLE} if self._wishes.unproven else set())
        deviates = any(check.gained and check.deviates for check in verification.checks)
        return verification.verdict in accepted and not deviates

    def _proved(self, request: PullRequest | None, files: Sequence[Content]) -> Verification:
        assert self._wishes.prove is not None
        changes = [
            Change(self._workshop.worktree / file.path, file.before, file.after)
            for file in files
            if file.role == "fix" and file.before is not None
        ]
        return self._wishes.prove(changes, self._workshop.worktree, request)

    def _commit(self, files: Sequence[Content], parent: str, message: str) -> str:
        changed = {file.path: (file.mode, file.after) for file in files}
        index = self._workshop.folder / "index"
        tree = self._repository.tree(parent, changed, index)
        return self._repository.make_commit(tree, parent, message, self._plan.made)

    def _put_branch(self, name: str, commit: str) -> tuple[BuildState, str]:
        there = self._repository.branch(name)
        if there == commit:
            return BuildState.BUILT, ""
        if there is not None and there not in self._workshop.made():
            return BuildState.KEPT, f"{name} holds {there[:10]}, which a person made; delete it to have it built again"
        place = self._repository.checked_out().get(name)
        if place is not None:
            return BuildState.KEPT, f"{name} is checked out at {place}; leave it there and build again"
        self._workshop.remember(commit)
        self._repository.set_branch(name, commit, there)
        return BuildState.BUILT, ""

    def _without_branch(self, request: PullRequest, state: BuildState, reason: str) -> Standing:
        """Return a standing without a commit. A branch of an earlier build is kept, since a person may look at it."""
        there = self._repository.branch(request.branch)
        stale = f" (the branch still holds {there[:10]} of an earlier build)" if there else ""
        self._workshop.body(request).unlink(missing_ok=True)
        return Standing(state, reason + stale)

    def _stack(self, built: Sequence[tuple[Contents, Standing]]) -> None:
        """Stack all requests, verify them together, and write them as one branch and as patches."""
        tip = self._wishes.base
        taken: list[Content] = []
        count = 0
        for contents, standing in built:
            request = standing.request
            assert request is not None
            mine = {file.path for file in contents.files}
            try:
                together = union([one for one in [*taken, *contents.files] if one.path in mine], self._base)
            except Mismatch as error:
                conflict = replace(standing, state=BuildState.CONFLICT, reason=f"not beside those before it: {error}")
                self._record = self._record.with_standing(request.id, conflict)
                continue
            message = pr_text.commit_message(request, self._plan.tool, standing.verification, self._wishes.commands)
            tip = self._commit(list(together.values()), tip, message)
            taken += contents.files
            count += 1
        if tip == self._wishes.base:
            return
        if self._wishes.prove and count > 1:
            self._wishes.progress("all of them together")
            self._record = replace(self._record, union=self._proved(None, list(union(taken, self._base).values())))
        state, reason = self._put_branch(f"symfix/{self._plan.name}/all", tip)
        if state is BuildState.BUILT:
            self._record = replace(self._record, stack=tip)
        else:
            self._wishes.progress(reason)
        self._patches(tip, count)

    def _patches(self, tip: str, count: int) -> None:
        fresh = self._workshop.folder / "patches.new"
        shutil.rmtree(fresh, ignore_errors=True)
        words = ["--cover-letter", "--numbered", "--no-signature", "--src-prefix=a/", "--dst-prefix=b/"]
        name, address = self._repository.identity()
        who = {"GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": address}
        words += ["-o", str(fresh)]
        self._repository.ask("format-patch", "--quiet", *words, f"{self._wishes.base}..{tip}", environment=who)
        cover = next(fresh.glob("0*-cover-letter.patch"))
        text = cover.read_text(encoding="utf-8", errors="surrogateescape")
        changes = "1 change" if count == 1 else f"{count} changes"
        text = text.replace("*** SUBJECT HERE ***", f"{self._plan.name}: {changes} for symbolic sizes")
        text = text.replace("*** BLURB HERE ***", _blurb(self._record, self._plan))
        cover.write_text(text, encoding="utf-8", errors="surrogateescape")
        shutil.rmtree(self._workshop.patches, ignore_errors=True)
        fresh.replace(self._workshop.patches)


def _blurb(record: Record, plan: PullRequestPlan) -> str:
    verdict = f"All of them together: {pr_text.found(record.union)}\n\n" if record.union else ""
    return (
        "Each patch stands alone on the commit below, and all of them stand together.\n"
        "git am drops [DDE] from the titles unless told: git am --keep-non-patch *.patch\n\n"
        f"{verdict}{pr_text.disclosure(plan.tool)}"
    )


def fresh_states(record: Record, plan: PullRequestPlan, repository: Repository) -> Mapping[str, Standing]:
    """Return the current standings: a branch may have been deleted or moved since the build."""
    branches = repository.branches(f"symfix/{plan.name}/")
    found = {}
    for request in plan.requests:
        standing = record.of(request.id)
        if standing.state is BuildState.BUILT and branches.get(request.branch) != standing.commit:
            there = branches.get(request.branch)
            said = f"{request.branch} holds {there[:10]} instead" if there else "the branch is gone; build again"
            standing = replace(standing, state=BuildState.KEPT if there else BuildState.PLANNED, reason=said)
        found[request.id] = standing
    return found

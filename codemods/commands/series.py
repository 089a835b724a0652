"""``series``: its subcommands plan, build, status and send."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..engine.fixpoint import FixOptions as RuleWishes
from ..engine.registry import Registry
from ..engine.run import CheckRequest, drop_fixes
from ..engine.torch_context import TorchSurroundings
from ..harness.process_limits import Limits, Network, SandboxMissing
from ..harness.resilient_batch import children
from ..model.outcome import Changed
from ..model.source_file import SourceFile
from ..system.file_reader import contents
from ..system.sigint import promise
from ..torchapi.errors import TorchError
from ..torchapi.torch_finder import tree_around
from ..verify.change import Change, Verification
from ..verify.command import VerifySession, verify
from ..verify.request import VerifyRequest
from ..workflows.pull_requests.series import build_state, decisions, plan
from ..workflows.pull_requests.series.build_state import BuildState, Standing
from ..workflows.pull_requests.series.builder import SeriesBuilder, SeriesOptions, build, fresh_states
from ..workflows.pull_requests.series.decisions import Decisions, Place
from ..workflows.pull_requests.series.forge import Ghstack, GitHub, Hub
from ..workflows.pull_requests.series.git import GitError, Repository, blob_name
from ..workflows.pull_requests.series.plan import PlanError, PullRequest, PullRequestPlan
from ..workflows.pull_requests.series.planner import make_plan
from ..workflows.pull_requests.series.proposal import FileChange, Proposal, of_outcomes
from ..workflows.pull_requests.series.rebased_content import Redo
from ..workflows.pull_requests.series.repairs import read_folder
from ..workflows.pull_requests.series.submission import RequestLog, Sender
from .arguments import Series, SeriesBuild, SeriesPlan, SeriesSend, SeriesStatus
from .extras import required
from .progress import Progress
from .torch_tree import say_release

if TYPE_CHECKING:
    from .check_session import Session

RULE_WORDS = (
    "select", "ignore", "unsafe_fixes", "all_functions", "modules", "drop_torchscript",
    "min_torch", "torch_root", "torch_python", "installed_torchgen",
)  # fmt: skip
_DONE = frozenset((BuildState.BUILT, BuildState.KEPT, BuildState.LANDED, BuildState.REJECTED))


def plan_series(asked: SeriesPlan) -> int:
    """Write the plan. Return 0 if it contains a pull request, else 1."""
    with _plainly():
        repairs = [path for path in asked.paths if path.is_dir() and any(path.glob("[0-9]*.patch"))]
        if repairs and len(repairs) < len(asked.paths):
            raise click.UsageError("name paths or a repairs folder, not both")
        repository = Repository.around((asked.repository or Path.cwd()) if repairs else asked.paths[0])
        workshop = SeriesBuilder(asked.folder or _folder(repository, asked.name), repository)
        base = repository.commit("HEAD")
        if repairs:
            proposals, notes = _from_repairs(repository, base, repairs)
        else:
            session = _examined(asked)
            around = session.surroundings
            asked = replace(asked, torch_root=around.torch_root, installed_torchgen=around.installed_torchgen)
            proposals, notes = _from_rules(session, repository, base)
        blank = PullRequestPlan(
            asked.name,
            base,
            made=int(time.time()),
            tool=f"symfix {version('symfix')}",
            origin="repairs" if repairs else "rules",
            words={key: _plain(getattr(asked, key)) for key in RULE_WORDS} | {"top": str(repository.top)},
            rules={card.name: card.doc for card in Registry().rules},
        )
        content_name = _namer(repository)
        made = make_plan(proposals, blank, content_name, most_files=asked.most_files, most_lines=asked.most_lines)
        with workshop.alone():
            build_state.write_whole(workshop.plan, plan.to_json(made).encode())
    for note in (*notes, *made.passed_over):
        click.echo(f"left out: {note}", err=True)
    for number, request in enumerate(made.requests, 1):
        click.echo(_line(number, request))
    files = sum(len(request.paths) for request in made.requests)
    click.echo(f"{len(made.requests)} pull requests, {files} files: {workshop.plan}", err=True)
    return 0 if made.requests else 1


def build_series(asked: SeriesBuild) -> int:
    """Build the planned pull requests.

    Return 0 if all are done, 1 if some are not, 3 if all of them together regress or the baseline is broken.
    """
    promise("the same command goes on where this one was")
    with _plainly():
        workshop, made = _opened(asked)
        if not asked.no_verify:
            what = "its C++ and Python are swapped into that one, where they fit"
            say_release(tree_around(workshop.repository.top), asked.torch_python, what)
        chosen = Decisions()
        if asked.decisions:
            chosen = decisions.read(_text(asked.decisions), made)
        with workshop.alone(), Progress(quiet=asked.quiet) as progress:
            wishes = SeriesOptions(
                base=workshop.repository.commit(asked.base) if asked.base else made.base,
                prove=None if asked.no_verify else _prover(asked, made, workshop, progress),
                redo=_redo(made),
                decisions=chosen,
                unproven=asked.unproven,
                commands=(_reviewers_command(workshop.repository, made),),
                progress=progress.say,
            )
            record = build(made, workshop, wishes)
            if not asked.no_page:
                from ..workflows.pull_requests.review.page import make_page

                command = _reviewers_command(workshop.repository, made)
                with required("review", "jinja2 and pygments", "the review page (or --no-page)"):
                    page = make_page(made, record, workshop.repository, command, chosen)
                build_state.write_whole(workshop.folder / "review.html", page.encode("utf-8", "replace"))
    standings = fresh_states(record, made, workshop.repository)
    _show(made, standings, workshop)
    if record.union is not None:
        click.echo(f"all together: {record.union.verdict.value}: {record.union.reason}")
        if record.union.verdict.value in ("regressed", "broken-baseline"):
            return 3
    return 0 if all(one.state in _DONE for one in standings.values()) else 1


def show_status(asked: SeriesStatus) -> int:
    """Print the state of each pull request without writing anything. Return 0 if all are done, else 1."""
    with _plainly():
        workshop, made = _opened(asked)
        record = build_state.load(workshop.record)
        standings = fresh_states(record or build_state.Record(made.base), made, workshop.repository)
        if asked.style == "json":
            rows = [
                {"id": request.id, "title": (one.request or request).title, "branch": request.branch}
                | {"state": one.state.value}
                | {"reason": one.reason, "commit": one.commit, "dropped": list(one.dropped)}
                | {"verdict": one.verification.verdict.value if one.verification else None}
                | {"url": RequestLog(workshop.folder / "sent.jsonl").url(request)}
                for request in made.requests
                for one in (standings[request.id],)
            ]
            sys.stdout.write(json.dumps({"version": 1, "series": made.name, "requests": rows}, indent=2) + "\n")
        else:
            _show(made, standings, workshop)
            head = workshop.repository.commit("HEAD")
            if record and record.base != head:
                click.echo(f"built on {record.base[:10]}, HEAD is {head[:10]}: series build --base HEAD", err=True)
    return 0 if all(one.state in _DONE for one in standings.values()) else 1


def send_series(asked: SeriesSend) -> int:
    """Open the named pull requests, one after the other. Return 0 if all of them are open."""
    with _plainly():
        workshop, made = _opened(asked)
        chosen = [_named(made, word) for word in asked.requests]
        record = build_state.load(workshop.record) or build_state.Record(made.base)
        standings = fresh_states(record, made, workshop.repository)
        sender = _sender(asked, workshop)
        if asked.dry_run:
            for request in chosen:
                one = standings[request.id]
                for command in sender.commands(one.request or request, one):
                    click.echo(command)
            return 0
        with workshop.alone():
            if asked.ghstack:
                workshop.repository.scratch_worktree(workshop.folder / "sending", record.base)
            built = [standings[request.id].request or request for request in chosen]
            return _send_all(built, standings, sender, asking=not asked.yes)


def _send_all(chosen: Sequence[PullRequest], standings: Mapping[str, Standing], sender: Sender, *, asking: bool) -> int:
    good = True
    for request in chosen:
        if asking and not _agreed(request, standings[request.id], sender.draft):
            click.echo(f"not sent        {request.title}")
            good = False
            continue
        sent = sender.send(request, standings[request.id])
        click.echo(f"{sent.outcome:<15} {request.title}: {sent.detail}")
        good = good and sent.outcome in ("opened", "there already")
        if sent.outcome in ("waiting", "refused"):
            break
    return 0 if good else 1


def _agreed(request: PullRequest, standing: Standing, draft: bool) -> bool:
    verdict = standing.verification.verdict.value if standing.verification else "not verified"
    click.echo(f"{request.title}\n  {request.branch}: {_size(request)}, {verdict}", err=True)
    if not sys.stdin.isatty():
        raise click.UsageError("sending is a person's act: run it in a terminal, or say --yes")
    return click.confirm(f"Open this {'draft ' if draft else ''}pull request?", default=False, err=True)


def _examined(asked: SeriesPlan) -> Session:
    from .check_session import examine, refuse_dirty

    refuse_dirty(asked.paths)
    return examine(asked)


def _from_rules(session: Session, repository: Repository, base: str) -> tuple[list[Proposal], list[str]]:
    inside, notes = [], []
    for outcome in session.report.outcomes:
        parts = [fix for fix in outcome.applied if fix.files] if isinstance(outcome, Changed) else []
        if isinstance(outcome, Changed) and parts:
            notes += [
                f"{outcome.source.path}: {fix.message}: a change of several files is no part of a series"
                for fix in parts
            ]
            outcome = drop_fixes(outcome, parts, session.question, session.surroundings.context())
        if not isinstance(outcome, Changed):
            continue
        path = outcome.source.path.absolute()
        if path.is_relative_to(repository.top):
            inside.append((path.relative_to(repository.top).as_posix(), outcome))
        else:
            notes.append(f"{path}: outside {repository.top}")
    entries = repository.entries(base, [name for name, _ in inside])
    named = _namer(repository)
    fitting = []
    for name, outcome in inside:
        if name in entries and entries[name].name == named(outcome.source.content):
            fitting.append((name, outcome))
        else:
            notes.append(f"{name}: is not in HEAD as it is on disk; commit it, and turn line-end conversion off")
    return list(of_outcomes(fitting)), notes


def _from_repairs(repository: Repository, base: str, folders: Sequence[Path]) -> tuple[list[Proposal], list[str]]:
    proposals, notes = [], []

    def content(path: str) -> bytes | None:
        entry = repository.entries(base, [path]).get(path)
        return entry.content if entry else None

    for folder in folders:
        found, other = read_folder(folder, content)
        proposals += found
        notes += other
    return proposals, notes


def _prover(asked: SeriesBuild, made: PullRequestPlan, workshop: SeriesBuilder, progress: Progress) -> Any:
    def prove(changes: Sequence[Change], tree: Path, request: PullRequest | None) -> Verification:
        number = made.requests.index(request) + 1 if request in made.requests else 0
        where = f"{number} of {len(made.requests)}" if number else "all of them together"
        has_torch = (tree / "torch").is_dir() or (tree / "aten").is_dir()
        wanted = VerifyRequest(
            tuple(changes),
            operators=(request.opinfos or None) if request else None,
            bystanders=request.bystanders if request else (),
        )
        session = VerifySession(
            torch_python=asked.torch_python,
            torch_root=_within(made, workshop, tree) or (tree if has_torch else None),
            jobs=children(asked.jobs),
            limits=Limits(network=Network.LEFT if asked.sandbox == "require" else Network.LEFT_IF_POSSIBLE),
            evidence_folder=workshop.evidence,
            progress=lambda text: progress.say(f"{where}: {text}"),
        )
        return verify(wanted, session)

    return prove


def _within(made: PullRequestPlan, workshop: SeriesBuilder, tree: Path) -> Path | None:
    """Return the planned PyTorch tree, inside the scratch worktree if the repository contains it."""
    root = made.words.get("torch_root")
    if root is None:
        return None
    top = workshop.repository.top
    return tree / Path(root).relative_to(top) if Path(root).is_relative_to(top) else Path(root)


def _reviewers_command(repository: Repository, made: PullRequestPlan) -> str:
    root = made.words.get("torch_root")
    top = repository.top
    if root is not None and Path(root).is_relative_to(top):
        place = Path(root).relative_to(top).as_posix()
    else:
        place = "." if (top / "torch").is_dir() or (top / "aten").is_dir() else ""
    return f"symfix verify --base HEAD~1{f' --torch-root {place}' if place else ''}"


def _redo(made: PullRequestPlan) -> Redo:
    """Return a function that reruns the rules with the options of the plan, without the unwanted fixes."""

    def redo(path: str, before: bytes, without: frozenset[Place]) -> FileChange | None:
        words = made.words
        registry = Registry()
        known = {card.name for card in registry.rules}
        rules = frozenset(words.get("select") or known) - frozenset(words.get("ignore") or ())
        root, python = (Path(words[key]) if words.get(key) else None for key in ("torch_root", "torch_python"))
        least = words.get("min_torch")
        around = TorchSurroundings(
            root,
            python,
            tuple(least) if least else None,
            all_functions=bool(words.get("all_functions")),
            modules=bool(words.get("modules")),
            drop_torchscript=bool(words.get("drop_torchscript")),
            installed_torchgen=bool(words.get("installed_torchgen")),
        )
        wishes = RuleWishes(unsafe=bool(words.get("unsafe_fixes")), without=without)
        outcome = Changed(SourceFile(Path(made.words["top"]) / path, before), b"", ())
        left = drop_fixes(outcome, (), CheckRequest(rules, wishes, registry), around.context())
        return next(of_outcomes([(path, left)])).files[0] if isinstance(left, Changed) else None

    return redo


def _text(path: Path) -> str:
    try:
        return contents(path).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{path} can't be read: {error}") from None


def _opened(asked: Series) -> tuple[SeriesBuilder, PullRequestPlan]:
    repository = Repository.around(asked.repository or Path.cwd())
    workshop = SeriesBuilder(asked.folder or _folder(repository, asked.name), repository)
    try:
        return workshop, plan.from_json(workshop.plan.read_text(encoding="utf-8"))
    except OSError:
        raise click.UsageError(f"no plan in {workshop.folder}: `symfix series plan PATH…` makes one") from None


def _folder(repository: Repository, name: str) -> Path:
    """Return the folder of a series inside git's own folder, so that it does not appear in a checkout."""
    return repository.common / "symfix" / name


def _sender(asked: SeriesSend, workshop: SeriesBuilder) -> Sender:
    github = GitHub(workshop.repository.top, asked.onto, asked.repo, asked.owner)
    hub: Hub = Ghstack(workshop.folder / "sending", github) if asked.ghstack else github
    remote = None if asked.ghstack else asked.remote
    return Sender(workshop, hub, remote, draft=not asked.ready, progress=_say)


def _say(text: str) -> None:
    click.echo(f"symfix: {text}", err=True)


def _named(made: PullRequestPlan, word: str) -> PullRequest:
    numbered = dict(enumerate(made.requests, 1))
    for number, request in numbered.items():
        if word in (str(number), request.id, request.branch, request.branch.rpartition("/")[2]):
            return request
    raise click.UsageError(f"no pull request {word!r} in the series {made.name}: `symfix series status` lists them")


def _show(made: PullRequestPlan, standings: Mapping[str, Standing], workshop: SeriesBuilder) -> None:
    journal = RequestLog(workshop.folder / "sent.jsonl")
    for number, request in enumerate(made.requests, 1):
        one = standings[request.id]
        verdict = one.verification.verdict.value if one.verification else ""
        where = journal.url(request)
        line = _line(number, one.request or request)
        click.echo(f"{one.state.value:<9} {verdict:<13} {line}{f'  {where}' if where else ''}")
        if one.reason:
            click.echo(f"          {one.reason}")
        for line in one.dropped:
            click.echo(f"          left out: {line}")
    click.echo(f"branches symfix/{made.name}/…, patches and review.html in {workshop.folder}", err=True)


def _line(number: int, request: PullRequest) -> str:
    return f"{number:>3}  {request.title}  ({_size(request)}; {', '.join(request.rules) or 'repair'})"


def _size(request: PullRequest) -> str:
    return f"{len(request.paths)} file{'s' if len(request.paths) > 1 else ''}, {request.lines} lines"


def _namer(repository: Repository) -> Any:
    wide = len(repository.commit("HEAD")) == 64
    return lambda content: blob_name(content, wide)


def _plain(value: Any) -> Any:
    return str(value.absolute()) if isinstance(value, Path) else list(value) if isinstance(value, tuple) else value


@contextmanager
def _plainly() -> Iterator[None]:
    try:
        yield
    except (GitError, PlanError, TorchError, SandboxMissing) as error:
        raise click.ClickException(str(error)) from None

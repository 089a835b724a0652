"""Parsed command-line arguments, one frozen dataclass per command.

The dataclasses disable ``eq`` and ``repr``, because generating these methods for every command would slow each start.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

STDIN = Path("-")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TargetArguments:
    """Options that choose the target torch."""

    torch_root: Path | None
    torch_python: Path | None
    min_torch: tuple[int, int] | None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RuleSelection(TargetArguments):
    """Options that choose the rules of a run and their assumptions."""

    select: tuple[str, ...] | None
    ignore: tuple[str, ...]
    all_functions: bool
    modules: bool
    drop_torchscript: bool
    installed_torchgen: bool


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Examination(RuleSelection):
    """Options that choose the files and the rules of a run."""

    paths: tuple[Path, ...]
    unsafe_fixes: bool
    jobs: int | None
    stdin_filename: Path | None
    exclude: tuple[str, ...]
    quiet: bool
    since: str | None = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Shown:
    """Output options for findings."""

    style: str
    statistics: bool
    show_left: bool


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ProofArguments:
    """Commands and tests to run before and after a change, with their limits."""

    repro: tuple[Path, ...]
    calls: tuple[str, ...]
    tests: tuple[str, ...]
    builds: tuple[str, ...]
    timeout: float | None
    operators: tuple[str, ...]
    evidence: Path | None
    sandbox: str


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CheckArguments(Examination, Shown):
    """Arguments of ``symfix check``."""

    baseline: Path | None
    write_baseline: Path | None
    executor: str | None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FixArguments(Examination, Shown, ProofArguments):
    """Arguments of ``symfix fix``."""

    verifying: bool
    interactive: bool
    allow_dirty: bool
    add_ignore: str | None
    targets: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Verify(TargetArguments, ProofArguments):
    """Arguments of ``symfix verify``."""

    quiet: bool
    executor: str | None
    drop_torchscript: bool
    paths: tuple[Path, ...]
    base: str
    patch: Path | None
    jobs: int | None
    style: str


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Hunt:
    """Arguments of ``symfix hunt``."""

    quiet: bool
    operators: tuple[str, ...]
    protocol: str
    modules: bool
    every_sample: bool
    samples: int | None
    examples: int | None
    seed: int
    minutes: float
    executor: str | None
    stored: bool
    fresh: bool
    jobs: int | None
    torch_python: Path | None
    style: str
    page: Path | None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RepairArguments:
    """Arguments of ``symfix repair``."""

    quiet: bool
    executor: str | None
    targets: tuple[str, ...]
    protocol: str
    modules: bool
    everything: bool
    examples: int | None
    seed: int
    minutes: float
    output: Path
    torch_root: Path | None
    torch_python: Path | None
    jobs: int | None
    fresh: bool


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Widen:
    """Arguments of ``symfix widen``."""

    quiet: bool
    operators: tuple[str, ...]
    arguments: tuple[str, ...]
    torch_root: Path | None
    torch_python: Path | None
    verifying: bool
    writing: bool
    allow_dirty: bool


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Exporting:
    """Options for exporting targets and writing the results, shared by ``export`` and ``apply-report``."""

    quiet: bool
    executor: str | None
    ways: tuple[str, ...]
    unbacked: bool
    output: Path
    page: Path | None
    style: str
    search_time: float | None
    timeout: float | None
    jobs: int | None
    torch_python: Path | None
    min_torch: tuple[int, int] | None
    prefer: str | None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Export(Exporting):
    """Arguments of ``symfix export``."""

    targets: tuple[str, ...]
    command: tuple[str, ...]
    """Words of the user's own command, after ``--``."""
    shapes: dict[str, tuple[tuple[int, ...], str]]
    """Sizes and dtype by parameter of the model."""
    dynamic: dict[str, tuple[tuple[int, str], ...]]
    """Dimensions and their names by parameter of the model."""
    init: Path | None
    report: Path | None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ApplyReport(Exporting):
    """Arguments of ``symfix apply-report``."""

    file: Path
    target: str | None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Explain:
    """Arguments of ``symfix explain``."""

    file: Path
    style: str


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Xfails:
    """Arguments of ``symfix xfails``."""

    quiet: bool
    paths: tuple[Path, ...]
    check: bool
    jobs: int | None
    torch_python: Path | None
    style: str


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Series:
    """Options that choose a series, shared by the commands of ``symfix series``."""

    name: str
    folder: Path | None
    repository: Path | None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SeriesPlan(Series, Examination):
    """Arguments of ``symfix series plan``."""

    most_files: int
    most_lines: int


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SeriesBuild(Series):
    """Arguments of ``symfix series build``."""

    quiet: bool
    base: str | None
    decisions: Path | None
    no_verify: bool
    unproven: bool
    no_page: bool
    jobs: int | None
    torch_python: Path | None
    sandbox: str


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SeriesStatus(Series):
    """Arguments of ``symfix series status``."""

    style: str


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SeriesSend(Series):
    """Arguments of ``symfix series send``."""

    requests: tuple[str, ...]
    remote: str
    repo: str | None
    owner: str | None
    onto: str
    ghstack: bool
    ready: bool
    dry_run: bool
    yes: bool

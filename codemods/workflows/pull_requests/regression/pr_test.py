"""Additions to a fix in a pull request: a regression test, and removed expected failures."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from ....harness.fork_server import forking
from ....harness.process_limits import children_digest
from ....harness.temp_folder import new_name
from ....harness.torch_variant import Harness
from ....system import cache_folder
from ....torchapi.torch_finder import TorchInstallation, locate, release
from ....verify.before_after import Side
from ....verify.build.kernel_libraries import Unbuildable
from ....verify.build.modules import Unplaced
from ....verify.build.toolchain import CompilerMissing
from ....verify.change import Change, Verdict
from ...hunt.workers import NothingRuns
from ...repair.folder import Added
from ...repair.result import Repair
from ...xfails.entry_removal import NotRemovable, without
from ...xfails.xfail_lists import read
from ...xfails.xfail_runs import LIMITS, SHARED, EntryVerdict, Judgement, judge
from . import test_proof
from .test_location import placed
from .test_proof import Regression, regression
from .test_source import words_of
from .variants import sides

LIST = "torch/testing/_internal/common_ops_unbacked.py"
"""File of torch with the operators that are expected to fail with unbacked sizes."""
_LIMITS = replace(LIMITS, wall=240.0)

Content = Callable[[str], bytes | None]


@dataclass(frozen=True)
class RegressionBuilder:
    """Environment of the additions: the torch, an optional source tree, and a scratch folder."""

    place: TorchInstallation
    scratch: Path
    torch_root: Path | None = None
    torch_python: Path | None = None
    jobs: int = 2

    def content(self, repair: Repair) -> Content:
        """Return a function that reads the files that a repair's patch is based on, by name."""
        site = self.place.package.parent
        root = site if self.torch_root is None or not self._fits(repair) else self.torch_root

        def content(name: str) -> bytes | None:
            path = root / name
            return path.read_bytes() if path.is_file() else None

        return content

    def _fits(self, repair: Repair) -> bool:
        """Return whether the source tree is the base of the repair's texts, or of the same release."""
        if self.torch_root is None or repair.language != "Python":
            return self.torch_root is not None
        return release(locate(self.torch_root, self.torch_python).version) == release(self.place.version)


class CachedAdditions:
    """Additions of proven repairs, each made once.

    They are run on the two torches of the proof while these exist, else on new ones. A call with a repair returns its
    additions.
    """

    def __init__(self, at: RegressionBuilder, progress: Callable[[str], None] = lambda _: None) -> None:
        self._at = at
        self._progress = progress
        self._made: dict[tuple[tuple[str, ...], tuple[Change, ...]], Added] = {}

    def __call__(self, repair: Repair) -> Added:
        return self._made.get(_key(repair), Added())

    def make(self, repair: Repair, before: Side, after: Side) -> None:
        """Make the additions of a repair on torch before and after it."""
        self._progress(f"regression test: {repair.name}")
        before, after = (replace(side, laboratory=replace(side.laboratory, limits=_LIMITS)) for side in (before, after))
        self._made[_key(repair)] = _added(repair, self._at, before, after)

    def complete(self, repairs: Sequence[Repair]) -> list[Repair]:
        """Make the missing additions and return the repairs. A repair that a test refutes loses its proof."""
        left = [one for one in repairs if one.proven and _key(one) not in self._made]
        jobs = max(1, self._at.jobs)
        installed = Harness(self._at.place.python, self._at.scratch, _LIMITS)
        with forking(installed, jobs, scripts=True) as ready, ThreadPoolExecutor(jobs) as pool:
            list(pool.map(lambda pair: self._alone(pair[1], f"{pair[0]} of {len(left)}", ready), enumerate(left, 1)))
        return [_without_proof(one, self(one).wrong) for one in repairs]

    def _alone(self, repair: Repair, counted: str, ready: Harness) -> None:
        """Make the additions of a repair proven earlier. ``ready`` forks from the installed torch."""
        self._progress(f"proven before: {counted}")
        at = self._at
        folder = at.scratch / new_name("additions")
        folder.mkdir()
        laboratory = Harness(at.place.python, folder, _LIMITS)
        try:
            with sides(repair.changes, laboratory, ready, at.place, at.torch_root, at.torch_python) as (before, after):
                self.make(repair, before, after)
        except (Unbuildable, CompilerMissing, Unplaced) as error:
            self._made[_key(repair)] = Added(lines=(f"No test: {error}",))


def _key(repair: Repair) -> tuple[tuple[str, ...], tuple[Change, ...]]:
    return repair.operators, repair.changes


def _without_proof(repair: Repair, wrong: str) -> Repair:
    if not wrong or repair.verification is None:
        return repair
    return replace(repair, verification=replace(repair.verification, verdict=Verdict.REGRESSED, reason=wrong))


def _added(repair: Repair, at: RegressionBuilder, before: Side, after: Side) -> Added:
    """Make the test and the removal of expected failures of one repair, each proven by running.

    Their absence is explained in the result.
    """
    try:
        test = _kept(repair, at, lambda: regression(repair.operators, repair.samples, before, after))
        content = at.content(repair)
        listed = content(LIST)
        judged = _judged(repair, listed, at, after) if listed else []
    except NothingRuns as error:
        return Added(lines=(f"No test: {error}",))
    return _written(repair, test, judged, content, listed)


def _written(
    repair: Repair, test: Regression, judged: Sequence[Judgement], content: Content, listed: bytes | None
) -> Added:
    files: list[tuple[str, bytes, bytes]] = []
    lines: list[str] = []
    spans = {(one.entry.start, one.entry.end) for one in judged if one.state is EntryVerdict.STALE}
    with suppress(NotRemovable):
        if spans and listed:
            files.append((LIST, listed, without(listed, spans)))
            lines.append(f"Expected failures removed: {_names(judged, EntryVerdict.STALE)}.")
    kept = _names([one for one in judged if one.state is not EntryVerdict.STALE], None)
    lines += [f"Expected failures kept, since they fail still: {kept}."] if kept else []
    if test.words is None:
        lines.append(f"No test: {test.why}")
    else:
        files.append(placed(test.words, test.backend, content))
        said = f"fails before ({test.before}) and passes after"
        lines.append(f"Test: {files[-1][0]}, {test.words.test}, {said}, each in a process of its own.")
    evidence = {
        "regression": {
            "test": test.words.test if test.words else None,
            "operator": test.words.operator if test.words else None,
            "backend": test.backend,
            "failed_before_with": test.before,
            "none_because": test.why,
            "wrong": test.wrong,
        },
        "xfails": [{"operator": one.entry.name, "state": one.state.value, "reason": one.reason} for one in judged],
    }
    return Added(tuple(files), tuple(lines), evidence, test.wrong)


def _names(judged: Sequence[Judgement], state: EntryVerdict | None) -> str:
    return ", ".join(one.entry.name for one in judged if state is None or one.state is state)


def _judged(repair: Repair, listed: bytes, at: RegressionBuilder, after: Side) -> list[Judgement]:
    lists = {name for _, name in SHARED}
    entries = [one for one in read(listed) if one.list in lists and one.name in repair.operators]
    if not entries:
        return []
    # A trial runs the test of an entry, with stricter checks of each sample.
    return judge(Path(LIST), entries, at.place, after, jobs=1, passing=repair.passing)


def _kept(repair: Repair, at: RegressionBuilder, make: Callable[[], Regression]) -> Regression:
    """Return the cached test for the same fix on the same torch, or make a new one."""
    parts = [at.place.build.encode(), repr((repair.operators, sorted(repair.samples.items()))).encode()]
    parts += [part for change in repair.changes for part in (change.before, change.after)]
    parts += [children_digest().encode(), Path(test_proof.__file__).read_bytes()]
    digest = hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()[:24]
    path = cache_folder.folder("regressions") / f"{digest}.json"
    with suppress(ValueError, KeyError, TypeError):
        return _read(json.loads(cache_folder.load(path) or b""))
    made = make()
    if made.words is not None:
        cache_folder.store(path, json.dumps(asdict(made)).encode())
    return made


def _read(row: Mapping[str, object]) -> Regression:
    said = row["words"]
    assert isinstance(said, dict)
    words = words_of(said["operator"], said, said["failure"])
    return Regression(words, str(row["backend"]), str(row["before"]), str(row["why"]), str(row["wrong"]))

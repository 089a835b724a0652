"""Tests of the search for repairs, with a trial runner without torch. The text determines the failures."""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from symfix.codemods.engine.registry import Registry
from symfix.codemods.engine.torch_context import TorchSurroundings
from symfix.codemods.model.edit import Edit
from symfix.codemods.model.rule import Context, Fix, Safety
from symfix.codemods.verify.change import Change, Verdict, Verification
from symfix.codemods.workflows.hunt.failure import Failure, FailurePlace, Mode, Operator
from symfix.codemods.workflows.pull_requests.series.repairs import read_folder
from symfix.codemods.workflows.repair.candidate_search import Search
from symfix.codemods.workflows.repair.candidates import Candidate, CandidateSite, CandidateSources
from symfix.codemods.workflows.repair.cpp_build import DoesNotBuild, Library, plain_name
from symfix.codemods.workflows.repair.edited_file import AppendedTexts, EditedFile
from symfix.codemods.workflows.repair.folder import Added, figures, hand_over_text, summary, text_of, write
from symfix.codemods.workflows.repair.group_proof import _same_code
from symfix.codemods.workflows.repair.groups import AcceptedFix, FixGroup, groups, only
from symfix.codemods.workflows.repair.journal import TrialJournal
from symfix.codemods.workflows.repair.phase_times import Timing
from symfix.codemods.workflows.repair.procedure import _placed
from symfix.codemods.workflows.repair.progress_metric import expression, strip_advice
from symfix.codemods.workflows.repair.result import REASONS, Repair, RepairOutcome, SourceSpan, Unrepaired
from symfix.codemods.workflows.repair.trial_runner import TrialRunner
from symfix.codemods.workflows.repair.trials import TorchFrame, Trial, Tried

MODULE = b'''"""Shapes."""

import torch


def meta_first(x):
    if x.numel() == 0:
        return x
    return x.clone()


def meta_second(x):
    n = x.size(0)
    if n * 2 >= x.size(1) + 1:
        n -= 1
    return x.new_empty(n)


def meta_third(x, y):
    assert x.size(0) == y.size(0), f"{x.size(0)} is not {y.size(0)}"
    return y


def meta_fourth(y):
    if y.numel() == 0:
        return y
    return y.clone()
'''
CHECK, SAME_ERROR, THIRD = b"torch._check(", b"torch._check_with(", b"x.size(0) == y.size(0)"


@pytest.fixture(scope="module")
def context() -> Context:
    pytest.importorskip("torch")
    return TorchSurroundings().context()


@pytest.fixture
def module(tmp_path: Path) -> Path:
    path = tmp_path / "torch" / "_shapes.py"
    path.parent.mkdir()
    path.write_bytes(MODULE)
    return path


@pytest.fixture
def advisors(context: Context) -> CandidateSources:
    return CandidateSources(Registry(), lambda _: context)


def line_of(text: bytes, piece: bytes) -> int:
    return text[: text.index(piece)].count(b"\n") + 1


@dataclass
class Texts:
    """Trial runner in which an operator passes if its text has the right bytes, and else fails at a line."""

    path: Path
    right: Mapping[str, bytes]
    wrong: Mapping[str, bytes] = field(default_factory=dict)
    at: Mapping[str, bytes] = field(default_factory=dict)
    swapped: set[str] = field(default_factory=set)
    refused: dict[Path, str] = field(default_factory=dict)
    room: bool = False
    tried: list[bytes] = field(default_factory=list)
    timing: Timing = field(default_factory=Timing)

    def trial(self, name: str, text: bytes) -> Trial:
        if self.right[name] in text:
            return Trial(name, "passed", count=1)
        if name in self.wrong and self.wrong[name] in text:
            return Trial(name, "deviates", "at 0: another shape", 1, 0)
        marks = [mark for mark in self.at[name].split(b"|") if mark in text]
        frame = TorchFrame(str(self.path), line_of(text, marks[0]), name)
        return Trial(name, "failed", f"data-dependent expression {marks[0].decode()}", 1, 0, (frame,))

    def try_on(
        self,
        drafts: Mapping[Path, EditedFile],
        operators: Mapping[str, int],
        most: int = 0,
        whole: Collection[str] = (),
    ) -> Tried:
        text = drafts[self.path].now.content if self.path in drafts else self.path.read_bytes()
        self.tried.append(text)
        return Tried({name: self.trial(name, text) for name in operators})

    def try_alone(
        self, drafts: Mapping[Path, EditedFile], found: Sequence[FixGroup], most: int = 0
    ) -> list[dict[str, Trial]]:
        return [self.try_on(only(drafts, [group]), dict.fromkeys(group.operators, -1)).trials for group in found]

    def sites(self, trial: Trial, drafts: dict[Path, EditedFile]) -> tuple[CandidateSite, ...]:
        if self.path not in drafts:
            drafts[self.path] = self.advisors.draft(self.path, self.path.read_bytes())  # type: ignore[assignment]
        draft = drafts[self.path]
        return tuple(CandidateSite(self.path, draft.origin(draft.line_start(f.line)), f.function) for f in trial.frames)

    def has_room_beside(self, operators: Sequence[str]) -> bool:
        return self.room

    def start(self, drafts: Mapping[Path, EditedFile]) -> None:
        pass

    def builds(self, path: Path, draft: EditedFile) -> None:
        return None

    def runs_swapped(self, name: str, trial: Trial) -> bool:
        return name in self.swapped

    advisors: Any = None


def searched(bench: Texts, advisors: CandidateSources) -> Search:
    bench.advisors = advisors
    first = {name: bench.trial(name, MODULE) for name in bench.right}
    search = Search(advisors, bench, {}, first)  # type: ignore[arg-type]
    search.run(0, lambda _: None)
    return search


def test_a_search_says_whether_its_rounds_were_enough(module: Path, advisors: CandidateSources) -> None:
    bench = Texts(module, {"third": SAME_ERROR}, at={"third": THIRD})
    bench.advisors = advisors
    search = Search(advisors, bench, {}, {"third": bench.trial("third", MODULE)})  # type: ignore[arg-type]
    assert not search.run(0, lambda _: None, rounds=1) and not search.trials["third"].passed
    assert search.run(0, lambda _: None) and search.trials["third"].passed


def test_an_operator_that_unchanged_kernels_mend_is_repaired_in_python(
    module: Path, advisors: CandidateSources
) -> None:
    class Swapping(Texts):
        def sites(self, trial: Trial, drafts: dict[Path, EditedFile]) -> tuple[CandidateSite, ...]:
            return CandidateSite(Path("native/Third.cpp"), 0, "third"), *super().sites(trial, drafts)

        def swap_in(self, trials: Mapping[str, Trial], drafts: Mapping[Path, EditedFile]) -> dict[str, int]:
            self.swapped |= trials.keys()
            return dict.fromkeys(trials, -1)

        def trial(self, name: str, text: bytes) -> Trial:
            return Trial(name, "passed", count=1) if name in self.swapped else super().trial(name, text)

    bench = Swapping(module, {"third": SAME_ERROR}, at={"third": THIRD})
    search = searched(bench, advisors)
    assert (search.mended_by_swap, bench.swapped) == (["third"], set())
    assert search.trials["third"].passed and [one.candidate.site.path for one in search.chains["third"]] == [module]


def test_a_search_begins_no_round_after_its_deadline(module: Path, advisors: CandidateSources) -> None:
    bench = Texts(module, {"third": SAME_ERROR}, at={"third": THIRD})
    bench.advisors = advisors
    search = Search(advisors, bench, {}, {"third": bench.trial("third", MODULE)})  # type: ignore[arg-type]
    search.deadline = 0.0
    assert not search.run(0, lambda _: None) and search.over
    assert not search.trials["third"].passed and search.drafts[module].now.content == MODULE
    search.deadline = math.inf
    assert search.run(0, lambda _: None) and search.trials["third"].passed


def test_each_place_gets_the_first_candidate_that_helps(module: Path, advisors: CandidateSources) -> None:
    bench = Texts(
        module,
        right={"first": b"guard_or_false(x.numel() == 0)", "second": b"n = torch.sym_ite("},
        at={"first": b"x.numel() == 0", "second": b"n * 2 >="},
    )
    search = searched(bench, advisors)
    assert [trial.verdict for trial in search.trials.values()] == ["passed", "passed"]
    assert len(bench.tried) == 1, "independent places are tried at once"
    text = search.drafts[module].now.content
    assert b"n = torch.sym_ite(n * 2 >= x.size(1) + 1, n - 1, n)" in text
    assert text.count(b"import guard_or_false") == 1
    compile(text, str(module), "exec")


def test_a_silent_deviation_is_refused_and_the_next_candidate_tried(module: Path, advisors: CandidateSources) -> None:
    bench = Texts(module, {"third": SAME_ERROR}, {"third": CHECK}, {"third": THIRD})
    search = searched(bench, advisors)
    assert search.trials["third"].passed
    assert [attempt.kept for attempt in search.attempts] == [False, True]
    assert "another shape" in search.attempts[0].came
    assert CHECK not in search.drafts[module].now.content


def test_an_operator_that_deviates_goes_back_before_those_that_wait_for_the_same_fix(
    module: Path, advisors: CandidateSources
) -> None:
    """Use a fix that makes ``deep`` deviate because of a default that it took earlier. ``plain`` needs it too."""

    @dataclass
    class Blamed(Texts):
        def trial(self, name: str, text: bytes) -> Trial:
            mark = b"x.numel() == 0" if name == "plain" else b"y.numel() == 0"
            first = b"guard_or_false(" + mark
            if first not in text or b"assert x.size(0)" in text:
                mark = THIRD if first in text else mark
                trial = Texts.trial(Texts(self.path, {name: b"never there"}, at={name: mark}), name, text)
                return replace(trial, frames=tuple(replace(frame, function="meta") for frame in trial.frames))
            if name == "deep" and b"torch._check(y.numel() != 0)" not in text:
                return Trial(name, "deviates", "at 0: another value", 1, 0)
            return Trial(name, "passed", count=1)

    search = searched(Blamed(module, {"plain": b"never there", "deep": b"never there"}, at={}), advisors)
    assert {name: trial.verdict for name, trial in search.trials.items()} == {"plain": "passed", "deep": "passed"}
    assert {name for attempt in search.attempts for name in attempt.deviating} == {"deep"}


def test_what_passes_and_stays_so_is_told_while_the_search_goes_on(module: Path, advisors: CandidateSources) -> None:
    told: list[list[tuple[str, ...]]] = []
    bench = Texts(
        module,
        {"first": b"guard_or_false(x.numel() == 0)", "third": SAME_ERROR},
        {"third": CHECK},
        {"first": b"x.numel() == 0", "third": THIRD},
    )
    bench.advisors = advisors
    search = Search(advisors, bench, {}, {name: bench.trial(name, MODULE) for name in bench.right})  # type: ignore[arg-type]
    search.completable = lambda found, drafts: told.append([one.operators for one in found])
    search.run(0, lambda _: None)
    assert [sorted(groups) for groups in told] == [[("first",)], [("first",), ("third",)]]
    assert search.trials["third"].passed


def test_an_idle_processor_tries_what_the_next_round_asks(module: Path, advisors: CandidateSources) -> None:
    found = []
    for room in (False, True):
        bench = Texts(module, {"third": SAME_ERROR}, {"third": CHECK}, {"third": THIRD}, room=room)
        search = searched(bench, advisors)
        found.append((bench.tried, search.trials, [(one.kept, one.came) for one in search.attempts]))
    (alone, *without), (ahead, *with_room) = found
    assert with_room == without
    assert len(alone) == 2 and {*alone} <= {*ahead[:2]}, "both candidates were tried in the first round"


def test_a_failure_without_a_place_is_no_progress(module: Path, advisors: CandidateSources) -> None:
    @dataclass
    class Placeless(Texts):
        def trial(self, name: str, text: bytes) -> Trial:
            if CHECK in text:
                return Trial(name, "failed", "Unsupported: a closure", 1, 0)
            return Texts.trial(self, name, text)

    search = searched(Placeless(module, {"third": SAME_ERROR}, at={"third": THIRD}), advisors)
    assert search.trials["third"].passed
    assert [(attempt.kept, "closure" in attempt.came) for attempt in search.attempts] == [(False, True), (True, False)]


def test_what_no_candidate_mends_is_left_with_what_was_tried(module: Path, advisors: CandidateSources) -> None:
    @dataclass
    class Stuck(Texts):
        def trial(self, name: str, text: bytes) -> Trial:
            return replace(Texts.trial(self, name, text), message="could not guard on Eq(u0, u1)")

    bench = Stuck(module, {"third": b"nothing will do"}, at={"third": THIRD})
    search = searched(bench, advisors)
    assert not search.trials["third"].passed
    assert search.drafts[module].now.content == MODULE
    assert len(search.attempts) >= 2
    assert not any(attempt.kept for attempt in search.attempts)


def test_a_chain_of_places_keeps_what_brought_it_on(module: Path, advisors: CandidateSources) -> None:
    @dataclass
    class Chained(Texts):
        def trial(self, name: str, text: bytes) -> Trial:
            seen = replace_at(self, b"n * 2 >=" if b"guard_or_false(x.numel() == 0)" in text else b"x.numel() == 0")
            return Texts.trial(seen, name, text)

    def replace_at(bench: Texts, mark: bytes) -> Texts:
        return Texts(bench.path, bench.right, at={"both": mark})

    bench = Chained(module, {"both": b"sym_ite"}, at={})
    search = searched(bench, advisors)
    assert search.trials["both"].passed
    assert len(search.chains["both"]) == 2
    (group,) = groups(search.chains, ["both"])
    assert len(group.members) == 2


def test_what_failed_on_top_of_a_wrong_start_is_tried_again_without_it(
    module: Path, advisors: CandidateSources
) -> None:
    """Use a second place for which a rejected candidate is right with another candidate at the first place."""
    second = b"torch.sym_ite("

    @dataclass
    class Dependent(Texts):
        def trial(self, name: str, text: bytes) -> Trial:
            if second in text and CHECK in text:
                return Trial(name, "wrong", "another result", 1, 0)
            if second in text and SAME_ERROR in text:
                return Trial(name, "passed", count=1)
            mark = b"n * 2 >=" if b"torch._check" in text else THIRD
            return Texts.trial(Texts(self.path, self.right, at={name: mark}), name, text)

    search = searched(Dependent(module, {"both": b"never there"}, at={}), advisors)
    assert search.trials["both"].passed
    text = search.drafts[module].now.content
    assert SAME_ERROR in text and CHECK not in text
    assert any(attempt.came.startswith("leads nowhere") for attempt in search.attempts)


def test_what_failed_for_another_operator_is_tried_again_for_a_stuck_one(
    module: Path, advisors: CandidateSources
) -> None:
    guard, second = b"guard_or_false(x.numel() == 0)", b"torch.sym_ite("

    @dataclass
    class Apart(Texts):
        def trial(self, name: str, text: bytes) -> Trial:
            if name == "lost" and (CHECK in text or SAME_ERROR in text):
                return Trial(name, "failed", "Unsupported: a closure", 1, 0)
            if name == "lost" or (guard in text and second in text):
                return Texts.trial(Texts(self.path, self.right, at={name: THIRD}), name, text)
            mark = b"n * 2 >=" if guard in text else b"x.numel() == 0"
            return Texts.trial(Texts(self.path, {name: b"not yet"}, at={name: mark}), name, text)

    search = searched(Apart(module, {"late": CHECK, "lost": b"nothing will do"}, at={}), advisors)
    assert search.trials["late"].passed and not search.trials["lost"].passed
    (first, *_, last) = [one for one in search.attempts if THIRD.decode() in one.candidate.fixes[0].message]
    assert first.operators == ("lost",) and not first.kept and "closure" in first.came
    assert last.candidate.key == first.candidate.key and last.kept and "late" in last.operators


def test_a_search_that_ends_nowhere_returns_to_its_longest_chain(module: Path, advisors: CandidateSources) -> None:
    @dataclass
    class Chained(Texts):
        def trial(self, name: str, text: bytes) -> Trial:
            mark = THIRD if SAME_ERROR not in text else b"n * 2 >="
            return Texts.trial(Texts(self.path, self.right, at={name: mark}), name, text)

    search = searched(Chained(module, {"both": b"nothing will do"}, at={}), advisors)
    assert not search.chains["both"] and any("leads nowhere" in attempt.came for attempt in search.attempts)
    search.return_to_furthest()
    (member,) = search.chains["both"]
    assert SAME_ERROR in search.drafts[module].now.content
    assert "n * 2" in search.trials["both"].message
    search.return_to_furthest()
    assert search.chains["both"] == [member]


IN_ONE_FUNCTION = b"""#include <ATen/ATen.h>
namespace at::native {
Tensor narrow_down(const Tensor& self, const Tensor& other) {
  if (self.dim() != 1 && self.sym_size(0) != other.sym_size(0)) {
    TORCH_CHECK_VALUE(false, "sizes");
  }
  if (self.sym_numel() > 0) {
    return self.clone();
  }
  return self;
}
}
"""


@dataclass
class Ordered(Texts):
    """Trials of `IN_ONE_FUNCTION`: first its comparison of sizes stops the operator, then its branch, then ``last``."""

    last: bytes = b""

    def trial(self, name: str, text: bytes) -> Trial:
        left = [mark for mark in (b"self.sym_numel() > 0", b"self.sym_size(0) != ", self.last) if mark and mark in text]
        if not left:
            return Trial(name, "passed", count=1)
        frame = TorchFrame(str(self.path), 0, "narrow_down")
        return Trial(name, "failed", f"data-dependent expression {left[0].decode()}", 1, 0, (frame,))

    def sites(self, trial: Trial, drafts: dict[Path, EditedFile]) -> tuple[CandidateSite, ...]:
        if self.path not in drafts:
            drafts[self.path] = self.advisors.draft(self.path, self.path.read_bytes())
        at = IN_ONE_FUNCTION.index(b"Tensor narrow_down")
        return tuple(CandidateSite(self.path, at, frame.function) for frame in trial.frames)


@pytest.fixture
def in_one_function(tmp_path: Path) -> Path:
    path = tmp_path / "aten" / "src" / "ATen" / "native" / "Narrow.cpp"
    path.parent.mkdir(parents=True)
    path.write_bytes(IN_ONE_FUNCTION)
    return path


def searched_in_cpp(bench: Ordered, advisors: CandidateSources) -> Search:
    search = Search(advisors, bench, {}, {"narrow": bench.trial("narrow", IN_ONE_FUNCTION)})  # type: ignore[arg-type]
    search.run(0, lambda _: None)
    return search


def test_what_did_not_help_in_a_function_of_cpp_is_tried_again_after_what_stands_before_it(
    in_one_function: Path, advisors: CandidateSources
) -> None:
    bench = Ordered(in_one_function, {"narrow": b""}, swapped={"narrow"}, advisors=advisors)
    search = searched_in_cpp(bench, advisors)
    assert search.trials["narrow"].passed
    words = [attempt.candidate.words for attempt in search.attempts]
    assert len(words) > len(set(words)), "the first one helped only the second time"


def test_what_leads_nowhere_in_a_function_of_cpp_is_not_taken_again(
    in_one_function: Path, advisors: CandidateSources
) -> None:
    bench = Ordered(in_one_function, {"narrow": b""}, swapped={"narrow"}, advisors=advisors, last=b"return self.clone")
    search = searched_in_cpp(bench, advisors)
    assert not search.trials["narrow"].passed
    taken = [attempt.candidate.key for attempt in search.attempts if attempt.kept]
    assert taken and len(taken) == len(set(taken))


def test_a_search_goes_back_over_two_defaults_that_both_deviate(
    in_one_function: Path, advisors: CandidateSources
) -> None:
    """Use two equal branches. The default of each deviates without a check, which only all samples show."""
    branch = b"if (self.sym_numel() == 0) {\n    return self;\n  }\n"
    text = b"namespace at::native {\nTensor f(const Tensor& self) {\n  %s  %s  return self;\n}\n}\n" % (branch, branch)
    in_one_function.write_bytes(text)

    @dataclass
    class Unchecked(Texts):
        def trial(self, name: str, text: bytes) -> Trial:
            if branch not in text:
                return Trial(name, "passed", count=1)
            frame = TorchFrame(str(self.path), 2, "f")
            asked = f"data-dependent expression Eq(u{text.count(branch)}, 0)"
            return Trial(name, "failed", asked, 1, 0, (frame,))

        def try_alone(
            self, drafts: Mapping[Path, EditedFile], found: Sequence[FixGroup], most: int = 0
        ) -> list[dict[str, Trial]]:
            tried = super().try_alone(drafts, found, most)
            if self.tried[-1].count(b"GUARD_OR_FALSE(") == self.tried[-1].count(b"SYM_CHECK("):
                return tried
            return [{name: Trial(name, "deviates", "at 0: a number", 1, 0) for name in one} for one in tried]

    bench = Unchecked(in_one_function, {"f": b""}, swapped={"f"}, advisors=advisors)
    search = Search(advisors, bench, {}, {"f": bench.trial("f", text)})  # type: ignore[arg-type]
    for _ in range(12):
        if not (search.run(0, lambda _: None) and search.complete()):
            break
    assert search.trials["f"].passed
    assert search.drafts[in_one_function].now.content.count(b"TORCH_SYM_CHECK(") == 2


def test_what_a_passing_operator_found_there_is_not_taken_back_for_one_that_is_stuck(
    module: Path, advisors: CandidateSources
) -> None:
    """Use a passing operator that reached the first place after its fix, so that its chain lacks that fix."""

    @dataclass
    class Shared(Texts):
        def trial(self, name: str, text: bytes) -> Trial:
            if b"guard_or_false(x.numel() == 0)" not in text:
                mark = b"x.numel() == 0" if name == "stuck" or b"sym_ite" in text else b"n * 2 >="
            elif name == "later" and b"sym_ite" in text:
                return Trial(name, "passed", count=1)
            else:
                mark = b"n * 2 >=" if name == "later" else THIRD
            failing = Texts(self.path, {name: b"never there"}, at={name: mark + b"|def meta_third"})
            trial = Texts.trial(failing, name, text)
            return replace(trial, frames=tuple(replace(frame, function="meta") for frame in trial.frames))

    bench = Shared(module, {"stuck": b"", "later": b""}, at={})
    search = searched(bench, advisors)
    assert search.trials["later"].passed and not search.trials["stuck"].passed
    text = search.drafts[module].now.content
    assert b"guard_or_false(x.numel() == 0)" in text and bench.trial("later", text).passed
    (group,) = groups(search.chains, ["later"])
    assert len(group.members) == 2, "what it needs goes with it"


def test_what_only_another_repair_stops_passes_with_its_own_alone(module: Path, advisors: CandidateSources) -> None:
    @dataclass
    class Stopped(Texts):
        def trial(self, name: str, text: bytes) -> Trial:
            mended = b"guard_or_false(x.numel() == 0)" if name == "stopped" else CHECK
            stopped = name == "stopped" and CHECK in text
            if mended in text and not stopped:
                return Trial(name, "passed", count=1)
            place = THIRD if name == "other" else b"return x.clone()" if mended in text else b"x.numel() == 0"
            return Texts.trial(Texts(self.path, {name: b"never there"}, at={name: place}), name, text)

    search = searched(Stopped(module, {"stopped": b"", "other": b""}, at={}), advisors)
    assert search.trials["stopped"].passed and search.trials["other"].passed
    assert [group.operators for group in groups(search.chains, ["stopped", "other"])] == [("other",), ("stopped",)]
    assert not search.complete()


def test_what_fails_alone_is_mended_where_it_failed_alone(module: Path, advisors: CandidateSources) -> None:
    @dataclass
    class Further(Texts):
        alone: bool = False

        def trial(self, name: str, text: bytes) -> Trial:
            passed = Texts.trial(self, name, text)
            if name == "other" or not passed.passed or not self.alone or CHECK in text:
                return passed
            return Texts.trial(Texts(self.path, {name: b"never there"}, at={name: THIRD}), name, text)

        def try_alone(self, drafts: Mapping[Path, EditedFile], found: Sequence[FixGroup], most: int = 0) -> Any:
            self.alone = not most
            try:
                return Texts.try_alone(self, drafts, found, most)
            finally:
                self.alone = False

    right = {"other": b"guard_or_false(x.numel() == 0)", "later": b"n = torch.sym_ite("}
    bench = Further(module, right, at={"other": b"x.numel() == 0", "later": b"n * 2 >="})
    search = searched(bench, advisors)
    assert search.complete() and not search.trials["later"].passed
    assert line_of(search.drafts[module].now.content, THIRD) != search.trials["later"].frames[0].line
    search.run(0, lambda _: None)
    assert not search.complete() and search.trials["later"].passed
    assert [member.candidate.site.function for member in search.chains["later"]] == ["later", "later"]


def test_a_registration_is_tried_on_all_samples(module: Path, advisors: CandidateSources) -> None:
    @dataclass
    class Counting(Texts):
        asked: dict[str, int] = field(default_factory=dict)

        def try_on(
            self,
            drafts: Mapping[Path, EditedFile],
            operators: Mapping[str, int],
            most: int = 0,
            whole: Collection[str] = (),
        ) -> Tried:
            self.asked |= {name: 0 if name in whole else most for name in operators}
            return Tried({name: Trial(name, "passed", count=1) for name in operators})

    bench = Counting(module, {})
    trials = {name: Trial(name, "failed", "u0 < 3", 1, 2) for name in ("composed", "other")}
    search = Search(advisors, bench, {}, trials)  # type: ignore[arg-type]
    composed = Candidate(CandidateSite(module, 0, "composed", ("aten.composed.default",)), ())
    other = Candidate(CandidateSite(module, 0, "other"), ())
    tried = search._tried_on({}, [(composed, ("composed",)), (other, ("other",))], 6)
    assert bench.asked == {"composed": 0, "other": 6} and tried.trials.keys() == trials.keys()


@pytest.mark.parametrize(("site", "kept"), [({"composed": "aten.later.default"}, True), ({}, False)])
def test_what_is_tried_on_all_samples_may_fail_at_one_that_was_not_tried(
    site: dict[str, str], kept: bool, module: Path, advisors: CandidateSources
) -> None:
    draft = advisors.draft(module, MODULE)
    assert draft is not None
    was = Trial("later", "failed", "data-dependent expression u0 < 3", 1, 2, (TorchFrame("", 0, "at::native::later"),))
    now = replace(was, sample=0, frames=(TorchFrame(str(module), 1, "meta_first"),))
    search = Search(advisors, Texts(module, {}), {module: draft}, {"later": was})  # type: ignore[arg-type]
    candidate = Candidate(CandidateSite(module, 0, "later", **site), ())  # type: ignore[arg-type]
    search._judge([(candidate, ("later",))], {module: draft}, Tried({"later": now}))
    assert search.attempts[-1].kept is kept


def test_a_draft_without_one_fix_keeps_the_other_and_its_import(module: Path, advisors: CandidateSources) -> None:
    bench = Texts(
        module,
        {"first": b"guard_or_false(x.numel() == 0)", "fourth": b"guard_or_false(y.numel() == 0)"},
        at={"first": b"x.numel() == 0", "fourth": b"y.numel() == 0"},
    )
    search = searched(bench, advisors)
    one, other = groups(search.chains, ["first", "fourth"])
    for group, kept, gone in ((one, b"x.numel()", b"(y.numel()"), (other, b"y.numel()", b"(x.numel()")):
        fixes = [fix for member in group.members for fix in member.fixes]
        text = search.drafts[module].only(fixes).now.content
        assert b"guard_or_false(" + kept in text
        assert b"guard_or_false" + gone not in text
        assert text.count(b"import guard_or_false") == 1


def test_a_fix_inside_of_a_text_that_is_left_out_goes_with_it_and_with_its_import(
    module: Path, advisors: CandidateSources
) -> None:
    bare = advisors.draft(module, MODULE)
    assert bare is not None
    draft = replace(bare, additions=AppendedTexts(MODULE))
    added = b"\n\ndef meta_fifth(z):\n    if z.numel() == 0:\n        return z\n    return z.clone()\n"
    text = draft.adding(Fix("translation", 3, Safety.UNSAFE, (Edit(0, 0, added),), "translate", needs=()))
    whole = draft.take([text])
    site = CandidateSite(module, whole.now.content.rindex(b"if z.numel()"), "meta_fifth")
    (inner, *_) = advisors.candidates(whole, site)
    both = whole.take(inner.fixes)
    assert b"guard_or_false(z.numel() == 0)" in both.now.content and b"import guard_or_false" in both.now.content
    assert both.only(both.taken[1:]).now.content == MODULE


@pytest.mark.parametrize("tried", [MODULE, MODULE.replace(b"meta_first(x)", b"meta_first( x )")])
def test_what_was_tried_is_known_of_the_same_code_alone(tried: bytes, advisors: CandidateSources) -> None:
    def same(name: str, text: bytes) -> bool:
        draft = advisors.draft(Path(name), text)
        return draft is not None and _same_code(draft, MODULE)

    assert same("a.py", tried)
    assert not same("a.py", tried.replace(b"meta_first", b"meta_other"))
    assert same("a.cpp", tried) is (tried == MODULE), "C++ is not parsed for this"


def test_places_survive_the_edits_of_others(advisors: CandidateSources, module: Path) -> None:
    draft = advisors.draft(module, MODULE)
    assert draft is not None
    at = MODULE.index(b"if x.numel()")
    (first, *_) = advisors.candidates(draft, CandidateSite(module, at, "meta_first"))
    later = draft.take(first.fixes)
    third = MODULE.index(b"assert " + THIRD)
    assert later.now.content[later.offset(third) :].startswith(b"assert " + THIRD)
    line = line_of(later.now.content, b"assert " + THIRD)
    assert later.origin(later.line_start(line)) == third


def test_two_equal_branches_of_a_function_have_their_own_candidates(advisors: CandidateSources, tmp_path: Path) -> None:
    branch = "case 0: if (self.sym_numel() == 0) { return self * 0; } else { return self; }"
    text = f"""namespace at::native {{
Tensor f(const Tensor& self, int64_t reduction) {{
  if (self.dim() == 2) {{
    switch (reduction) {{
      {branch}
      default: return self;
    }}
  }}
  switch (reduction) {{
      {branch}
      default: return self;
  }}
}}
}}
""".encode()
    draft = advisors.draft(tmp_path / "native" / "F.cpp", text)
    assert draft is not None
    site = CandidateSite(draft.source.path, text.index(b"Tensor f"), "at::native::f(at::Tensor const&, long)")
    found = advisors.candidates(draft, site)
    first, second = (one for one in found if all("checked at run time" in fix.message for fix in one.fixes))
    assert second.key in {one.key for one in advisors.candidates(draft.take(first.fixes), site)}


def test_taking_back_removes_a_fix_from_all_that_came_through_it(module: Path, advisors: CandidateSources) -> None:
    bench = Texts(module, {"first": b"guard_or_false(x.numel() == 0)"}, at={"first": b"x.numel() == 0"})
    search = searched(bench, advisors)
    member = search.chains["first"][0]
    search._take_back(member, Trial("other", "deviates", "at 0: another shape"), 0, "taken back")
    assert search.chains["first"] == []
    assert search.drafts[module].now.content == MODULE
    assert search.trials["first"].verdict == "failed"


def test_after_a_step_is_taken_back_the_sample_that_failed_before_it_is_tried(
    module: Path, advisors: CandidateSources
) -> None:
    asked: list[Mapping[str, int]] = []

    class Asked(Texts):
        def try_on(
            self,
            drafts: Mapping[Path, EditedFile],
            operators: Mapping[str, int],
            most: int = 0,
            whole: Collection[str] = (),
        ) -> Tried:
            asked.append(operators)
            return super().try_on(drafts, operators, most, whole)

    bench = Asked(module, {"first": b"guard_or_false(x.numel() == 0)"}, at={"first": b"x.numel() == 0"})
    bench.advisors = advisors
    first = replace(bench.trial("first", MODULE), sample=17)
    search = Search(advisors, bench, {}, {"first": first})  # type: ignore[arg-type]
    search.run(6, lambda _: None)
    registered = Trial("first", "failed", "what is registered differs", sample=-1)
    search.trials["first"] = registered
    search._take_back(search.chains["first"][0], registered, 6, "leads nowhere")
    assert asked[-1] == {"first": 17}


def with_another_joining(module: Path, advisors: CandidateSources) -> Search:
    """Return a search in which two operators fail at one place, and the fix is in the chain of one only."""

    class Shared(Texts):
        def trial(self, name: str, text: bytes) -> Trial:
            trial = super().trial(name, text)
            return replace(trial, frames=tuple(replace(frame, function="meta") for frame in trial.frames))

    right, mark = b"guard_or_false(x.numel() == 0)", b"x.numel() == 0"
    search = searched(Shared(module, {"own": right, "free": right}, at={"own": mark, "free": mark}), advisors)
    search.chains["free"].clear()
    return search


def test_what_passes_through_the_changes_of_others_alone_joins_them(module: Path, advisors: CandidateSources) -> None:
    search = with_another_joining(module, advisors)
    assert search.complete() and search.chains["free"] == search.chains["own"]
    assert not search.complete()


def test_a_group_that_another_operator_joins_is_not_told_as_one_that_passes_alone(
    module: Path, advisors: CandidateSources
) -> None:
    """Check that the two operators become one group, since the second needs the first one's fix."""
    told: list[tuple[str, ...]] = []

    search = with_another_joining(module, advisors)
    search.provable = lambda found, drafts: told.extend(one.operators for one in found)
    assert search.complete() and told == []


def test_what_passes_alone_is_told_while_something_else_is_open(module: Path, advisors: CandidateSources) -> None:
    right = {"first": b"guard_or_false(x.numel() == 0)", "third": b"torch._check"}
    bench = Texts(module, right, at={"first": b"x.numel() == 0", "third": THIRD})
    told: list[tuple[str, ...]] = []
    search = searched(bench, advisors)
    search.provable = lambda found, drafts: told.extend(one.operators for one in found)
    assert not search.complete() and told == [], "nothing is left to be looked for"
    search.refuse(["third"], "regressed: another error", 0)
    assert search.complete() and told == [("first",)]


def test_what_the_proof_speaks_against_gives_way_to_the_next_candidate(
    module: Path, advisors: CandidateSources
) -> None:
    bench = Texts(module, {"third": b"torch._check"}, at={"third": THIRD})
    search = searched(bench, advisors)
    assert CHECK in search.drafts[module].now.content
    search.refuse(["third"], "regressed: another error", 0)
    assert search.open
    search.run(0, lambda _: None)
    assert SAME_ERROR in search.drafts[module].now.content
    assert [one.came.partition(":")[0] for one in search.attempts if not one.kept] == ["taken back"]


def test_what_wrote_a_line_that_nothing_runs_gives_way_where_something_else_is_open(
    module: Path, advisors: CandidateSources, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Both(Texts):
        def trial(self, name: str, text: bytes) -> Trial:
            first, last = b"guard_or_false(x.numel() == 0)" in text, any(one in text for one in (CHECK, SAME_ERROR))
            if first and last:
                return Trial(name, "passed", count=1)
            place = THIRD if first else b"x.numel() == 0"
            return Texts.trial(Texts(self.path, {name: b"never there"}, at={name: place}), name, text)

    search = searched(Both(module, {"both": b""}), advisors)
    first, last = search.chains["both"]
    text = search.drafts[module].now.content
    line = line_of(text, b"guard_or_false(x.numel() == 0)")
    monkeypatch.setattr(search._openings, "any_at", lambda drafts, sites: [*sites] != [first.candidate.site])
    search.refuse(["both"], "unverifiable: a line", 0, [(module, line)])
    assert search.chains["both"] == [first, last], "nothing else can be tried there"
    search.refuse(["both"], "unverifiable: a line", 0, [(module, line_of(text, CHECK))])
    assert search.chains["both"] == [first]
    monkeypatch.undo()
    search.run(0, lambda _: None)
    assert len(search.chains["both"]) == 2
    search.refuse(["both"], "unverifiable: a line", 0, [(module, line)])
    assert search.chains["both"] == []


def test_the_time_of_a_phase_inside_of_another_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 1.0, 3.0, 7.0, 8.0, 10.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    timing = Timing()
    with timing.phase("outer"):  # from 0 to 8
        with timing.phase("inner"):  # from 1 to 3
            pass
        with suppress(ZeroDivisionError), timing.phase("inner"):  # ends with an error
            raise ZeroDivisionError
    assert timing.phases == {"inner": 3.0, "outer": 7.0}


def test_the_journal_answers_after_a_killed_run(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal = TrialJournal(path, "torch")
    reference = TorchFrame("/x/torch/_refs/a.py", 9, "h", operators=("aten.h.default",))
    trial = Trial(
        "op",
        "failed",
        "no",
        1,
        0,
        (TorchFrame("/x/torch/_a.py", 3, "f"), TorchFrame("", 0, "at::native::g()"), reference),
    )
    key = journal.key("op", "variant", 3, 6)
    journal.add({key: trial})
    with path.open("a") as file:
        file.write('{"key": "half a li')
    assert TrialJournal(path, "torch").get(key) == trial
    assert journal.key("op", "variant", 4, 6) != key
    assert TrialJournal(path, "torch 2").key("op", "variant", 3, 6) != key


@pytest.mark.parametrize(
    ("frame", "name"),
    [
        ("at::native::chunk(at::Tensor const&, long, long)", "chunk"),
        ("at::native::(anonymous namespace)::resize_fft_input(at::Tensor, c10::ArrayRef<long>)", "resize_fft_input"),
        ("at::native::(anonymous namespace)::KronImpl::KronImpl(at::Tensor const&)", "KronImpl"),
        ("c10::SymBool::guard_bool(char const*, long) const", ""),
    ],
)
def test_the_name_in_a_frame(frame: str, name: str) -> None:
    assert plain_name(frame) == name


def test_the_undecided_expression_is_read_from_the_message() -> None:
    said = "UserError: Could not guard on data-dependent expression Eq(u1, u0) (unhinted: Eq(u1, u0)). (Size-like"
    assert expression(said) == "Eq(u1, u0)"


def made_repair(**changed: Any) -> Repair:
    after = MODULE.replace(b"x.numel() == 0", b"guard_or_false(x.numel() == 0)")
    at = MODULE.index(b"x.numel() == 0")
    edits = (Edit(at, at, b"guard_or_false("), Edit(at + 14, at + 14, b")"))
    fields: dict[str, Any] = {
        "name": "_shapes-meta_first",
        "operators": ("first",),
        "samples": {"first": 2},
        "expressions": {"first": "Eq(u0, 0)"},
        "changes": (Change(Path("torch/_shapes.py"), MODULE, after),),
        "files": ("torch/_shapes.py",),
        "fixes": (Fix("guard_size_branches", 2, Safety.UNSAFE, edits, "give it a default", default="0 is special"),),
        "spots": (SourceSpan("torch/_shapes.py", 7, "meta_first"),),
        "baseline": "torch 2.13.0",
        "verification": Verification(Verdict.PROVEN, "it passes; before: a long message", ("torch/_shapes.py",)),
    }
    return Repair(**{**fields, **changed})


def test_the_patch_applies_with_git_and_other_files_go_with_it(tmp_path: Path) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "_shapes.py").write_bytes(MODULE)
    repair = made_repair()
    text = text_of(repair, [Added((("test/test_it.py", b"", b"def test_it(): ...\n"),), ("With a test.",))])
    (tmp_path / "one.patch").write_bytes(text)
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    subprocess.run(["git", "apply", "--check", "one.patch"], cwd=tmp_path, check=True)
    assert b"Fails before and passes after" in text and b"With a test." in text
    assert b"Verdict: proven. it passes\n" in text


def test_the_folder_holds_patch_evidence_summary_and_hand_over(tmp_path: Path) -> None:
    proven = made_repair()
    failed = made_repair(name="other", operators=("second",), samples={"second": 0}, expressions={"second": "u0 < 3"})
    failed = Repair(**{**vars(failed), "verification": None, "doubt": "alone it does not pass"})
    left = Unrepaired("third", "no-candidate", "u0 < u1", 1, (SourceSpan("torch/_shapes.py", 20, "meta_third"),))
    modes = {"first": "2", "second": "2", "third": "2"}
    outcome = RepairOutcome("2.13.0 abc", 3, (failed, proven), (left,), modes, seconds=1.0)
    asked: list[str] = []

    def addition(repair: Repair) -> Added:
        asked.append(repair.name)
        return Added(evidence={"test": "failed before, passes after"})

    write(outcome, tmp_path / "out", [addition])
    assert asked == ["_shapes-meta_first"], "only what is proven gets a test"
    names = sorted(path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.*"))
    assert "0001-_shapes-meta_first.patch" in names and "unproven/0002-other.patch" in names
    assert "left/third.md" in names
    said = json.loads((tmp_path / "out" / "0001-_shapes-meta_first.json").read_text())
    assert said["test"] == "failed before, passes after" and said["operators"] == ["first"]
    (proposal,), _ = read_folder(tmp_path / "out", {"torch/_shapes.py": MODULE}.get)
    assert [(one.rule, one.default, one.line) for one in proposal.files[0].reasons] == [
        ("guard_size_branches", "0 is special", 7)
    ]
    summary = (tmp_path / "out" / "summary.md").read_text()
    assert "1 of 3 failing operators proven fixed" in summary and "alone it does not pass" in summary
    assert figures(outcome)["by_language"] == {"Python": 1}
    assert json.loads((tmp_path / "out" / "figures.json").read_text())["left"] == {"no-candidate": 1}


def test_a_later_run_takes_the_place_of_what_an_earlier_one_said_of_the_same_operators(
    tmp_path: Path, fresh_cache: Path
) -> None:
    def of(name: str, *operators: str, **more: str) -> Repair:
        samples, expressions = dict.fromkeys(operators, 1), dict.fromkeys(operators, "u0 < 2")
        return made_repair(name=name, operators=operators, samples=samples, expressions=expressions, **more)

    def ran(*repairs: Repair, asked: str, left: Sequence[Unrepaired] = ()) -> list[Path]:
        return write(RepairOutcome("2.13.0 abc", 3, repairs, tuple(left), dict.fromkeys(asked.split(), "2")), out)

    def names() -> list[str]:
        return sorted(path.stem[5:] for path in out.glob("0*.patch"))

    out = tmp_path / "out"
    ran(
        of("one", "first"),
        of("both", "first", "second"),
        asked="first second third",
        left=[Unrepaired("third", "no-candidate", "u0 < 2", 1, ())],
    )
    assert names() == ["both", "one"] and (out / "left" / "third.md").exists()
    ran(of("gradients", "first", protocol="backward"), asked="first")
    assert names() == ["both", "gradients", "one"], "it was asked for another protocol"
    assert ran(of("new", "first"), of("last", "third"), asked="first third") == []
    assert names() == ["both", "gradients", "last", "new"], "another operator is in the older one too"
    assert not (out / "left" / "third.md").exists()
    (mine,) = out.glob("*-new.patch")
    mine.write_bytes(mine.read_bytes() + b"a word of mine\n")
    assert ran(of("newest", "first"), asked="first") == [mine]
    assert names() == ["both", "gradients", "last", "new", "newest"] and mine.with_suffix(".json").exists()
    assert mine.read_bytes().endswith(b"a word of mine\n")
    assert len({path.name[:4] for path in out.glob("0*.patch")}) == 5
    assert ran(of("last of all", "first"), asked="first") == [mine], "nor is it taken for symfix's own later"


def test_what_only_the_test_kept_from_passing_is_counted_apart() -> None:
    mended = made_repair()
    files = {"files": ("torch/testing/_utils.py",), "operators": ("bernoulli",), "name": "testing"}
    registration = replace(mended.fixes[0], rule="registration")
    registered = made_repair(operators=("second",), fixes=(registration,))
    modes = {"first": "2", "second": "2", "bernoulli": "not ours"}
    outcome = RepairOutcome("2.13.0 abc", 3, (mended, made_repair(**files), registered), (), modes)
    assert outcome.mended == ("first", "second") and outcome.unblocked == ("bernoulli",)
    counts = figures(outcome)
    assert counts["proven"] == 2 and counts["only_the_test"] == ["bernoulli"]
    assert counts["by_family"] == {"rewritten": 1, "registered": 1}
    assert "2 of 3 failing operators proven fixed" in "".join(summary(outcome, [], []))
    assert "1 more pass with a change of torch's tests alone" in "".join(summary(outcome, [], []))


def test_figures_tell_the_phases_in_order_and_the_dearest_operators_first(tmp_path: Path) -> None:
    outcome = RepairOutcome("2.13.0 abc", 2, (made_repair(),), (), {"first": "2", "second": "2"})
    for name in ("hunt", "proofs", "hunt"):
        with outcome.timing.phase(name):
            pass
    outcome.timing.phases["proofs"] += 3
    outcome.timing.operators |= {"second": 1.0, "first": 2.0}
    write(outcome, tmp_path)
    said = json.loads((tmp_path / "figures.json").read_text())
    assert list(said["phases"]) == ["hunt", "proofs"] and said["phases"]["proofs"] >= 3
    assert list(said["operators"].items()) == [("first", 2.0), ("second", 1.0)]


def test_a_failure_of_the_test_has_the_place_that_the_hunt_found() -> None:
    path = (
        FailurePlace("python", "torch/testing/_utils.py", 16, "wrapper_set_seed"),
        FailurePlace("c++", "", 0, "at::native::f"),
    )
    failure = Failure(Operator("bernoulli"), "unbacked", Mode.NOT_OURS, "Unsupported", "", path[0], 0, path=path)
    trial = Trial("bernoulli", "failed", "Unsupported", 1, 0)
    placed = _placed(trial, failure, Path("/x"))
    assert placed.frames == (TorchFrame("/x/torch/testing/_utils.py", 16, "wrapper_set_seed"),)
    assert _placed(trial, replace(failure, mode=Mode.BRANCH), Path("/x")) == trial
    assert _placed(placed, failure, Path("/y")) == placed


def test_a_hand_over_can_be_run_and_says_where(tmp_path: Path) -> None:
    text = hand_over_text(Unrepaired("third", "no-candidate", "u0 < u1", 1, tried=(("a fix", "did not help"),)))
    code = text.split("```python\n")[1].split("```")[0]
    compile(code, "repro", "exec")
    assert "did not help" in text and "sample = list(" in code
    assert "Not repaired (no-candidate): no rule offers a fix at the place." in text


def test_a_place_in_cpp_has_no_line_and_maybe_no_file() -> None:
    places = (SourceSpan("Shape.cpp", 0, "at::native::chunk"), SourceSpan("", 0, "at::_ops::chunk::call"))
    text = hand_over_text(Unrepaired("chunk", "no-source", "Eq(u0, 0)", 1, places))
    assert "\n- Shape.cpp in at::native::chunk\n- at::_ops::chunk::call\n" in text


def test_the_page_on_repairs_explains_each_reason() -> None:
    page = (Path(__file__).parent.parent / "docs" / "use" / "repair.md").read_text()
    assert [word for word, meaning in REASONS.items() if f"| `{word}` | {meaning} |" not in page] == []


def test_an_error_is_told_without_advice() -> None:
    said = "UserError: Could not guard on data-dependent expression Eq(u1, 0) (unhinted: Eq(u1, 0)). (Size-like symbols"
    assert strip_advice(said) == "UserError: Could not guard on data-dependent expression Eq(u1, 0)"
    assert strip_advice("AssertionError: sizes differ") == "AssertionError: sizes differ"


CPP = b"namespace at::native { Tensor narrow(const Tensor& x) { return x; } }\n"


class NoCompiler:
    """Builder that only compiles the given text."""

    def __init__(self, fit: bytes = b"") -> None:
        self.fit = fit

    def object(self, path: Path, content: bytes) -> Path:
        if content != self.fit:
            raise DoesNotBuild(path, 3, "error: no header")
        return path

    def library(self, files: Mapping[Path, bytes], kernels: frozenset[str]) -> Library:
        return Library(max(self.object(path, content) for path, content in files.items()), ())


def test_a_file_that_does_not_compile_as_it_is_stays_out(advisors: CandidateSources) -> None:
    good, bad = Path("native/Good.cpp"), Path("native/Bad.cpp")
    bench = TrialRunner(None, None, None, advisors, NoCompiler(CPP))  # type: ignore[arg-type]
    drafts = {path: advisors.draft(path, text) for path, text in ((good, CPP), (bad, b"\n" + CPP))}
    assert bench.variant(drafts, native=True).library == good  # type: ignore[arg-type]
    assert bench.refused == {bad: "error: no header"}


def test_a_group_whose_text_does_not_compile_fails(advisors: CandidateSources) -> None:
    path = Path("native/Bad.cpp")
    draft = advisors.draft(path, CPP)
    assert draft is not None
    at = CPP.index(b"return")
    fix = Fix("alternative", 2, Safety.UNSAFE, (Edit(at, at, b"unknown; "),), "break it")
    drafts = {path: draft.take([fix])}
    member = AcceptedFix(Candidate(CandidateSite(path, at, "narrow"), (fix,)), drafts[path].taken)
    bench = TrialRunner(None, None, None, advisors, NoCompiler(CPP), swapped={"narrow"})  # type: ignore[arg-type]
    ((name, trial),) = bench.try_alone(drafts, [FixGroup((member,), ("narrow",))])[0].items()
    assert (name, trial.verdict) == ("narrow", "failed")
    assert trial.message == "does not compile: Bad.cpp: error: no header"


class Kernels(NoCompiler):
    """Tree with one file, in which ``helper`` is no kernel."""

    path = Path("native/Shape.cpp")

    @property
    def api(self) -> Kernels:
        return self

    def kernels(self, name: str) -> tuple[str, ...]:
        return () if name == "helper" else (name,)

    def home(self, frame: str) -> Path:
        return self.path

    def start(self, files: Mapping[Path, bytes]) -> None:
        pass


def failed_in(name: str, *functions: str) -> Trial:
    return Trial(name, "failed", frames=tuple(TorchFrame("", 0, f"at::native::{one}(int)") for one in functions))


@pytest.fixture
def swapping(advisors: CandidateSources) -> TrialRunner:
    """Return a bench with two operators on the tree's kernels."""
    draft = advisors.draft(Kernels.path, CPP)
    assert draft is not None
    bench = TrialRunner(None, None, None, advisors, Kernels(CPP))  # type: ignore[arg-type]
    trials = {"one": failed_in("one", "helper", "chunk"), "two": failed_in("two", "chunk", "split")}
    assert bench.swap_in(trials, {Kernels.path: draft}) == {"one": -1, "two": -1}
    return bench


def test_a_kernel_that_torch_does_not_take_is_named(swapping: TrialRunner) -> None:
    swapping.states = {"chunk": "expected another signature", "split": "swapped"}
    assert swapping.unswapped("one") == "chunk: expected another signature"
    assert swapping.unswapped("two") == "", "one of its kernels is swapped in"
    assert swapping.unswapped("three") == ""


def test_a_kernel_in_which_only_a_later_sample_fails_is_swapped_in_too(swapping: TrialRunner) -> None:
    assert swapping.kernels == {"helper", "chunk", "split"}
    for functions, swapped in ((["chunk"], True), (["other", "chunk"], False), (["helper", "chunk"], True)):
        assert swapping.runs_swapped("one", failed_in("one", *functions)) is swapped, functions
    assert not swapping.runs_swapped("three", failed_in("three", "chunk"))

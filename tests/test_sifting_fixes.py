"""Tests of dropping the harmful fixes of real files, with a fake verifier."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from symfix.codemods.commands.unconfirmed_fixes import keep_confirmed
from symfix.codemods.engine.fixpoint import FixOptions, rewrite
from symfix.codemods.engine.registry import load_language, load_rules
from symfix.codemods.engine.run import CheckRequest
from symfix.codemods.engine.torch_context import TorchSurroundings
from symfix.codemods.model.outcome import Changed, Outcome, Unchanged
from symfix.codemods.model.source_file import SourceFile
from symfix.codemods.verify.change import Change, Verdict, Verification
from symfix.codemods.verify.compare.line_coverage import changed_lines

TEXT = """import torch


def good(x: torch.Tensor):
    torch._check_is_size(x.shape[0])
    return x


def harmful(y: torch.Tensor):
    torch._check_is_size(y.shape[0])
    return y
"""
SURROUNDINGS = TorchSurroundings()


QUESTION = CheckRequest(frozenset(rule.name for rule in load_rules("symfix.python")))


def outcome(name: str, text: str) -> Outcome:
    source = SourceFile(Path(name), text.encode())
    package = "symfix.python"
    return rewrite(source, load_rules(package), load_language(package), SURROUNDINGS.context(), FixOptions())


def prove(changes: Sequence[Change]) -> Verification:
    bad = any(b"torch._check(y.shape[0] >= 0)" in change.after for change in changes)
    verdict = Verdict.REGRESSED if bad else Verdict.PROVEN
    return Verification(verdict, "y is sacred", tuple(str(change.path) for change in changes))


def test_the_harmful_fix_of_a_file_is_left_out() -> None:
    changed = outcome("torch/both.py", TEXT)
    assert isinstance(changed, Changed)
    assert len(changed.applied) == 2
    kept = keep_confirmed([changed], QUESTION, SURROUNDINGS, prove)
    (left,) = kept.outcomes
    assert isinstance(left, Changed)
    assert left.after == TEXT.replace("_check_is_size(x.shape[0])", "_check(x.shape[0] >= 0)").encode()
    assert len(left.applied) == 1
    (line,) = kept.dropped
    assert line.startswith("torch/both.py:10:5: migrate_check_is_size is not kept: y is sacred")
    assert kept.verification is not None
    assert kept.verification.verdict is Verdict.PROVEN


def test_a_file_with_nothing_but_harm_stays_as_it_was() -> None:
    whole = outcome("torch/good.py", TEXT.partition("\n\n\ndef harmful")[0] + "\n")
    lost = outcome("torch/harmful.py", "import torch\n\n\n" + TEXT[TEXT.index("def harmful") :])
    kept = keep_confirmed([whole, lost], QUESTION, SURROUNDINGS, prove)
    assert kept.outcomes[0] == whole
    assert isinstance(kept.outcomes[1], Unchanged)
    assert len(kept.dropped) == 1


def test_without_harm_nothing_changes() -> None:
    whole = outcome("torch/good.py", TEXT.partition("\n\n\ndef harmful")[0] + "\n")
    kept = keep_confirmed([whole], QUESTION, SURROUNDINGS, prove)
    assert kept.outcomes == (whole,)
    assert kept.dropped == ()


def test_a_fix_on_a_line_that_nothing_ran_is_left_out() -> None:
    text = TEXT.replace("    return x\n", "    return x\n\n\n", 1)
    changed = outcome("torch/both.py", text)
    asked: list[bytes] = []

    def counting(changes: Sequence[Change]) -> Verification:
        (change,) = changes
        asked.append(change.after)
        lines = change.after.splitlines()
        unrun = [number for number, line in enumerate(lines, 1) if b"torch._check(y.shape[0] >= 0)" in line]
        verdict = Verdict.UNVERIFIABLE if unrun else Verdict.PROVEN
        return Verification(verdict, "", (str(change.path),), unrun=tuple(f"{change.path}:{line}" for line in unrun))

    kept = keep_confirmed([changed], QUESTION, SURROUNDINGS, counting)
    (left,) = kept.outcomes
    assert isinstance(left, Changed)
    assert left.after == text.replace("_check_is_size(x.shape[0])", "_check(x.shape[0] >= 0)").encode()
    assert len(asked) == 2
    assert kept.dropped == ("torch/both.py:12:5: migrate_check_is_size is not kept: nothing that was run runs line 12",)
    assert not kept.harm


def test_two_files_of_one_name_are_told_apart() -> None:
    text = TEXT.partition("\n\n\ndef harmful")[0] + "\n"
    ran, unrun = outcome("torch/a/same.py", text), outcome("torch/b/same.py", text)

    def counting(changes: Sequence[Change]) -> Verification:
        idle = [change for change in changes if change.path.parent.name == "b"]
        lines = tuple(f"{change.path}:{line}" for change in idle for line in changed_lines(change))
        return Verification(Verdict.UNVERIFIABLE if idle else Verdict.PROVEN, "", (), unrun=lines)

    kept = keep_confirmed([ran, unrun], QUESTION, SURROUNDINGS, counting)
    assert kept.outcomes[0] == ran
    assert isinstance(kept.outcomes[1], Unchanged)
    assert all(line.startswith("torch/b/same.py:") for line in kept.dropped)


SHARED = """#include <ATen/core/Tensor.h>
namespace at::native {
struct Layout {
  int64_t length;
};
Tensor select_backward(const Tensor& grad, IntArrayRef input_sizes, int64_t dim, int64_t index) {
  Layout layout;
  layout.length = index;
  return grad.narrow(0, 0, layout.length);
}
Tensor ravel(const Tensor& self) {
  Layout layout;
  layout.length = self.size(0);
  return self.narrow(0, 0, layout.length);
}
}
"""


def test_no_other_rule_takes_the_place_of_a_fix_that_is_left_out() -> None:
    source = SourceFile(Path("aten/src/ATen/native/TensorShape.cpp"), SHARED.encode())
    rules, language = load_rules("symfix.cpp"), load_language("symfix.cpp")
    changed = rewrite(source, rules, language, SURROUNDINGS.context(), FixOptions())
    assert isinstance(changed, Changed)
    assert [fix.rule for fix in changed.applied] == ["follow_symint_schema"]

    def counting(changes: Sequence[Change]) -> Verification:
        (change,) = changes
        lines = tuple(f"{change.path}:{line}" for line in changed_lines(change))
        return Verification(Verdict.UNVERIFIABLE, "", (str(change.path),), unrun=lines)

    question = CheckRequest(frozenset(rule.name for rule in rules))
    kept = keep_confirmed([changed], question, SURROUNDINGS, counting)
    assert [type(left) for left in kept.outcomes] == [Unchanged]
    assert len(kept.dropped) == 1

"""Tests of the verdict from samples before and after, for each way in which a change can be good or harmful."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies
from symfix.codemods.harness.observation import Observation
from symfix.codemods.harness.opinfo_runner import Answer
from symfix.codemods.harness.torch_variant import one_line
from symfix.codemods.verify.change import Change, Check, Verdict, Verification
from symfix.codemods.verify.choose.test_selection import choose
from symfix.codemods.verify.compare.comparison import compare
from symfix.codemods.verify.compare.line_coverage import changed_lines, follows_lost, origins
from symfix.codemods.verify.evidence import from_json, to_json
from symfix.codemods.verify.verdict import decide

EFFECTS: dict[str, str] = {"aliases": "result 0 is input 0", "inputs": "c", "random numbers": "r", "warnings": ""}
RESULT: dict[str, Any] = {
    "passed": True,
    "layout": ["torch.float32 [2] [1]"],
    "exact": True,
    "bits": "a",
    "effects": EFFECTS,
    "gradients": "[] a",
}
TRACED: dict[str, Any] = {"passed": True, "guards": ["Ne(s0, 1)"], "pinned": 0, "compilations": 1}


def deviates(kind: str, said: str) -> dict[str, str]:
    return {"kind": kind, "said": said}


UNBACKED: dict[str, Any] = {"passed": True, "probes": {"0": {}, "1": {}, "larger": {}}}


def raises(message: str) -> dict[str, Any]:
    return {"passed": False, "error": message}


def verdict_of(protocol: str, before: dict[str, Any], after: dict[str, Any]) -> tuple[Verdict, str]:
    check = compare(("op", protocol), Answer(samples=(before,), drawn=1), Answer(samples=(after,), drawn=1))
    assert check is not None
    return decide([check], reached=True)


@pytest.mark.parametrize(
    ("protocol", "before", "after", "words"),
    [
        ("eager", RESULT, RESULT | {"bits": "b"}, "other bits"),
        ("eager", RESULT, RESULT | {"layout": ["torch.float64 [2] [1]"]}, "torch.float64"),
        ("eager", raises("ValueError: x"), raises("RuntimeError: x"), "RuntimeError: x, before: ValueError: x"),
        ("eager", raises("ValueError: x"), RESULT, "no error"),
        ("eager", RESULT, raises("ValueError: x"), "ValueError: x"),
        ("eager", RESULT, RESULT | {"exact": False, "bits": ""}, "no longer the same each time"),
        (
            "eager",
            RESULT,
            RESULT | {"effects": EFFECTS | {"aliases": ""}},
            "aliases: none, before: result 0 is input 0",
        ),
        ("eager", RESULT, RESULT | {"effects": EFFECTS | {"inputs": "d"}}, "other inputs"),
        (
            "eager",
            RESULT,
            RESULT | {"effects": EFFECTS | {"warnings": "UserWarning: x"}},
            "UserWarning: x, before: none",
        ),
        ("eager", RESULT, RESULT | {"gradients": "[] b"}, "other gradients: [] b, before: [] a"),
        ("varied", raises("ValueError: x 1"), raises("ValueError: x"), "ValueError: x, before: ValueError: x 1"),
        (
            "varied",
            raises("E: x") | {"effects": EFFECTS},
            raises("E: x") | {"effects": {"inputs": "d"}},
            "other aliases",
        ),
        ("backed", TRACED, TRACED | {"other_layout": "laid out as [1, 2]"}, "laid out as [1, 2]"),
        ("backed", TRACED, TRACED | {"guards": ["Ne(s0, 5)"]}, "another guard: Ne(s0, 5)"),
        ("unbacked", UNBACKED, UNBACKED | {"probes": {"0": deviates("loud", "Error")}}, "size 0: loud: Error"),
        (
            "unbacked",
            UNBACKED,
            UNBACKED | {"probes": {"larger": deviates("again", "it is compiled anew")}},
            "again: it is",
        ),
        ("unbacked", UNBACKED, UNBACKED | {"other_layout": "laid out as [1, 2]"}, "laid out as [1, 2]"),
        ("backed", TRACED, raises("cannot"), "cannot"),
        ("backed", TRACED, TRACED | {"guards": ["Ne(s0, 1)", "Eq(s1, s0)"]}, "a guard more: Eq(s1, s0)"),
        ("backed", TRACED, TRACED | {"pinned": 1}, "1 sizes pinned"),
        ("backed", TRACED, TRACED | {"compilations": 3}, "3 compilations"),
        ("unbacked", raises("DDE"), raises("[3] where eager gives [4]") | {"silent": True}, "without an error, [3]"),
        (
            "unbacked",
            raises("DDE"),
            {"passed": True, "probes": {"larger": deviates("silent", "[1]")}},
            "larger sizes: [1]",
        ),
        ("unbacked", UNBACKED, UNBACKED | {"probes": {"0": deviates("silent", "[1]")}}, "size 0: [1]"),
    ],
)
def test_what_is_worse_regresses(protocol: str, before: dict[str, Any], after: dict[str, Any], words: str) -> None:
    verdict, reason = verdict_of(protocol, before, after)
    assert verdict is Verdict.REGRESSED
    assert words in reason


@pytest.mark.parametrize(
    ("protocol", "before", "after"),
    [
        ("backed", raises("Cannot call sizes()"), TRACED),
        ("backed", TRACED | {"pinned": 1}, TRACED),
        ("backed", TRACED | {"compilations": 3}, TRACED),
        ("unbacked", raises("DDE"), UNBACKED),
        (
            "unbacked",
            raises("DDE"),
            UNBACKED | {"probes": {"1": deviates("loud", "it raises"), "0": deviates("again", "anew")}},
        ),
    ],
)
def test_what_is_better_is_proven(protocol: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    assert verdict_of(protocol, before, after)[0] is Verdict.PROVEN


@pytest.mark.parametrize("line", ["54", "55"])
def test_the_list_of_an_operators_kernels_is_no_part_of_an_error(line: str) -> None:
    listed = (
        "Could not run 'aten::f' with arguments from the 'MkldnnCPU' backend. 'aten::f' is only available for these"
    )
    before = raises(f"NotImplementedError: {listed} backends: [CPU, Meta].\nMeta: registered at meta.py:54 [kernel]")
    after = raises(f"NotImplementedError: {listed} backends: [CPU, Meta].\nMeta: registered at meta.py:{line} [kernel]")
    assert verdict_of("varied", before, after)[0] is Verdict.NEUTRAL
    other = raises(after["error"].replace("'aten::f' with", "'aten::g' with"))
    assert verdict_of("varied", before, other)[0] is Verdict.REGRESSED


@pytest.mark.parametrize(
    ("protocol", "seen"),
    [("eager", RESULT), ("eager", raises("x")), ("backed", TRACED), ("unbacked", UNBACKED), ("unbacked", raises("x"))],
)
def test_the_same_is_neutral(protocol: str, seen: dict[str, Any]) -> None:
    assert verdict_of(protocol, seen, dict(seen))[0] is Verdict.NEUTRAL


def test_half_a_specialisation_less_is_no_proof() -> None:
    assert verdict_of("backed", TRACED | {"pinned": 2}, TRACED | {"pinned": 1})[0] is Verdict.NEUTRAL
    assert verdict_of("backed", TRACED | {"compilations": 3}, TRACED | {"compilations": 2})[0] is Verdict.NEUTRAL


def test_a_guard_in_the_place_of_a_pin_is_no_loss() -> None:
    before, after = TRACED | {"pinned": 2}, TRACED | {"pinned": 1, "guards": ["Ne(s0, 1)", "Eq(s75 - 1, 1)"]}
    assert verdict_of("backed", before, after)[0] is Verdict.NEUTRAL


def test_a_throw_traded_for_a_specialisation_is_no_proof() -> None:
    assert verdict_of("backed", raises("Cannot call numel()"), TRACED | {"pinned": 1})[0] is Verdict.NEUTRAL


def test_inexact_results_are_compared_by_layout() -> None:
    assert verdict_of("eager", RESULT | {"exact": False, "bits": ""}, RESULT)[0] is Verdict.NEUTRAL


def test_a_silent_deviation_at_one_is_not_proven() -> None:
    verdict, reason = verdict_of(
        "unbacked", raises("DDE"), {"passed": True, "probes": {"1": deviates("silent", "other values")}}
    )
    assert verdict is Verdict.UNVERIFIABLE
    assert "size 1: other values" in reason


def test_a_size_that_stays_pinned_without_a_word_is_not_proven() -> None:
    still_pinned = {"passed": True, "probes": {"larger": deviates("loud", "RuntimeError: Eq(u0, 3)")}}
    verdict, reason = verdict_of("unbacked", raises("DDE"), still_pinned)
    assert verdict is Verdict.UNVERIFIABLE
    assert "larger sizes: loud: RuntimeError: Eq(u0, 3)" in reason


@pytest.mark.parametrize(
    ("after", "words"),
    [
        (Answer(missing="its samples can't be made: E: x"), "can't be made: E: x"),
        (Answer(samples=(RESULT,) * 2, drawn=2), "2 samples can be made, before: 1"),
    ],
)
def test_samples_that_can_no_longer_be_made_are_a_loss(after: Answer, words: str) -> None:
    check = compare(("op", "eager"), Answer(samples=(RESULT,), drawn=1), after)
    assert check is not None
    verdict, reason = decide([check], reached=True)
    assert verdict is Verdict.REGRESSED
    assert words in reason


@pytest.mark.parametrize("before", [raises("DDE"), UNBACKED])
def test_lines_that_nothing_ran_are_not_proven(before: dict[str, Any]) -> None:
    check = compare(("op", "unbacked"), Answer(samples=(before,), drawn=1), Answer(samples=(UNBACKED,), drawn=1))
    assert check is not None
    verdict, reason = decide([check], reached=True, unrun=["a.cpp:7", "a.cpp:9"])
    assert verdict is Verdict.UNVERIFIABLE
    assert "nothing ran the changed lines a.cpp:7, a.cpp:9" in reason


def test_a_gain_over_a_crash_that_does_not_come_again_is_not_believed() -> None:
    check = Check("eager", "op", Observation(False, "it was stopped", crashed=True), Observation(True), flaky=True)
    assert decide([check], reached=True)[0] is Verdict.UNVERIFIABLE


def test_changed_lines_are_the_new_ones_and_those_after_lost_code() -> None:
    before = b"a();\n// said\ncheck();\nb();\n\nc();\n"
    assert changed_lines(Change(Path("a.cpp"), before, b"a();\nb();\nc();\n")) == (2,)
    assert changed_lines(Change(Path("a.cpp"), before, before.replace(b"b", b"d") + b"e();\n")) == (4, 7)


LINES = strategies.lists(strategies.sampled_from([b"a();", b"b();", b"c();"]), max_size=7)


@given(before=LINES, after=LINES)
def test_without_the_changed_lines_what_is_left_of_the_text_stood_there_before(
    before: list[bytes], after: list[bytes]
) -> None:
    change = Change(Path("a.cpp"), b"".join(line + b"\n" for line in before), b"".join(line + b"\n" for line in after))
    added = {line for line in changed_lines(change) if not follows_lost(change, line)}
    left, rest = [line for number, line in enumerate(after, 1) if number not in added], iter(before)
    assert all(line in rest for line in left), "in this order"
    assert (not changed_lines(change)) == (before == after)


@pytest.mark.parametrize(
    ("after", "lines", "before"),
    [
        (b"a();\nB();\nc();\nD();\n", {4}, {4}),
        (b"new();\na();\nB();\nc();\nd();\n", {3}, {2}),
        (b"a();\nB();\nBB();\nd();\n", {3}, {3}),
        (b"a();\nB();\nBB();\nC();\nd();\n", {3}, {2, 3}),
        (b"a();\nd();\n", {2}, {2, 3}),
        (b"a();\nb();\nnew();\nc();\nd();\n", {3}, {2, 3}),
    ],
    ids=["one for one", "below a new line", "two for two", "three for two", "gone", "new"],
)
def test_lines_of_the_text_after_stand_for_lines_before(after: bytes, lines: set[int], before: set[int]) -> None:
    assert origins(Change(Path("a.cpp"), b"a();\nb();\nc();\nd();\n", after), lines) == before


def test_one_lost_sample_outweighs_many_gained() -> None:
    before = Answer(samples=(raises("DDE"), raises("DDE"), UNBACKED), drawn=3)
    after = Answer(samples=(UNBACKED, UNBACKED, raises("now this one")), drawn=3)
    check = compare(("op", "unbacked"), before, after)
    assert check is not None
    assert decide([check], reached=True)[0] is Verdict.REGRESSED


def test_a_gain_names_what_still_fails() -> None:
    before, after = Answer(samples=(raises("DDE"),) * 2, drawn=9), Answer(samples=(UNBACKED, raises("DDE")), drawn=9)
    check = compare(("op", "unbacked"), before, after)
    assert check is not None
    assert check.gained
    assert check.subject == "op (2 of 9 samples)"
    assert check.after.message == "1 of 2 samples still fail"


def test_a_gain_names_the_guards_it_leaves() -> None:
    before, after = Answer(samples=(raises("Cannot call numel()"),), drawn=1), Answer(samples=(TRACED,), drawn=1)
    check = compare(("op", "backed"), before, after)
    assert check is not None
    assert check.gained
    assert check.after.message == "with the guards Ne(s0, 1)"


def test_a_crash_is_a_loss() -> None:
    check = compare(("op", "eager"), Answer(samples=(RESULT,)), Answer(crashed="the process ended by signal SIGSEGV"))
    assert check is not None
    assert decide([check], reached=True) == (
        Verdict.REGRESSED,
        "eager op passed before and fails after: the process ended by signal SIGSEGV",
    )


def test_what_does_not_come_again_is_not_believed() -> None:
    check = Check("eager", "op", Observation(True), Observation(False, "x"), flaky=True)
    assert decide([check], reached=True)[0] is Verdict.UNVERIFIABLE


def test_nothing_reached_is_unverifiable() -> None:
    check = Check("eager", "op", Observation(True), Observation(True))
    assert decide([check], reached=False)[0] is Verdict.UNVERIFIABLE


def test_evidence_survives_being_written_down() -> None:
    check = Check("repro", "a.py", Observation(False, "x"), Observation(True), Observation(True), deviates="so")
    verification = Verification(Verdict.PROVEN, "because", ("a.cpp",), checks=(check,))
    assert from_json(to_json(verification)) == verification


def test_choosing_takes_an_operators_own_test_or_the_most_direct() -> None:
    index = {
        "nn.functional.cross_entropy": ["cross_entropy_loss", "nll_loss_nd", "log_softmax"],
        "big": ["nll_loss_nd", "a", "b", "c", "d", "helper"],
        "small": ["helper"],
        "middle": ["helper", "a"],
    }
    assert choose(["cross_entropy_loss"], index).operators == ("nn.functional.cross_entropy",)
    assert choose(["cross_entropy_loss", "nll_loss_nd.out"], index).operators == ("nn.functional.cross_entropy",)
    assert choose(["helper"], index).operators == ("small", "middle")
    nothing = choose(["unheard_of"], index)
    assert nothing.operators == ()
    assert "no operator test runs it" in nothing.reason


def test_dynamos_wrapping_is_peeled_off() -> None:
    text = """RuntimeError when making fake tensor call
  Explanation: failed: <function f at 0x7f00>(*(FakeTensor(...),), **{}): got RuntimeError('Cannot call numel()\\n
Exception raised from throw at TensorImpl.cpp:340')"""
    assert one_line(text) == "RuntimeError: Cannot call numel()"


@pytest.mark.parametrize(("protocol", "what"), [("test", "test"), ("repro", "script")])
def test_what_the_user_named_and_still_fails_is_said(protocol: str, what: str) -> None:
    failing = Check(protocol, "mine", Observation(False, "one error"), Observation(False, "another"))
    said = f"your {what} still fails: mine: another"
    for reached in (True, False):
        assert decide([failing], reached=reached) == (Verdict.UNVERIFIABLE, said)
    gained = Check("unbacked", "op", Observation(False, "DDE"), Observation(True))
    verdict, reason = decide([gained, failing], reached=True)
    assert verdict is Verdict.PROVEN
    assert reason.endswith(f"before: DDE; {said}")


@pytest.mark.parametrize("side", ["before", "after"])
def test_a_time_limit_decides_nothing_and_is_said(side: str) -> None:
    stopped = Answer(crashed="the process ended with 1: it was stopped after 900 s", overtime=True)
    fine = Answer(samples=(UNBACKED,), drawn=1)
    check = compare(("op", "unbacked"), *((stopped, fine) if side == "before" else (fine, stopped)))
    assert check is not None
    assert not (check.gained or check.lost)
    gained = Check("unbacked", "another", Observation(False, "DDE"), Observation(True))
    assert decide([gained, check], reached=True) == (
        Verdict.UNVERIFIABLE,
        f"unbacked op met a time limit {side} the change: the process ended with 1: it was stopped after 900 s",
    )

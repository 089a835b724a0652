from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from symfix.codemods.engine.fixpoint import BOUND, FixOptions, RuleBug, rewrite
from symfix.codemods.engine.registry import load_language, load_rules
from symfix.codemods.model.edit import Edit
from symfix.codemods.model.outcome import Changed, Refused, Unchanged
from symfix.codemods.model.rule import Context, Fix, Rule, Safety
from symfix.codemods.model.source_file import SourceFile

NO_TORCH: Any = None
CONTEXT = Context(NO_TORCH)


def run(text: bytes, *rules: Rule, unsafe: bool = False, polish: bool = True) -> Changed | Unchanged | Refused:
    source = SourceFile(Path("a.toy"), text)
    wishes = FixOptions(unsafe=unsafe, polish=polish)
    return rewrite(source, rules or load_rules("toywing"), load_language("toywing"), CONTEXT, wishes)


def changed(text: bytes, *rules: Rule, unsafe: bool = False) -> Changed:
    outcome = run(text, *rules, unsafe=unsafe)
    assert isinstance(outcome, Changed)
    return outcome


def rule(name: str, *edits: tuple[Edit, ...], needs: tuple[str, ...] = (), once: bytes = b"once") -> Rule:
    def decide(source: SourceFile, context: Context) -> Iterator[Fix]:
        if once in source.content:
            for transaction in edits:
                yield Fix(name, 1, Safety.SAFE, transaction, name, needs=needs)

    return Rule(name, Safety.SAFE, "toy", (b"",), decide)


def test_a_safe_fix_is_applied_and_brings_what_it_needs_once() -> None:
    assert changed(b"be quiet, quiet\n").after == b"use voice\nbe LOUD, LOUD\n"


def test_an_unsafe_fix_is_offered_until_it_is_asked_for() -> None:
    outcome = run(b"muted\n")
    assert isinstance(outcome, Unchanged)
    assert [fix.message for fix in outcome.offered] == ["unmute it"]
    assert changed(b"muted\n", unsafe=True).after == b"LOUD\n"


def test_a_manual_fix_is_never_applied() -> None:
    outcome = run(b"secret\n", unsafe=True)
    assert isinstance(outcome, Unchanged)
    assert [fix.safety for fix in outcome.offered] == [Safety.MANUAL]


def test_rounds_go_on_until_nothing_is_wanted() -> None:
    outcome = changed(b"step4\n")
    assert outcome.after == b"step0\n"
    assert len(outcome.applied) == 4


def test_reaching_the_bound_is_a_bug() -> None:
    with pytest.raises(RuleBug, match=rf"{BOUND} rounds and still not done: grow"):
        run(b"step5\n")
    with pytest.raises(RuleBug, match="grow"):
        run(b"forever\n")


def test_a_new_parse_error_is_a_bug() -> None:
    with pytest.raises(RuleBug, match="shout wrote what does not parse"):
        run(b"a broken b\n")


def test_a_parse_error_that_was_there_does_not_count() -> None:
    assert changed(b"!\nquiet\n").after == b"use voice\n!\nLOUD\n"


def test_a_parse_error_that_spreads_is_refused() -> None:
    outcome = run(b"!\na broken b\n")
    assert isinstance(outcome, Refused)
    assert outcome.reason == "parse-errors"


def test_a_polish_that_breaks_the_text_is_a_bug() -> None:
    language = replace(load_language("toywing"), polish=lambda source, after, context: after + b"!\n")
    with pytest.raises(RuleBug, match="does not parse"):
        rewrite(SourceFile(Path("a.toy"), b"quiet\n"), load_rules("toywing"), language, CONTEXT, FixOptions())


def test_polish_can_be_left_out() -> None:
    loud, plain = run(b"be  quiet\n"), run(b"be  quiet\n", polish=False)
    assert isinstance(loud, Changed)
    assert isinstance(plain, Changed)
    assert (loud.after, plain.after) == (b"use voice\nbe LOUD\n", b"use voice\nbe  LOUD\n")


def test_a_strict_language_refuses_a_text_that_does_not_parse() -> None:
    language = replace(load_language("toywing"), strict=True)
    outcome = rewrite(SourceFile(Path("a.toy"), b"quiet\n!\n"), load_rules("toywing"), language, CONTEXT, FixOptions())
    assert isinstance(outcome, Refused)
    assert outcome.reason == "syntax-error"
    assert "at line 2, column 1: !" in outcome.detail


def test_places_of_later_rounds_are_places_of_the_original() -> None:
    text = b"quiet step2 muted silent\n"
    outcome = changed(text)
    assert outcome.after == b"use voice\nLOUD step0 muted silent\n"
    assert [text[fix.start :].split()[0] for fix in outcome.applied] == [b"quiet", b"step2", b"step2"]
    assert text[outcome.offered[0].start :].startswith(b"muted")
    assert text[outcome.skips[0].start : outcome.skips[0].end] == b"silent"


def test_an_overlapping_fix_waits_for_the_next_round() -> None:
    first = rule("first", (Edit(0, 4, b"once two"),), once=b"once\n")
    second = rule("second", (Edit(2, 4, b"CE"),))
    outcome = changed(b"once\n", first, second)
    assert outcome.after == b"onCE two\n"
    assert [fix.rule for fix in outcome.applied] == ["first", "second"]
    assert outcome.applied[1].edits == (Edit(0, 4, b"onCE two"),)


def test_a_transaction_is_never_applied_in_part() -> None:
    one = rule("one", (Edit(0, 4, b"done"),))
    other = rule("other", (Edit(1, 2, b"X"), Edit(6, 7, b"Y")))
    assert changed(b"once, a\n", one, other).after == b"done, a\n"


def over_the_first_word(source: SourceFile, fixes: Sequence[Fix], context: Context) -> list[Edit]:
    return [Edit(0, 4, b"once used")] if any(fix.needs for fix in fixes) else []


def test_an_import_at_the_start_of_an_edit_comes_before_it() -> None:
    assert changed(b"once\n", rule("own", (Edit(0, 4, b"done"),), needs=("x",))).after == b"use x\ndone\n"
    inserting = rule("inserting", (Edit(0, 0, b"not "),), needs=("x",), once=b"once")
    text = SourceFile(Path("a.toy"), b"once\n")
    only_once = replace(
        inserting, decide=lambda source, context: inserting.decide(source, context) if source == text else ()
    )
    assert changed(b"once\n", only_once).after == b"use x\nnot once\n"


def test_a_fix_in_the_way_of_anothers_import_waits() -> None:
    language = replace(load_language("toywing"), complete=over_the_first_word)
    wants_import = rule("wants_import", (Edit(6, 7, b"B"),), needs=("x",), once=b", b")
    at_the_top = rule("at_the_top", (Edit(0, 4, b"done"),))
    outcome = rewrite(
        SourceFile(Path("a.toy"), b"once, b\n"), [at_the_top, wants_import], language, CONTEXT, FixOptions()
    )
    assert isinstance(outcome, Changed)
    assert [fix.rule for fix in outcome.applied] == ["wants_import", "at_the_top"]
    assert outcome.after == b"done used, B\n"


def test_a_fix_in_the_way_of_its_own_import_is_a_bug() -> None:
    language = replace(load_language("toywing"), complete=over_the_first_word)
    own = rule("own", (Edit(0, 4, b"done"),), needs=("x",))
    with pytest.raises(RuleBug, match="get in the way"):
        rewrite(SourceFile(Path("a.toy"), b"once\n"), [own], language, CONTEXT, FixOptions())


def test_two_imports_at_one_place_are_a_bug() -> None:
    twice = replace(load_language("toywing"), complete=lambda *_: [Edit(0, 0, b"use a\n"), Edit(0, 0, b"use b\n")])
    with pytest.raises(RuleBug, match="which comes first"):
        rewrite(SourceFile(Path("a.toy"), b"quiet\n"), load_rules("toywing"), twice, CONTEXT, FixOptions())


def test_a_fix_that_changes_nothing_is_a_bug() -> None:
    with pytest.raises(RuleBug, match="idle: a fix that changes nothing, at line 2"):
        run(b"a\nonce\n", rule("idle", (Edit(2, 6, b"once"),)))


def test_fixes_that_take_each_other_back_are_a_bug() -> None:
    there = rule("there", (Edit(0, 4, b"away"),), once=b"once")
    back = rule("back", (Edit(0, 4, b"once"),), once=b"away")
    with pytest.raises(RuleBug, match="rounds and still not done"):
        run(b"once\n", there, back)


def test_a_rule_without_its_marker_is_not_asked() -> None:
    def decide(source: SourceFile, context: Context) -> Iterator[Fix]:
        raise AssertionError("asked")

    assert isinstance(run(b"text\n", Rule("r", Safety.SAFE, "toy", (b"elsewhere",), decide)), Unchanged)


@pytest.mark.parametrize("comment", [b"// symfix: ignore[shout] why", b"# symfix:ignore[grow, shout]   why"])
def test_a_comment_on_the_line_keeps_a_rule_out(comment: bytes) -> None:
    outcome = run(b"quiet " + comment + b"\n")
    assert isinstance(outcome, Unchanged)
    assert [(skip.reason, skip.detail) for skip in outcome.skips] == [("suppressed", "why")]


def test_a_comment_alone_on_its_line_speaks_for_the_next() -> None:
    outcome = changed(b"  // symfix: ignore[shout]\nquiet\nquiet\n")
    assert outcome.after == b"use voice\n  // symfix: ignore[shout]\nquiet\nLOUD\n"
    assert [skip.reason for skip in outcome.skips] == ["suppressed"]


def test_a_comment_speaks_for_its_own_rule_only() -> None:
    assert changed(b"quiet // symfix: ignore[grow]\n").after.startswith(b"use voice\nLOUD")


def test_a_suppressed_skip_is_silent() -> None:
    outcome = run(b"silent // symfix: ignore[shout]\n")
    assert isinstance(outcome, Unchanged)
    assert outcome.skips == ()


def test_one_suppressed_edit_holds_the_whole_fix_back() -> None:
    both = rule("both", (Edit(0, 4, b"done"), Edit(5, 6, b"X")))
    outcome = run(b"once\na // symfix: ignore[both] not here\n", both)
    assert isinstance(outcome, Unchanged)
    assert outcome.skips[0].detail == "not here"


def test_what_is_turned_down_is_offered_and_nothing_is_built_on_it() -> None:
    source = SourceFile(Path("a.toy"), b"step2 quiet\n")
    wishes = FixOptions(without=frozenset({("grow", 0)}))
    outcome = rewrite(source, load_rules("toywing"), load_language("toywing"), CONTEXT, wishes)
    assert isinstance(outcome, Changed)
    assert outcome.after == b"use voice\nstep2 LOUD\n"
    assert [(fix.rule, fix.start) for fix in outcome.offered] == [("grow", 0)]

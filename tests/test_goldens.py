"""Tests of all goldens of all rules, as CONTRIBUTING.md describes them."""

from __future__ import annotations

import re

import pytest
from goldens import Golden, by_one_file, cards, goldens, strays
from observing import difference, observed
from symfix.codemods.engine.registry import RuleCard, load_language
from symfix.codemods.model.outcome import Changed, Unchanged
from symfix.codemods.verify.build.toolchain import CompilerMissing
from syntax import complaint

PAIRS = [golden for golden in goldens() if golden.after is not None]
SAMES = [golden for golden in goldens() if golden.after is None]
CPP_PAIRS = [golden for golden in PAIRS if golden.before.suffix == ".cpp"]
OBSERVED = [golden for golden in PAIRS if b"def observe(" in golden.before.read_bytes()]
SECTIONS = (r"What:", r"Why:", r"(What it l|L)eaves alone:", r"Safety:")


def each(chosen: list[Golden]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("golden", [pytest.param(golden, id=golden.name) for golden in chosen])


@each(PAIRS)
def test_before_becomes_after(golden: Golden) -> None:
    assert golden.after is not None
    before = golden.before.read_bytes()
    outcome = golden.rewritten(before)
    assert isinstance(outcome, Changed), f"nothing was changed: {outcome}"
    assert outcome.after.decode() == golden.after.read_bytes().decode()
    errors = load_language(golden.card.wing).errors
    assert errors(outcome.after) <= errors(before)


@each(PAIRS)
def test_a_second_run_changes_nothing(golden: Golden) -> None:
    assert golden.after is not None
    outcome = golden.rewritten(golden.after.read_bytes())
    assert isinstance(outcome, Unchanged), f"changed again: {outcome}"


@each(SAMES)
def test_same_stays_the_same(golden: Golden) -> None:
    outcome = golden.rewritten(golden.before.read_bytes())
    assert not isinstance(outcome, Changed), outcome.after.decode()


@each(CPP_PAIRS)
def test_after_compiles_against_torchs_headers(golden: Golden) -> None:
    assert golden.after is not None
    try:
        said = [complaint(text, golden.after.name) for text in golden.expanded(golden.after.read_bytes())]
    except CompilerMissing as missing:
        pytest.skip(str(missing))
    assert not any(said), said


@each(OBSERVED)
def test_observed_values_are_the_same_before_and_after(golden: Golden) -> None:
    assert golden.after is not None
    assert difference(observed(golden.before), observed(golden.after)) is None


@pytest.mark.parametrize("card", [pytest.param(card, id=card.name) for card in cards()])
def test_a_rule_says_what_why_what_not_and_how_safe(card: RuleCard) -> None:
    missing = [section for section in SECTIONS if not re.search(rf"^{section}", card.doc, re.MULTILINE)]
    assert not missing
    assert card.summary.endswith("."), "the first line is one sentence"


@pytest.mark.parametrize("card", [pytest.param(card, id=card.name) for card in by_one_file()])
def test_a_rule_has_all_kinds_and_enough_that_it_leaves(card: RuleCard) -> None:
    pairs = [golden for golden in PAIRS if golden.card == card]
    sames = [golden for golden in SAMES if golden.card == card]
    assert pairs
    assert all(golden.after is not None and golden.after.exists() for golden in pairs)
    assert len(sames) >= 0.4 * (len(pairs) + len(sames)), f"{len(sames)} no-ops beside {len(pairs)} pairs"


def test_every_file_under_golden_belongs_to_a_rule_and_a_case() -> None:
    assert strays() == []

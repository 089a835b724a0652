"""Rewriting of one file: fixes that do not overlap are applied, in rounds until no fix is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from ..model.edit import Buffer, Edit, apply, conflict
from ..model.outcome import Changed, Refused, Unchanged
from ..model.rebase import Step
from ..model.rule import Context, Fix, Language, Rule, Safety, Skip
from ..model.source_file import SourceFile
from .suppression import Suppressions

BOUND = 4


class RuleBug(Exception):
    """Violation of the contract of a rule or a language. Nothing of the file may be written."""


@dataclass(frozen=True)
class FixOptions:
    """Options of a run other than the rules."""

    unsafe: bool = False
    polish: bool = True
    """True if the changed lines are formatted, which a run that only reports does not need."""
    without: frozenset[tuple[str, int]] = frozenset()
    """Rejected fixes, each by its rule and its start in the original text."""
    apply: bool = True
    """True if fixes are applied. Otherwise each is only offered."""

    def want(self, fix: Fix) -> bool:
        """Return whether a fix in original coordinates is to be applied."""
        if not self.apply or (fix.rule, fix.start) in self.without:
            return False
        return fix.safety is Safety.SAFE or (self.unsafe and fix.safety is Safety.UNSAFE)


def rewrite(
    source: SourceFile, rules: Sequence[Rule], language: Language, context: Context, wishes: FixOptions
) -> Changed | Unchanged | Refused:
    """Run ``rules`` until no fix is left. Raises RuleBug if the result cannot be trusted.

    Fixes and skips of later rounds are mapped to the original text, so that every position in the outcome is one in
    ``source``.
    """
    obscure = language.obscure(source.content)
    if obscure:
        return Refused(source.path, "encoding", obscure)
    broken = language.unparsed(source, context)
    if language.strict and broken is not None:
        line, column = source.line_column(broken[0])
        what = f"does not parse as {language.name} at line {line}, column {column}: {broken[1]}"
        return Refused(source.path, "syntax-error", f"{what}; mend it first")
    unparsed = None if broken is None else broken[0]
    text = source
    steps: list[Step] = []
    applied: list[Fix] = []
    while True:
        fixes, skips = _answers(text, rules, context)
        wanted = [fix for fix in fixes if wishes.want(_on_original(fix, steps))]
        if not wanted:
            break
        if len(steps) == BOUND:
            names = ", ".join(sorted({fix.rule for fix in wanted}))
            raise RuleBug(f"{BOUND} rounds and still not done: {names}")
        accepted, step = _round(text, wanted, language, context)
        applied += [_on_original(fix, steps) for fix in accepted]
        steps.append(step)
        text = replace(source, content=step.after)
    offered = tuple(_on_original(fix, steps) for fix in fixes)
    left = tuple(_skip_on_original(skip, steps) for skip in skips)
    if not steps:
        return Unchanged(source, offered, left, unparsed)
    if text.content == source.content:
        raise RuleBug(f"fixes that take each other back: {', '.join(sorted({fix.rule for fix in applied}))}")
    after = language.polish(source, text.content, context) if wishes.polish else text.content
    errors = language.errors(source.content)
    if max(language.errors(text.content), language.errors(after)) <= errors:
        return Changed(source, after, tuple(applied), offered, left, unparsed)
    names = ", ".join(sorted({fix.rule for fix in applied}))
    if errors:
        # Around an error the parser recovers as best it can, and a few other bytes may lead it elsewhere.
        return Refused(source.path, "parse-errors", f"has parse errors that would spread with {names}; mend them first")
    raise RuleBug(f"{names} wrote what does not parse")


def apply_fix(source: SourceFile, fix: Fix, language: Language, context: Context) -> bytes:
    """Return the text with one fix of the first round, and the headers or imports that it needs.

    Raises RuleBug if the result has more parse errors.
    """
    _, step = _round(source, [fix], language, context)
    after = language.polish(source, step.after, context)
    if language.errors(after) > language.errors(source.content):
        raise RuleBug(f"{fix.rule} wrote what does not parse")
    return after


def _answers(text: SourceFile, rules: Sequence[Rule], context: Context) -> tuple[list[Fix], list[Skip]]:
    holds = cache(text.content.__contains__)  # rules share most of their markers
    asked = [rule for rule in rules if rule.speaks(holds, context.all_functions)]
    answers = [answer for rule in asked for answer in rule.decide(text, context)]
    for answer in answers:
        if isinstance(answer, Fix) and all(text.content[e.start : e.end] == e.text for e in answer.edits):
            line, _ = text.line_column(answer.start)
            raise RuleBug(f"{answer.rule}: a fix that changes nothing, at line {line} of its round")
    fixes, skips = Suppressions.of(text).sort_out(text, answers)
    return sorted(fixes, key=lambda fix: (fix.start, fix.rule)), sorted(skips, key=lambda skip: (skip.start, skip.rule))


def _round(text: SourceFile, wanted: Sequence[Fix], language: Language, context: Context) -> tuple[list[Fix], Step]:
    """Apply the fixes that fit together. A fix that conflicts with the imports of others waits for the next round."""
    buffer = Buffer(text.content)
    accepted = [fix for fix in wanted if buffer.offer(fix.edits)]
    while accepted:
        completion = language.complete(text, accepted, context)
        in_the_way = [fix for fix in accepted if any(_overlap(e, c) for e in fix.edits for c in completion)]
        if not in_the_way:
            edits = _joined([edit for fix in accepted for edit in fix.edits], completion)
            return accepted, Step(edits, apply(text.content, edits))
        accepted.remove(in_the_way[-1])
    raise RuleBug(f"{wanted[0].rule}: the edits get in the way of the header or import that they need")


def _overlap(edit: Edit, completion: Edit) -> bool:
    if completion.start < completion.end:
        return conflict(edit, completion)
    return edit.start < completion.start < edit.end


def _joined(edits: Sequence[Edit], completion: Sequence[Edit]) -> tuple[Edit, ...]:
    """Return all edits, sorted.

    A header or import that is inserted at the start of an edit precedes that edit's text.
    """
    inserted: dict[int, Edit] = {}
    for edit in completion:
        if edit.start == edit.end and inserted.setdefault(edit.start, edit) is not edit:
            raise RuleBug(f"two headers or imports are inserted at byte {edit.start}; which comes first?")
    joined = []
    for edit in edits:
        before = inserted.pop(edit.start, None)
        joined.append(edit if before is None else Edit(edit.start, edit.end, before.text + edit.text))
    return tuple(sorted([*joined, *inserted.values(), *(edit for edit in completion if edit.start < edit.end)]))


def _on_original(fix: Fix, steps: Sequence[Step]) -> Fix:
    edits = fix.edits
    for step in reversed(steps):
        edits = step.rebase(edits)
    return replace(fix, edits=edits, round=len(steps)) if steps else fix


def _skip_on_original(skip: Skip, steps: Sequence[Step]) -> Skip:
    start, end = skip.start, skip.end
    for step in reversed(steps):
        start, end = step.origin(start), step.origin(end)
    return replace(skip, start=start, end=max(start, end)) if steps else skip

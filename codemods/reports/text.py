"""For a person: one line a place, then what it comes to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ..engine.outcome import Changed, Failed, Outcome, Refused, Unchanged
from ..engine.rule import Fix, Safety, Skip
from ..engine.source import SourceFile


def findings(outcomes: Sequence[Outcome], *, written: bool) -> Iterator[str]:
    """A line for each fix and each skip, in path order and then by place."""
    for outcome in outcomes:
        if isinstance(outcome, (Changed, Unchanged)):
            applied = outcome.applied if isinstance(outcome, Changed) else ()
            answers: list[Fix | Skip] = [*applied, *outcome.offered, *outcome.skips]
            for answer in sorted(answers, key=lambda answer: (answer.start, answer.rule)):
                yield finding(outcome.source, answer, done=written and answer in applied)


def finding(source: SourceFile, answer: Fix | Skip, *, done: bool = False) -> str:
    """One line: where, which rule, how safe or why not, what."""
    line, column = source.line_column(answer.start)
    return f"{source.path.as_posix()}:{line}:{column}: {_say(answer, done)}\n{_shown(answer)}"


def _shown(answer: Fix | Skip) -> str:
    """The text that a person may take over, where it is never applied."""
    if isinstance(answer, Skip) or answer.safety is not Safety.MANUAL:
        return ""
    texts = (edit.text.decode(errors="replace") for edit in answer.edits)
    return "".join(f"    {line}\n" if line else "\n" for text in texts for line in text.strip("\n").split("\n"))


def troubles(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """A line for each file that was refused, and the traceback of each that failed."""
    for outcome in outcomes:
        if isinstance(outcome, Refused):
            yield f"{outcome.path.as_posix()}: {outcome.detail} [{outcome.reason}]\n"
        elif isinstance(outcome, Failed):
            yield f"{outcome.path.as_posix()}: a bug of symfix, the file is as it was; please report this:\n"
            yield outcome.detail


def summary(outcomes: Sequence[Outcome], seen: int, *, written: bool) -> str:
    """One or two lines: how many files and fixes, and what was held back."""
    changed = [outcome for outcome in outcomes if isinstance(outcome, Changed)]
    examined = [outcome for outcome in outcomes if isinstance(outcome, (Changed, Unchanged))]
    applied = sum(len(outcome.applied) for outcome in changed)
    skips = sum(len(outcome.skips) for outcome in examined)
    verb = "changed" if written else "would change"
    text = f"{count(seen, 'file')}, {len(changed)} {verb}: {count(applied, 'fix', 'fixes')}"
    text += f"; {count(skips, 'place')} left with a reason\n" if skips else "\n"
    offered = Counter(fix.safety for outcome in examined for fix in outcome.offered)
    if offered[Safety.UNSAFE]:
        text += f"{count(offered[Safety.UNSAFE], 'unsafe fix', 'unsafe fixes')} held back: see --unsafe-fixes\n"
    if offered[Safety.MANUAL]:
        text += f"{count(offered[Safety.MANUAL], 'fix', 'fixes')} for a person to decide, never applied\n"
    return text


def statistics(outcomes: Sequence[Outcome]) -> str:
    """A table: how often each rule fixed, and how often it left a place, by reason."""
    counts: Counter[tuple[str, str]] = Counter()
    for outcome in outcomes:
        if isinstance(outcome, (Changed, Unchanged)):
            applied = outcome.applied if isinstance(outcome, Changed) else ()
            counts.update((fix.rule, f"fix, {fix.safety.value}") for fix in (*applied, *outcome.offered))
            counts.update((skip.rule, f"left, {skip.reason}") for skip in outcome.skips)
    width = max((len(rule) for rule, _ in counts), default=0)
    rows = sorted(counts.items(), key=lambda item: (item[0][0], -item[1], item[0][1]))
    return "".join(f"{number:7d}  {rule:<{width}}  {what}\n" for (rule, what), number in rows)


def _say(answer: Fix | Skip, done: bool) -> str:
    if isinstance(answer, Skip):
        return f"{answer.rule} left ({answer.reason}): {answer.detail}"
    text = f"{answer.rule} {'fixed' if done else answer.safety.value}: {answer.message}"
    return f"{text} [what changes: {answer.default}]" if answer.default else text


def count(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun, such as ``1,234 files``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"

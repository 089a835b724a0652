"""Text output: one line per place, then a summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ..model.outcome import Changed, Failed, Outcome, Refused, Unchanged
from ..model.rule import Fix, Safety, Skip
from ..model.source_file import SourceFile

FEW = 3
UNPARSED = "does not parse here; the statements that a parse error touches are left"


def answers(outcomes: Sequence[Outcome], *, left: bool) -> Iterator[tuple[Changed | Unchanged, Fix | Skip]]:
    """Yield each fix, and with ``left`` each skip, in path order and then by position."""
    for outcome in outcomes:
        if isinstance(outcome, (Changed, Unchanged)):
            applied = outcome.applied if isinstance(outcome, Changed) else ()
            found: list[Fix | Skip] = [*applied, *outcome.offered, *(outcome.skips if left else ())]
            for answer in sorted(found, key=lambda answer: (answer.start, answer.rule)):
                yield outcome, answer


def findings(outcomes: Sequence[Outcome], *, written: bool, left: bool) -> Iterator[str]:
    """Yield a line for each of the `answers`."""
    for outcome, answer in answers(outcomes, left=left):
        done = written and isinstance(outcome, Changed) and answer in outcome.applied
        yield heading(outcome.source, answer, done=done) + "\n" + to_take_over(answer)


def heading(source: SourceFile, answer: Fix | Skip, *, done: bool = False) -> str:
    """Return one line: the position, the rule, its safety or the reason for a skip, and the message."""
    line, column = source.line_column(answer.start)
    return f"{source.path.as_posix()}:{line}:{column}: {sentence(answer, done=done)}"


def to_take_over(answer: Fix | Skip) -> str:
    """Return the text of a manual fix, which the user may copy, else ''."""
    if isinstance(answer, Skip) or answer.safety is not Safety.MANUAL:
        return ""
    texts = (edit.text.decode(errors="replace") for edit in answer.edits)
    return "".join(f"    {line}\n" if line else "\n" for text in texts for line in text.strip("\n").split("\n"))


def troubles(outcomes: Sequence[Outcome], *, left: bool = False) -> Iterator[str]:
    """Yield a line for each file that was refused, and the traceback of each that failed.

    Files that do not parse in places have a line too. Without ``left``, many of them are summarized in one line.
    """
    broken = [
        outcome for outcome in outcomes if isinstance(outcome, (Changed, Unchanged)) and outcome.unparsed is not None
    ]
    for one in broken if left or len(broken) <= FEW else ():
        yield f"{_unparsed(one)}: {UNPARSED}\n"
    if len(broken) > FEW and not left:
        yield f"{count(len(broken), 'file')} do not parse in places, such as {_unparsed(broken[0])}: see --show-left\n"
    for outcome in outcomes:
        if isinstance(outcome, Refused):
            yield f"{outcome.path.as_posix()}: {outcome.detail} [{outcome.reason}]\n"
        elif isinstance(outcome, Failed):
            yield f"{outcome.path.as_posix()}: a bug of symfix, the file is as it was; please report this:\n"
            yield outcome.detail


def unparsed(outcome: Changed | Unchanged) -> str | None:
    """Return a message with the first position at which a file does not parse, or None if it parses completely."""
    if outcome.unparsed is None:
        return None
    line, column = outcome.source.line_column(outcome.unparsed)
    return f"parse-error: does not parse at line {line}, column {column}"


def _unparsed(outcome: Changed | Unchanged) -> str:
    assert outcome.unparsed is not None
    line, column = outcome.source.line_column(outcome.unparsed)
    return f"{outcome.source.path.as_posix()}:{line}:{column}"


def summary(outcomes: Sequence[Outcome], seen: int, *, written: bool, hint: str = "") -> str:
    """Return one line or a few: the numbers of files, fixes, skips and held-back fixes.

    ``hint`` describes how to list the skips.
    """
    if not seen:
        return "no file to look at: in a folder, tests, hidden folders and other people's code are passed over\n"
    changed = [outcome for outcome in outcomes if isinstance(outcome, Changed)]
    examined = [outcome for outcome in outcomes if isinstance(outcome, (Changed, Unchanged))]
    applied = sum(len(outcome.applied) for outcome in changed)
    skips = sum(len(outcome.skips) for outcome in examined)
    offered = Counter(fix.safety for outcome in examined for fix in outcome.offered)
    if not (changed or skips or offered) and not any(map(_in_trouble, outcomes)):
        return f"all clear: {count(seen, 'file')}, nothing to change\n"
    verb = "changed" if written else "would change"
    text = f"{count(seen, 'file')}, {len(changed)} {verb}: {count(applied, 'fix', 'fixes')}"
    text += f"; {count(skips, 'place')} left with a reason{hint}\n" if skips else "\n"
    if offered[Safety.UNSAFE]:
        text += f"{count(offered[Safety.UNSAFE], 'unsafe fix', 'unsafe fixes')} held back: see --unsafe-fixes\n"
    if offered[Safety.MANUAL]:
        text += f"{count(offered[Safety.MANUAL], 'fix', 'fixes')} for a person to decide, never applied\n"
    return text


def _in_trouble(outcome: Outcome) -> bool:
    return isinstance(outcome, (Refused, Failed)) or outcome.unparsed is not None


def statistics(outcomes: Sequence[Outcome]) -> str:
    """Return a table of the number of fixes of each rule, and of its skips by reason."""
    counts: Counter[tuple[str, str]] = Counter()
    for outcome in outcomes:
        if isinstance(outcome, (Changed, Unchanged)):
            applied = outcome.applied if isinstance(outcome, Changed) else ()
            counts.update((fix.rule, f"fix, {fix.safety.value}") for fix in (*applied, *outcome.offered))
            counts.update((skip.rule, f"left, {skip.reason}") for skip in outcome.skips)
    width = max((len(rule) for rule, _ in counts), default=0)
    rows = sorted(counts.items(), key=lambda item: (item[0][0], -item[1], item[0][1]))
    return "".join(f"{number:7d}  {rule:<{width}}  {what}\n" for (rule, what), number in rows)


def sentence(answer: Fix | Skip, *, done: bool = False) -> str:
    """Return the rule, its safety or the reason for a skip, the message, and what an unsafe fix changes."""
    if isinstance(answer, Skip):
        return f"{answer.rule} left ({answer.reason}): {answer.detail}"
    text = f"{answer.rule} {'fixed' if done else answer.safety.value}: {answer.message}"
    return f"{text} [what changes: {answer.default}]" if answer.default else text


def count(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun, such as ``1,234 files``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"

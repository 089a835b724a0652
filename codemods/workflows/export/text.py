"""The result of an export as lines for a terminal and as the head of a patch."""

from __future__ import annotations

from collections.abc import Iterator

from .outcome import (
    REASONS,
    SPECIAL_SIZE,
    ExportBlocker,
    Exported,
    ExportOutcome,
    FilePatch,
    LastFailure,
    TargetVerdict,
)


def lines(outcome: ExportOutcome) -> Iterator[str]:
    """Yield the targets one after the other, then the counts, without line ends."""
    for one in outcome.targets:
        yield from target_lines(one)
        yield ""
    counts = {verdict: sum(one.verdict is verdict for one in outcome.targets) for verdict in TargetVerdict}
    told = ", ".join(f"{count} {verdict.value}" for verdict, count in counts.items() if count)
    yield f"torch {outcome.torch.split()[0]}, {outcome.protocol}: {told}"


def target_lines(one: Exported) -> Iterator[str]:
    """Yield the lines of one target: its obstacles in order, the compared inputs, and the remaining failure."""
    yield f"{one.target}: {one.verdict.value}{_behind_verdict(one)}"
    for number, obstacle in enumerate(one.obstacles, 1):
        yield from _obstacle(number, obstacle)
    if one.left is not None:
        yield from _left(one.left)
    elif one.inputs:
        yield f"  equal to the model: {', '.join(one.inputs)}"
    for place in one.further:
        yield f"  also undecided: {place}: {place.text}"
    for note in one.notes:
        yield f"  note: {note}"
    for unseen in one.unseen:
        yield f"  not seen: give an input under 'more' that takes the other side of {unseen}"


def _behind_verdict(one: Exported) -> str:
    if one.verdict is TargetVerdict.UNUSABLE:
        return f": {one.message}"
    return f"; refuses {', '.join(one.refused)}" if one.refused and one.left is None else ""


def _obstacle(number: int, obstacle: ExportBlocker) -> Iterator[str]:
    yield f"  {number}. {obstacle.place}"
    yield f"     {obstacle.place.text}"
    if obstacle.expression:
        yield f"     undecided: {obstacle.expression}{' in ' + obstacle.inside if obstacle.inside else ''}"
    for change in obstacle.changes:
        yield f"     change: {change}"
    for default in obstacle.defaults:
        yield f"     what changes: {default}"


def _left(left: LastFailure) -> Iterator[str]:
    yield f"  stops, {left.reason}: {REASONS[left.reason]}"
    if left.place is not None:
        yield f"     {left.place}"
        yield f"     {left.place.text}"
    if left.inside:
        yield f"     asked for in {left.inside}"
    yield f"     {left.message}"
    for words, came in left.tried:
        yield f"     tried: {words}: {came}"


def patch_head(targets: list[Exported], files: tuple[FilePatch, ...], outcome: ExportOutcome) -> Iterator[str]:
    """Yield the lines above a patch of these files that describe it. `git apply` ignores them."""
    yield f"Export of {', '.join(one.target for one in targets)} ({outcome.protocol}, torch {outcome.torch.split()[0]})"
    yield ""
    for package in dict.fromkeys(file.package for file in files if file.package):
        yield f"Against {package}."
    others = dict.fromkeys(file.package for one in targets for file in one.files if file.of_torch != files[0].of_torch)
    if others:
        yield f"Needs the change of {', '.join(filter(None, others)) or 'the model'} too."
    for left in dict.fromkeys(one.left for one in targets if one.left is not None):
        place = f" at {left.place}" if left.place else ""
        stops = f"behind it the export stops{place}, {left.reason}"
        if left.reason == SPECIAL_SIZE:
            stops = f"torch assumes sizes of 2 and more, and below the program differs: {left.message}"
        yield f"Partial, not proven: {stops}."
    names = {file.name for file in files}
    for obstacle in dict.fromkeys(found for one in targets for found in one.obstacles if found.place.file in names):
        yield f"At {obstacle.place}: {'; '.join(obstacle.changes)}."
    for default in dict.fromkeys(words for one in targets for words in one.defaults):
        yield f"What changes: {default}."
    inputs = dict.fromkeys(name for one in targets for name in one.inputs)
    if inputs:
        yield f"Equal to the model: {', '.join(inputs)}."
    for note in dict.fromkeys(note for one in targets for note in one.notes):
        yield f"Note: {note}"
    for unseen in dict.fromkeys(unseen for one in targets for unseen in one.unseen):
        yield f"Not seen: no input takes the other side of {unseen}"

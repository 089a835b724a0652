"""Places of a change at which a size is still concrete, or decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..engine.file_discovery import DiscoveredFile
from ..engine.fixpoint import FixOptions
from ..engine.registry import Registry, load_language
from ..engine.run import CheckRequest, run
from ..engine.torch_context import TorchSurroundings
from ..model.outcome import Changed, Unchanged
from ..model.rule import Language
from ..model.source_file import SourceFile
from .change import Change, RemainingUse
from .compare.line_coverage import changed_lines


def remaining_uses(
    changes: Sequence[Change], surroundings: TorchSurroundings, registry: Registry
) -> list[RemainingUse]:
    """Return the uses in changed lines: reads, guards and defaults of sizes, and what the rules find or leave there.

    Reads and guards in the other lines of the changed functions follow.
    """
    found = [use for change in changes for use in _uses(change, surroundings, registry)]
    return sorted(found, key=lambda use: not use.changed)


def _uses(change: Change, surroundings: TorchSurroundings, registry: Registry) -> Iterator[RemainingUse]:
    wing = registry.wing(change.path)
    if wing is None:
        return
    request = CheckRequest(frozenset(card.name for card in wing.rules), FixOptions(polish=False), registry)
    (outcome,) = run([DiscoveredFile.of(change.path, change.after)], request, surroundings).outcomes
    if not isinstance(outcome, (Changed, Unchanged)):
        return
    source, language = outcome.source, load_language(wing.package)
    uses = [(source.line_column(use.start)[0], use) for use in language.concrete_uses(source, surroundings.context())]
    lines = frozenset(changed_lines(change))
    # The last reason of a line is the most precise.
    places = {**dict(_by_rules(outcome)), **{line: use.detail for line, use in uses}}
    yield from (RemainingUse(change.path, *place) for place in sorted(places.items()) if place[0] in lines)
    around = _lines_around(source, language, lines) - lines
    left = {line: use.detail for line, use in uses if line in around and use.reason != "default"}
    yield from (RemainingUse(change.path, *place, changed=False) for place in sorted(left.items()))


def _by_rules(outcome: Changed | Unchanged) -> Iterator[tuple[int, str]]:
    source = outcome.source
    applied = outcome.applied if isinstance(outcome, Changed) else ()
    yield from ((source.line_column(skip.start)[0], skip.detail) for skip in outcome.skips)
    for fix in (*applied, *outcome.offered):
        yield source.line_column(fix.start)[0], f"{fix.message} ({fix.rule})"


def _lines_around(source: SourceFile, language: Language, lines: frozenset[int]) -> frozenset[int]:
    """Return the lines of the functions that contain one of these lines."""
    spans = (map(source.line_column, span) for span in language.functions(source))
    functions = (range(first[0], last[0] + 1) for first, last in spans)
    return frozenset(line for function in functions if not lines.isdisjoint(function) for line in function)

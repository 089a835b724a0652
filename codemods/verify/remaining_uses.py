"""Places of a change at which a size is still concrete, or decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..engine.file_discovery import DiscoveredFile
from ..engine.fixpoint import FixOptions
from ..engine.registry import Registry, load_language
from ..engine.run import CheckRequest, run
from ..engine.torch_context import TorchSurroundings
from ..model.outcome import Changed, Unchanged
from .change import Change, RemainingUse
from .compare.line_coverage import changed_lines


def remaining_uses(
    changes: Sequence[Change], surroundings: TorchSurroundings, registry: Registry
) -> list[RemainingUse]:
    """Return the uses in changed lines: reads and guards of sizes, and what the rules find or leave there."""
    found = []
    for change in changes:
        lines = frozenset(changed_lines(change))
        places = dict(_places(change, surroundings, registry))
        found += [RemainingUse(change.path, *place) for place in sorted(places.items()) if place[0] in lines]
    return found


def _places(change: Change, surroundings: TorchSurroundings, registry: Registry) -> Iterator[tuple[int, str]]:
    """Yield lines with a reason; the last one of a line is the most precise."""
    wing = registry.wing(change.path)
    if wing is None:
        return
    request = CheckRequest(frozenset(card.name for card in wing.rules), FixOptions(polish=False), registry)
    (outcome,) = run([DiscoveredFile.of(change.path, change.after)], request, surroundings).outcomes
    if not isinstance(outcome, (Changed, Unchanged)):
        return
    source = outcome.source
    applied = outcome.applied if isinstance(outcome, Changed) else ()
    yield from ((source.line_column(skip.start)[0], skip.detail) for skip in outcome.skips)
    for fix in (*applied, *outcome.offered):
        yield source.line_column(fix.start)[0], f"{fix.message} ({fix.rule})"
    uses = load_language(wing.package).concrete_uses(source, surroundings.context())
    yield from ((source.line_column(use.start)[0], use.detail) for use in uses)

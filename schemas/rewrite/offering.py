"""Which of the sizes that were found can take SymInts: only where every composite kernel follows is anything gained."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from ..analysis.families import family_of
from ..analysis.finding import Found
from ..analysis.native import NativeTree
from .plan import plan


def hindered(tree: NativeTree, found: Found) -> Mapping[str, str]:
    """Why the sizes of a family of operators would stay pinned, by the name that its operators share.

    A kernel that sees symbols and stays on integers pins them; so does a formula. All that is certain is tried at once.
    """
    certain: dict[str, list[str]] = defaultdict(list)
    for (name, argument), one in found.items():
        if not one.against:
            certain[name].append(argument)
    made = plan(tree, certain)
    kept = {family_of(one.operator): f"{one.old} stays on integers: {why}" for one, why in made.kept.items()}
    return kept | {family_of(name): why for name, why in made.left.items()}

"""Sizes that can take SymInts: those of which every composite kernel follows, since nothing is gained otherwise."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from ..analysis.native import NativeTree
from ..analysis.overload_groups import family_of
from ..analysis.size_arguments import Found
from .plan import plan


def hindered(tree: NativeTree, found: Found) -> Mapping[str, str]:
    """Return why the sizes of a family of operators would stay specialized, by the name that its operators share.

    A kernel that sees symbolic sizes but stays on integers specializes them, and so does a formula. All certain sizes
    are tried at once.
    """
    certain: dict[str, list[str]] = defaultdict(list)
    for (name, argument), one in found.items():
        if not one.against:
            certain[name].append(argument)
    made = plan(tree, certain)
    kept = {family_of(one.operator): f"{one.old} stays on integers: {why}" for one, why in made.kept.items()}
    return kept | {family_of(name): why for name, why in made.left.items()}

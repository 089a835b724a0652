"""Shell completion candidates, limited to stored values because a completion starts no process."""

from __future__ import annotations

import click


def rules(ctx: click.Context, param: click.Parameter, word: str) -> list[str]:
    """Return the rules that complete the word, or the last item of a comma-separated list."""
    from ..engine.registry import Registry

    before, comma, last = word.rpartition(",")
    return [before + comma + card.name for card in Registry().rules if card.name.startswith(last)]


def operators(ctx: click.Context, param: click.Parameter, word: str) -> list[str]:
    """Return the matching operators of the torch that was queried last."""
    from ..workflows.hunt.operator_names import stored_names

    return [name for name in stored_names() if name.startswith(word)]


def script(shell: str) -> str:
    """Return the script that a shell evaluates to complete ``symfix``."""
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    return found(click.Group(), {}, "symfix", "_SYMFIX_COMPLETE").source()

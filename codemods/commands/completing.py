"""What a shell offers for a word that is being typed; only what is known without starting anything."""

from __future__ import annotations

import click


def rules(ctx: click.Context, param: click.Parameter, word: str) -> list[str]:
    """Rules; where several are named with commas, for the last of them."""
    from ..engine.registry import Registry

    before, comma, last = word.rpartition(",")
    return [before + comma + card.name for card in Registry().rules if card.name.startswith(last)]


def operators(ctx: click.Context, param: click.Parameter, word: str) -> list[str]:
    """The operators of the torch that was asked last."""
    from ..workflows.hunt.naming import stored_names

    return [name for name in stored_names() if name.startswith(word)]


def script(shell: str) -> str:
    """What the shell has to read so that it completes the words of ``symfix``."""
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    return found(click.Group(), {}, "symfix", "_SYMFIX_COMPLETE").source()

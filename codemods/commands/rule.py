"""``rule``: list of the rules, or the documentation of one."""

from __future__ import annotations

import click

from ..engine.registry import Registry
from ..system.suggestions import nearest


def rule(name: str | None) -> int:
    """List every rule with its first sentence, or print the documentation of one rule."""
    cards = Registry().rules
    if name is None:
        width = max((len(card.name) for card in cards), default=0)
        for card in cards:
            click.echo(f"{card.name:<{width}}  {card.language:<6}  {card.safety:<6}  {card.summary}")
        return 0
    found = next((card for card in cards if card.name == name), None)
    if found is None:
        near = nearest(name, [card.name for card in cards])
        raise click.UsageError(f"no rule {name!r}{near}; `symfix rule` lists them")
    click.echo(f"{found.name} ({found.language}, {found.safety})\n\n{found.doc.strip()}")
    return 0

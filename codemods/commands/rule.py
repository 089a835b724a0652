"""``rule``: what the rules are."""

from __future__ import annotations

import click

from ..registry import Registry


def rule(name: str | None) -> int:
    """List every rule with its first sentence, or print what one rule says of itself."""
    cards = Registry().rules
    if name is None:
        width = max((len(card.name) for card in cards), default=0)
        for card in cards:
            click.echo(f"{card.name:<{width}}  {card.language:<6}  {card.safety:<6}  {card.summary}")
        return 0
    card = next((card for card in cards if card.name == name), None)
    if card is None:
        raise click.UsageError(f"no rule {name!r}; `symfix rule` lists them")
    click.echo(f"{card.name} ({card.language}, {card.safety})\n\n{card.doc.strip()}")
    return 0

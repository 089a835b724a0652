"""``fix --interactive``: a person takes or leaves each fix."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ..outcome import Changed, Outcome
from ..reports.patch import patch
from ..reports.text import finding
from ..rule import Fix
from ..run import Question, Surroundings, turn_down

_ANSWERS = "y takes it, n leaves it, a takes all that are left, q leaves all that are left"


def choose(outcomes: Sequence[Outcome], question: Question, surroundings: Surroundings) -> tuple[Outcome, ...]:
    """Ask about each applied fix; what is turned down is left out, with whatever later rounds built on it."""
    chosen: list[Outcome] = []
    for_all: bool | None = None
    for outcome in outcomes:
        asked: set[tuple[str, int]] = set()
        declined: list[Fix] = []
        left = outcome
        while isinstance(left, Changed) and isinstance(outcome, Changed):
            fix = next((fix for fix in left.applied if (fix.rule, fix.start) not in asked), None)
            if fix is None or for_all:
                break
            asked.add((fix.rule, fix.start))
            if for_all is None:
                rest = turn_down(left, [*declined, fix], question, surroundings.context())
                answer = _ask(left, rest, fix)
                for_all = {"a": True, "q": False}.get(answer)
                if answer in "ya":
                    continue
            declined.append(fix)
            left = turn_down(outcome, declined, question, surroundings.context())
        chosen.append(left)
    return tuple(chosen)


def _ask(with_it: Changed, without_it: Outcome, fix: Fix) -> str:
    before = without_it.after if isinstance(without_it, Changed) else with_it.source.content
    click.echo(finding(with_it.source, fix), nl=False, err=True)
    hunks = patch(with_it.source.path.as_posix().lstrip("/"), before, with_it.after).split(b"\n", 3)[-1]
    click.echo(hunks.decode("utf-8", "replace"), nl=False, err=True)
    answer: str = click.prompt(
        f"Take it? ({_ANSWERS})", type=click.Choice(["y", "n", "a", "q"]), show_choices=False, err=True
    )
    return answer

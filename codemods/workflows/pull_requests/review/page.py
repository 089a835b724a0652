"""The review page of a series, written as one file."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from ..series.build_state import Record
from ..series.decisions import Decisions
from ..series.git import Repository
from ..series.plan import PullRequestPlan
from .diff import DiffRow
from .page_model import Deck, deck_of


def page(plan: PullRequestPlan, record: Record, deck: Deck, decisions: Decisions | None = None) -> str:
    """Render the page as text with its markup, style, script and data.

    Fixes rejected by ``decisions`` are hidden, and the page exports them again, so that they stay rejected.
    """
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"ticks": _ticks, "first_line": _first_line, "lines": _lines}
    parts = {name: files(__package__).joinpath(f"page.{name}").read_text(encoding="utf-8") for name in _PARTS}
    rejected = decisions.rows if decisions else ()
    facts = {"series": plan.name, "base": plan.base, "tool": plan.tool, "units": deck.units, "rejected": rejected}
    data = json.dumps(facts)
    return environment.from_string(parts["html"]).render(
        plan=plan,
        record=record,
        cards=deck.cards,
        rules=sorted({rule for card in deck.cards for rule in card.request.rules}),
        modes=sorted({mode for card in deck.cards for mode in card.modes}),
        verdicts=Counter(card.verdict for card in deck.cards).most_common(),
        mode_names=MODES,
        style=Markup(parts["css"]),
        script=Markup(parts["js"]),
        # "</script>" in a path must not end the script.
        data=Markup(data.replace("<", "\\u003c")),
    )


_PARTS = ("html", "css", "js")

MODES = {
    0: "other",
    1: "direct throw",
    2: "branch on a size",
    3: "TensorIterator",
    4: "SymInt as an integer",
}


_TICKED = re.compile(r"`([^`]+)`")
_KINDS = {" ": ("", " "), "-": ("d", "\u2212"), "+": ("a", "+")}


def _ticks(text: str) -> Any:
    """Format the text between backticks as code."""
    from markupsafe import Markup, escape

    return Markup(_TICKED.sub(r"<code>\1</code>", str(escape(text))))


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def _lines(rows: Sequence[DiffRow]) -> Any:
    """Format rows of the code table. Line numbers are attributes, so that they are not copied with the code."""
    from markupsafe import Markup

    found = []
    for row in rows:
        name, sign = _KINDS[row.kind]
        numbers = "".join(f'<td data-n="{number or ""}">' for number in (row.old, row.new))
        found.append(f"<tr{f' class={name}' if name else ''}>{numbers}<td class=g>{sign}<td>{row.html}")
    return Markup("".join(found))


def make_page(plan: PullRequestPlan, record: Record, repository: Repository, command: str, decisions: Decisions) -> str:
    """Build the page of a plan: built requests on the texts of their base, the others as planned."""
    paths = [path for request in plan.requests for path in request.paths]
    planned, entries = (repository.entries(base, paths) for base in (plan.base, record.base))
    return page(plan, record, deck_of(plan, record, entries, command, planned), decisions)

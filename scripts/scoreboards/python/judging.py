"""A reproducible draw of proposals, and a reader's verdict on each.

The proposals with the smallest hashes are drawn. When the rules change, a dropped proposal is replaced by the next one,
and all others are kept. The page `judged.md` beside this module contains a table for each draw. A row is identified by
its hash, and keeps its verdict and reason when the page is written again.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).with_name("judged.md")
VERDICTS = ("right", "doubtful", "wrong")
OPEN = "not judged"
_SEED = "0"
_ROW = re.compile(r"\| `(?P<name>[0-9a-f]{8})` \|.*\| (?P<verdict>[a-z ]+) \| (?P<why>[^|]*) \|")
_LONGEST = 60


@dataclass(frozen=True)
class Proposal:
    """One change that a rule proposes: its place, its expression in the original text, and the rule."""

    place: str
    function: str
    expression: str
    rule: str

    @property
    def name(self) -> str:
        """Return a hash that is independent of line numbers."""
        file = self.place.rpartition(":")[0]
        words = "\0".join((_SEED, file, self.function, self.expression, self.rule))
        return hashlib.sha256(words.encode()).hexdigest()[:8]


def drawn(proposals: Iterable[Proposal], count: int) -> list[Proposal]:
    """Return ``count`` of the distinct proposals, in the order of their hashes."""
    by_name = {proposal.name: proposal for proposal in proposals}
    return [by_name[name] for name in sorted(by_name)[:count]]


def verdicts() -> dict[str, tuple[str, str]]:
    """Return verdict and reason by hash, from the page."""
    text = PAGE.read_text() if PAGE.exists() else ""
    return {row["name"]: (row["verdict"], row["why"].strip()) for row in _ROW.finditer(text)}


def report(title: str, proposals: list[Proposal], *, write: bool) -> Counter[str]:
    """Print the number of proposals for each verdict. With ``write`` update the page's table of that title."""
    known = verdicts()
    count = Counter(known.get(proposal.name, (OPEN, ""))[0] for proposal in proposals)
    print(f"{title}: {len(proposals)} drawn: " + ", ".join(f"{count[one]} {one}" for one in (*VERDICTS, OPEN)))
    if write:
        rows = [_row(proposal, *known.get(proposal.name, (OPEN, ""))) for proposal in proposals]
        head = ["| | place | proposal | rule | verdict | why |", "|---|---|---|---|---|---|"]
        before, _, after = PAGE.read_text().partition(f"## {title}\n")
        rest = after[after.find("\n## ") :] if "\n## " in after else ""
        said = ", ".join(f"{count[one]} {one}" for one in VERDICTS)
        PAGE.write_text(
            f"{before}## {title}\n\n{len(proposals)} drawn: {said}.\n\n" + "\n".join([*head, *rows]) + "\n" + rest
        )
    return count


def _row(proposal: Proposal, verdict: str, why: str) -> str:
    words = " ".join(proposal.expression.split()).replace("|", "\\|").replace("`", "'")
    short = words if len(words) <= _LONGEST else words[:_LONGEST] + "…"
    return f"| `{proposal.name}` | {proposal.place} | `{short}` | {proposal.rule} | {verdict} | {why} |"

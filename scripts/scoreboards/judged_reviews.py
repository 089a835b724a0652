"""Judged reviews: small changes that reviewers of PyTorch sent back, mended or accepted, given to `symfix verify`.

Protocol. Each file of scripts/scoreboards/reviews is one change: what the reviewer objected to, in our words, and edits
of our own that make the same mistake in a file of PyTorch 2.6.0 or of the installed torch. The edits become a patch,
which `symfix verify --diff` judges against the installed torch. *Seen*: the report names the reviewer's place with the
reviewer's reason, or has the stated verdict. For a place that the reviewer accepted: nothing is reported there.
Exit code: 0 when all are seen, else 1.
"""

from __future__ import annotations

import argparse
import difflib
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from symfix.codemods.engine.torch_context import TorchSurroundings
from symfix.codemods.system import repository
from symfix.codemods.system.toml import loads

from .corpus import source_tree
from .table import table, write_json

FOLDER = Path(__file__).with_name("reviews")
RELEASE = "2.6.0"


@dataclass(frozen=True)
class Replacement:
    """The first ``old`` text below the first ``below`` text becomes ``new``."""

    old: str
    new: str
    below: str = ""


@dataclass(frozen=True)
class Review:
    """A change and the objection to it. ``reported`` has a text of each objectionable line, with a part of the reason.

    ``unreported`` has texts of lines that the reviewer accepted.
    """

    name: str
    source: str
    review: str
    file: str
    edit: tuple[Replacement, ...]
    operators: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    reported: dict[str, str] | None = None
    unreported: tuple[str, ...] = ()
    verdict: str = ""

    @property
    def installed(self) -> bool:
        """Return whether the file is a module of torch."""
        return self.file.startswith("torch/")


@dataclass(frozen=True)
class Row:
    """Answer for one change."""

    name: str
    source: str
    verdict: str
    seen: bool
    uses: tuple[str, ...]
    reason: str


def reviews(folder: Path = FOLDER) -> list[Review]:
    """Return the changes by name."""
    return [_review(path.stem, loads(path.read_text())) for path in sorted(folder.glob("*.toml"))]


def edited(text: str, review: Review) -> str:
    """Return a file with the edits. Raises ValueError if an edit has no place."""
    for edit in review.edit:
        start = text.index(edit.old, text.index(edit.below))
        text = text[:start] + edit.new + text[start + len(edit.old) :]
    return text


def is_seen(review: Review, text: str, answer: dict[str, Any]) -> bool:
    """Return whether an answer of `symfix verify --format json` agrees with the reviewer."""
    lines = text.splitlines()
    told = [(lines[use["line"] - 1], use["detail"]) for use in answer["remaining_uses"]]
    named = all(
        any(place in line and why in detail for line, detail in told) for place, why in (review.reported or {}).items()
    )
    silent = not any(place in line for place in review.unreported for line, _ in told)
    return named and silent and review.verdict in ("", answer["verdict"])


def judged(review: Review, top: Path) -> Row:
    """Verify one change of a file below ``top``."""
    path = top / review.file
    before = path.read_text()
    after = edited(before, review)
    name = str(path.relative_to(repository.top(top) or top))
    patch = difflib.unified_diff(before.splitlines(True), after.splitlines(True), f"a/{name}", f"b/{name}")
    words = [sys.executable, "-m", "symfix", "verify", "--diff", "-", "--format", "json"]
    words += [word for operator in review.operators for word in ("--op", operator)]
    words += [word for call in review.calls for word in ("--call", f"import torch; {call}")]
    ran = subprocess.run([*words, str(top)], input="".join(patch), capture_output=True, text=True, check=False)
    if not ran.stdout:
        return Row(review.name, review.source, "no answer", False, (), ran.stderr.strip())
    answer = json.loads(ran.stdout)
    uses = tuple(f"{use['line']}: {use['detail']}" for use in answer["remaining_uses"])
    return Row(review.name, review.source, answer["verdict"], is_seen(review, after, answer), uses, answer["reason"])


def table_rows(rows: Sequence[Row]) -> list[tuple[object, ...]]:
    """Return the table with its head."""
    head = ("change", "source", "verdict", "seen", "reported")
    return [head, *((row.name, row.source, row.verdict, "yes" if row.seen else "no", len(row.uses)) for row in rows)]


def main() -> int:
    words = _words()
    place = TorchSurroundings().place
    if place is None:
        raise SystemExit("no torch to verify against")
    asked = [review for review in reviews() if not words.only or review.name in words.only]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for review in asked:
            top = place.package.parent if review.installed else _copied(review, words.tree, Path(folder))
            rows.append(judged(review, top))
            print(f"{review.name}: {rows[-1].verdict}", file=sys.stderr, flush=True)
    print(f"judged reviews: {sum(row.seen for row in rows)} of {len(rows)} seen, torch {place.version}")
    print(table(table_rows(rows), indent="  "))
    for row in rows:
        if words.verbose or not row.seen:
            print("\n".join((f"{row.name}: {row.verdict}: {row.reason}", *(f"  {use}" for use in row.uses))))
    print(f"figures: {write_json('judged-reviews', words.json, {'changes': [asdict(row) for row in rows]})}")
    return 0 if all(row.seen for row in rows) else 1


def _review(name: str, given: dict[str, Any]) -> Review:
    edits = tuple(Replacement(**edit) for edit in given.pop("edit"))
    operators, calls, accepted = (tuple(given.pop(key, ())) for key in ("operators", "calls", "unreported"))
    return Review(name, edit=edits, operators=operators, calls=calls, unreported=accepted, **given)


def _copied(review: Review, tree: Path | None, folder: Path) -> Path:
    """Return a folder with this one file of a PyTorch tree. A tree in a repository would be slow to search."""
    copy = folder / review.name / review.file
    copy.parent.mkdir(parents=True)
    copy.write_bytes((source_tree(RELEASE, tree) / review.file).read_bytes())
    return folder / review.name


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/judged-reviews", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="only this change")
    parser.add_argument("--tree", type=Path, help=f"a PyTorch {RELEASE} source tree")
    parser.add_argument("--verbose", action="store_true", help="print what is reported for each change")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

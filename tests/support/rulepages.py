"""Pages of docs/rules/, one for each rule, from its docstring and its goldens."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from pathlib import Path

from goldens import Golden, cards, goldens
from symfix.codemods.engine.registry import RuleCard

FOLDER = Path(__file__).parents[2] / "docs" / "rules"
_OPTIONS_LINE = re.compile(r"^(?://|#)\s*symfix-golden:.*\n")
_MOST_LINES = 24
SAFETY = {
    "safe": "applied by `symfix fix`",
    "unsafe": "applied with `--unsafe-fixes` only",
    "manual": "shown, never applied",
}


def pages() -> dict[str, str]:
    """Return the text of every page, by file name."""
    made = {f"{card.name}.md": _page(card) for card in cards()}
    return {"README.md": _contents(), **made}


def stale() -> list[str]:
    """Return the names of pages that are missing, out of date or superfluous."""
    wanted = pages()
    there = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*")}
    return sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))


def write() -> None:
    """Bring the folder up to date."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    wanted = pages()
    for path in FOLDER.glob("*"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


def _contents() -> str:
    rows = [
        f"| [{card.name}]({card.name}.md) | {_language(card)} | {card.safety} | {_markdown(card.summary)} |"
        for card in cards()
    ]
    head = "# The rules\n\nMade by `scripts/docs` from the rules themselves. `symfix rule NAME` prints the same texts."
    return "\n".join([head, "", "| rule | language | safety | |", "|---|---|---|---|", *rows, ""])


def _page(card: RuleCard) -> str:
    own = [golden for golden in goldens() if golden.card == card]
    pairs = [golden for golden in own if golden.after is not None]
    sames = [golden for golden in own if golden.after is None]
    parts = [f"# {card.name}", f"{_language(card)}, {card.safety}: {SAFETY[card.safety]}.", _markdown(card.doc.strip())]
    if not own:
        parts.append("Its cases are trees: [tests/test_native_schemas.py](../../tests/test_native_schemas.py).")
        return "\n\n".join(parts) + "\n"
    parts += ["## What it writes"]
    for diff in sorted(map(_diff, pairs), key=lambda diff: (abs(diff.count("\n") - _MOST_LINES // 2), diff))[:2]:
        parts.append(f"```diff\n{diff}```")
    parts += ["## What it leaves", f"One of {len(sames)} cases that stay as they are:", _example(sames)]
    where = f"../../golden/{card.name}"
    parts.append(f"All {len(pairs)} cases that change and {len(sames)} that stay: [golden/{card.name}]({where}).")
    return "\n\n".join(parts) + "\n"


def _language(card: RuleCard) -> str:
    return "C++" if card.language == "cpp" else card.language


def _markdown(doc: str) -> str:
    return re.sub(r"^(What|Why|What it leaves alone|Leaves alone|Safety):", r"**\1:**", doc.replace("``", "`"),
                  flags=re.MULTILINE)  # fmt: skip


def _diff(golden: Golden) -> str:
    assert golden.after is not None
    before, after = (_text(path).splitlines() for path in (golden.before, golden.after))
    lines = list(difflib.unified_diff(before, after, n=2, lineterm=""))[2:]
    shown = [line.rstrip() for line in _hunks(lines)]
    while shown and not shown[0]:
        del shown[0]
    return "\n".join(shown).rstrip() + "\n"


def _hunks(lines: list[str]) -> Iterator[str]:
    """Yield the lines of as many hunks as fit into one screen, at least one. An ellipsis separates hunks."""
    shown = 0
    starts = [number for number, line in enumerate(lines) if line.startswith("@@")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        if shown and shown + end - start > _MOST_LINES:
            yield " …"
            return
        if shown:
            yield " …"
        yield from lines[start + 1 : end]
        shown += end - start


def _example(sames: list[Golden]) -> str:
    shortest = min(sames, key=lambda golden: (len(_text(golden.before)), golden.name))
    text = _text(shortest.before).strip()
    return f"```{'cpp' if shortest.before.suffix == '.cpp' else 'python'}\n{text}\n```"


def _text(path: Path) -> str:
    text = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    return _OPTIONS_LINE.sub("", text)

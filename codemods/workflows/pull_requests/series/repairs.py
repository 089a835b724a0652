"""Proposals from a folder of `symfix repair`, with a patch and its evidence for each proven repair."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from .hunks import Hunk, Mismatch, line_starts, lines_of, put
from .plan import PlanError
from .proposal import FileChange, Proposal, Reason

_RANGE = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def read_folder(folder: Path, content: Callable[[str], bytes | None]) -> tuple[list[Proposal], list[str]]:
    """Return the proven repairs in ``folder``, and messages about those that do not match the repository's text.

    ``content`` returns a file of the base by its path from the top. Raises PlanError for a malformed file.
    """
    proposals, passed_over = [], []
    for path in sorted(folder.glob("[0-9]*.json")):
        patch = path.with_suffix(".patch")
        try:
            value = json.loads(path.read_text(encoding="utf-8"))
            proposals.append(_proposal(value, files_of(patch.read_bytes()), content))
        except Mismatch as error:
            passed_over.append(f"{path.stem}: {error}")
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise PlanError(f"{path} is no repair: {error!r}") from None
    if not proposals and not passed_over:
        raise PlanError(f"{folder} holds no proven repair: `symfix repair` writes NUMBER-NAME.json beside each patch")
    return proposals, passed_over


def files_of(patch: bytes) -> dict[str, tuple[Hunk, ...]]:
    """Parse a patch in git's format into the hunks of each file, without context."""
    found: dict[str, list[Hunk]] = {}
    path, line, old, new, left, right = "", 0, [], [], 0, 0  # type: ignore[var-annotated]

    def close() -> None:
        if old or new:
            found[path].append(Hunk(line - len(old), tuple(old), tuple(new)))
            old.clear()
            new.clear()

    for text in lines_of(patch):
        if text.startswith("\\") and (old or new):
            last = new if new else old
            last[-1] = last[-1].removesuffix("\n")
        elif left or right:
            mark, rest = text[:1], text[1:]
            if mark in (" ", "\n"):
                close()
                line, left, right = line + 1, left - 1, right - 1
            elif mark == "-":
                if new:
                    close()
                old.append(rest)
                line, left = line + 1, left - 1
            elif mark == "+":
                new.append(rest)
                right -= 1
        elif text.startswith("+++ "):
            close()
            path = text[4:].rstrip("\t\n").removeprefix("b/")
            found[path] = []
        elif (at := _RANGE.match(text)) is not None:
            close()
            left, right = int(at[2] or 1), int(at[4] or 1)
            line = int(at[1]) + (0 if left else 1)
    close()
    return {name: tuple(hunks) for name, hunks in found.items()}


def _proposal(
    value: Mapping[str, Any], hunks: Mapping[str, tuple[Hunk, ...]], content: Callable[[str], bytes | None]
) -> Proposal:
    mended, operators = set(value["files"]), tuple(value["operators"])
    # The subject of a check is the name of its operator, followed by its number of samples.
    checks = (value.get("verification") or {}).get("checks", ())
    tested = sorted({check["subject"].partition(" ")[0] for check in checks})
    own = tuple(name for name in tested if any(f"{one}.".startswith(f"{name}.") for one in operators))
    files = []
    for path, changed in hunks.items():
        before = content(path)
        try:
            after = put(before or b"", changed)
        except Mismatch as error:
            raise Mismatch(f"{path}: {error}") from None
        role = "fix" if path in mended else "test" if path.startswith("test/") else "xfail"
        reasons = tuple(_reasons(value, path, before or b"", changed)) if role == "fix" else ()
        files.append(FileChange(path, before, after, reasons, (), role))
    return Proposal(
        value["name"],
        tuple(sorted(files, key=lambda file: (file.role != "fix", file.path))),
        operators,
        own,
        tuple(name for name in tested if name not in own),
        tuple(value.get("issues", ())),
    )


def _reasons(value: Mapping[str, Any], path: str, before: bytes, hunks: tuple[Hunk, ...]) -> Iterator[Reason]:
    """Yield a reason for each fix. A proven repair is one transaction, so each reason spans all of its hunks."""
    starts = line_starts(before)
    spans = tuple((starts[hunk.line - 1], starts[min(hunk.end, len(starts)) - 1]) for hunk in hunks)
    names = ("rule", "mode", "safety", "message", "function", "default")
    for fix in (fix for fix in value["fixes"] if fix["file"] == path):
        start = starts[min(fix["line"], len(starts)) - 1]
        rule, mode, safety, message, function, default = (fix[name] for name in names)
        yield Reason(rule, int(mode), safety, message, function, default, start, fix["line"], spans)

"""``xfails``: expected-failure entries that now pass."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from ..harness.resilient_batch import children
from ..harness.temp_folder import scratch_folder
from ..harness.torch_variant import Harness
from ..model.outcome import Changed, Refused
from ..model.source_file import SourceFile
from ..system.atomic_write import write
from ..torchapi.errors import TorchError
from ..torchapi.torch_finder import locate
from ..verify.before_after import Side
from ..verify.user_scripts import INSTALLED
from ..workflows.hunt.workers import NothingRuns
from ..workflows.xfails.entry_removal import NotRemovable, without
from ..workflows.xfails.xfail_lists import read
from ..workflows.xfails.xfail_runs import LIMITS, EntryVerdict, Judgement, judge
from .arguments import Xfails
from .progress import Progress


def xfails(asked: Xfails) -> int:
    """Run the tests of the entries, print the results, and remove the stale entries.

    With ``--check`` nothing is removed, and 1 is returned if an entry is stale. Otherwise 2 is returned if a file could
    not be written, else 0.
    """
    paths = [file for path in asked.paths for file in _files(path)]
    found: list[tuple[Path, bytes, list[Judgement]]] = []
    try:
        torch = locate(None, asked.torch_python)
        with Progress(quiet=asked.quiet) as progress, scratch_folder() as scratch:
            side = Side(Harness(torch.python, scratch, LIMITS), INSTALLED)
            for path in paths:
                progress.say(f"running the tests that {path} expects to fail")
                content = path.read_bytes()
                entries = _entries(path, content)
                judged = judge(path, entries, torch, side, jobs=children(asked.jobs), progress=progress)
                found.append((path, content, judged))
    except (TorchError, NothingRuns) as error:
        raise click.ClickException(str(error)) from None
    _show(found, asked.style)
    stale = any(one.state is EntryVerdict.STALE for _, _, judged in found for one in judged)
    if asked.check:
        return 1 if stale else 0
    refusals = [refusal for row in found if (refusal := _remove(*row))]
    for refusal in refusals:
        click.echo(f"symfix: {refusal}", err=True)
    return 2 if refusals else 0


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return [file for file in sorted(path.rglob("*.py")) if file.is_file() and b"xfail(" in file.read_bytes()]
    if not path.is_file():
        raise click.ClickException(f"{path}: no such file")
    return [path]


def _entries(path: Path, content: bytes) -> Any:
    try:
        return read(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        raise click.ClickException(f"{path}{f':{line}' if line else ''}: is no Python that can be read") from None


def _remove(path: Path, content: bytes, judged: Sequence[Judgement]) -> str:
    """Remove the stale entries from the file. Return the reason if it failed, else ''."""
    spans = {(one.entry.start, one.entry.end) for one in judged if one.state is EntryVerdict.STALE}
    if not spans:
        return ""
    try:
        after = without(content, spans)
    except NotRemovable as error:
        return f"{path}: {error}"
    outcome = write(Changed(SourceFile(path, content), after, (), ()))
    return f"{path}: {outcome.detail}" if isinstance(outcome, Refused) else ""


def _show(found: Sequence[tuple[Path, bytes, list[Judgement]]], style: str) -> None:
    if style == "json":
        sys.stdout.write(json.dumps(_document(found), indent=1) + "\n")
        return
    for path, _, judged in found:
        for one in judged:
            if one.state is EntryVerdict.STALE:
                click.echo(f"{path}:{one.entry.line}: {one.entry.name} in {one.entry.list}: {one.reason}")
        click.echo(f"{path}: {_counted(judged)}")
        for reason, count in Counter(one.reason for one in judged if one.state is EntryVerdict.LEFT).most_common():
            click.echo(f"  left {count}: {reason}")


def _counted(judged: Sequence[Judgement]) -> str:
    counts = Counter(one.state for one in judged)
    if not judged:
        return "no expected failures written as xfail(…)"
    return ", ".join(f"{counts[state]} {state.value}" for state in EntryVerdict)


def _document(found: Sequence[tuple[Path, bytes, list[Judgement]]]) -> dict[str, Any]:
    return {"version": 1, "files": [{"path": str(path), "entries": list(_rows(judged))} for path, _, judged in found]}


def _rows(judged: Sequence[Judgement]) -> Iterator[dict[str, Any]]:
    for one in judged:
        entry = one.entry
        yield {
            "line": entry.line,
            "kind": entry.kind,
            "operator": entry.operator,
            "variant": entry.variant,
            "list": entry.list,
            "state": one.state.value,
            "reason": one.reason,
        }

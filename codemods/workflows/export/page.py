"""An export as one self-contained HTML page: the obstacles in order, the change at each, and the compared inputs."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from ...reports.patch import patch
from .folder import patches
from .outcome import REASONS, ExportBlocker, Exported, ExportOutcome, LastFailure, TargetVerdict

_STYLE = """
:root { color-scheme: light dark; --ink: #1d2327; --dim: #5c6770; --paper: #fff; --line: #dde2e6; --code: #f3f5f7;
  --good: #2f7d4f; --bad: #b3452e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e7ea; --dim: #9aa5ad; --paper: #16191c; --line: #343b41;
  --code: #20262b; --good: #5fb381; --bad: #e07a63; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem;
  margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin-bottom: 0; } h2 { font-size: 1.15rem; margin-top: 2.5rem; } .dim { color: var(--dim); }
h3 { font-size: 1rem; margin: 1.6rem 0 .3rem; }
code, pre { font: 13px/1.45 ui-monospace, monospace; background: var(--code); border-radius: 3px;
  padding: .1rem .3rem; }
pre { overflow-x: auto; padding: .5rem .6rem; margin: .4rem 0; overflow-wrap: normal; }
ol { padding-left: 1.3rem; } li { margin: 1rem 0; padding-left: .3rem; } dl { margin: .3rem 0; }
dt { color: var(--dim); float: left; clear: left; width: 6.5rem; } dd { margin: 0 0 .2rem 6.5rem; }
.good { color: var(--good); } .bad { color: var(--bad); }
@media (max-width: 30rem) { dt { float: none; } dd { margin-left: 0; } }
"""


def page(outcome: ExportOutcome) -> str:
    """Build the whole page. It loads nothing and follows the reader's light or dark setting."""
    release = escape(outcome.torch.split()[0])
    parts = [
        "<!doctype html>\n<html lang=en><head><meta charset=utf-8><title>Export</title>",
        '<meta name=viewport content="width=device-width, initial-scale=1">',
        f"<style>{_STYLE}</style></head><body><main>",
        f"<h1>Export</h1><p class=dim>torch {release}, {escape(outcome.protocol)}</p>",
        *(line for one in outcome.targets for line in _target(one)),
        *_patches(outcome),
        "</main></body></html>\n",
    ]
    return "\n".join(parts)


def _target(one: Exported) -> Iterator[str]:
    colour = "good" if one.good else "bad"
    yield f"<h2><code>{escape(one.target)}</code> <span class={colour}>{escape(one.verdict.value)}</span></h2>"
    if one.verdict is TargetVerdict.UNUSABLE:
        yield f"<p>{escape(one.message)}</p>"
    if one.obstacles:
        yield "<ol>"
        for obstacle in one.obstacles:
            yield from _obstacle(obstacle)
        yield "</ol>"
    if one.left is not None:
        yield from _left(one.left)
    yield "<dl>"
    for place in one.further:
        yield f"<dt>also undecided<dd><code>{escape(str(place))}</code><pre>{escape(place.text)}</pre>"
    if one.inputs and one.left is None:
        yield f"<dt>equal at<dd>{escape(', '.join(one.inputs))}"
    for note in one.notes:
        yield f"<dt>note<dd>{escape(note)}"
    for unseen in one.unseen:
        yield f"<dt>not seen<dd>no input takes the other side of <code>{escape(unseen)}</code>"
    yield "</dl>"


def _obstacle(obstacle: ExportBlocker) -> Iterator[str]:
    yield f"<li><code>{escape(str(obstacle.place))}</code><pre>{escape(obstacle.place.text)}</pre><dl>"
    if obstacle.expression:
        inside = f" <span class=dim>in {escape(obstacle.inside)}</span>" if obstacle.inside else ""
        yield f"<dt>undecided<dd><code>{escape(obstacle.expression)}</code>{inside}"
    for change in obstacle.changes:
        yield f"<dt>change<dd>{escape(change)}"
    for default in obstacle.defaults:
        yield f"<dt>what changes<dd>{escape(default)}"
    yield "</dl></li>"


def _left(left: LastFailure) -> Iterator[str]:
    yield f"<h3>Stops: {escape(left.reason)}</h3><p>{escape(REASONS[left.reason])}.</p>"
    if left.place is not None:
        yield f"<code>{escape(str(left.place))}</code><pre>{escape(left.place.text)}</pre>"
    yield f"<p class=dim>{escape(left.message)}</p>"
    if left.tried:
        yield "<dl>"
        for words, came in left.tried:
            yield f"<dt>tried<dd>{escape(words)}: <span class=dim>{escape(came)}</span>"
        yield "</dl>"


def _patches(outcome: ExportOutcome) -> Iterator[str]:
    for one in patches(outcome):
        yield f"<h2>{escape(one.name)}.patch</h2>"
        for package in dict.fromkeys(file.package for file in one.files if file.package):
            yield f"<p class=dim>against {escape(package)}</p>"
        for file in one.files:
            text = patch(file.name, file.before, file.after).decode("utf-8", "replace")
            yield f"<pre>{escape(text)}</pre>"

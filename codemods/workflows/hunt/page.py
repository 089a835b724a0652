"""A sweep as one self-contained HTML page: failures by mode, by place and by file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from .failure import MEANING
from .failure_groups import FailureGroup, by_file, by_mode, by_place
from .sweep import Sweep
from .text_report import plural

_STYLE = """
:root { color-scheme: light dark; --ink: #1d2327; --dim: #5c6770; --paper: #fff; --line: #dde2e6; --code: #f3f5f7;
  --pass: #3f8f5f; --fail: #c2553d; --none: #9aa5ad; --bar: #4a7ab5; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e7ea; --dim: #9aa5ad; --paper: #16191c; --line: #343b41;
  --code: #20262b; --pass: #5fb381; --fail: #e07a63; --none: #5c6770; --bar: #6f9fda; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 68rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: 0; } h2 { font-size: 1.15rem; margin-top: 2.5rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 .3rem; } p.dim, span.dim { color: var(--dim); }
code, pre { font: 13px/1.45 ui-monospace, monospace; background: var(--code); border-radius: 3px; padding: 0 .25rem; }
.whole { display: flex; height: 1.6rem; border-radius: 4px; overflow: hidden; margin: 1rem 0 .4rem; }
.whole div { color: var(--paper); padding: 0 .5rem; white-space: nowrap; min-width: max-content; }
.passed { background: var(--pass); } .failed { background: var(--fail); } .untestable { background: var(--none); }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; vertical-align: top;
  border-top: 1px solid var(--line); padding: .35rem .6rem .35rem 0; } th { color: var(--dim); font-weight: 500; }
td.count { text-align: right; width: 3rem; font-variant-numeric: tabular-nums; }
td.size { width: 9rem; } td.mode { width: 8rem; }
td, summary, .whole + p { overflow-wrap: anywhere; }
input { font: inherit; color: inherit; background: var(--code); border: 1px solid var(--line); border-radius: 4px;
  padding: .35rem .6rem; width: 100%; max-width: 26rem; box-sizing: border-box; margin-top: 1.5rem; }
input::placeholder { color: var(--dim); } [hidden] { display: none; }
@media (max-width: 40rem) { body { margin: 1rem auto; } td.size, th.size { display: none; } td.mode { width: 5rem; }
  .whole { flex-direction: column; height: auto; } td.count { width: 2rem; } h3 { overflow-wrap: anywhere; } }
.bar { background: var(--bar); height: .8rem; border-radius: 2px; margin-top: .35rem; }
details summary { cursor: pointer; color: var(--dim); } a { color: inherit; }
"""
_SCRIPT = """
const field = document.getElementById("search"), none = document.getElementById("none");
const rows = [...document.querySelectorAll("tr")].filter((row) => row.querySelector("td") && !row.closest("#modes"));
function filter() {
  const words = field.value.toLowerCase().split(/\\s+/).filter(Boolean);
  for (const row of rows) {
    const heading = row.closest("section.file")?.querySelector("h3").textContent ?? "";
    const text = (heading + " " + row.textContent).toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
  }
  for (const part of document.querySelectorAll("section"))
    part.hidden = words.length > 0 && !rows.some((row) => part.contains(row) && !row.hidden);
  none.hidden = rows.some((row) => !row.hidden);
}
field.addEventListener("input", filter);
addEventListener("keydown", (event) => {
  if (event.target === field && event.key === "Escape") { field.value = ""; filter(); field.blur(); }
  else if (event.target === field && event.key === "Enter") field.blur();
  else if (event.target !== field && event.key === "/") { event.preventDefault(); field.focus(); field.select(); }
});
"""


_FAILING = {
    "backed": "on backed sizes",
    "backward": "in the backward pass on unbacked sizes",
    "inductor": "in Inductor, on unbacked sizes",
    "dynamic": "by specialization of dynamic sizes",
}


def page(sweep: Sweep) -> str:
    """Build the whole page. It loads nothing and follows the reader's light or dark setting."""
    title = f"{sweep.kind.capitalize()} that fail {_FAILING.get(sweep.protocol, 'on unbacked sizes')}"
    parts = [
        f"<!doctype html>\n<html lang=en><head><meta charset=utf-8><title>{title}</title>",
        '<meta name=viewport content="width=device-width, initial-scale=1">',
        f"<style>{_STYLE}</style></head><body>",
        f"<h1>{title}</h1><p class=dim>torch {escape(sweep.torch)}, CPU, float32; every sample of torch's own tests, "
        "results compared with eager.</p>",
        *_whole(sweep),
        *_modes(sweep),
        '<input id=search type=search placeholder="Search: operator, file, function, mode" aria-label=Search>',
        "<p id=none class=dim hidden>Nothing fits.</p>",
        "<section><h2>Lines that hold up most</h2>",
        "<p class=dim>The line or C++ function where a size had to be known first. Behind it may stand another.</p>",
        *_table(by_place(sweep.failures), with_file=True),
        "</section>",
        *_behind(sweep),
        "<section><h2>By file</h2>",
        *_files(sweep),
        "</section>",
        *_untestable(sweep),
        f"<script>{_SCRIPT}</script></body></html>\n",
    ]
    return "\n".join(parts)


def _whole(sweep: Sweep) -> Iterator[str]:
    counts = {"passed": len(sweep.passed), "failed": len(sweep.failed), "untestable": len(sweep.untestable)}
    yield "<div class=whole>"
    for name, count in counts.items():
        if count:
            yield f'<div class={name} style="flex:{count}" title="{count} {name}">{count} {name}</div>'
    more = f"; {len(sweep.outside)} more take no float32" if sweep.outside else ""
    yield f"</div><p class=dim>{plural(sum(counts.values()), sweep.kind.removesuffix('s'))}{more}.</p>"


def _modes(sweep: Sweep) -> Iterator[str]:
    counts = by_mode(sweep.failures)
    if not counts:
        return
    yield f"<h2>By mode</h2><table id=modes>{_head('operators', '', 'mode', 'what it is')}"
    for mode, count in counts.items():
        yield f"<tr>{_count(count, max(counts.values()))}<td class=mode>{mode.value}<td>{escape(MEANING[mode])}</tr>"
    yield "</table>"


def _behind(sweep: Sweep) -> Iterator[str]:
    behind = by_place(failure.behind for failure in sweep.failures if failure.behind)
    alone = sorted({str(failure.operator) for failure in sweep.failures if failure.only_test})
    if not (behind or alone):
        return
    yield "<section><h2>Behind the test's own code</h2>"
    yield "<p class=dim>These stop in torch's test of them, not in the operator. "
    yield f"Without it {len(alone)} pass ({escape(', '.join(alone)) or 'none'}); the others stop here:</p>"
    yield from _table(behind, with_file=True)
    yield "</section>"


def _files(sweep: Sweep) -> Iterator[str]:
    for file, places in by_file(sweep.failures).items():
        count = len({operator for held in places for operator in held.operators})
        found = f"{plural(count, 'operator')} at {plural(len(places), 'place')}"
        yield f"<section class=file><h3><code>{escape(file)}</code> <span class=dim>{found}</span></h3>"
        yield from _table(places, with_file=False)
        yield "</section>"


def _table(places: Iterable[FailureGroup], *, with_file: bool) -> Iterator[str]:
    held_up = list(places)
    most = max((len(held.operators) for held in held_up), default=1)
    yield f"<table>{_head('operators', '', 'place' if with_file else 'line', 'mode')}"
    for held in held_up:
        names = ", ".join(escape(str(operator)) for operator in held.operators)
        undecided = "; ".join(held.expressions[:3])
        yield f"<tr>{_count(len(held.operators), most)}<td>{_words(held, with_file)}"
        if held.place and held.place.expression:
            yield f"<br><code>{escape(held.place.expression)}</code>"
        if undecided:
            yield f"<br><span class=dim>undecided: {escape(undecided)}</span>"
        title = names if len(held.operators) == 1 else plural(len(held.operators), "operator")
        inside = ("" if title == names else names) + _way(held)
        yield f"<details><summary>{title}</summary>{inside}</details>" if inside else f"<br>{title}"
        yield f"<td class=mode>{held.mode.value}</tr>"
    yield "</table>"


def _words(held: FailureGroup, with_file: bool) -> str:
    place = held.place
    if place is None:
        return escape(held.why)
    where = f"{place.file}:{place.line}" if place.line else place.file
    shown = where if with_file else (str(place.line) if place.line else "")
    return f"{escape(shown)} <b>{escape(place.function)}</b>"


def _way(held: FailureGroup) -> str:
    rest = held.failures[0].path[1:6]
    way = "".join(f"<br><span class=dim>called by {escape(str(place))}</span>" for place in rest)
    return f"<p>For {escape(str(held.failures[0].operator))}:{way}</p>" if way else ""


def _head(*names: str) -> str:
    cells = "".join(f"<th scope=col{'' if name else ' class=size'}>{name}" for name in names)
    return f"<thead><tr>{cells}</tr></thead>"


def _count(count: int, most: int) -> str:
    return f'<td class=count>{count}<td class=size><div class=bar style="width:{100 * count / most:.1f}%"></div>'


def _untestable(sweep: Sweep) -> Iterator[str]:
    if not sweep.untestable:
        return
    yield f"<section><h2>Can't be tried</h2><table>{_head('operators', 'why')}"
    reasons: dict[str, list[str]] = {}
    for operator, reason in sweep.untestable.items():
        reasons.setdefault(reason, []).append(str(operator))
    for reason, names in sorted(reasons.items(), key=lambda item: (-len(item[1]), item[0])):
        yield f"<tr><td class=count>{len(names)}<td>{escape(reason)}<br>"
        yield f"<span class=dim>{escape(', '.join(names))}</span></tr>"
    yield "</table></section>"

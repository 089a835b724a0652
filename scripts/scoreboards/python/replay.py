"""Replay of people's Python work: the tool's changes to PyTorch 2.6.0, compared with people's changes in 2.13.0.

Protocol. A site is a call of ``guard_or_false/true``, ``sym_and/or/min/max/eq`` or ``statically_known_true`` in the
installed torch (2.13.0). Its function has to exist under the same path and name in the older tree. All of its argument
expressions have to occur in that function, after normalising white space, but not in this call. The rules run on the
older file, unsafe fixes included, and nothing is written.

A site is *identical* when the tool wrote the same call with the same arguments into that function, as often as people
did. It is *different* when the tool wrote another call around one of these arguments, and otherwise *refused*. The
tool's other calls in those files are counted as *beyond*. ``--sample N`` draws N of these reproducibly and prints a
reader's verdicts on them (judged.md beside this module). ``--write`` updates that page.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Set
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from symfix.codemods.model.outcome import Changed, Unchanged

from scoreboards.table import counted, table, write_json

from ..corpus import source_tree
from .engine import rewritten, site_packages
from .judging import Proposal, drawn, report

NAMES = frozenset(
    "guard_or_false guard_or_true sym_and sym_or sym_min sym_max sym_eq statically_known_true".split()  # noqa: SIM905
)
INDUCTOR = NAMES | frozenset(
    """check_equals check_equals_and_simplify check_leq check_lt guard_int guard_int_seq guarding_hint_or_throw
    guarding_hints_or_throw has_free_unbacked_symbols is_size_one_or_false optimization_hint optimization_hints
    statically_known_equals statically_known_geq statically_known_gt statically_known_leq statically_known_lt
    statically_known_multiple_of FloorDiv Max Min""".split()  # noqa: SIM905
)
Call = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Site:
    """A call that people wrote, with the tool's result."""

    file: str
    function: str
    call: str
    arguments: tuple[str, ...]
    verdict: str = ""
    ours: str = ""


def main() -> int:
    words = _words()
    old, new = source_tree("2.6.0", words.tree), site_packages()
    judged: list[Site] = []
    beyond: list[Proposal] = []
    below, names = ("torch/_inductor", INDUCTOR) if words.inductor else ("torch", NAMES)
    for file, sites in by_file(human_sites(old, new, below, names)).items():
        here, more = judge(old, file, sites, names)
        judged += here
        beyond += more
    verdicts = Counter(site.verdict for site in judged)
    print(f"replay: {len(judged)} sites of people between {old.name} and the installed torch")
    print(table((count, f"{100 * count / len(judged):.1f}%", name) for count, name in counted(verdicts)))
    for site in judged:
        if site.verdict != "identical" and words.verbose:
            print(f"{site.verdict}: {site.file} {site.function}: {show(site.call, site.arguments)}  {site.ours}")
    print(f"beyond the sites, in the same {len({site.file for site in judged})} files: {len(beyond)} calls")
    count = report("Beyond replay", drawn(beyond, words.sample), write=words.write) if words.sample else {}
    document = {
        "sites": [asdict(site) for site in judged],
        "beyond": [asdict(proposal) for proposal in beyond],
        "judged": dict(count),
    }
    print(f"figures: {write_json('replay-python', words.json, document)}")
    return 0


def human_sites(old: Path, new: Path, below: str, names: Set[str]) -> Iterator[Site]:
    """Yield the calls of ``names`` that people added in the folder ``below``."""
    for path in sorted((new / below).rglob("*.py")):
        content = path.read_bytes()
        file = path.relative_to(new)
        if not any(name.encode() in content for name in names) or not (old / file).exists():
            continue
        before = functions(ast.parse((old / file).read_bytes()))
        for name, function in functions(ast.parse(content)).items():
            if name not in before:
                continue
            there = set(calls(before[name], names))
            expressions = {ast.unparse(node) for node in ast.walk(before[name]) if isinstance(node, ast.expr)}
            for call, arguments in calls(function, names):
                if (call, arguments) not in there and all(argument in expressions for argument in arguments):
                    yield Site(file.as_posix(), name, call, arguments)


def by_file(sites: Iterator[Site]) -> dict[str, list[Site]]:
    found: dict[str, list[Site]] = defaultdict(list)
    for site in sites:
        found[site.file].append(site)
    return found


def judge(old: Path, file: str, sites: list[Site], names: Set[str]) -> tuple[list[Site], list[Proposal]]:
    """Return the sites of one file with their verdicts, and the tool's calls outside the sites."""
    outcome = rewritten(old, file, unsafe=True)
    assert isinstance(outcome, (Changed, Unchanged)), outcome
    content = outcome.source.content
    before = functions(ast.parse(content))
    after = functions(ast.parse(outcome.after if isinstance(outcome, Changed) else content))
    written = {
        name: Counter(calls(after[name], names)) - Counter(calls(function, names))
        for name, function in before.items()
        if name in after  # else the function itself has another name now
    }
    judged: list[Site] = []
    left: list[Site] = []
    for site in sites:
        if written[site.function][site.call, site.arguments] > 0:
            written[site.function][site.call, site.arguments] -= 1
            judged.append(replace(site, verdict="identical"))
        else:
            left.append(site)
    judged += [_other(site, written[site.function]) for site in left]
    theirs = {argument for site in sites for argument in site.arguments}
    beyond = [
        Proposal(f"{file}:{line_of(before[name], *call)}", name, show(*call), call[0])
        for name, count in written.items()
        for call in count.elements()
        if not theirs & set(call[1])
    ]
    return judged, beyond


def line_of(function: ast.AST, call: str, arguments: tuple[str, ...]) -> int:
    """Return the line of one of the arguments in the older function. A nested call gets the line of the outer one."""
    for node in ast.walk(function):
        if isinstance(node, ast.expr) and ast.unparse(node) in arguments and not isinstance(node, ast.Constant):
            return node.lineno
    return getattr(function, "lineno", 0)


def _other(site: Site, written: Counter[Call]) -> Site:
    """Classify a site without an identical call as different or refused."""
    for call, arguments in written.elements():
        shared = [one for one in site.arguments for other in arguments if one in other or other in one]
        if any(len(one) > 3 for one in shared):
            return replace(site, verdict="different", ours=f"→ {show(call, arguments)}")
    return replace(site, verdict="refused")


def show(call: str, arguments: tuple[str, ...]) -> str:
    return f"{call}({', '.join(arguments)})"


def functions(tree: ast.Module) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    """Return functions by qualified name. Of several with one name, the first is used."""
    found: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = {}

    def walk(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found.setdefault(prefix + child.name, child)
                walk(child, f"{prefix}{child.name}.")
            else:
                walk(child, f"{prefix}{child.name}." if isinstance(child, ast.ClassDef) else prefix)

    walk(tree, "")
    return found


def calls(function: ast.AST, names: Set[str]) -> Iterator[Call]:
    """Yield the calls of ``names``, without those in nested functions."""
    for child in ast.iter_child_nodes(function):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        if isinstance(child, ast.Call):
            name = getattr(child.func, "id", getattr(child.func, "attr", ""))
            if name in names:
                yield name, tuple(ast.unparse(argument) for argument in child.args)
        yield from calls(child, names)


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/replay-python", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tree", type=Path, help="the older tree (default: scripts/corpus brings 2.6.0)")
    parser.add_argument("--inductor", action="store_true", help="judge the calls below torch/_inductor")
    parser.add_argument("--verbose", action="store_true", help="print every site that is not identical")
    parser.add_argument("--sample", type=int, default=0, help="draw so many of the calls beyond the sites")
    parser.add_argument("--write", action="store_true", help="write the draw to judged.md beside this module")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

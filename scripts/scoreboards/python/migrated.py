"""Validity of PyTorch 2.6.0's Python for the installed torch, after migration by the rules.

Protocol. The migrations (``--every-rule``: all rules) run on every file of the older ``torch/``, unsafe fixes included.

- Every result compiles, and no fix writes a retired name.
- ``--import``: each changed module replaces the installed one and is imported, in its original and its migrated form.
  Each import has a separate process. A module that imports in its original form has to import migrated. Most of the
  other modules need further modules of their own release.
- ``--trace``: the bodies of the functions that the migrations changed are inserted into the installed torch's modules.
  A function with that name and these arguments has to exist there. Their imports and helpers are inserted too. Then one
  sample of each OpInfo is called on fake tensors with unbacked sizes. Those that reach such a function are also traced
  by make_fx with backed sizes, before and after the migration. There may be no new failure, and the graphs have to be
  the same.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from symfix.codemods.engine.fixpoint import FixOptions, rewrite
from symfix.codemods.engine.registry import load_language
from symfix.codemods.model.outcome import Changed, Refused
from symfix.codemods.model.rule import Context
from symfix.codemods.model.source_file import SourceFile

from scoreboards.table import table, write_json

from ..corpus import source_tree
from .engine import WING, installed_torch, rules, site_packages
from .grafting import Graft, graft

RETIRED = re.compile(
    rb"\b(guard_size_oblivious|definitely_true|definitely_false|_check_is_size|evaluate_static_shape|guard_equals)\b"
)


@dataclass(frozen=True)
class Migrated:
    """A changed file of the older tree."""

    file: str
    before: bytes
    outcome: Changed

    @property
    def module(self) -> str:
        return ".".join(Path(self.file).with_suffix("").parts).removesuffix(".__init__")

    def emitted(self) -> list[str]:
        """Return retired names that a fix adds."""
        found = []
        for fix in self.outcome.applied:
            for edit in fix.edits:
                new, old = RETIRED.findall(edit.text), RETIRED.findall(self.before[edit.start : edit.end])
                found += [f"{self.file}: {name.decode()}" for name in new if new.count(name) > old.count(name)]
        return found


def main() -> int:
    words = _words()
    top = source_tree("2.6.0", words.tree)
    changed = list(migrated(top, every_rule=words.every_rule))
    broken = [one.file for one in changed if not _compiles(one.outcome.after)]
    emitted = [said for one in changed for said in one.emitted()]
    sites = sum(_sites(one.before) for one in changed), sum(_sites(one.outcome.after) for one in changed)
    print(f"{len(changed)} files changed, {sum(len(one.outcome.applied) for one in changed)} fixes")
    print(f"calls of guard_size_oblivious in them: {sites[0]} before, {sites[1]} after")
    print(f"do not compile: {len(broken)} {' '.join(broken)}")
    print(f"retired names written: {len(emitted)} {' '.join(emitted)}")
    document: dict[str, Any] = {"files": [one.file for one in changed], "broken": broken, "emitted": emitted}
    good = not broken and not emitted
    with tempfile.TemporaryDirectory(prefix="symfix-migrated-") as name:
        if words.do_import:
            document["imports"] = answers = imports(changed, top, Path(name))
            good &= tell_imports(answers)
        if words.trace:
            document["traces"] = traces = trace(changed, Path(name), words.every)
            good &= tell_traces(traces)
    print(f"figures: {write_json('migrated-python', words.json, document)}")
    return 0 if good else 1


def migrated(top: Path, *, every_rule: bool) -> Iterator[Migrated]:
    """Yield the files of the older tree that the rules change."""
    chosen = [rule for rule in rules() if every_rule or rule.name.startswith("migrate_")]
    markers = {marker for rule in chosen for marker in rule.markers}
    for path in sorted((top / "torch").rglob("*.py")):
        content = path.read_bytes()
        if any(marker in content for marker in markers):
            source = SourceFile(path.relative_to(top), content)
            outcome = rewrite(
                source, chosen, load_language(WING), Context(installed_torch()), FixOptions(unsafe=True, polish=False)
            )
            assert not isinstance(outcome, Refused), outcome
            if isinstance(outcome, Changed):
                yield Migrated(source.path.as_posix(), content, outcome)


def imports(changed: list[Migrated], top: Path, folder: Path) -> dict[str, dict[str, str]]:
    """Return the import error of each module in its original and its migrated form, or "" if it imports."""
    modules = {}
    for one in changed:
        place = folder / "imported" / one.file
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(one.outcome.after)
        modules[one.module] = {"before": str(top / one.file), "after": str(place)}
    answers: dict[str, dict[str, str]] = _ask("importing", folder, {"modules": modules})
    return answers


def tell_imports(answers: dict[str, dict[str, str]]) -> bool:
    """Print the table and return whether nothing is lost."""
    before = {module for module, said in answers.items() if not said["before"]}
    after = {module for module, said in answers.items() if not said["after"]}
    print(f"modules that import over the installed torch: {len(before)} as they were, {len(after)} migrated")
    print(f"only as they were: {' '.join(sorted(before - after))}")
    print(f"only migrated: {' '.join(sorted(after - before))}")
    print(table((module, said["before"][:90]) for module, said in answers.items() if module not in before | after))
    return before <= after


def trace(changed: list[Migrated], folder: Path, every: int) -> dict[str, Any]:
    """Trace the operators and return the changed functions, their executed lines, and the results."""
    grafts: list[Graft] = []
    for one in changed:
        installed = site_packages() / one.file
        # Dynamo itself traces: with bodies of another release it does not even load.
        if installed.exists() and not one.file.startswith("torch/_dynamo/"):
            grafts.append(
                graft(one.file, one.module, installed.read_text(), one.before.decode(), one.outcome.after.decode())
            )
    runs = {}
    for label in ("before", "after"):
        modules = {}
        for made in grafts:
            if made.functions:
                place = folder / label / made.file
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(made.text(label))
                modules[made.module] = str(place)
        lines = {str(site_packages() / made.file): made.changed_lines(label) for made in grafts if made.functions}
        runs[label] = _ask("reaching", folder, {"modules": modules, "lines": lines, "every": every})
    return {
        "grafted": {one.file: sorted(one.functions) for one in grafts},
        "not grafted": {one.file: one.left for one in grafts if one.left},
        "lines": {one.file: one.changed_lines("after") for one in grafts if one.functions},
        **runs,
    }


def tell_traces(traces: dict[str, Any]) -> bool:
    """Print the traces and return whether nothing is worse."""
    before, after = traces["before"]["operators"], traces["after"]["operators"]
    reached = {(file, line) for said in after.values() for file, line in said["lines"]}
    ran = {name for name, said in after.items() if said["lines"]}
    worse = [
        f"{name} ({way}): {after[name][way]}"
        for name in after
        for way in ("unbacked", "backed")
        if way in before[name].keys() & after[name].keys()
        and before[name][way] != after[name][way]
        and not before[name][way].startswith("error")
    ]
    better = [
        f"{name} ({way}): {before[name][way]}"
        for name in after
        for way in ("unbacked", "backed")
        if way in before[name].keys() & after[name].keys()
        and before[name][way].startswith("error")
        and not after[name][way].startswith("error")
    ]
    rows = []
    for file, lines in traces["lines"].items():
        run = sum((str(site_packages() / file), line) in reached for line in lines)
        rows.append((file, len(traces["grafted"][file]), len(traces["not grafted"].get(file, {})), len(lines), run))
    print(table([("file", "functions put in", "left out", "changed lines", "ran"), *rows]))
    for file, left in traces["not grafted"].items():
        for function, why in left.items():
            print(f"  left out: {file} {function}: {why}")
    print(f"{len(after)} operators called, {len(ran)} through changed lines")
    print(f"another answer or graph than before the migration: {len(worse)}")
    print("\n".join("  " + said for said in worse))
    print(f"failing before and not after: {len(better)}")
    print("\n".join("  " + said[:160] for said in better))
    return not worse


def _ask(child: str, folder: Path, question: dict[str, Any]) -> Any:
    asked, report = folder / f"{child}.json", folder / f"{child}.report"
    asked.write_text(json.dumps({**question, "report": str(report)}))
    command = [sys.executable, "-m", f"scoreboards.python.{child}", str(asked)]
    ended = subprocess.run(
        command, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=False
    )
    if ended.returncode:
        raise SystemExit(f"the child died:\n{ended.stderr[-3000:]}")
    return json.loads(report.read_text())


def _compiles(content: bytes) -> bool:
    try:
        compile(content, "a.py", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def _sites(content: bytes) -> int:
    calls = (node.func for node in ast.walk(ast.parse(content)) if isinstance(node, ast.Call))
    return sum("guard_size_oblivious" in (getattr(func, "id", ""), getattr(func, "attr", "")) for func in calls)


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/migrated-python", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tree", type=Path, help="the older tree (default: scripts/corpus brings 2.6.0)")
    parser.add_argument("--every-rule", action="store_true", help="all rules, not only the migrations")
    parser.add_argument("--import", dest="do_import", action="store_true", help="import each module (some minutes)")
    parser.add_argument("--trace", action="store_true", help="run the operators (some minutes)")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth operator")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

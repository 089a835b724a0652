"""Small models in the shape of public reports: results of symfix export, compared with a person's fix.

Each model of golden/reports is measured in two ways: `torch.export` with dynamic sizes, and `torch.compile` as one
graph with unbacked sizes. The board shows for each way whether the model passes unchanged, and whether it passes with
the person's patch. It also shows the verdict of symfix, which does not use the person's patch. Both patches are
compared in the same way with the model, and the patched model must give the same results as before in eager. Further
inputs that the model refuses are passed to the patched programs too. A patch whose program accepts one of them does not
pass.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from symfix.codemods.harness.process_limits import Limits
from symfix.codemods.harness.temp_folder import scratch_folder
from symfix.codemods.harness.torch_variant import Harness, Variant
from symfix.codemods.torchapi.torch_finder import locate
from symfix.codemods.workflows.export.folder import to_json, write
from symfix.codemods.workflows.export.outcome import Exported, ExportOutcome, TargetVerdict
from symfix.codemods.workflows.export.procedure import ExportRequest, export, variant_of
from symfix.codemods.workflows.export.target_trials import ModelTrial, Targets
from symfix.codemods.workflows.repair.trials import Trial

ROOT = Path(__file__).parents[2]
REPORTS = ROOT / "golden" / "reports"
LIMITS = Limits(wall=30.0, cpu=60)
"""Limits for one model, which takes about two seconds. The usual ones are too long for a ``while`` that a default makes
endless."""
REFUSES = "the program refuses what the model takes"
_CLASS = re.compile(r"^Class: (.+)\.$", re.MULTILINE)


@dataclass(frozen=True)
class Way:
    """A way to trace: its name, its title on the board, and its options for symfix."""

    name: str
    words: str
    unbacked: bool
    backend: str


WAYS = (
    Way("dynamic", "dynamic sizes, torch.export", False, "export"),
    Way("unbacked", "unbacked sizes, torch.compile as one graph", True, "compile"),
)


@dataclass(frozen=True)
class Case:
    """A model of the folder and the person's patch of it."""

    name: str
    kind: str
    model: Path
    patch: Path


@dataclass(frozen=True)
class Row:
    """The result of one way for one model, with symfix's and with the person's patch."""

    name: str
    kind: str
    as_it_is: bool
    human: bool
    human_message: str
    human_refuses: bool
    human_takes: tuple[str, ...]
    """Inputs that the program with the person's patch accepts although the model rejects them."""
    verdict: str
    reason: str
    message: str
    refuses: bool
    takes: tuple[str, ...]
    """Inputs that the program with symfix's patch accepts although the model rejects them."""

    @property
    def fails(self) -> bool:
        return not self.as_it_is

    @property
    def mendable(self) -> bool:
        """Return whether the model fails unchanged and passes with a person's patch."""
        return self.fails and self.human


def main() -> None:
    words = _words()
    started = time.monotonic()
    cases = chosen(read(REPORTS), words.only)
    if not cases:
        sys.exit(f"report-models: {REPORTS} has no model of this name")
    boards: dict[str, list[Row]] = {}
    outcomes: dict[str, ExportOutcome] = {}
    with scratch_folder() as scratch:
        patched = {case.model: mended(case, scratch) for case in cases}
        for way in WAYS:
            print(f"{way.words}:", file=sys.stderr, flush=True)
            outcomes[way.name], boards[way.name] = measured(way, cases, patched, words, scratch)
    if words.output is not None:
        for name, outcome in outcomes.items():
            write(outcome, words.output / name)
    if words.json is not None:
        words.json.write_text(json.dumps(_as_json(boards, outcomes), indent=1) + "\n")
    torch = next(iter(outcomes.values())).torch.split()[0]
    print(f"torch {torch}; {len(cases)} models; {(time.monotonic() - started) / 60:.0f} minutes")
    for way in WAYS:
        for line in table(way, boards[way.name]):
            print(line)


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/report-models", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", action="append", metavar="NAME", help="this model only; can be given several times")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write rows, counts and evidence as JSON")
    parser.add_argument("--output", type=Path, metavar="DIR", help="also write symfix's patches, a folder for each way")
    parser.add_argument("--torch-python", type=Path, metavar="EXE", help="an interpreter with another torch")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    return parser.parse_args()


def read(folder: Path) -> list[Case]:
    """Return the models of a folder by name. Each has its class in the last line of its docstring."""
    return [
        Case(model.stem, kind_of(model.read_text("utf-8")), model, model.with_suffix(".patch"))
        for model in sorted(folder.glob("*.py"))
    ]


def kind_of(text: str) -> str:
    """Return the class of obstacle that a model represents. Raises ValueError if its docstring names none."""
    found = _CLASS.search(ast.get_docstring(ast.parse(text)) or "")
    if found is None:
        raise ValueError("the docstring has no line 'Class: …'")
    return found[1]


def chosen(cases: Sequence[Case], only: Sequence[str] | None) -> list[Case]:
    return [case for case in cases if not only or case.name in only]


def mended(case: Case, scratch: Path) -> bytes:
    """Return the text of a model with the person's patch. Raises CalledProcessError if it does not apply."""
    folder = scratch / "human"
    copy = folder / case.model.relative_to(ROOT)
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(case.model, copy)
    # Outside of any repository, since `git apply` skips files that its repository does not contain.
    command = ["git", "-c", "core.autocrlf=false", "apply", "-p1", str(case.patch)]
    environment = {"PATH": _path(), "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True)
    return copy.read_bytes()


def _path() -> str:
    git = shutil.which("git")
    if git is None:
        sys.exit("report-models: git is not installed")
    return str(Path(git).parent)


def measured(
    way: Way, cases: Sequence[Case], patched: Mapping[Path, bytes], words: argparse.Namespace, scratch: Path
) -> tuple[ExportOutcome, list[Row]]:
    targets = tuple(str(case.model) for case in cases)
    wanted = ExportRequest(
        targets, ROOT, (way.backend,), way.unbacked, torch_python=words.torch_python, jobs=words.jobs, limits=LIMITS
    )
    laboratory = Harness(locate(None, words.torch_python).python, scratch, wanted.limits)
    tries = Targets(ROOT, wanted.ways, wanted.unbacked)
    every = dict.fromkeys(targets, -1)
    tries(laboratory, Variant("installed"), every, 0, words.jobs)
    # The patches change different files, so one run can contain all of them.
    human = tries(laboratory, variant_of(patched, laboratory), every, 0, words.jobs).trials
    outcome = export(wanted, scratch, lambda text: print(f"  {text}", file=sys.stderr, flush=True))
    by_name = {one.target: one for one in outcome.targets}
    theirs = {file.path: file.after for one in outcome.targets if one.left is None for file in one.files}
    ours = tries(laboratory, variant_of(theirs, laboratory), every, 0, words.jobs).trials
    rows = [
        row(
            case,
            by_name[str(case.model)],
            human[str(case.model)],
            [taken(one[str(case.model)]) for one in (human, ours)],
        )
        for case in cases
    ]
    return outcome, rows


def taken(trial: Trial) -> tuple[str, ...]:
    """Return the further inputs that the program accepts although the model refuses them."""
    return trial.taken if isinstance(trial, ModelTrial) else ()


def row(case: Case, one: Exported, human: Any, taken: Sequence[Sequence[str]]) -> Row:
    """Build the row of one model in one way. ``taken`` are the wrongly accepted inputs, by person and by symfix."""
    notes = human.notes if isinstance(human, ModelTrial) else ()
    return Row(
        case.name,
        case.kind,
        one.verdict is TargetVerdict.AS_IT_IS,
        human.passed,
        "" if human.passed else human.message,
        any(REFUSES in note for note in notes),
        tuple(taken[0]),
        one.verdict.value,
        one.left.reason if one.left is not None else "",
        one.left.message if one.left is not None else one.message,
        bool(one.refused),
        tuple(taken[1]),
    )


def counts(rows: Sequence[Row]) -> dict[str, int]:
    """Count the rows of a way. A share refers to failing models that a person's patch fixes."""
    mendable = [row for row in rows if row.mendable]
    proven = [row for row in mendable if row.verdict == TargetVerdict.PROVEN.value]
    return {
        "models": len(rows),
        "pass as they are": sum(row.as_it_is for row in rows),
        "fail": sum(row.fails for row in rows),
        "fail, mended by a person": len(mendable),
        "of these proven by symfix": len(proven),
        "proven, but an input is refused that the model takes": sum(row.refuses for row in proven),
        "proven, but an input is taken that the model refuses": sum(bool(row.takes) for row in proven),
        "fail, mended by a person, one side only by symfix": sum(
            row.verdict == TargetVerdict.ONE_SIDED.value for row in mendable
        ),
        "fail, not mended by a person": sum(row.fails and not row.human for row in rows),
        "proven by symfix alone": sum(
            row.fails and not row.human and row.verdict == TargetVerdict.PROVEN.value for row in rows
        ),
        "pass as they are, not with the person's patch": sum(row.as_it_is and not row.human for row in rows),
    }


def table(way: Way, rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of the board of one way."""
    yield f"\n{way.words}"
    yield "| model | class | as it is | person's patch | symfix |"
    yield "|---|---|---|---|---|"
    for one in rows:
        yield f"| {one.name} | {one.kind} | {_passes(one.as_it_is)} | {_human(one)} | {_verdict(one)} |"
    found = counts(rows)
    yield "\n| count | models |\n|---|---|"
    for name, number in found.items():
        yield f"| {name} | {number} |"
    mendable, proven = found["fail, mended by a person"], found["of these proven by symfix"]
    share = f"{100 * proven / mendable:.0f} %" if mendable else "none to prove"
    yield f"| share proven of what a person mends | {share} |"
    yield "\n| class | fail, mended by a person | proven |\n|---|---|---|"
    for kind in sorted({one.kind for one in rows if one.mendable}):
        figures = counts([one for one in rows if one.kind == kind])
        yield f"| {kind} | {figures['fail, mended by a person']} | {figures['of these proven by symfix']} |"


def _passes(good: bool) -> str:
    return "passes" if good else "fails"


def _human(one: Row) -> str:
    return _passes(one.human) + _but(one.human_refuses, one.human_takes)


def _verdict(one: Row) -> str:
    reason = f": {one.reason}" if one.reason else ""
    return one.verdict + reason + _but(one.refuses, one.takes)


def _but(refuses: bool, takes: Sequence[str]) -> str:
    return (", refuses an input" if refuses else "") + (", takes a refused one" if takes else "")


def _as_json(boards: Mapping[str, Sequence[Row]], outcomes: Mapping[str, ExportOutcome]) -> dict[str, Any]:
    return {
        name: {
            "counts": counts(rows),
            "rows": [asdict(one) for one in rows],
            "outcome": to_json(outcomes[name]),
        }
        for name, rows in boards.items()
    }


if __name__ == "__main__":
    main()

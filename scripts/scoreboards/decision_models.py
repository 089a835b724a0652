"""Small models in which values decide: what symfix export does with each, beside a person's fix.

Each model of golden/decisions is measured as those of golden/reports are. Then each patch that symfix calls proven is
held against the model on drawn inputs: in eager, and exported.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from symfix.codemods.harness.temp_folder import scratch_folder
from symfix.codemods.workflows.export.folder import write
from symfix.codemods.workflows.export.outcome import ExportOutcome, TargetVerdict

from .report_models import ROOT, WAYS, Case, Row, chosen, counts, measured, mended, read, table

DECISIONS = ROOT / "golden" / "decisions"
_SECONDS = 900
Drawn = Mapping[str, Mapping[str, Any]]
"""By model, the counts of the drawn inputs and the first that is wrong."""


def main() -> None:
    words = _words()
    started = time.monotonic()
    cases = chosen(read(DECISIONS), words.only)
    if not cases:
        sys.exit(f"decision-models: {DECISIONS} has no model of this name")
    boards: dict[str, list[Row]] = {}
    with scratch_folder() as scratch:
        patched = {case.model: mended(case, scratch) for case in cases if case.patch.is_file()}
        for way in WAYS[: 1 if words.dynamic else None]:
            print(f"{way.words}:", file=sys.stderr, flush=True)
            outcome, boards[way.name] = measured(way, cases, patched, words, scratch)
            if words.output is not None:
                write(outcome, words.output / way.name)
            if way.name == "dynamic":
                drawn = dict(draw_all(cases, outcome, words.inputs, scratch, words.jobs))
    if words.json is not None:
        rows = {
            name: {"counts": counts(board), "rows": [asdict(one) for one in board]} for name, board in boards.items()
        }
        words.json.write_text(json.dumps({**rows, "drawn": drawn}, indent=1) + "\n")
    print(f"{len(cases)} models; {(time.monotonic() - started) / 60:.0f} minutes")
    for way in WAYS:
        for line in table(way, boards[way.name]) if way.name in boards else ():
            print(line)
    for line in lines(drawn):
        print(line)
    sys.exit(1 if any(one["wrong"] for one in drawn.values()) else 0)


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/decision-models", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", action="append", metavar="NAME", help="this model only; can be given several times")
    parser.add_argument(
        "--inputs", type=int, default=1000, metavar="N", help="drawn inputs for each proven patch [1000]"
    )
    parser.add_argument("--dynamic", action="store_true", help="torch.export with dynamic sizes only")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write rows and counts as JSON")
    parser.add_argument("--output", type=Path, metavar="DIR", help="also write symfix's patches, a folder for each way")
    parser.add_argument("--torch-python", type=Path, metavar="EXE", help="an interpreter with another torch")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    return parser.parse_args()


def draw_all(
    cases: Sequence[Case], outcome: ExportOutcome, count: int, scratch: Path, jobs: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name of each model whose patch is proven, with the counts of its drawn inputs."""
    texts = {one.target: one.files for one in outcome.targets if one.verdict is TargetVerdict.PROVEN}
    folder = scratch / "patched"
    folder.mkdir()

    def draw(case: Case) -> tuple[str, dict[str, Any]]:
        after = folder / case.model.name
        command = [sys.executable, "-m", "scoreboards.drawn_inputs", str(case.model), str(after), str(count)]
        try:
            ended = subprocess.run(command, cwd=ROOT / "scripts", capture_output=True, text=True, timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            return case.name, {"counts": {}, "wrong": f"no answer in {_SECONDS} seconds"}
        last = ended.stderr.strip().splitlines()[-1:] or ["no answer"]
        return case.name, json.loads(ended.stdout) if not ended.returncode else {"counts": {}, "wrong": last[0]}

    proven = [case for case in cases if texts.get(str(case.model))]
    for case in proven:
        for file in texts[str(case.model)]:
            (folder / case.model.name).write_bytes(file.after)
    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(draw, proven)


def lines(drawn: Drawn) -> Iterator[str]:
    """Yield the counts of all drawn inputs, and what is wrong."""
    together: Counter[str] = Counter()
    for one in drawn.values():
        together.update(one["counts"])
    yield f"\ndrawn inputs of {len(drawn)} proven patches"
    yield "| outcome | inputs |\n|---|---|"
    yield from (f"| {name} | {number} |" for name, number in together.most_common())
    yield "\n| way to trace the patched models | trace, and give on the given call what the model gives |\n|---|---|"
    ways = {way: None for one in drawn.values() for way in one.get("ways", ())}
    for way in ways:
        said = {name: one["ways"].get(way, "") for name, one in drawn.items() if "ways" in one}
        yield f"| {way} | {sum(not why for why in said.values())} of {len(said)} |"
        yield from (f"{way}: {name}: {why}" for name, why in said.items() if why)
    yield from (f"wrong: {name}: {one['wrong']}" for name, one in drawn.items() if one["wrong"])


if __name__ == "__main__":
    main()

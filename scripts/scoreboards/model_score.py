"""Number of models of public libraries that export with unbacked and dynamic sizes, before and after symfix export."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from symfix.codemods.harness.temp_folder import scratch_folder
from symfix.codemods.harness.torch_variant import Harness, Variant
from symfix.codemods.torchapi.torch_finder import locate
from symfix.codemods.workflows.export.folder import patches, write
from symfix.codemods.workflows.export.outcome import Exported, ExportOutcome, TargetVerdict
from symfix.codemods.workflows.export.page import page
from symfix.codemods.workflows.export.procedure import ExportRequest, export, variant_of
from symfix.codemods.workflows.export.target_trials import Targets

ZOO = Path(__file__).with_name("model_targets.py")
KINDS = ("causal", "encoder", "vision", "diffusion")
Passing = Mapping[str, bool]


def main() -> None:
    words = _words()
    started = time.monotonic()
    found, missing, libraries = built(words.torch_python)
    chosen = [name for kind in KINDS for name in spread(_of(kind, found), words.most)]
    if not chosen:
        sys.exit("model-score: no model can be built; is the extra [models] installed?")
    print(f"{len(chosen)} models of {len(found)} that can be built ({len(missing)} can't)", file=sys.stderr)
    targets = tuple(f"{ZOO}:{name}" for name in chosen)
    wanted = ExportRequest(
        targets, ZOO.parent, ("compile",), unbacked=True, torch_python=words.torch_python, jobs=words.jobs
    )
    with scratch_folder() as scratch:
        outcome = export(wanted, scratch, lambda text: print(f"  {text}", file=sys.stderr, flush=True))
        if words.output is not None:
            write(outcome, words.output)
            (words.output / "export.html").write_text(page(outcome), encoding="utf-8")
        laboratory = Harness(locate(None, words.torch_python).python, scratch, wanted.limits)
        before, after = dynamic(outcome, laboratory, words.jobs)
    for line in table(outcome, before, after, (time.monotonic() - started) / 60):
        print(line)
    for library in libraries:
        print(f"\n{library}: not installed here, its models are not tried")


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/model-score", description=__doc__)
    parser.add_argument("--most", type=int, metavar="N", help="at most N models of each kind, evenly spread [all]")
    parser.add_argument("--output", type=Path, metavar="DIR", help="also write the patches, the evidence and a page")
    parser.add_argument("--torch-python", type=Path, metavar="EXE", help="an interpreter with torch and the libraries")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    return parser.parse_args()


def built(python: Path | None) -> tuple[list[str], dict[str, str], list[str]]:
    """Return the models that can be built, the reasons for the others, and the missing libraries."""
    command = [str(python or sys.executable), str(ZOO)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    rows = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    if not rows:
        sys.exit(f"model-score: {(ran.stderr.strip().splitlines() or ['no answer'])[-1]}")
    good = [row["target"] for row in rows if "target" in row and "why" not in row]
    why = {row["target"]: row["why"] for row in rows if "why" in row}
    return good, why, [row["library"] for row in rows if "library" in row]


def dynamic(outcome: ExportOutcome, laboratory: Harness, jobs: int) -> tuple[Passing, Passing]:
    """Return for each model whether it exports with dynamic sizes, unchanged and with its patch."""
    tries = Targets(ZOO.parent, ("export",), unbacked=False)
    every = {one.target: -1 for one in outcome.targets}
    before = tries(laboratory, Variant("installed"), every, 0, jobs).trials
    after = {name: trial.passed for name, trial in before.items()}
    for written in patches(outcome):
        group = [one for one in written.targets if one.verdict in _PATCHED]
        if not group:
            continue
        variant = variant_of({file.path: file.after for file in written.files}, laboratory)
        tried = tries(laboratory, variant, {one.target: -1 for one in group}, 0, min(jobs, len(group))).trials
        after |= {name: trial.passed for name, trial in tried.items()}
    return {name: trial.passed for name, trial in before.items()}, after


def table(outcome: ExportOutcome, before: Passing, after: Passing, minutes: float) -> Iterator[str]:
    """Yield the lines of the board."""
    yield f"torch {outcome.torch.split()[0]}; {minutes:.0f} minutes"
    yield "| kind | models | unbacked before | with patch | one side unseen | dynamic before | with patch |"
    yield "|---|---|---|---|---|---|---|"
    for kind in (*KINDS, ""):
        rows = [one for one in outcome.targets if _name(one).startswith(kind)]
        if rows:
            yield f"| {kind or 'all'} | {len(rows)} | {' | '.join(map(str, _counts(rows, before, after)))} |"
    worse = sorted(_name(one) for one in outcome.targets if before[one.target] and not after[one.target])
    yield f"\nworse with dynamic sizes: {', '.join(worse) or 'none'}"
    yield "\n| models | file that is patched |\n|---|---|"
    files = Counter(file.name for one in outcome.targets if one.verdict in _PATCHED for file in one.files)
    yield from (f"| {count} | {name} |" for name, count in files.most_common())
    yield "\n| left | models |\n|---|---|"
    reasons: dict[str, list[str]] = {}
    for one in outcome.targets:
        if one.left is not None:
            reasons.setdefault(one.left.reason, []).append(_name(one))
    for reason, names in sorted(reasons.items(), key=lambda item: -len(item[1])):
        yield f"| {reason} | {len(names)}: {', '.join(names)} |"


_PATCHED = (TargetVerdict.PROVEN, TargetVerdict.ONE_SIDED)


def _counts(rows: Sequence[Exported], before: Passing, after: Passing) -> Iterator[int]:
    verdicts = Counter(one.verdict for one in rows)
    yield verdicts[TargetVerdict.AS_IT_IS]
    yield verdicts[TargetVerdict.AS_IT_IS] + verdicts[TargetVerdict.PROVEN]
    yield verdicts[TargetVerdict.ONE_SIDED]
    yield sum(before[one.target] for one in rows)
    yield sum(after[one.target] for one in rows)


def spread(names: Sequence[str], most: int | None) -> list[str]:
    """Return at most ``most`` of the names, at even distances."""
    if most is None or len(names) <= most:
        return list(names)
    return [names[number * len(names) // most] for number in range(most)]


def _of(kind: str, names: Sequence[str]) -> list[str]:
    return [name for name in names if name.startswith(f"{kind}_")]


def _name(one: Exported) -> str:
    return one.target.rpartition(":")[2]


if __name__ == "__main__":
    main()

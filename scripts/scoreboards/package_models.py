"""Modules and functions of public packages: results of symfix export with dynamic and with unbacked sizes.

Group one may be inspected while symfix is improved. Group two is only measured at the end. The hash of a package's name
decides its group. The packages are pure Python of pinned versions, unpacked below `.corpus/packages`. `--download`
fetches missing ones. A package that is missing is skipped and named on the last lines.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from symfix.codemods.harness.process_limits import Limits
from symfix.codemods.harness.temp_folder import scratch_folder
from symfix.codemods.workflows.export.folder import to_json, write
from symfix.codemods.workflows.export.outcome import Exported, ExportOutcome, TargetVerdict
from symfix.codemods.workflows.export.procedure import ExportRequest, export

from .package_targets import CORPUS, NEEDED, PACKAGES, group_of, names_of, root_of
from .report_models import WAYS, Way

ROOT = Path(__file__).resolve().parents[2]
TARGETS = Path(__file__).with_name("package_targets.py")


@dataclass(frozen=True)
class Row:
    """The result of one way for one target."""

    target: str
    package: str
    group: int
    verdict: str
    reason: str
    message: str
    refused: tuple[str, ...]
    """Calls that the model accepts and the program rejects."""
    files: tuple[str, ...]

    @property
    def usable(self) -> bool:
        return self.verdict != TargetVerdict.UNUSABLE.value

    @property
    def fails(self) -> bool:
        return self.usable and self.verdict != TargetVerdict.AS_IT_IS.value


def main() -> None:
    words = _words()
    started = time.monotonic()
    if words.download:
        download(CORPUS)
    wanted = chosen(words.only, words.group)
    gone = missing(CORPUS)
    there = [package for package in wanted if not blocked(package, gone)]
    boards: dict[str, list[Row]] = {way.name: [] for way in WAYS}
    outcomes: dict[str, dict[str, ExportOutcome]] = {way.name: {} for way in WAYS}
    for package in there:
        for way in WAYS:
            outcome = _measured(package, way, words)
            outcomes[way.name][package] = outcome
            boards[way.name] += rows_of(package, outcome.targets)
            if words.output is not None:
                write(outcome, words.output / way.name / package)
    if words.json is not None:
        words.json.write_text(json.dumps(_as_json(boards, outcomes), indent=1) + "\n")
    for line in board(boards, wanted, gone, (time.monotonic() - started) / 60):
        print(line)


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/package-models", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", action="append", choices=sorted(PACKAGES), metavar="PACKAGE", help="this one only")
    parser.add_argument("--group", type=int, choices=(1, 2), help="the packages of this group only")
    parser.add_argument("--download", action="store_true", help="first fetch the packages that are missing, by pip")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write rows, counts and evidence as JSON")
    parser.add_argument("--output", type=Path, metavar="DIR", help="also write the patches, by way and package")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    parser.add_argument("--timeout", type=float, default=60.0, metavar="SECONDS", help="for one try of a target [60]")
    parser.add_argument(
        "--limit", type=float, default=600.0, metavar="SECONDS", help="for the search in a package and a way [600]"
    )
    return parser.parse_args()


def chosen(only: Sequence[str] | None, group: int | None) -> list[str]:
    """Return the selected packages, sorted by group and name."""
    names = [name for name in PACKAGES if (not only or name in only) and group in (None, group_of(name))]
    return sorted(names, key=lambda name: (group_of(name), name.lower()))


def missing(corpus: Path) -> dict[str, str]:
    """Return the releases that are not in the corpus, by import name."""
    return {name: pin for name, pin in {**NEEDED, **PACKAGES}.items() if root_of(pin, name, corpus) is None}


def blocked(package: str, gone: Mapping[str, str]) -> list[str]:
    """Return the missing releases without which a package is skipped: itself, and shared dependencies."""
    return [pin for name, pin in gone.items() if name == package or name in NEEDED]


def download(corpus: Path) -> None:
    """Download and unpack missing releases. Failed downloads are printed."""
    corpus.mkdir(parents=True, exist_ok=True)
    for pin in missing(corpus).values():
        print(f"  downloading {pin}", file=sys.stderr, flush=True)
        # Unpacked in a temporary folder and then moved, so that an interrupted run leaves no incomplete tree.
        with tempfile.TemporaryDirectory(dir=corpus) as half:
            archives, unpacked = Path(half, "archives"), Path(half, "unpacked")
            pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "-qq", "--no-deps"]
            if subprocess.run([*pip, "--dest", str(archives), pin], check=False).returncode:
                print(f"package-models: pip could not download {pin}", file=sys.stderr)
                continue
            (archive,) = archives.iterdir()
            if archive.suffix == ".whl":
                shutil.unpack_archive(archive, unpacked, "zip")
            else:
                shutil.unpack_archive(archive, unpacked, filter="data")
            shutil.rmtree(corpus / pin, ignore_errors=True)
            unpacked.rename(corpus / pin)


def _measured(package: str, way: Way, words: argparse.Namespace) -> ExportOutcome:
    print(f"{package}, {way.words}:", file=sys.stderr, flush=True)
    targets = tuple(f"{TARGETS}:{name}" for name in names_of(package))
    limits = Limits(wall=words.timeout, cpu=int(2 * words.timeout))
    wanted = ExportRequest(
        targets, ROOT, (way.backend,), way.unbacked, jobs=words.jobs, limits=limits, search_seconds=words.limit
    )
    with scratch_folder() as scratch:
        return export(wanted, scratch, lambda text: print(f"  {text}", file=sys.stderr, flush=True))


def rows_of(package: str, targets: Sequence[Exported]) -> list[Row]:
    return [
        Row(
            one.target.rpartition("__")[2],
            package,
            group_of(package),
            one.verdict.value,
            one.left.reason if one.left is not None else "",
            one.left.message if one.left is not None else one.message,
            one.refused,
            tuple(file.name for file in one.files) if one.left is None else (),
        )
        for one in targets
    ]


def counts(rows: Sequence[Row]) -> dict[str, int]:
    """Count the rows by verdict. Unusable targets are counted, but not as failures."""
    verdicts = Counter(row.verdict for row in rows)
    return {
        "targets": len(rows),
        "pass as they are": verdicts[TargetVerdict.AS_IT_IS.value],
        "fail": sum(row.fails for row in rows),
        "proven": verdicts[TargetVerdict.PROVEN.value],
        "proven, but an input is refused that the model takes": sum(
            bool(row.refused) for row in rows if row.verdict == TargetVerdict.PROVEN.value
        ),
        "one side only": verdicts[TargetVerdict.ONE_SIDED.value],
        "proven with a change of torch": verdicts[TargetVerdict.WITH_TORCH.value],
        "left": verdicts[TargetVerdict.LEFT.value],
        "unusable": verdicts[TargetVerdict.UNUSABLE.value],
    }


def share(figures: Mapping[str, int]) -> str:
    return f"{100 * figures['proven'] / figures['fail']:.0f} %" if figures["fail"] else "none fails"


def board(
    boards: Mapping[str, Sequence[Row]], wanted: Sequence[str], gone: Mapping[str, str], minutes: float
) -> Iterator[str]:
    """Yield the lines of the board, with the missing packages last."""
    measured = {row.package for rows in boards.values() for row in rows}
    yield f"{len(measured)} packages; {minutes:.0f} minutes"
    for way in WAYS:
        yield from _way(way, boards[way.name])
    for package in wanted:
        pins = blocked(package, gone)
        if pins:
            yield f"not measured: {package}, {len(names_of(package))} targets: {', '.join(pins)} not in {CORPUS}"
    if gone:
        yield "scripts/package-models --download fetches what is missing"


def _way(way: Way, rows: Sequence[Row]) -> Iterator[str]:
    if not rows:
        return
    yield f"\n{way.words}"
    yield "| package | group | target | verdict | note |"
    yield "|---|---|---|---|---|"
    for row in rows:
        note = row.reason or ("" if row.usable else row.message)
        refused = f"refuses {', '.join(row.refused)}" if row.refused else ""
        yield f"| {row.package} | {row.group} | {row.target} | {row.verdict} | {note or refused} |"
    groups = sorted({row.group for row in rows})
    by_group = [counts([row for row in rows if row.group == group]) for group in groups]
    yield f"\n| count | {' | '.join(f'group {group}' for group in groups)} |"
    yield "|---|" + "---|" * len(groups)
    for name in by_group[0]:
        yield f"| {name} | {' | '.join(str(figures[name]) for figures in by_group)} |"
    yield f"| share proven of what fails | {' | '.join(map(share, by_group))} |"
    reasons = Counter((row.group, row.reason) for row in rows if row.reason)
    words = dict.fromkeys(reason for (_, reason), _ in reasons.most_common())
    for reason in words:
        yield f"| left: {reason} | {' | '.join(str(reasons[group, reason]) for group in groups)} |"


def _as_json(
    boards: Mapping[str, Sequence[Row]], outcomes: Mapping[str, Mapping[str, ExportOutcome]]
) -> Mapping[str, Mapping[str, Any]]:
    return {
        way: {
            "counts": {str(group): counts([row for row in rows if row.group == group]) for group in (1, 2)},
            "rows": [asdict(row) for row in rows],
            "outcomes": {package: to_json(one) for package, one in outcomes[way].items()},
        }
        for way, rows in boards.items()
    }


if __name__ == "__main__":
    main()

"""Planted faults: number of wrong rewrites that the verifier catches.

Protocol. Good rewrites are the results of `symfix fix --unsafe-fixes`. They are made of our own composite operators, a
module of the installed torch, and an operator file of PyTorch (if its sources are available). Each has to be `proven`
first. Then one fault at a time is planted in it by rule (scripts/scoreboards/planting.py). The result is verified
against the file before: on concrete sizes first, and with all protocols if that shows nothing.

A fault is caught when the verdict is `regressed`, or `unverifiable` with a reason about unrun or deviating code. It is
missed when the verdict is `proven` or `neutral`. An added guard is a separate change and is compared with the good
rewrite. Results of an interrupted run are reused, unless --fresh. Exit code: 0 when at least 29 of 30 are caught, 1
otherwise, 2 when a good rewrite is not proven.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from pathlib import Path

from symfix.codemods.engine.torch_context import TorchSurroundings
from symfix.codemods.harness.opinfo_runner import PROTOCOLS
from symfix.codemods.harness.process_limits import Limits
from symfix.codemods.verify.change import Change, Verdict, Verification
from symfix.codemods.verify.command import VerifySession, verify
from symfix.codemods.verify.request import VerifyRequest

from .corpus import NATIVE, ROOT
from .planting import CPP, PYTHON, Fault, Rule, plant
from .table import table, write_json

BAR = 29 / 30
SAMPLES = 4
PATIENCE = 45.0
_FIRST = ("varied", "decomposed")
"""Protocols that are run first, because they detect most faults within two seconds."""


@dataclass(frozen=True)
class Part:
    """Lines of a good rewrite, first and last, and the OpInfos that run them.

    ``before`` is the good text with these lines in their original form.
    """

    lines: tuple[int, int]
    operators: tuple[str, ...]
    before: str


@dataclass(frozen=True)
class Base:
    """A good rewrite for planting faults."""

    path: Path
    good: str
    parts: tuple[Part, ...]
    rules: tuple[Rule, ...]
    tree: Path | None = None


@dataclass(frozen=True)
class Row:
    """Result of one fault."""

    file: str
    line: int
    kind: str
    was: str
    now: str
    verdict: str
    reason: str
    seconds: float

    @property
    def caught(self) -> bool:
        return self.verdict in (Verdict.REGRESSED.value, Verdict.UNVERIFIABLE.value)


def main() -> int:
    words = _words()
    place = TorchSurroundings().place
    if place is None:
        raise SystemExit("no torch to verify against")
    with tempfile.TemporaryDirectory() as scratch:
        every = bases(Path(scratch), place.package, words.tree)
        found = [base for base in every if words.file in (None, base.path.name)]
        for base in found:
            for part in base.parts:
                answer = _verify(base, part.before, base.good, part, words.fresh)
                say(f"{base.path.name}, {', '.join(part.operators)}: {answer.verdict.value}")
                if answer.verdict is not Verdict.PROVEN:
                    print(f"the good rewrite of {base.path.name} is {answer.verdict.value}: {answer.reason}")
                    return 2
        asked = [(base, part, fault) for base in found for part, fault in faults(base)]
        asked = [item for item in asked if not words.kinds or item[2].kind in words.kinds]
        with ThreadPoolExecutor(words.jobs) as pool:
            rows = list(pool.map(lambda item: judged(item[0], item[1], item[2], words.fresh), asked))
    print(f"planted faults: {sum(row.caught for row in rows)} of {len(rows)} caught, torch {place.version}")
    print(table(table_rows(rows), indent="  "))
    for row in rows:
        if not row.caught:
            print(f"MISSED {row.file}:{row.line} {row.kind}: {row.was} -> {row.now}: {row.verdict}: {row.reason}")
    print(f"figures: {write_json('planted-faults', words.json, {'faults': [asdict(row) for row in rows]})}")
    return 0 if rows and sum(row.caught for row in rows) >= BAR * len(rows) else 1


def bases(scratch: Path, package: Path, tree: Path | None) -> Iterator[Base]:
    """Yield the good rewrites of our own operators, torch's decompositions, and LossNLL.cpp of a PyTorch tree."""
    own = ROOT / "tests" / "data" / "composites.cpp"
    yield _base(scratch, own, own, CPP, (("Tensor between", ("trapezoid",)), (_LOSS, ("nn.functional.cross_entropy",))))
    own = ROOT / "tests" / "data" / "layouts.cpp"
    yield _base(scratch, own, own, CPP, (("struct Spans", ("cumulative_trapezoid",)),))
    module = package / "_decomp" / "decompositions.py"
    yield _base(scratch, module, module, PYTHON, (("def _addmv_impl", ("addmv",)), ("@register_decomposition", ())))
    if tree is not None:
        file = tree / NATIVE / "LossNLL.cpp"
        parts = (("Tensor cross_entropy_loss_prob", ("nn.functional.cross_entropy",)), (_LOSS, ()))
        yield _base(scratch, file, file, CPP, parts, tree)


_LOSS = "Tensor cross_entropy_loss_symint"


def _base(
    scratch: Path,
    file: Path,
    path: Path,
    rules: tuple[Rule, ...],
    starts: Sequence[tuple[str, tuple[str, ...]]],
    tree: Path | None = None,
) -> Base:
    """Fix a copy and split it into parts. Each extends from the first line with its text to the next part."""
    # A module's path in torch determines the meaning of its names.
    copy = scratch / (file.relative_to(file.parents[2]) if file.suffix == ".py" else file.name)
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_bytes(file.read_bytes())
    command = [sys.executable, "-m", "symfix.codemods.cli", "fix", "--allow-dirty", "--unsafe-fixes", str(copy)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode not in (0, 1):
        raise SystemExit(f"{file.name} can't be fixed: {ended.stderr.strip()}")
    good = copy.read_text()
    first, firsts = 0, []
    for text, _ in starts:
        first = good.index(text, first)
        firsts.append(good.count("\n", 0, first) + 1)
    before = file.read_text()
    ends = [*(line - 1 for line in firsts[1:]), good.count("\n") + 1]
    parts = [
        Part((begin, end), operators, _undone(before, good, begin, end))
        for begin, end, (_, operators) in zip(firsts, ends, starts, strict=True)
        if operators
    ]
    return Base(path, good, tuple(parts), rules, tree)


def _undone(before: str, good: str, first: int, last: int) -> str:
    """Return ``good`` with its lines from ``first`` to ``last`` as in ``before``."""
    old, new = before.splitlines(keepends=True), good.splitlines(keepends=True)
    lines: list[str] = []
    for _, begin, end, start, stop in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        lines += old[begin:end] if first <= start + 1 and stop <= last else new[start:stop]
    return "".join(lines)


def faults(base: Base) -> Iterator[tuple[Part, Fault]]:
    """Yield the faults of one good rewrite, each with its part."""
    for part in base.parts:
        for fault in plant(part.before, base.good, base.rules, part.lines):
            yield part, fault


def judged(base: Base, part: Part, fault: Fault, fresh: bool) -> Row:
    """Verify one fault."""
    started = time.monotonic()
    before = base.good if fault.alone else part.before
    answer = _verify(base, before, fault.text, part, fresh, _FIRST)
    if answer.verdict is not Verdict.REGRESSED:
        answer = _verify(base, before, fault.text, part, fresh)
    seconds = round(time.monotonic() - started, 1)
    say(f"{base.path.name}:{fault.line} {fault.kind}: {answer.verdict.value}: {answer.reason[:80]}")
    seen = answer.verdict.value, answer.reason
    return Row(base.path.name, fault.line, fault.kind, fault.was, fault.now, *seen, seconds)


def _verify(
    base: Base, before: str, after: str, part: Part, fresh: bool, protocols: Sequence[str] = PROTOCOLS
) -> Verification:
    changes = (Change(base.path, before.encode(), after.encode()),)
    request = VerifyRequest(changes, operators=tuple(part.operators), protocols=tuple(protocols), samples=SAMPLES)
    return verify(request, VerifySession(torch_root=base.tree, limits=Limits(wall=PATIENCE), fresh=fresh))


def table_rows(rows: Sequence[Row]) -> list[tuple[object, ...]]:
    """Return the table with its head."""
    head = ("file", "line", "fault", "verdict", "seconds", "reason")
    return [head, *((row.file, row.line, row.kind, row.verdict, row.seconds, row.reason[:90]) for row in rows)]


def say(text: str) -> None:
    """Print progress on stderr."""
    print(text, file=sys.stderr, flush=True)


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/planted-faults", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kind", action="append", default=[], dest="kinds", help="only faults of this kind")
    parser.add_argument("--file", help="only faults in this file")
    parser.add_argument("--tree", type=Path, help="a PyTorch 2.6.0 source tree, for faults in LossNLL.cpp too")
    parser.add_argument("--jobs", type=int, default=2, help="verifications at the same time")
    parser.add_argument("--fresh", action="store_true", help="use nothing that was found before")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

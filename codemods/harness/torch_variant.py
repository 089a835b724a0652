"""Variants of torch in one verification (installed, with the files before, with the files after), and runs on them."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .observation import Observation
from .process_limits import CHILDREN, Ended, Limits, run
from .temp_folder import new_name

_MESSAGE_LENGTH = 500

Touched = tuple[tuple[int, tuple[int, ...]], ...]
"""Changed lines, each with the lines of which one runs when the statement of the changed line is started."""
Ran = Mapping[str, Collection[int]]
"""Indices of the statements among `wanted` that were run, by module."""


@dataclass(frozen=True)
class Variant:
    """Torch to run on: the installed one with ``library`` loaded and ``modules`` overlaid.

    A module is identified by its name or by the path of its file.
    """

    name: str
    library: Path | None = None
    kernels: int = 0
    modules: Mapping[str, Path] = field(default_factory=dict)
    identity: str = ""
    """Identity of the variant's contents, equal for equal contents."""
    wanted: Mapping[str, Touched] = field(default_factory=dict)
    """Statements of ``modules`` whose execution is recorded, by module."""
    registered: tuple[str, ...] = ()
    """Operators (``aten.hsplit.int``) that ``modules`` compose in Python and the installed torch does not."""


@dataclass(frozen=True)
class Replayed:
    """Result of a script on a variant. ``states`` and ``calls`` belong to the shim's kernels, by number."""

    observation: Observation
    states: tuple[str, ...] = ()
    calls: tuple[int, ...] = ()
    loaded: bool = True
    ran: Ran = field(default_factory=dict)


@dataclass(frozen=True)
class Harness:
    """Interpreter, scratch folder and limits of child processes."""

    python: Path
    scratch: Path
    limits: Limits

    @property
    def piece(self) -> int:
        """Return the maximum number of items per process on changed modules, or 0 if processes share one list."""
        return 0

    def replay(self, variant: Variant, script: Path | None) -> Replayed:
        """Run ``script`` (None: only load the variant) in a child of its own."""
        report = self.scratch / new_name("report")
        ended, answer = self.ask("replay", variant, {"script": str(script) if script else None}, report)
        passed = bool(answer.get("passed")) and ended.died is None and ended.code == 0
        message = "" if passed else answer.get("error") or ended.died or _last_line(ended.stderr)
        detail = "" if passed else "\n".join(filter(None, (answer.get("trace", ""), ended.stdout, ended.stderr)))
        return Replayed(
            Observation(passed, one_line(message), detail[-8000:], ended.died is not None, ended.seconds),
            tuple(answer.get("swaps", ())),
            tuple(answer.get("calls", ())),
            loaded=bool(answer) or variant.library is None,
            ran=answer.get("ran", {}),
        )

    def command(self, variant: Variant, words: str, cwd: Path) -> Replayed:
        """Run a command of the user in ``cwd``. Torch is changed in every Python process that it starts."""
        report = self.scratch / new_name("report")
        question = self.question(variant, {"report": str(report)})
        environment = self._environment()
        startup = self.scratch / "startup"
        startup.mkdir(exist_ok=True)
        shutil.copyfile(CHILDREN / "startup.py", startup / "sitecustomize.py")
        added = {"PATH": str(self.python.parent), "PYTHONPATH": str(startup)}
        environment |= {
            name: os.pathsep.join(filter(None, (own, environment.get(name)))) for name, own in added.items()
        }
        environment |= {"SYMFIX_VARIANT": str(question), "SYMFIX_CHILDREN": str(CHILDREN)}
        ended = run(shlex.split(words), scratch=self.scratch, limits=self.limits, cwd=cwd, environment=environment)
        told = [
            json.loads(path.read_bytes()) for path in self.scratch.glob(report.name + ".*") if path.suffix != ".new"
        ]
        swapped = [item for item in told if "swaps" in item]
        passed = ended.code == 0
        message = "" if passed else ended.died or _last_line(ended.stdout or ended.stderr)
        detail = "" if passed else f"{ended.stdout}\n{ended.stderr}"[-8000:]
        return Replayed(
            Observation(passed, one_line(message), detail, ended.died is not None, ended.seconds),
            tuple(swapped[0]["swaps"]) if swapped else (),
            tuple(sum(counts) for counts in zip(*(item["calls"] for item in swapped), strict=True)),
            ran=merged([item["ran"] for item in told if "ran" in item]),
        )

    def ask(
        self, child: str, variant: Variant, request: Mapping[str, Any], report: Path, limits: Limits | None = None
    ) -> tuple[Ended, dict[str, Any]]:
        """Run a child script on ``variant``, and return how it ended and its report ({} if it wrote none)."""
        question = self.question(variant, {**request, "report": str(report)})
        ended = self.start(child, question, limits or self.limits)
        try:
            answer: dict[str, Any] = json.loads(report.read_text())
        except (FileNotFoundError, ValueError):
            answer = {}
        return ended, answer

    def start(self, child: str, question: Path, limits: Limits) -> Ended:
        """Run a child script with the request in the file ``question``, and return how it ended."""
        command = [str(self.python), str(CHILDREN / "entry.py"), child, str(question)]
        return run(command, scratch=self.scratch, limits=limits, environment=self._environment())

    def question(self, variant: Variant, request: Mapping[str, Any]) -> Path:
        """Write the request to a child on ``variant``, and return its file."""
        question = self.scratch / new_name("request")
        fields = {
            **request,
            "library": str(variant.library) if variant.library else None,
            "kernels": variant.kernels,
            "modules": {name: str(file) for name, file in variant.modules.items()},
            "wanted": {name: [lines for _, lines in wanted] for name, wanted in variant.wanted.items()},
            "registered": list(variant.registered),
        }
        question.write_text(json.dumps(fields))
        return question

    def _environment(self) -> dict[str, str]:
        caches = self.scratch / "caches"
        caches.mkdir(exist_ok=True)
        own = {"PYTHONHASHSEED": "0", "TMPDIR": str(caches), "TORCHINDUCTOR_CACHE_DIR": str(caches)}
        return {"OMP_NUM_THREADS": "1", **os.environ, **own}


def merged(ran: Iterable[Ran]) -> Ran:
    """Return the union of the statements that several processes ran."""
    found: dict[str, set[int]] = {}
    for one in ran:
        for name, numbers in one.items():
            found.setdefault(name, set()).update(numbers)
    return found


def one_line(text: str) -> str:
    """Return the relevant line of an error: the innermost one if dynamo wraps it, without addresses and C++ frames."""
    text = re.split(r"(?:\s|\\n)*(?:Exception raised from |C\+\+ CapturedTraceback)", text, maxsplit=1)[0]
    inner = re.search(r"\): got (\w+)\(([\"'])(.*)", text, re.DOTALL)
    if inner:
        text = f"{inner[1]}: {inner[3].split(inner[2] + ')')[0]}"
    joined = re.sub(r" at 0x[0-9a-f]+", "", " ".join(text.split()))
    return joined if len(joined) <= _MESSAGE_LENGTH else joined[:_MESSAGE_LENGTH] + " …"


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it ended without a word"

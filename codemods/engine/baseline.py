"""Baseline: a file that records accepted findings, which later reports omit."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..model.fingerprint import fingerprints
from ..model.outcome import Changed, Outcome, Unchanged
from ..model.rule import Fix, Skip
from ..system.file_reader import contents

VERSION = 1


class BaselineError(Exception):
    """Unreadable baseline. The message names the file and the remedy."""


@dataclass(frozen=True)
class Baseline:
    """Known findings: the count of each fingerprint for each path, relative to the folder of the baseline's file."""

    folder: Path
    known: dict[str, Counter[str]]

    @classmethod
    def read(cls, path: Path, left_out: Collection[str] = ()) -> Baseline:
        """Load the known findings of the file, except those of the rules in ``left_out``.

        Raises BaselineError if the file is missing or is not a baseline of this version.
        """
        try:
            value = json.loads(contents(path))
            if value["version"] != VERSION:
                raise BaselineError(f"{path}: is of version {value['version']}, not {VERSION}; write it anew")
            known = {
                name: Counter(row["fingerprint"] for row in rows if row["rule"] not in left_out)
                for name, rows in value["findings"].items()
            }
        except FileNotFoundError:
            raise BaselineError(f"{path}: no such file; --write-baseline {path} makes it") from None
        except OSError as error:
            raise BaselineError(f"{path}: can't be read: {error.strerror or error}") from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise BaselineError(f"{path}: is no baseline; --write-baseline {path} makes one") from None
        return cls(path.absolute().parent, known)

    def without_known(
        self,
        outcomes: Iterable[Outcome],
        turn_down: Callable[[Changed, Sequence[Fix]], Changed | Unchanged],
        silent: Callable[[Path], bool] = lambda path: False,
    ) -> tuple[list[Outcome], int]:
        """Return the outcomes with only new findings, and the number of known findings that no longer occur.

        ``turn_down`` removes fixes from an outcome. ``silent`` returns whether a file without an outcome has no
        findings any more.
        """
        left: list[Outcome] = []
        gone = 0
        others = {name: known.total() for name, known in self.known.items()}
        for outcome in outcomes:
            if not isinstance(outcome, (Changed, Unchanged)):
                others.pop(_name(outcome.path, self.folder), None)
                left.append(outcome)
                continue
            name = _name(outcome.source.path, self.folder)
            others.pop(name, None)
            known = Counter(self.known.get(name, ()))
            fresh = _fresh(outcome, known)
            gone += known.total()
            old = [fix for fix in _applied(outcome) if fix not in fresh]
            kept = turn_down(outcome, old) if isinstance(outcome, Changed) and old else outcome
            offered = tuple(fix for fix in kept.offered if fix in fresh)
            left.append(replace(kept, offered=offered, skips=tuple(skip for skip in kept.skips if skip in fresh)))
        return left, gone + sum(count for name, count in others.items() if count and silent(self.folder / name))


def document(outcomes: Iterable[Outcome], folder: Path) -> str:
    """Return the text of a baseline in ``folder`` that records every finding of ``outcomes``."""
    findings = {}
    for outcome in outcomes:
        if isinstance(outcome, (Changed, Unchanged)):
            answers = sorted(_answers(outcome), key=lambda answer: (answer.start, answer.rule))
            names = fingerprints(outcome.source, answers)
            rows = [
                {"rule": answer.rule, "function": answer.function, "fingerprint": name}
                for answer, name in zip(answers, names, strict=True)
            ]
            if rows:
                findings[_name(outcome.source.path, folder)] = rows
    return json.dumps({"version": VERSION, "findings": dict(sorted(findings.items()))}, indent=1) + "\n"


def _fresh(outcome: Changed | Unchanged, known: Counter[str]) -> set[Fix | Skip]:
    """Return the answers that are not known, and decrement the counts of the known ones."""
    answers = _answers(outcome)
    fresh = set()
    for answer, name in zip(answers, fingerprints(outcome.source, answers), strict=True):
        if known[name]:
            known[name] -= 1
        else:
            fresh.add(answer)
    return fresh


def _answers(outcome: Changed | Unchanged) -> list[Fix | Skip]:
    return [*_applied(outcome), *outcome.offered, *outcome.skips]


def _applied(outcome: Changed | Unchanged) -> tuple[Fix, ...]:
    return outcome.applied if isinstance(outcome, Changed) else ()


def _name(path: Path, folder: Path) -> str:
    absolute = path.absolute()
    return (absolute.relative_to(folder) if absolute.is_relative_to(folder) else absolute).as_posix()

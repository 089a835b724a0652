"""SARIF 2.1.0 log for code scanning and editors: one run, with a result for each finding."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..engine.registry import RuleCard
from ..model.edit import Edit, conflict
from ..model.fingerprint import NAME, fingerprints
from ..model.outcome import Changed, Failed, Outcome, Refused
from ..model.rule import Fix, Skip
from ..model.source_file import SourceFile
from .text import unparsed

MOST_RESULTS = 5000
"""Maximum number of results that GitHub accepts for one run."""
_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_Json = dict[str, Any]


def document(outcomes: Sequence[Outcome], rules: Sequence[RuleCard], *, version: str) -> str:
    """Return the whole run as one SARIF log.

    Findings beyond the first 5,000 are counted in a notification, not listed.
    """
    indices = {card.name: number for number, card in enumerate(rules)}
    results: list[_Json] = []
    notifications: list[_Json] = []
    total = 0
    for outcome in outcomes:
        if isinstance(outcome, (Refused, Failed)):
            notifications.append(_trouble(outcome))
            continue
        if said := unparsed(outcome):
            notifications.append(_notification(outcome.source.path, "note", said))
        applied = outcome.applied if isinstance(outcome, Changed) else ()
        answers: list[Fix | Skip] = [*applied, *outcome.offered, *outcome.skips]
        answers.sort(key=lambda answer: (answer.start, answer.rule))
        names = fingerprints(outcome.source, answers)
        total += len(answers)
        room = MOST_RESULTS - len(results)
        pairs = zip(answers[:room], names, strict=False)
        results += [_result(outcome.source, answer, name, indices[answer.rule], applied) for answer, name in pairs]
    if total > len(results):
        note = f"{len(results)} of {total} findings are listed; look at fewer paths or rules for the others"
        notifications.append({"level": "note", "message": {"text": note}})
    run = {
        "tool": {"driver": {"name": "symfix", "semanticVersion": version, "rules": [_rule(card) for card in rules]}},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"SRCROOT": {"description": {"text": "the folder symfix was started in"}}},
        "invocations": [
            {
                "executionSuccessful": not any(isinstance(outcome, Failed) for outcome in outcomes),
                "toolExecutionNotifications": notifications,
            }
        ],
        "results": results,
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _rule(card: RuleCard) -> _Json:
    return {
        "id": card.name,
        "shortDescription": {"text": card.summary},
        "fullDescription": {"text": card.doc.strip()},
        "defaultConfiguration": {"level": "warning"},
        "properties": {"safety": card.safety, "language": card.language},
    }


def _result(source: SourceFile, answer: Fix | Skip, fingerprint: str, index: int, applied: Sequence[Fix]) -> _Json:
    location: _Json = {
        "physicalLocation": {"artifactLocation": _artifact(source.path), "region": _span(source, answer)}
    }
    if answer.function:
        location["logicalLocations"] = [{"name": answer.function, "kind": "function"}]
    result: _Json = {
        "ruleId": answer.rule,
        "ruleIndex": index,
        "level": "note" if isinstance(answer, Skip) else "warning",
        "message": {"text": _say(answer)},
        "locations": [location],
        "partialFingerprints": {NAME: fingerprint},
    }
    if isinstance(answer, Skip):
        return result | {"properties": {"mode": answer.mode, "reason": answer.reason}}
    if answer.needs or _follows(answer, applied):
        # The fix is incomplete without its header or import, which the file's other fixes share, or without the fixes
        # before it.
        return result | {"properties": {"mode": answer.mode, "safety": answer.safety.value, "needs": answer.needs}}
    result["fixes"] = [
        {
            "description": {"text": answer.message},
            "artifactChanges": [
                {
                    "artifactLocation": _artifact(source.path),
                    "replacements": [_replacement(source, edit) for edit in sorted(answer.edits)],
                }
            ],
        }
    ]
    return result | {"properties": {"mode": answer.mode, "safety": answer.safety.value}}


def _follows(fix: Fix, applied: Sequence[Fix]) -> bool:
    """Return whether a fix of a later round depends on others.

    It does if it was found in their text, or if its edits contain theirs.
    """
    earlier = (edit for other in applied if other.round < fix.round for edit in other.edits)
    return fix.round > 0 and (fix in applied or any(conflict(one, other) for other in earlier for one in fix.edits))


def _say(answer: Fix | Skip) -> str:
    if isinstance(answer, Skip):
        return f"{answer.reason}: {answer.detail}"
    return f"{answer.message} [what changes: {answer.default}]" if answer.default else answer.message


def _replacement(source: SourceFile, edit: Edit) -> _Json:
    replacement: _Json = {"deletedRegion": _region(source, edit.start, edit.end)}
    if edit.text:
        replacement["insertedContent"] = {"text": edit.text.decode("utf-8")}
    return replacement


def _span(source: SourceFile, answer: Fix | Skip) -> _Json:
    if isinstance(answer, Skip):
        return _region(source, answer.start, answer.end)
    first = min(answer.edits)
    return _region(source, first.start, first.end)


def _region(source: SourceFile, start: int, end: int) -> _Json:
    first, last = _place(source, start), _place(source, end)
    return {"startLine": first[0], "startColumn": first[1], "endLine": last[0], "endColumn": last[1]}


def _place(source: SourceFile, offset: int) -> tuple[int, int]:
    line, column = source.line_column(offset)
    return line, len(source.content[offset - column + 1 : offset].decode("utf-8", "replace")) + 1


def _artifact(path: Path) -> dict[str, str]:
    if path.is_absolute():
        return {"uri": path.as_uri()}
    return {"uri": quote(os.fsencode(path.as_posix())), "uriBaseId": "SRCROOT"}


def _trouble(outcome: Refused | Failed) -> _Json:
    if isinstance(outcome, Refused):
        return _notification(outcome.path, "warning", f"{outcome.reason}: {outcome.detail}")
    return _notification(outcome.path, "error", outcome.detail)


def _notification(path: Path, level: str, text: str) -> _Json:
    where = [{"physicalLocation": {"artifactLocation": _artifact(path)}}]
    return {"level": level, "message": {"text": text}, "locations": where}

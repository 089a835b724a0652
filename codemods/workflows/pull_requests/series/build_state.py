"""Build state of each request of a series, stored next to the plan and checked again when it is read."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any

from ....verify.change import Verification
from ....verify.evidence import from_json, to_json
from .plan import PullRequest, request_fields, request_from


class BuildState(Enum):
    """Build state of a request."""

    PLANNED = "planned"
    BUILT = "built"
    """State of a request whose branch contains its commit."""
    KEPT = "kept"
    """State of a request whose branch is checked out or contains a person's commit. The build leaves it unchanged."""
    HELD = "held"
    """State of a request that is not built because its verification does not support it."""
    CONFLICT = "conflict"
    """State of a request that is not built because the base has a different text at one of its changes."""
    LANDED = "landed"
    """State of a request whose changes the base already contains."""
    REJECTED = "rejected"
    """State of a request that a reviewer rejected completely."""


@dataclass(frozen=True)
class Standing:
    """State of one request. ``dropped`` are lines about omitted files or fixes.

    ``request`` is the request as it was built, or None if it was not.
    """

    state: BuildState
    reason: str = ""
    commit: str | None = None
    dropped: tuple[str, ...] = ()
    verification: Verification | None = None
    request: PullRequest | None = None


@dataclass(frozen=True)
class Record:
    """Result of the last build on the commit ``base``: standings by request, the stack of all, and its verification."""

    base: str
    standings: Mapping[str, Standing] = field(default_factory=dict)
    stack: str | None = None
    union: Verification | None = None

    def of(self, request: str) -> Standing:
        return self.standings.get(request, Standing(BuildState.PLANNED))

    def with_standing(self, request: str, standing: Standing) -> Record:
        return replace(self, standings={**self.standings, request: standing})


def save(record: Record, path: Path) -> None:
    """Write the record atomically."""
    value = {
        "base": record.base,
        "stack": record.stack,
        "union": _verification(record.union),
        "standings": {key: _standing(one) for key, one in record.standings.items()},
    }
    write_whole(path, json.dumps(value, indent=1).encode() + b"\n")


def load(path: Path) -> Record | None:
    """Return the record, or None if the file is missing or malformed."""
    try:
        value = json.loads(path.read_bytes())
        standings = {
            key: Standing(
                BuildState(one["state"]),
                one["reason"],
                one["commit"],
                tuple(one["dropped"]),
                _read(one["verification"]),
                request_from(one["request"]) if one["request"] else None,
            )
            for key, one in value["standings"].items()
        }
        return Record(value["base"], standings, value["stack"], _read(value["union"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically. A failure to write raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.write_bytes(content)
    fresh.replace(path)


def _standing(standing: Standing) -> dict[str, Any]:
    fields = asdict(replace(standing, verification=None, request=None))
    request = request_fields(standing.request) if standing.request else None
    verification = _verification(standing.verification)
    return {**fields, "state": standing.state.value, "verification": verification, "request": request}


def _verification(verification: Verification | None) -> dict[str, Any] | None:
    if verification is None:
        return None
    return {**to_json(verification), "kept": str(verification.evidence) if verification.evidence else None}


def _read(value: dict[str, Any] | None) -> Verification | None:
    if value is None:
        return None
    kept = value.pop("kept", None)
    return replace(from_json(value), evidence=Path(kept) if kept else None)

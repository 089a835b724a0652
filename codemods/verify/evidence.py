"""Evidence of a verdict, as JSON stored by a hash of the request."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..harness.observation import Observation
from ..harness.process_limits import CHILDREN
from ..system.cache_folder import digest, put
from .change import Check, KernelSwap, Verdict, Verification

VERSION = 1


def question_key(parts: Iterable[bytes]) -> str:
    """Return a hash of everything that an answer depends on, the verifier's own code included."""
    digest = hashlib.sha256(_own_code())
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()[:32]


@lru_cache
def _own_code() -> bytes:
    digest = hashlib.sha256()
    for room in (Path(__file__).parent, CHILDREN.parent):
        for path in sorted(room.rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.digest()


def to_json(verification: Verification) -> dict[str, Any]:
    """Return the evidence as plain values."""
    fields = asdict(replace(verification, evidence=None))
    fields["verdict"] = verification.verdict.value
    del fields["evidence"], fields["cached"]
    return {"version": VERSION, "tool": "symfix", **fields}


def from_json(fields: dict[str, Any]) -> Verification:
    """Return the verification that `to_json` serialized."""
    fields = {name: value for name, value in fields.items() if name not in ("version", "tool", "seal")}
    return Verification(
        **{
            **fields,
            "verdict": Verdict(fields["verdict"]),
            "paths": tuple(fields["paths"]),
            "checks": tuple(_check(check) for check in fields["checks"]),
            "swaps": tuple(KernelSwap(**swap) for swap in fields["swaps"]),
            "unrun": tuple(fields["unrun"]),
            "omitted": tuple(fields["omitted"]),
            "untraced": tuple(fields["untraced"]),
            "commands": tuple(fields["commands"]),
        }
    )


def keep(verification: Verification, folder: Path, key: str) -> Verification:
    """Write the evidence to ``folder``, and return the verification with its path."""
    path = folder / f"{key}.json"
    fields = to_json(verification)
    put(path, json.dumps({**fields, "seal": _seal(fields)}, indent=1).encode() + b"\n")
    return replace(verification, evidence=path if path.is_file() else None)


def recall(folder: Path, key: str) -> Verification | None:
    """Return the cached answer to the same request, or None.

    A broken baseline is verified again, because a missing header may exist now.
    """
    path = folder / f"{key}.json"
    try:
        fields = json.loads(path.read_bytes())
        if fields.pop("seal", None) != _seal(fields) or fields.get("version") != VERSION:
            return None
        found = from_json(fields)
        return None if found.verdict is Verdict.BROKEN_BASELINE else replace(found, evidence=path, cached=True)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _seal(fields: dict[str, Any]) -> str:
    """Return a checksum that detects edits of the evidence. It is inside the file, because people read the file."""
    return digest(json.dumps(fields, sort_keys=True).encode()).decode()


def _check(fields: dict[str, Any]) -> Check:
    seen = {name: Observation(**fields[name]) if fields[name] else None for name in ("before", "after", "reference")}
    return Check(**{**fields, **seen})


def holds(package: Path, modules: Mapping[str, bytes]) -> bool:
    """Return whether each module of torch, by its name, has this text in the installed ``package``."""
    try:
        return all(_file_of(package, name).read_bytes() == text for name, text in modules.items())
    except OSError:
        return False


def _file_of(package: Path, module: str) -> Path:
    place = package.parent.joinpath(*module.split("."))
    return place / "__init__.py" if place.is_dir() else place.with_name(f"{place.name}.py")


@lru_cache
def installed(package: Path) -> str:
    """Return a hash of the paths, sizes and times of the Python files in ``package``, which people edit in place."""
    digest = hashlib.sha256(str(package).encode())
    for folder, folders, files in os.walk(package):
        folders[:] = sorted(one for one in folders if one not in ("__pycache__", "include", "lib"))
        for name in sorted(files):
            if name.endswith(".py"):
                seen = os.stat(os.path.join(folder, name))  # noqa: PTH116, PTH118 (some 2,000 files)
                digest.update(f"{folder}/{name} {seen.st_size} {seen.st_mtime_ns}\n".encode())
    return "installed " + digest.hexdigest()

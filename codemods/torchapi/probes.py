"""Facts about an installed torch, found by running it: dynamo's refusals, inlined modules, scripted functions."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from .locating import Place
from .store import stored

DYNAMO = Path(__file__).with_name("dynamo_probe.py")
INLINING = Path(__file__).with_name("inlining_probe.py")
TORCHSCRIPT = Path(__file__).with_name("torchscript_probe.py")
_SECONDS = 120


def dynamo_refusal(place: Place, helper: str) -> str | None:
    """Return the reason that dynamo does not trace a call of a helper, by its dotted name, or None.

    The result is also None for a helper that `dynamo_probe` does not call.
    """
    refused, error = _probed(place, DYNAMO)
    if error is not None:
        return f"torch {place.version} of {place.python} compiles no function ({error})"
    return f"dynamo does not trace `{helper}`" if helper in refused else None


def scripted(place: Place) -> frozenset[str] | None:
    """Return the dotted names of functions that torch itself passes to TorchScript, or None if the probe failed."""
    found, error = _probed(place, TORCHSCRIPT)
    return None if error is not None else found


def inlined(place: Place) -> frozenset[str] | None:
    """Return the modules and packages of torch whose functions dynamo inlines, or None if the probe failed."""
    found, error = _probed(place, INLINING)
    return None if error is not None else found


@lru_cache(maxsize=8)
def _probed(place: Place, probe: Path) -> tuple[frozenset[str], str | None]:
    """Return the names that a probe prints, and the error that ended it or None."""
    key = f"{place.build}\0{place.package}".encode() + probe.read_bytes()
    name = f"{probe.stem}-{hashlib.sha256(key).hexdigest()}.json"
    found = json.loads(stored("probes", name, lambda: _answer(place, probe)))
    return frozenset(found["names"]), found["error"]


def _answer(place: Place, probe: Path) -> bytes:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TORCH")}
    ended = subprocess.run(
        [str(place.python), str(probe)],
        capture_output=True,
        timeout=_SECONDS,
        check=False,
        env={**environment, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    names: Sequence[str] = ()
    error = None
    if ended.returncode == 0:
        # Imported modules may print too.
        names = json.loads(ended.stdout.decode().splitlines()[-1])
    else:
        error = (ended.stderr.decode(errors="replace").strip().splitlines() or ["no message"])[-1]
    return json.dumps({"names": sorted(names), "error": error}).encode()

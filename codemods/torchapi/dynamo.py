"""Helpers that the dynamo of an installed torch refuses, probed once for each torch."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from .locating import Place
from .store import stored

PROBE = Path(__file__).with_name("dynamo_probe.py")
_SECONDS = 120


def refusal(place: Place, helper: str) -> str | None:
    """Why dynamo does not trace a call of a helper, by its dotted name, or None.

    None too for a helper that `dynamo_probe` does not call.
    """
    known = _probed(place)
    if "error" in known:
        return f"torch {place.version} of {place.python} compiles no function ({known['error']})"
    return f"dynamo does not trace `{helper}`" if helper in known["refused"] else None


@lru_cache(maxsize=8)
def _probed(place: Place) -> Mapping[str, str]:
    key = f"{place.build}\0{place.package}".encode() + PROBE.read_bytes()
    found: Mapping[str, str] = json.loads(
        stored("dynamo", f"{hashlib.sha256(key).hexdigest()}.json", lambda: _answer(place))
    )
    return found


def _answer(place: Place) -> bytes:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TORCH")}
    ended = subprocess.run(
        [str(place.python), str(PROBE)],
        capture_output=True,
        timeout=_SECONDS,
        check=False,
        env={**environment, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    if ended.returncode == 0:
        return ended.stdout
    lines = ended.stderr.decode(errors="replace").strip().splitlines() or ["no message"]
    return json.dumps({"error": lines[-1]}).encode()

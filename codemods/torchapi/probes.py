"""Facts about an installed torch, found by running it: dynamo's refusals, inlined modules, scripted functions."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from .index_cache import stored
from .torch_finder import TorchInstallation

_SCRIPT = Path(__file__).with_name("probe_script.py")
_PROBES = ("dynamo", "inlining", "graph", "torchscript")
_SECONDS = 240


def dynamo_refusal(place: TorchInstallation, helper: str) -> str | None:
    """Return the reason that dynamo does not trace a call of a helper, by its dotted name, or None.

    The result is also None for a helper that `dynamo_probe` does not call.
    """
    refused, error = _probed(place, "dynamo")
    if error is not None:
        return f"torch {place.version} of {place.python} compiles no function ({error})"
    return f"dynamo does not trace `{helper}`" if helper in refused else None


def scripted(place: TorchInstallation) -> frozenset[str] | None:
    """Return the dotted names of functions that torch itself passes to TorchScript, or None if the probe failed."""
    found, error = _probed(place, "torchscript")
    return None if error is not None else found


def inlined(place: TorchInstallation) -> frozenset[str] | None:
    """Return the modules and packages of torch whose functions dynamo inlines, or None if the probe failed."""
    found, error = _probed(place, "inlining")
    return None if error is not None else found


def kept_in_graph(place: TorchInstallation) -> frozenset[str]:
    """Return the dotted names of functions that dynamo keeps in its graph, or none if the probe failed."""
    found, _ = _probed(place, "graph")
    return found


def _probed(place: TorchInstallation, probe: str) -> tuple[frozenset[str], str | None]:
    """Return the names that a probe found, and the error that ended it or None."""
    return _all_probed(place)[probe]


@lru_cache(maxsize=8)
def _all_probed(place: TorchInstallation) -> Mapping[str, tuple[frozenset[str], str | None]]:
    sources = [_SCRIPT, *(_SCRIPT.with_name(f"{probe}_probe.py") for probe in _PROBES)]
    key = hashlib.sha256(f"{place.build}\0{place.package}".encode())
    for source in sources:
        key.update(source.read_bytes())
    found = json.loads(stored("probes", f"{key.hexdigest()}.json", lambda: _run_script(place)))
    return {probe: (frozenset(one["names"]), one["error"]) for probe, one in found.items()}


def _run_script(place: TorchInstallation) -> bytes:
    """Return the answers of all probes by name. A probe that printed none has the last line of the script's errors."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TORCH")}
    ended = subprocess.run(
        [str(place.python), str(_SCRIPT)],
        capture_output=True,
        timeout=_SECONDS,
        check=False,
        env={**environment, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    error = (ended.stderr.decode(errors="replace").strip().splitlines() or ["no message"])[-1]
    answers = {probe: {"names": [], "error": error} for probe in _PROBES}
    for line in ended.stdout.decode(errors="replace").splitlines():
        # Imported modules may print too.
        with contextlib.suppress(ValueError, TypeError, KeyError):
            answer = json.loads(line)
            answers[answer.pop("probe")] = answer
    return json.dumps(answers).encode()

"""Recorder of the files that a project's tests load and of each result, installed as ``symfix_watching``.

It is copied into the environment of a user's project. Every Python process of that environment imports it at its start,
and pytest loads it as a plugin. It is inactive unless ``SYMFIX_WATCH`` names a folder for reports. ``SYMFIX_TRACE``
names a file with the changed functions. When the process ends, all tracers capture the first call of each.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

FOLDER = os.environ.get("SYMFIX_WATCH")
TRACED = os.environ.get("SYMFIX_TRACE")


def loaded() -> dict[str, list[str]]:
    """Return the files of the imported modules, and the mapped libraries."""
    modules = {str(name) for module in list(sys.modules.values()) if (name := getattr(module, "__file__", None))}
    try:
        lines = Path("/proc/self/maps").read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    libraries = {line.split(None, 5)[5] for line in lines if ".so" in line and len(line.split(None, 5)) == 6}
    return {"modules": sorted(modules), "libraries": sorted(libraries)}


def say_loaded() -> None:
    """Write the files that this process loaded to a file of its own."""
    try:
        Path(str(FOLDER), f"loaded-{os.getpid()}.json").write_text(json.dumps(loaded()))
    except OSError:
        # A test that fills the disk or drops its privileges must not fail because of this report.
        return


def say_case(**fields: Any) -> None:
    """Append one event, so that it is recorded even if the next test crashes."""
    with Path(str(FOLDER), "cases.jsonl").open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(fields) + "\n")


def _traced() -> dict[str, Any]:
    """Return the names of the tracers, and of the functions by the last two parts of their file and by first line."""
    found: dict[str, Any] = json.loads(Path(str(TRACED)).read_text())
    return found


def say_captures(name: str, function: Any, args: Any, kwargs: Any) -> None:
    """Append the captures of one call by the requested tracers."""
    from symfix_captures import capture  # type: ignore[import-not-found]

    recorder = sys.getprofile()
    sys.setprofile(None)
    try:
        line = json.dumps({"call": name, "captures": capture(function, args, kwargs, _traced()["tracers"])})
    finally:
        sys.setprofile(recorder)
    with Path(str(FOLDER), "captures.jsonl").open("a", encoding="utf-8") as stream:
        stream.write(line + "\n")


def record_changed() -> None:
    """Record the first call of each changed function, and capture them at exit."""
    from symfix_recorded_calls import functions_of, recorded_calls, traceable  # type: ignore[import-not-found]

    by_file: dict[str, dict[str, str]] = _traced()["functions"]
    known: dict[str, dict[str, str]] = {}

    def wanted(code: Any) -> Any:
        file = code.co_filename
        if file not in known:
            known[file] = by_file.get("/".join(Path(file).parts[-2:]), {})
        name = known[file].get(str(code.co_firstlineno))
        if name is None:
            return None
        modules = [one for one in list(sys.modules.values()) if getattr(one, "__file__", None) == file]
        found = functions_of(modules[0]).get(code) if modules else None
        return (f"{modules[0].__name__}:{name}", found[1]) if found else None

    def copied(args: Any, kwargs: Any) -> Any:
        from symfix_captures import copied_in_eager

        if not calls:
            # Torch's exit handlers must run after the captures, and dynamo can't be imported that late.
            importlib.import_module("torch._dynamo")
            atexit.unregister(capture_all)
            atexit.register(capture_all)
        return copied_in_eager(args, kwargs)

    def capture_all() -> None:
        recording.__exit__(None, None, None)
        for call in calls:
            say_captures(call.name, *traceable(call))

    recording = recorded_calls(wanted, copied)
    calls = recording.__enter__()


def message(report: Any) -> str:
    """Return the line that gives the reason of a failed or skipped report."""
    crash = getattr(getattr(report, "longrepr", None), "reprcrash", None)
    if crash is not None:
        return str(crash.message)
    longrepr = getattr(report, "longrepr", None)
    lines = str(longrepr[-1] if isinstance(longrepr, tuple) else longrepr or "").strip().splitlines()
    return lines[-1] if lines else ""


class Plugin:
    """Pytest plugin that reports each test of a session."""

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        say_case(case=nodeid, outcome="started")

    def pytest_runtest_logreport(self, report: Any) -> None:
        expected = hasattr(report, "wasxfail")
        strict = report.outcome == "failed" and "XPASS(strict)" in str(report.longrepr)
        outcome = "xpassed" if strict else "xfailed" if expected and report.outcome == "skipped" else report.outcome
        said = str(report.wasxfail) if outcome == "xfailed" else "" if outcome == "passed" else message(report)
        say_case(case=report.nodeid, when=report.when, outcome=outcome, message=said, seconds=report.duration)

    def pytest_collectreport(self, report: Any) -> None:
        outcome = "collected" if report.outcome == "passed" else report.outcome
        say_case(case=report.nodeid, when="collect", outcome=outcome, message=message(report), seconds=0.0)


def pytest_configure(config: Any) -> None:
    """Register the plugin. With pytest-xdist only the process that gathers the reports writes them."""
    if FOLDER and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Plugin(), "symfix-cases")


if FOLDER:
    if TRACED:
        record_changed()
    atexit.register(say_loaded)

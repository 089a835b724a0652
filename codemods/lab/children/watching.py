"""Copied into the environment of a user's project as ``symfix_watching``: what its tests load, and how each went.

Imported by every Python of that environment when it starts, and by pytest as a plugin. Silent unless
``SYMFIX_WATCH`` names a folder to report to.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
from pathlib import Path
from typing import Any

FOLDER = os.environ.get("SYMFIX_WATCH")


def loaded() -> dict[str, list[str]]:
    """The files of the modules that were imported, and the libraries that are mapped."""
    modules = {str(name) for module in list(sys.modules.values()) if (name := getattr(module, "__file__", None))}
    try:
        lines = Path("/proc/self/maps").read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    libraries = {line.split(None, 5)[5] for line in lines if ".so" in line and len(line.split(None, 5)) == 6}
    return {"modules": sorted(modules), "libraries": sorted(libraries)}


def say_loaded() -> None:
    """Write what this process loaded to a file of its own."""
    try:
        Path(str(FOLDER), f"loaded-{os.getpid()}.json").write_text(json.dumps(loaded()))
    except OSError:
        # A test that fills the disk or drops its rights must not fail for our sake.
        return


def say_case(**fields: Any) -> None:
    """Append one event; each stands in the file when the next test crashes."""
    with Path(str(FOLDER), "cases.jsonl").open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(fields) + "\n")


def message(report: Any) -> str:
    """The line that says why a report is no success."""
    crash = getattr(getattr(report, "longrepr", None), "reprcrash", None)
    if crash is not None:
        return str(crash.message)
    longrepr = getattr(report, "longrepr", None)
    lines = str(longrepr[-1] if isinstance(longrepr, tuple) else longrepr or "").strip().splitlines()
    return lines[-1] if lines else ""


class Plugin:
    """Reports each test of a pytest session."""

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
    """Pytest's hook; with pytest-xdist only the process that gathers the reports speaks."""
    if FOLDER and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Plugin(), "symfix-cases")


if FOLDER:
    atexit.register(say_loaded)

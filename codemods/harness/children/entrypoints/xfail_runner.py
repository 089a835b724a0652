"""Runs of operator tests that are expected to fail, from a test file, to find those that pass."""

from __future__ import annotations

import faulthandler
import importlib
import importlib.util
import inspect
import json
import re
import sys
import traceback
import unittest
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..overlay.changed_torch import Kernels, overlay
from .operators import say


def main(request_path: str) -> None:
    """Run the request in the JSON file at ``request_path``, and append each answer to the report immediately."""
    request: dict[str, Any] = json.loads(Path(request_path).read_bytes())
    overlay(request["modules"])
    with Path(request["report"]).open("a") as report:
        kernels = Kernels(request["library"], request["kernels"]) if request["library"] else None
        assert kernels is None or kernels.states() is not None
        warnings.simplefilter("ignore")
        from ..protocols.dynamo_setup import compile_anew  # torch must be imported after its modules are overlaid

        cases = list(_cases(_load(Path(request["file"]), [Path(folder) for folder in request["folders"]])))
        compile_anew()
        say(report, {"loaded": len(cases)})
        for number, entry in request["entries"]:
            say(report, {"start": number})
            faulthandler.dump_traceback_later(request["patience"], exit=True)
            answer = _answer(cases, entry)
            faulthandler.cancel_dump_traceback_later()
            say(report, {"entry": number, "tests": answer})


def _load(file: Path, folders: list[Path]) -> Any:
    """Import the test file as a module of its own name, as if it were run from its folder."""
    sys.argv = [str(file)]
    sys.path[:0] = [str(folder) for folder in folders]
    _both_forms_of_skipping()
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[file.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _both_forms_of_skipping() -> None:
    """Patch ``skipOps`` to accept class and test too, as test files up to some release pass them."""
    tests: Any = importlib.import_module("torch.testing._internal.common_methods_invocations")
    devices: Any = importlib.import_module("torch.testing._internal.common_device_type")
    for name in ("skipOps", "xfail", "skip", "decorate"):
        if not hasattr(tests, name) and hasattr(devices, name):
            setattr(tests, name, getattr(devices, name))
    real = tests.skipOps
    if len(inspect.signature(real).parameters) == 1:
        tests.skipOps = lambda *words: real(words[-1])


def _cases(module: Any) -> Iterator[tuple[type[unittest.TestCase], str]]:
    for value in list(vars(module).values()):
        if isinstance(value, type) and issubclass(value, unittest.TestCase):
            for name in unittest.defaultTestLoader.getTestCaseNames(value):
                yield value, name


def _answer(cases: list[tuple[type[unittest.TestCase], str]], entry: dict[str, Any]) -> list[list[str]]:
    """Run each test of an entry on the CPU, and return its name and outcome: ``passes``, ``fails``, ``skipped: …``."""
    names = "|".join(map(re.escape, entry["tests"]))
    operator = re.escape("_".join(filter(None, (entry["operator"], entry["variant"]))).replace(".", "_"))
    dtypes = "|".join(map(re.escape, entry["dtypes"])) if entry["dtypes"] else "[a-z]+[0-9]*|bool"
    wanted = re.compile(f"(?:{names})_{operator}_cpu(?:_(?:{dtypes}))?")
    return [[name, _came_of(kind, name)] for kind, name in cases if wanted.fullmatch(name)]


class _Result(unittest.TestResult):
    """Test result that also records whether the test itself raised a skip, or a decorator did."""

    by_itself = False

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        trace = sys.exc_info()[2]
        names = [frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(trace)]
        raised = [name for name in names if name.partition(".")[0] != "unittest"]
        self.by_itself = bool(raised) and raised[-1] == type(test).__module__
        super().addSkip(test, reason)


def _came_of(kind: type[unittest.TestCase], name: str) -> str:
    result = _Result()
    unittest.TestSuite([kind(name)]).run(result)
    if result.unexpectedSuccesses:
        return "passes"
    if result.expectedFailures:
        return "fails"
    if result.skipped:
        how = "skips itself" if result.by_itself else "skipped"
        return f"{how}: {' '.join(result.skipped[0][1].split())[:200]}"
    if result.errors or result.failures:
        return f"breaks: {(result.errors or result.failures)[0][1].strip().splitlines()[-1][:200]}"
    return "is not expected to fail"

"""Tests of `symfix xfails`: entries are checked by their own tests, or by the protocol of torch's list."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result
from symfix.codemods.cli import main_group
from symfix.codemods.verify.before_after import Side
from symfix.codemods.verify.user_scripts import INSTALLED
from symfix.codemods.workflows.hunt.failure import Failure, Mode, Operator
from symfix.codemods.workflows.hunt.sweep import HuntRequest, Sweep
from symfix.codemods.workflows.xfails import xfail_runs
from symfix.codemods.workflows.xfails.xfail_lists import XfailEntry, read
from symfix.codemods.workflows.xfails.xfail_runs import EntryVerdict, judge

SUITE = """\
import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests, ops, skip, skipOps, xfail
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_utils import TestCase

some = [one for one in op_db if one.name in ("add", "mul", "sub", "div")]
failing = {
    # wrong on purpose
    xfail("add"),
    xfail("mul"),  # passes
    xfail("div", "floor_rounding"),  # its test is skipped
    xfail("never.heard.of"),
    xfail("sub", device_type="cuda"),
    skip("sub"),
}
nowhere = {xfail("mul")}


class TestMine(TestCase):
    @ops(some, allowed_dtypes=(torch.float,))
    @skipOps(failing)
    def test_mine(self, device, dtype, op):
        if op.variant_test_name:
            self.skipTest("variants")
        self.assertNotEqual(op.name, "add")


instantiate_device_type_tests(TestMine, globals(), only_for="cpu")
"""
LEDGER = """\
ops_dde_xfail = {
    xfail("first"),
    xfail("second"),
    xfail("second", "variant"),
    xfail("third"),
    xfail("first", "limited", dtypes=(torch.float64,)),
    skip("first"),
}
"""


def xfails(*words: str | Path) -> Result:
    return CliRunner().invoke(main_group, ["xfails", *map(str, words)], standalone_mode=False)


def states(result: Result) -> dict[str, str]:
    (file,) = json.loads(result.output)["files"]
    return {f"{row['kind']} {row['operator']} {row['variant']}".strip(): row["state"] for row in file["entries"]}


def test_a_test_file_is_put_to_its_own_tests(tmp_path: Path) -> None:
    path = tmp_path / "test_mine.py"
    path.write_text(SUITE)
    result = xfails("--jobs", "1", path)
    assert result.return_value == 0, result.output
    assert path.read_text() == SUITE.replace('    xfail("mul"),  # passes\n', "")
    assert "mul in failing: test_mine_mul_cpu_float32 passes" in result.output
    assert "1 stale, 1 needed, 5 left" in result.output
    for reason in (
        "skips itself: variants",
        "no test of test_mine is about it",
        "limited to cuda",
        "a skip",
        "no protocol",
    ):
        assert reason in result.output, reason


@pytest.mark.parametrize(
    ("tests", "state"),
    [
        pytest.param(["passes", "passes"], "stale", id="all pass"),
        pytest.param(["passes", "fails"], "needed", id="one fails"),
        pytest.param(["passes", "skips itself: no inplace form"], "stale", id="does not apply to one"),
        pytest.param(["passes", "skipped: no LAPACK"], "left", id="this machine can't run one"),
        pytest.param(["skips itself: no inplace form"], "left", id="applies to none"),
        pytest.param(["passes", "breaks: SystemError"], "left", id="one breaks"),
        pytest.param([], "left", id="no test"),
    ],
)
def test_an_entry_is_stale_when_nothing_is_left_that_fails(tests: list[str], state: str) -> None:
    entry = XfailEntry("xfail", "add", "", None, None, "failing", ("test_it",), 1, 0, 1)
    answers = [(f"test_it_{number}", came) for number, came in enumerate(tests)]
    assert xfail_runs.judgement(entry, answers).state.value == state


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a list like torch's own. Its operators `first` and `second.variant` pass."""
    first, second, variant = Operator("first"), Operator("second"), Operator("second", "variant")

    def sweep(request: HuntRequest, *_: Any) -> Sweep:
        assert request.protocol == "unbacked"
        assert set(request.operators or ()) == {first, second, variant}
        failure = Failure(second, request.protocol, Mode.BRANCH, "Could not guard", "Eq(u0, 0)", None, 0)
        return Sweep(request.protocol, "2.13.0", (first, variant), (failure,))

    monkeypatch.setattr(xfail_runs, "sweep", sweep)
    monkeypatch.setattr(xfail_runs, "operators_of", lambda *_: (first, second, variant))
    path = tmp_path / "common_ops_unbacked.py"
    path.write_text(LEDGER)
    return path


def test_a_list_of_torchs_own_is_put_to_its_protocol(ledger: Path) -> None:
    result = xfails("--check", "--format", "json", ledger)
    assert result.return_value == 1
    assert ledger.read_text() == LEDGER, "--check writes nothing"
    assert states(result) == {
        "xfail first": "stale",
        "xfail second": "needed",
        "xfail second variant": "stale",
        "xfail third": "left",
        "xfail first limited": "left",
        "skip first": "left",
    }


def test_what_passed_already_is_not_run_again(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = read(LEDGER.encode())
    laboratory: Any = None
    swept: list[str] = []

    def sweep(request: HuntRequest, *_: Any) -> Sweep:
        operators = [one for one in request.operators or () if isinstance(one, Operator)]
        swept.extend(map(str, operators))
        return Sweep(request.protocol, "2.13.0", tuple(operators), ())

    monkeypatch.setattr(xfail_runs, "sweep", sweep)
    torch: Any = SimpleNamespace(python=None)
    judged = judge(ledger, entries, torch, Side(laboratory, INSTALLED), passing=("second", "first.limited"))
    assert [(one.entry.kind, one.entry.name, one.state) for one in judged] == [
        ("xfail", "first", EntryVerdict.STALE),
        ("xfail", "second", EntryVerdict.STALE),
        ("xfail", "second.variant", EntryVerdict.STALE),
        ("xfail", "third", EntryVerdict.LEFT),
        ("xfail", "first.limited", EntryVerdict.LEFT),
        ("skip", "first", EntryVerdict.LEFT),
    ]
    assert swept == ["first", "second.variant"]


def test_what_is_stale_goes_and_nothing_else(ledger: Path) -> None:
    assert xfails(ledger).return_value == 0
    lines = LEDGER.splitlines(keepends=True)
    assert ledger.read_text() == "".join(line for line in lines if line not in (lines[1], lines[3]))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("x = {", "no Python that can be read", id="no Python"),
        pytest.param(None, "no such file", id="none"),
    ],
)
def test_bad_input_is_named(tmp_path: Path, text: str | None, said: str) -> None:
    path = tmp_path / "some.py"
    if text is not None:
        path.write_text(text)
    result = xfails(path)
    assert result.exception is not None
    assert said in str(getattr(result.exception, "message", result.exception))


def test_a_file_that_does_not_load_is_left_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "test_broken.py"
    path.write_text('import not_there\n\n\n@skipOps({xfail("add")})\ndef test_it(self):\n    pass\n')
    result = xfails("--jobs", "1", path)
    assert "does not load with the installed torch: ModuleNotFoundError: No module named 'not_there'" in result.output
    assert result.return_value == 0

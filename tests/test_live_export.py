"""Tests of `symfix.export` in Python. A live model is tried in forks of this process, and its files are patched."""

from __future__ import annotations

import importlib.util
import linecache
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
import symfix
import torch
from symfix.codemods.harness.children.overlay.hot_swap import TooDeep, exchange_files
from symfix.codemods.harness.children.samples.dimensions import convert
from symfix.codemods.harness.children.samples.export_targets import BadTarget
from torch.export import Dim

SECONDS = 120.0
MODELS = Path(__file__).parents[1] / "golden" / "models"


def imported(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def golden(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(folder)
    return imported(Path(shutil.copy(MODELS / f"{name}.py", folder)))


def test_a_model_goes_to_proven_and_the_patch_into_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = golden("mask_and_branch", tmp_path, monkeypatch)
    path = tmp_path / "mask_and_branch.py"
    before, given, rows = path.read_bytes(), module.target(), Dim("rows")
    found = symfix.export(
        given["model"],
        given["args"],
        dynamic_shapes={"x": {0: rows}, "keep": {0: rows}},
        more=given["more"],
        training=True,
    )
    assert (found.verdict, found.good, found.left) == ("proven", True, None)
    told = (MODELS / "mask_and_branch.txt").read_text().replace("mask_and_branch.py: proven", "Pool: proven", 1)
    lines, *_ = told.split("\n\n")
    assert str(found) == f"{lines}\n\n{found.patch}" == repr(found)
    assert (MODELS / "mask_and_branch.patch").read_text().endswith(found.patch)
    assert path.read_bytes() == before

    path.write_bytes(before + b"\n")
    with pytest.raises(symfix.NotApplied, match="was changed since"):
        found.apply()
    assert path.read_bytes() == before + b"\n"
    path.write_bytes(before)
    assert found.apply() == (path,)
    assert b"if guard_or_false(chosen.size(0) == 0):" in path.read_bytes()
    with pytest.raises(symfix.NotApplied, match="was changed since"):
        found.apply()
    again = imported(path).target()
    model, args = again["model"], again["args"]
    assert symfix.export(model, args, dynamic_shapes=({0: "rows"}, {0: "rows"})).verdict == "as-it-is"


def test_what_is_left_has_its_place_and_no_patch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = golden("loop_over_data", tmp_path, monkeypatch).target()
    found = symfix.export(given["model"], given["args"], dynamic_shapes=[{0: Dim.AUTO}, None])
    assert (found.verdict, found.patch, found.apply()) == ("left", "", ())
    assert found.left is not None
    assert (found.left.reason, str(found.left.place)) == ("loop-over-data", "loop_over_data.py:9 in forward")


def test_a_number_that_a_tensor_holds_needs_no_dynamic_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = golden("item_and_slice", tmp_path, monkeypatch).target()
    found = symfix.export(given["model"], given["args"], more=given["more"][:0])
    assert found.verdict == "proven"
    assert found.exported.inputs[0] == "as given"
    assert all(name.startswith("all:") for name in found.exported.inputs[1:])


def test_a_call_that_does_not_fit_is_said(tmp_path: Path) -> None:
    model = torch.nn.Linear(2, 2)
    assert symfix.export(model).message.startswith("the inputs do not fit the model: missing a required argument")
    other = symfix.export(model.to("meta"), (torch.randn(3, 2),), dynamic_shapes={"input": {0: "batch"}})
    assert (other.verdict, other.message) == ("unusable", "the model or its inputs are on meta; make them on the CPU")


def test_generated_code_has_no_file_to_change() -> None:
    space: dict[str, Any] = {"torch": torch}
    exec(
        "class Made(torch.nn.Module):\n"
        "    def forward(self, x):\n"
        "        return x if x.nonzero().shape[0] == 0 else x + 1\n",
        space,
    )
    found = symfix.export(space["Made"](), (torch.randn(4),), dynamic_shapes=({0: Dim.DYNAMIC},))
    assert found.left is not None
    assert (found.left.reason, str(found.left.place)) == ("no-source", "<string>:3 in forward")


def test_a_cell_of_a_notebook_gets_a_patch_that_is_not_applied() -> None:
    text = (MODELS / "item_and_slice.py").read_text()
    with tempfile.TemporaryDirectory() as folder:
        name = f"{folder}/ipykernel_1/123.py"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        space: dict[str, Any] = {"__name__": "__main__"}
        exec(compile(text, name, "exec"), space)
        given = space["target"]()
        found = symfix.export(given["model"], given["args"])
        assert found.verdict == "proven", found
        assert "+            torch._check_value(n <= x.shape[1])" in found.patch
        assert not Path(name).exists()
        with pytest.raises(symfix.NotApplied, match="is no file: write the change where the code comes from"):
            found.apply()
        del linecache.cache[name]


def test_an_interrupted_export_ends_with_its_forks(tmp_path: Path) -> None:
    code = """
import os, pathlib, time, torch, symfix

class Slow(torch.nn.Linear):
    def forward(self, x):
        pathlib.Path("begun").touch()
        time.sleep(1000)

try:
    symfix.export(Slow(2, 2), (torch.ones(3, 2),), jobs=2)
except KeyboardInterrupt:
    print("interrupted", pathlib.Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())
"""
    running = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=tmp_path, stdout=subprocess.PIPE, text=True,
        # A test run in the background ignores Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    until = time.monotonic() + SECONDS
    while not (tmp_path / "begun").exists() and time.monotonic() < until:
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    assert running.communicate(timeout=SECONDS)[0] == "interrupted []\n"
    assert running.returncode == 0


def test_only_bodies_of_functions_are_exchanged(tmp_path: Path) -> None:
    before = "import math\n\n\nclass Model:\n    size = 1\n\n    def forward(self):\n        return self.size\n"
    path, after = tmp_path / "model.py", tmp_path / "after.py"
    path.write_text(before)
    model = imported(path).Model()
    for text, why in [
        (before.replace("size = 1", "size = 2"), "line 4 is run when the module is imported"),
        (before.replace("import math\n", "import math\n\nprint()\n"), "line 3 is run when the module is imported"),
        (before.replace("    def", "    @property\n    def"), "line 4 is run when the module is imported"),
        (before.replace("(self)", "(self, more)"), "line 4 is run when the module is imported"),
    ]:
        after.write_text(text)
        with pytest.raises(TooDeep, match=why):
            exchange_files({str(path): str(after)})
    assert model.forward() == 1
    after.write_text("import os\n" + before.replace("return self.size", "return os.sep * self.size"))
    exchange_files({str(path): str(after)})
    assert model.forward() == "/"


class Two(torch.nn.Module):
    def forward(self, x: torch.Tensor, pair: list[torch.Tensor], **more: torch.Tensor) -> torch.Tensor:
        return x


X, PAIR, NAMED = torch.zeros(3, 4), [torch.zeros(3), torch.zeros(5, 6)], {"y": torch.zeros(3)}
BATCH = Dim("batch", min=2, max=9)


def named(dynamic: Any) -> Any:
    """Return the shapes with each ``Dim`` replaced by its name."""
    if isinstance(dynamic, dict):
        return {key: named(one) for key, one in dynamic.items()}
    if isinstance(dynamic, list):
        return [named(one) for one in dynamic]
    return getattr(dynamic, "__name__", dynamic)


@pytest.mark.parametrize(
    ("shapes", "dynamic"),
    [
        (None, {}),
        ({"x": {0: BATCH, 1: None}}, {"x": {0: "batch"}}),
        ({"x": (Dim.AUTO, Dim.STATIC)}, {"x": {0: "x0"}}),
        ({"x": {-1: Dim.DYNAMIC}}, {"x": {1: "x1"}}),
        (({0: "rows", 1: 4}, None, {0: "rows"}), {"x": {0: "rows"}, "y": {0: "rows"}}),
        ([None, [{0: BATCH}, [None, Dim.AUTO]]], {"pair": [{0: "batch"}, {1: "pair_1_1"}]}),
        ({"x": None, "more": {"y": {0: "rows"}}}, {"y": {0: "rows"}}),
    ],
)
def test_dynamic_shapes_are_dimensions_with_names(shapes: Any, dynamic: dict[str, Any]) -> None:
    assert named(convert(Two(), (X, PAIR), NAMED, shapes)) == dynamic


def test_the_range_of_a_dimension_is_kept() -> None:
    found = convert(Two(), (X, PAIR), NAMED, {"x": {0: BATCH, 1: Dim.DYNAMIC(max=8)}})
    assert found["x"][0] is BATCH
    assert (found["x"][1].__name__, found["x"][1].max) == ("x1", 8)


@pytest.mark.parametrize(
    ("shapes", "why"),
    [
        ({"z": {0: "rows"}}, "names 'z', which the call does not give"),
        ({"x": {2: "rows"}}, "of 'x': there is no dimension 2"),
        ({"x": ["rows"]}, "of 'x' has 1 entries for 2 dimensions"),
        ({"x": {0: 1.5}}, "of 'x': 1.5 is no Dim, name, number or None"),
        ({"x": {0: 2 * BATCH}}, "of 'x': 2\\*batch, a size made of another, is not supported"),
        ({"pair": [None]}, "of 'pair' has 1 entries for 2 values"),
        ({"x": 3}, "of 'x': a dict by dimension, or a list or tuple, is wanted"),
        (3, "is a int: a dict, tuple or list is wanted"),
        ((None,) * 4, "has 4 entries for 3 inputs"),
    ],
)
def test_dynamic_shapes_that_do_not_fit_are_said(shapes: Any, why: str) -> None:
    with pytest.raises(BadTarget, match=why):
        convert(Two(), (X, PAIR), NAMED, shapes)


def test_check_and_fix_text_say_what_the_commands_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "import torch\n\n\ndef f(x, n):\n    if n > x.size(0):\n        raise ValueError(n)\n    return x[:n]\n"
    Path("f.py").write_text(text)
    said = subprocess.run(
        [sys.executable, "-m", "symfix", "check", "--all-functions", "-q", "f.py"],
        capture_output=True, text=True, check=False,
    ).stdout  # fmt: skip
    found = symfix.check("f.py", all_functions=True)
    assert found
    for one in found:
        assert f"f.py:{one.line}:{one.column}: " in said
        assert one.message in said
    fixed = symfix.fix_text(text, unsafe_fixes=True)
    assert fixed != text
    words = ["fix", "--all-functions", "--unsafe-fixes", "--allow-dirty", "-q", "f.py"]
    subprocess.run([sys.executable, "-m", "symfix", *words], check=True)
    assert Path("f.py").read_text() == fixed
    with pytest.raises(symfix.NotFixed):
        symfix.check(["gone.py"])
    with pytest.raises(ValueError, match="no rule 'nothing'"):
        symfix.check("f.py", select=["nothing"])

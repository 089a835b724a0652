"""`symfix export` where values decide: sides that no input takes, gradients, refusals, and what is preferred."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from running import symfix

DECISIONS = Path(__file__).parents[1] / "golden" / "decisions"
MODEL = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        {}
        return x * 2

def target():
    torch.manual_seed(0)
    return {{"model": Model(), "args": (torch.randn(3, 4),), "dynamic": {{"x": {{0: "rows"}}}}}}
"""
ONE_SIDED = {
    "cond": "if x.square().sum() < -1:\n            x = x @ torch.ones(4, 4)",
    "where": "if x.square().sum() < -1:\n            x = x + 1",
    "loop": "left = x.new_ones(())\n        while left > 0.1:\n            left, x = left / 2, x + 1",
}
READ_IN_STEPS = {
    "difference": """difference = float("inf")
        while difference > 1e-3:
            better = x / 2 + 1 / (x.abs() + 1)
            difference = (better - x).abs().max().item()
            x = better""",
    "done": """done = False
        steps = 0
        while not done:
            x = x / 2
            steps += 1
            done = bool((x.abs() < 0.1).all())
        x = x * steps""",
    "worse": """error = 1e9
        while error > 0.1:
            x = x / 2
            error = x.norm().item() + 0.01""",
}
"""Loops that end by numbers and truths that each step reads from a tensor."""
EMPTY = """shift = None
        if (x > 0).all():
            shift = x.mean()
        x = x if shift is None else x - shift"""
"""A condition that an empty tensor fulfils, and then nothing is computed."""
REFUSED = """
import torch

class Model(torch.nn.Module):
    def forward(self, x, y):
        same = torch.equal(x, y)
        if same:
            raise ValueError("no difference")
        return x - y

def target():
    torch.manual_seed(0)
    pair = torch.randn(3, 4), torch.randn(3, 4)
    return {"model": Model(), "args": pair, "dynamic": {"x": {0: "rows"}, "y": {0: "rows"}}}
"""
GIVEN = ("gradient_through_zero_norm", "loud_rows_printed", "router_of_three", "inverse_or_identity")


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the report of each model, all from one command."""
    folder = tmp_path_factory.mktemp("decisions")
    for name, body in (*ONE_SIDED.items(), *READ_IN_STEPS.items()):
        (folder / f"{name}.py").write_text(MODEL.format(body))
    for name in GIVEN:
        shutil.copy(DECISIONS / f"{name}.py", folder)
    (folder / "empty.py").write_text(MODEL.format(EMPTY))
    (folder / "refused.py").write_text(REFUSED)
    names = [f"{name}.py" for name in (*ONE_SIDED, *READ_IN_STEPS, *GIVEN, "empty", "refused")]
    text = symfix("export", *names, cwd=folder, code=1).stdout
    parts = re.split(r"^(\w+)\.py: ", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("name", ONE_SIDED)
def test_a_side_that_no_input_takes_is_not_proven(name: str, said: dict[str, str]) -> None:
    assert said[name].startswith("one side only"), said[name]
    line = {
        "cond": "x = torch.cond(x.square().sum() < -1,",
        "where": "torch.where(x.square()",
        "loop": "while left > 0.1:",
    }
    assert line[name] in said[name].partition("not seen:")[2]


def test_a_loop_that_reads_what_ends_it_carries_a_tensor(said: dict[str, str]) -> None:
    assert said["difference"].startswith("proven")
    assert "in the program `difference` is in double precision" in said["difference"]
    assert said["done"].startswith("proven"), said["done"]
    assert said["worse"].startswith("left"), "the sum is computed in double precision by Python"


def test_an_empty_input_shows_no_side(said: dict[str, str]) -> None:
    assert said["empty"].startswith("left")
    assert "empty.py deviates: at all: ones" in said["empty"]


def test_a_refusal_of_equal_tensors_stays(said: dict[str, str]) -> None:
    assert said["refused"].startswith("left")
    assert "at equal tensors the program takes what the model refuses" in said["refused"]


def test_a_gradient_that_is_nan_goes_from_where_to_cond(said: dict[str, str]) -> None:
    report = said["gradient_through_zero_norm"]
    assert report.startswith("proven")
    assert "keep both sides of `total != 0` by torch.cond: only one of them is computed" in report
    assert "all: filled with 0.0" in report


def test_a_refusal_has_its_reason_and_place(said: dict[str, str]) -> None:
    report = said["loud_rows_printed"]
    assert report.startswith("left")
    assert "tried: use_cond: effect-in-branch: at line 13 `print('loud')` prints or warns" in report


@pytest.mark.parametrize("name", ["router_of_three", "inverse_or_identity"])
def test_a_chain_that_returns_and_results_of_other_layouts_are_proven(name: str, said: dict[str, str]) -> None:
    assert said[name].startswith("proven"), said[name]


def test_what_is_preferred_is_written(tmp_path: Path) -> None:
    shutil.copy(DECISIONS / "normalise_unless_zero.py", tmp_path)
    report = symfix("export", "--prefer", "cond", "normalise_unless_zero.py", cwd=tmp_path, code=0).stdout
    assert "by torch.cond: only one of them is computed" in report

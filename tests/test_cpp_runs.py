"""Tests of golden operators, built before and after: equal on real Tensors, symbolic only afterwards."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from goldens import FOLDER
from symfix.codemods.torchapi.torch_finder import locate
from symfix.codemods.verify.build.toolchain import CompilerMissing, find_toolchain

SCHEMAS = {
    "clipped": ("use_sym_sizes/extremes", "Tensor self, int wanted"),
    "stepped": ("use_sym_sizes/no_such_operator", "Tensor self"),
    "keep_or_collapse": ("use_sym_sizes/conditional", "Tensor self, bool keep, bool twice, int wanted"),
    "averaged": ("use_sym_sizes/to_float", "Tensor self"),
    "clamped": ("clamp_sym_sizes/on_tensors", "Tensor self, int most"),
}
CHILD = r"""
import json, sys, torch
from torch.fx.experimental.proxy_tensor import make_fx

torch.manual_seed(0)
CASES = {
    "clipped": [(torch.randn(5, 3), 2), (torch.randn(5, 3), 9), (torch.randn(1, 4), 0), (torch.randn(3), 2)],
    "stepped": [(torch.randn(5, 3),), (torch.randn(9, 0),), (torch.randn(1, 2),)],
    "keep_or_collapse": [(torch.randn(1, 3), True, True, 1), (torch.randn(1, 1), False, True, 4)],
    "clamped": [(torch.randn(9, 5), 3), (torch.randn(3, 4), 0), (torch.randn(2, 7), 5), (torch.randn(4), 1)],
    "averaged": [(torch.arange(12.0).reshape(4, 3),), (torch.ones(2, 2),)],
}

def outcome(call):
    try:
        return call()
    except Exception as error:
        return {"raised": type(error).__name__, "says": str(error).split("\n")[0]}

def eager(op, args):
    def call():
        result = op(*args)
        return [list(result.shape), str(result.dtype), result.tolist()]
    return outcome(call)

def traced(op, args):
    def call():
        graph = make_fx(op, tracing_mode="symbolic")(*args)
        return {"symbolic": "sym_size" in graph.code, "clamped": "sym_min" in graph.code}
    return outcome(call)

torch.ops.load_library(sys.argv[1])

def answers(space):
    found = {}
    for name, cases in CASES.items():
        op = getattr(space, name)
        found[name] = {"eager": [eager(op, args) for args in cases], "traced": traced(op, cases[0])}
    return found

print(json.dumps({"before": answers(torch.ops.golden_before), "after": answers(torch.ops.golden_after)}))
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    try:
        toolchain = find_toolchain(locate(None, None))
    except CompilerMissing as missing:
        pytest.skip(str(missing))
    folder = tmp_path_factory.mktemp("runs")
    source, target, library = (folder / f"goldens{suffix}" for suffix in (".cpp", ".o", ".so"))
    source.write_text(_library("before") + _library("after"))
    subprocess.run(toolchain.compile_command(source, target), check=True, timeout=600)
    torch = [f"-L{toolchain.libraries}", "-ltorch_cpu", "-lc10", f"-Wl,-rpath,{toolchain.libraries}"]
    subprocess.run([*toolchain.link_command([target], library), *torch], check=True, timeout=600)
    command = [sys.executable, "-c", CHILD, str(library)]
    ended = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600, cwd=folder)
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def _library(side: str) -> str:
    """Return the goldens of one side in their own namespace, registered as composite operators."""
    texts = [(FOLDER / f"{case}.{side}.cpp").read_text() for case, _ in SCHEMAS.values()]
    lines = [f'  m.def("{name}({schema}) -> Tensor", &shapes::{name});' for name, (_, schema) in SCHEMAS.items()]
    block = ["#include <torch/library.h>", f"TORCH_LIBRARY(golden_{side}, m) {{", *lines, "}", ""]
    return "\n".join([*texts, *block]).replace("shapes::", f"{side}::").replace("namespace shapes", f"namespace {side}")


@pytest.mark.parametrize("name", SCHEMAS)
def test_real_tensors_see_no_difference(answers: dict[str, Any], name: str) -> None:
    before, after = (answers[side][name]["eager"] for side in ("before", "after"))
    assert before == after
    assert any(isinstance(answer, list) for answer in before), "every call raised"


@pytest.mark.parametrize("name", sorted(set(SCHEMAS) - {"clamped"}))
def test_only_the_changed_operator_traces_symbolically(answers: dict[str, Any], name: str) -> None:
    before, after = (answers[side][name]["traced"] for side in ("before", "after"))
    assert "Cannot call" in before.get("says", "") or not before["symbolic"], before
    assert after["symbolic"]


def test_only_the_changed_operator_keeps_both_sizes(answers: dict[str, Any]) -> None:
    before, after = (answers[side]["clamped"]["traced"] for side in ("before", "after"))
    assert not before["clamped"]
    assert after["clamped"]


def test_an_error_is_among_the_compared_answers(answers: dict[str, Any]) -> None:
    raised = [answer for answer in answers["before"]["clipped"]["eager"] if isinstance(answer, dict)]
    assert raised == [answer for answer in answers["after"]["clipped"]["eager"] if isinstance(answer, dict)]
    assert len(raised) == 1

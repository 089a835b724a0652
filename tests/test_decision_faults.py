"""Planted faults in patches of decisions on values: the proof of `symfix export` passes none of them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

import pytest
from symfix.codemods.harness.process_limits import Limits
from symfix.codemods.harness.temp_folder import scratch_folder
from symfix.codemods.harness.torch_variant import Harness, Variant
from symfix.codemods.torchapi.torch_finder import locate
from symfix.codemods.workflows.export.procedure import variant_of
from symfix.codemods.workflows.export.target_trials import Targets
from symfix.codemods.workflows.repair.trials import Trial

HEAD = """
import torch
from torch._higher_order_ops import while_loop


class F(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = torch.nn.Linear(4, 4)
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x):
"""
TARGET = """

def target():
    torch.manual_seed(0)
    x = torch.randn(3, 4)MORE
    return {"model": F()MODE, "args": (x,), "dynamic": {"x": {0: "rows"}}TRAIN}
"""
THRESHOLD = "if x.max() > 1.0:\n    x = x * 2\nreturn x"
LAYER = "if x.sum() > 0:\n    x = self.proj(x)\nreturn x"
LOOP = "while x.norm() > 1:\n    x = x / 2\nreturn x"
COND = "if torch.compiler.is_compiling():\n    x = torch.cond({}, {}, {}, (x,))\n" + LAYER.replace("if", "elif", 1)
WHILE = "if torch.compiler.is_compiling():\n    {}\nelse:\n    while x.norm() > 1:\n        x = x / 2\nreturn x"
PLAIN, GRADIENTS, TRAINING = "plain", "gradients", "training"
FAULTS: dict[str, tuple[str, str, str]] = {
    "swapped sides of where": (THRESHOLD, "return torch.where(x.max() > 1.0, x, x * 2)", PLAIN),
    "swapped sides of cond": (LAYER, COND.format("x.sum() > 0", "lambda x: x.clone()", "self.proj"), PLAIN),
    "a limit that is met": (THRESHOLD, "return torch.where(x.max() >= 1.0, x * 2, x)", PLAIN),
    "an opposite that nan has not": (
        "if not x.max() > 1.0:\n    x = x * 2\nreturn x.nan_to_num(9.0) + x.isnan().any()",
        "x = torch.where(x.max() <= 1.0, x * 2, x)\nreturn x.nan_to_num(9.0) + x.isnan().any()",
        PLAIN,
    ),
    "a captured variable that changes": (
        "scale = 2\nif x.sum() > 0:\n    x = x * scale\nscale = 3\nreturn x * scale",
        "scale = 2\ndef grow(x):\n    return x * scale\nif torch.compiler.is_compiling():\n    scale = 3\n"
        "    return torch.cond(x.sum() > 0, grow, lambda x: x.clone(), (x,)) * scale\n"
        "if x.sum() > 0:\n    x = x * scale\nscale = 3\nreturn x * scale",
        PLAIN,
    ),
    "an alias of the input": (LAYER, COND.format("x.sum() > 0", "self.proj", "lambda x: x"), TRAINING),
    "a side that is not total": (
        "n = x.shape[0]\nif x.sum() > 1e9:\n    return x[n]\nreturn x[0]",
        "n = x.shape[0]\nreturn torch.where(x.sum() > 1e9, x[n], x[0])",
        PLAIN,
    ),
    "a carried value of the step before": (
        LOOP,
        WHILE.format("(_, x) = while_loop(lambda y, x: y.norm() > 1, lambda y, x: (y / 2, y.clone()), (x / 1, x))"),
        PLAIN,
    ),
    "a step too many": (
        LOOP, WHILE.format("(x,) = while_loop(lambda x: x.norm() > 0.5, lambda x: (x / 2,), (x,))"), PLAIN,
    ),
    "a gradient that is nan": (
        "total = x.sum()\nif total != 0:\n    x = x / total\nreturn x * 2",
        "total = x.sum()\nx = torch.where(total != 0, x / total, x)\nreturn x * 2",
        GRADIENTS,
    ),
    "another dtype": (
        LAYER,
        COND.format("x.sum() > 0", "lambda x: self.proj(x).double()", "lambda x: x.double()"),
        PLAIN,
    ),
    "an input that changes no longer": (
        "if x.sum() > 0:\n    x *= 2\nreturn x + 1", "x = torch.where(x.sum() > 0, x * 2, x)\nreturn x + 1", PLAIN,
    ),
    "an opposite of one part only": (
        "if not (x.isnan().any() | x.isinf().any()):\n    x = x * 2\nreturn x",
        "return torch.where(~x.isnan().any() | x.isinf().any(), x * 2, x)",
        PLAIN,
    ),
    "a condition that is asked twice": (
        "y = x + 1\nif x.mean() > torch.rand(()) - 0.5:\n    x, y = x * 2, y * 3\nreturn x, y",
        "y = x + 1\nx, y = torch.where(x.mean() > torch.rand(()) - 0.5, x * 2, x), "
        "torch.where(x.mean() > torch.rand(()) - 0.5, y * 3, y)\nreturn x, y",
        PLAIN,
    ),
    "an input that a program changes no longer": (
        "if x.sum() > 0:\n    y = self.proj(x)\nelse:\n    y = x\ny.add_(1)\nreturn y",
        "if torch.compiler.is_compiling():\n    y = torch.cond(x.sum() > 0, self.proj, lambda x: x.clone(), (x,))\n"
        "elif x.sum() > 0:\n    y = self.proj(x)\nelse:\n    y = x\ny.add_(1)\nreturn y",
        PLAIN,
    ),
    "a buffer that changes for both sides": (
        "if x.sum() > 0:\n    self.seen.add_(1)\n    x = x + 1\nreturn x",
        "self.seen.add_(1)\nreturn torch.where(x.sum() > 0, x + 1, x)",
        PLAIN,
    ),
}  # fmt: skip


def _text(body: str, mode: str) -> str:
    target = TARGET.replace("MORE", ".requires_grad_()" if mode == GRADIENTS else "")
    target = target.replace("MODE", "" if mode == TRAINING else ".eval()")
    target = target.replace("TRAIN", ', "training": True' if mode == TRAINING else "")
    return HEAD + textwrap.indent(body, " " * 8) + "\n" + target


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Trial]]:
    """Return the trial of each faulty text, as `symfix export` tries what it will write."""
    folder = tmp_path_factory.mktemp("faults")
    files = {f"fault{number}.py": fault for number, fault in enumerate(FAULTS.values())}
    texts = {}
    for name, (before, after, mode) in files.items():
        (folder / name).write_text(_text(before, mode))
        texts[(folder / name).resolve()] = _text(after, mode).encode()
    with scratch_folder() as scratch:
        laboratory = Harness(locate(None, None).python, scratch, Limits(wall=300.0, cpu=300))
        targets = Targets(folder, ("export",), unbacked=False)
        every = dict.fromkeys(files, -1)
        first = targets(laboratory, Variant("installed"), every, 0, 1).trials
        assert {name for name, one in first.items() if one.passed or one.verdict == "untestable"} == set()
        now = targets(laboratory, variant_of(texts, laboratory), every, 0, 1).trials
    yield {fault: now[f"fault{number}.py"] for number, fault in enumerate(FAULTS)}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_not_proven(fault: str, trials: dict[str, Trial]) -> None:
    assert not trials[fault].passed, fault
    assert trials[fault].verdict in ("wrong", "failed", "deviates", "untestable"), trials[fault]
    assert "SyntaxError" not in trials[fault].message
    assert "NameError" not in trials[fault].message

"""Tests that functions for TorchScript still compile after all fixes, and would not if the rules changed them."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from goldens import installed_torch
from symfix.codemods.engine.fixpoint import FixOptions, rewrite
from symfix.codemods.engine.registry import load_language, load_rules
from symfix.codemods.model.outcome import Changed, Unchanged
from symfix.codemods.model.rule import Context
from symfix.codemods.model.source_file import SourceFile

FILE = "torch/nn/functional.py"
FUNCTIONS = (
    "batch_norm",
    "instance_norm",
    "group_norm",
    "layer_norm",
    "cross_entropy",
    "mse_loss",
    "embedding",
    "normalize",
    "adaptive_avg_pool2d",
    "smooth_l1_loss",
)
BOARDS = Path(__file__).parents[1] / "scripts" / "scoreboards"


def fixed(path: str) -> bytes:
    """Return the installed ``torch/nn/functional.py`` after all fixes, as if its path was ``path``."""
    torch = find_spec("torch")
    assert torch is not None
    assert torch.origin is not None
    content = (Path(torch.origin).parents[1] / FILE).read_bytes()
    context = Context(installed_torch(), all_functions=True)
    source = SourceFile(Path(path), content)
    outcome = rewrite(
        source,
        load_rules("symfix.python"),
        load_language("symfix.python"),
        context,
        FixOptions(unsafe=True, polish=False),
    )
    assert isinstance(outcome, (Changed, Unchanged))
    return outcome.after if isinstance(outcome, Changed) else content


def scripted(text: bytes, folder: Path) -> dict[str, str]:
    """Return TorchScript's error for each function of the module with this text, or an empty string."""
    place, asked, report = folder / "functional.py", folder / "asked.json", folder / "report.json"
    place.write_bytes(text)
    request = {"modules": {"torch.nn.functional": str(place)}, "functions": FUNCTIONS, "report": str(report)}
    asked.write_text(json.dumps(request))
    command = [sys.executable, str(BOARDS / "python" / "scripting.py"), str(asked)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    answers: dict[str, str] = json.loads(report.read_text())
    return answers


def test_ten_functions_still_compile_after_all_fixes(tmp_path: Path) -> None:
    assert scripted(fixed(FILE), tmp_path) == dict.fromkeys(FUNCTIONS, "")


@pytest.mark.parametrize("path", ["torch/_refs/functional.py"])
def test_they_would_not_if_the_rules_took_the_file_for_another(tmp_path: Path, path: str) -> None:
    text = fixed(path)
    assert b"guard_or_" in text
    assert any("guard_or_" in said for said in scripted(text, tmp_path).values())

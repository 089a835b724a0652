"""Tests of functions that TorchScript compiles, by TorchScript itself. They are unchanged, and all others are fixed."""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from concrete import outcome
from symfix.codemods.engine.cache_dependencies import package_mentions
from symfix.codemods.engine.file_discovery import find
from symfix.codemods.engine.fixpoint import FixOptions
from symfix.codemods.engine.registry import Registry
from symfix.codemods.engine.run import CheckRequest, run
from symfix.codemods.engine.torch_context import TorchSurroundings
from symfix.codemods.model.outcome import Changed, Unchanged
from symfix.codemods.model.rule import Safety

HEAD = """import collections.abc
import typing
from typing import Any, Callable, Dict, List, Literal, Optional, Sequence, Tuple
import numpy as np
import torch
from torch import Tensor, nn


"""
REFUSALS = '    if {condition}:\n        raise ValueError("sizes")\n'
BODY = REFUSALS.format(condition="x.size(0) != w.size(0)")
# Each piece has a flag: True if TorchScript compiles the function.
SIGNATURES = {
    "x, w": True,
    "x, w, bias=None": True,
    "x: Tensor, w: Tensor, n: int = 1": True,
    "x: Tensor, w: Tensor, n: float = 1, *, m: int": True,
    "x: Tensor, w: Tensor, n: Optional[int] = None": True,
    "x: Tensor, w: Tensor, n: int | None = None": True,
    "x: Tensor, w: Tensor, n: Tuple[int, int] = (1, 2)": True,
    "x: Tensor, w: Tensor, n: Dict[str, int]": True,
    "x: Tensor, w: Tensor, n: dict[str, int]": True,
    "x: Tensor, w: Tensor, n: Any = None": True,
    "x: Tensor, w: Tensor, n: bool = None": True,
    "x, w, n=1": False,
    "x, w, n=-1": False,
    "x, w, n='a'": False,
    "x, w, n=(1, 2)": False,
    "x, w, n=True": False,
    "x, w, *n": False,
    "x, w, **n": False,
    "x: Tensor, w: Tensor, *, n: int = 1": False,
    "x: Tensor, w: Tensor, n: int = None": False,
    "x: Tensor, w: Tensor, n: str = None": False,
    "x: Tensor, w: Tensor, n: Sequence[int]": False,
    "x: Tensor, w: Tensor, n: Optional[Sequence[int]] = None": False,
    "x: Tensor, w: Tensor, n: typing.Callable": False,
    "x: Tensor, w: Tensor, n: collections.abc.Iterable": False,
    "x: Tensor, w: Tensor, n: np.ndarray": False,
    "x: Tensor, w: Tensor, n: torch.Size": False,
    "x: Tensor, w: Tensor, n: nn.Module": False,
    "x: Tensor, w: Tensor, n: dict": False,
    "x: Tensor, w: Tensor, n: Literal['a'] = 'a'": False,
}
STATEMENTS = {
    "assert x.dim() == 2, f'not {x.dim()}'": True,
    "n = [i for i in x.shape]": True,
    "n = {i: 1 for i in x.shape}": True,
    "for i in range(3):\n        print(i)": True,
    "with torch.no_grad():\n        x = x + 1": True,
    "n: int = x.size(0)": True,
    "n = torch.zeros(2, dtype=x.dtype)": True,
    "assert x.dim() == 2, f'not {x.dim():d}'": False,
    "assert x.dim() == 2, f'not {x.dim()!r}'": False,
    "n = [i for i in range(3) if i > 1]": False,
    "n = [i for i in x.shape for j in x.shape]": False,
    "n = all(i > 0 for i in range(3) if i)": False,
    "n = {i: 1 for i in range(3) if i}": False,
    "n = {1, 2}": False,
    "n = {i for i in x.shape}": False,
    "n = {**{'a': 1}}": False,
    "n = torch.zeros(2, **{})": False,
    "n = lambda: 1": False,
    "n: int\n    n = 1": False,
    "if (n := x.dim()) > 2:\n        print(n)": False,
    "try:\n        n = 1\n    except ValueError:\n        n = 2": False,
    "import math": False,
    "from math import sqrt": False,
    "def inner():\n        return 1": False,
    "class Inner:\n        pass": False,
    "global LIMIT": False,
    "yield x": False,
    "for i in range(3):\n        pass\n    else:\n        pass": False,
    "while x.dim() > 9:\n        pass\n    else:\n        pass": False,
    "match x.dim():\n        case 1:\n            pass": False,
}


def text_of(signature: str, statement: str = "", *, method: bool = False) -> str:
    lines = f"def f({signature}):\n" + (f"    {statement}\n" if statement else "") + BODY + "    return x\n"
    if not method:
        return HEAD + lines
    indented = "".join(f"    {line}" for line in lines.replace("def f(", "def forward(self, ").splitlines(True))
    return f"{HEAD}class Layer(nn.Module):\n{indented}"


def taken(text: str, folder: Path, *, method: bool) -> bool:
    """Return whether TorchScript compiles the definitions of a text."""
    path = folder / "stranger.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("stranger", path)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spec.loader.exec_module(module)
        try:
            torch.jit.script(module.Layer() if method else module.f)
        except Exception:
            return False
    return True


def after_fix(text: str) -> str:
    """Return the text after its one safe check."""
    found = outcome(text)
    assert isinstance(found, Changed)
    (fix,) = found.applied
    assert fix.safety is Safety.SAFE
    return found.after.decode()


@pytest.mark.parametrize("method", [False, True], ids=["function", "module"])
@pytest.mark.parametrize("signature", SIGNATURES)
def test_signatures(signature: str, method: bool, tmp_path: Path) -> None:
    text = text_of(signature, method=method)
    assert taken(text, tmp_path, method=method) is SIGNATURES[signature]
    after = after_fix(text)
    assert ("is_scripting" in after) is taken(after, tmp_path, method=method) is SIGNATURES[signature]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_statements(statement: str, tmp_path: Path) -> None:
    text = text_of("x: Tensor, w: Tensor", statement)
    assert taken(text, tmp_path, method=False) is STATEMENTS[statement]
    after = after_fix(text)
    assert ("is_scripting" in after) is taken(after, tmp_path, method=False) is STATEMENTS[statement]


def test_types_in_a_comment_stand_for_annotations(tmp_path: Path) -> None:
    text = text_of("x, w, n=1", "# type: (Tensor, Tensor, int) -> Tensor")
    assert taken(text, tmp_path, method=False)
    assert taken(after_fix(text), tmp_path, method=False)


def test_what_torchscript_has_no_form_for_is_left_unless_dropped() -> None:
    text = f"{HEAD}def f(x: Tensor):\n    if x.size(0) == 0:\n        return x\n    return x / x.size(0)\n"
    found = outcome(text, unsafe=True)
    assert isinstance(found, Unchanged)
    assert [skip.reason for skip in found.skips] == ["torchscript"]
    assert isinstance(outcome(text, unsafe=True, drop_torchscript=True), Changed)


@pytest.mark.parametrize(
    "line",
    ["n = torch.sym_min(x.size(0), w.size(0))", "n = torch.sym_float(x.size(0))", "torch._check(True, lambda: 'a')"],
)
def test_what_is_written_is_nothing_for_torchscript(line: str, tmp_path: Path) -> None:
    assert not taken(f"{HEAD}def f(x, w):\n    {line}\n    return x\n", tmp_path, method=False)


@pytest.mark.parametrize("line", ["traced = torch.jit.trace(f, torch.ones(2))", "print(torch.jit.is_tracing())"])
def test_a_file_that_traces_is_left(line: str) -> None:
    text = f"{text_of('x: Tensor, w: Tensor, n=1')}\n\n{line}\n"
    found = outcome(text)
    assert isinstance(found, Unchanged)
    assert [skip.reason for skip in found.skips] == ["torchscript"]


def test_a_size_that_is_traced_is_a_tensor_that_no_check_takes() -> None:
    def checked(x: torch.Tensor) -> torch.Tensor:
        torch._check(x.size(0) == 2, lambda: "sizes")
        return x

    with warnings.catch_warnings(), pytest.raises(TypeError, match="cond must be a bool"):
        warnings.simplefilter("ignore")
        torch.jit.trace(checked, torch.ones(2))


@pytest.mark.parametrize("word", ["torch.jit.is_scripting()", "torch.jit.unused(Layer)"])
def test_a_package_that_speaks_to_torchscript_is_left_where_it_may_compile(word: str, tmp_path: Path) -> None:
    folder = tmp_path / "layers"
    (folder / "inner").mkdir(parents=True)
    texts = {"__init__.py": "", "inner/__init__.py": "", "other.py": f"def spoken():\n    return {word}\n"}
    least = "n = min(x.size(0), w.size(0))"
    texts |= {"inner/taken.py": text_of("x: Tensor, w: Tensor", least)}
    texts |= {"inner/refused.py": text_of("x: Tensor, w: Tensor, *, n=1", least)}
    for name, text in texts.items():
        (folder / name).write_text(text)
    card = next(wing for wing in Registry().wings if wing.language == "Python")
    assert package_mentions(folder / "inner" / "taken.py", card)
    assert not package_mentions(tmp_path / "alone.py", card)
    question = CheckRequest(frozenset({"use_sym_min_max"}), FixOptions(unsafe=True, polish=False))
    targets = list(find([folder / "inner"], frozenset({".py"})))
    refused, taken = run(targets, question, TorchSurroundings(all_functions=True, drop_torchscript=True)).outcomes
    assert isinstance(refused, Changed)
    assert isinstance(taken, Unchanged)
    assert [skip.reason for skip in taken.skips] == ["torchscript"]


def test_pytorchs_own_functions_for_torchscript_are_known() -> None:
    found = outcome(text_of("x: Tensor, w: Tensor"), path="torch/_refs/stranger.py")
    assert isinstance(found, Changed)

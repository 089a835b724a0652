"""Tests of the evidence that a function is traced, and of the tracers that reach it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from goldens import installed_torch
from snippets import context, module
from symfix.codemods.torchapi.probes import dynamo_refusal, inlined, scripted
from symfix.codemods.torchapi.torch_finder import TorchInstallation
from symfix.python.analysis.flow.tracers import is_faked, is_kept_in_graph, is_traced
from symfix.python.syntax.module import Module

SHAPES = "torch.fx.experimental.symbolic_shapes"
MODEL = """
import torch
from torch import Tensor, nn
from torch.library import custom_op

class Net(nn.Module):
    def forward(self, x):
        return self.inner(x) + helper(x)
    def inner(self, x):
        return x
    def other(self, x):
        return x

class Step(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x

def helper(x):
    return nested(x)

def nested(x):
    return x

@torch.compile
def compiled(x):
    return reached(x)

def reached(x):
    return x

def handed(x):
    return x

fast = torch.compile(handed, dynamic=True)

@custom_op("mine::real", mutates_args=())
def real(x: Tensor) -> Tensor:
    return x

@real.register_fake
def fake(x):
    return x

def alone(x):
    return x
"""
COMPILED = {"compiled", "reached", "handed", "fake"}
MODULES = {"Net.forward", "Net.inner", "helper", "nested"}


def names(made: Module, *, modules: bool = False, all_functions: bool = False) -> set[str]:
    asked = replace(context(), modules=modules, all_functions=all_functions)
    return {one.qualname for one in made.functions if is_traced(made, one, asked)}


def test_is_traced_follows_the_evidence_of_a_file() -> None:
    made = module(MODEL, "model.py")
    assert names(made) == COMPILED
    assert names(made, modules=True) == COMPILED | MODULES
    assert names(made, all_functions=True) == {one.qualname for one in made.functions}


def test_is_traced_in_own_tree_is_true_for_all() -> None:
    made = module(MODEL, "torch/nn/functional.py")
    assert names(made) == {one.qualname for one in made.functions}


@pytest.mark.parametrize(
    ("path", "faked"),
    [
        ("torch/_refs/__init__.py", True),
        ("torch/_meta_registrations.py", True),
        ("torch/nn/modules/conv.py", False),
        ("torch/distributions/normal.py", False),
        ("model.py", False),
    ],
)
def test_is_faked_by_the_package_of_torch(path: str, faked: bool) -> None:
    made = module(MODEL, path)
    alone, fake = ([one for one in made.functions if one.qualname == name] for name in ("alone", "fake"))
    assert is_faked(made, alone[0], installed_torch()) is faked
    assert is_faked(made, fake[0], installed_torch())


def test_is_faked_where_dynamo_does_not_inline_unless_torchscript_may_compile() -> None:
    text = "def plain(x):\n    return x\n\ndef refused(x, *args):\n    return x\n"
    made = module(text, "torch/masked/_ops.py")
    plain, refused = made.functions
    assert not is_faked(made, plain, installed_torch())
    assert is_faked(made, refused, installed_torch())


def test_is_kept_in_graph_with_the_private_functions_that_only_such_functions_call() -> None:
    text = """
def multi_head_attention_forward(x):
    return _first(x) + _shared(x) + public(x)
def _first(x):
    return _second(x)
def _second(x):
    return _first(x)
def _shared(x):
    return x
def public(x):
    return _shared(x)
def _alone(x):
    return _beside(x)
def _beside(x):
    return _alone(x)
def scaled_dot_product_attention(x):
    return _canonical_mask(x)
def _canonical_mask(x):
    return x
def binary_cross_entropy(x):
    return _read(x)
def _read(x):
    return x
handed = dict(read=_read)
"""
    made = module(text, "torch/nn/functional.py")
    kept = {one.qualname for one in made.functions if is_kept_in_graph(made, one, installed_torch())}
    own = {"_first", "_second"}
    assert {one for one in kept if one.startswith("_")} == own, "torch's modules call `_canonical_mask`"
    other = module(text, "model.py")
    assert not any(is_kept_in_graph(other, one, installed_torch()) for one in other.functions)


def test_dynamo_refusal_of_the_installed_torch() -> None:
    api = installed_torch()
    assert api.dynamo_refusal(f"{SHAPES}.sym_eq") == f"dynamo does not trace `{SHAPES}.sym_eq`"
    assert api.dynamo_refusal("torch._check(values)") is not None
    for helper in ("torch._check", "torch._check_value", "torch.sym_min", f"{SHAPES}.guard_or_false", "torch.unheard"):
        assert api.dynamo_refusal(helper) is None


def test_dynamo_refusal_without_dynamo_names_the_torch(tmp_path: Path) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path} exec {installed_torch().torch_python} "$@"\n')
    python.chmod(0o755)
    place = TorchInstallation("9.9", "9.9", python, tmp_path / "torch", tmp_path, (), ())
    said = dynamo_refusal(place, "torch.sym_min")
    assert said is not None and said.startswith(f"torch 9.9 of {python} compiles no function (ModuleNotFoundError")
    assert scripted(place) is None, "nothing is known, so anything may be"
    assert inlined(place) is None


def test_is_scripted_names_what_the_installed_torch_scripts_and_what_that_calls() -> None:
    api = installed_torch()
    for name in ("nll_loss_backward", "_nll_loss_backward"):
        assert api.is_scripted(f"torch._decomp.decompositions.{name}")
    assert api.is_scripted("torch.jit._decompositions.var_decomposition")
    assert not api.is_scripted("torch._decomp.decompositions.nll_loss_forward")

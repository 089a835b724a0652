"""Tests of the board of torch's own Python: its losses, and captures of every distribution."""

from __future__ import annotations

import pytest
import torch
from scoreboards.python.capturing import FAKED, IMPORT, _captured, _distribution, _parameters
from scoreboards.python.direct import direct
from scoreboards.python.running import _running
from scoreboards.python.traced import gains, losses
from symfix.codemods.harness.children.recorders.captures import Capture

TAKEN = Capture(error="", breaks=0, guards=[], specialized=0, deviation="")
FAILED = Capture(error="refused", breaks=0, guards=[], specialized=0, deviation="")
COMPOSED = {"ExponentialFamily", "Distribution", "MixtureSameFamily", "TransformedDistribution"}


def test_losses_and_gains_are_by_call_and_tracer() -> None:
    before = {"a": {"export": TAKEN, "make_fx": FAILED}, "b": {"export": TAKEN}}
    after = {"a": {"export": FAILED, "make_fx": TAKEN}, "b": {"export": TAKEN}}
    assert losses(before, after) == {("a", "export"): "refused"}
    assert gains(before, after) == {("a", "make_fx"): "refused"}


def test_a_call_that_kills_the_process_is_lost_by_every_tracer_that_took_it() -> None:
    lost = losses({"a": {"export": TAKEN, "make_fx": FAILED}}, {"a": {}})
    assert lost == {("a", "export"): "the call is gone, or kills the process"}


def test_every_distribution_has_parameters() -> None:
    found = {name for name in torch.distributions.__all__ if isinstance(getattr(torch.distributions, name), type)}
    bases = {name for name in found if issubclass(getattr(torch.distributions, name), torch.distributions.Distribution)}
    assert bases - COMPOSED == set(_parameters())


@pytest.mark.parametrize("name", _parameters())
def test_a_distribution_is_sampled_and_its_probability_computed(name: str) -> None:
    made = getattr(torch.distributions, name)
    for method in ("sample", "log_prob"):
        function, args, kwargs = _distribution(made, _parameters()[name], method)
        assert torch.is_tensor(function(*args, **kwargs))


def test_a_module_that_fails_to_import_is_lost_with_its_error() -> None:
    """Use an import error, as for a function that is passed to TorchScript at import."""

    def failing() -> tuple[object, tuple[()], dict[str, object]]:
        raise RuntimeError("Unknown builtin op: aten::sym_float.")

    before, after = (_captured(made, (IMPORT,)) for made in (lambda: (torch, (), {}), failing))
    assert losses({"imports:a": before}, {"imports:a": after}) == {
        ("imports:a", IMPORT): "RuntimeError: Unknown builtin op: aten::sym_float."
    }


CALLS = {name: (made, tracers) for name, made, tracers in direct(FAKED, ("compile", "script"))}


@pytest.mark.parametrize("name", CALLS)
def test_a_direct_call_can_be_made(name: str) -> None:
    function, args, kwargs = CALLS[name][0]()
    function(*args, **kwargs)


def test_the_functions_that_a_call_runs_are_found() -> None:
    plain = torch.nn.init.xavier_uniform_
    wanted = ("torch/nn/init.py", f"{plain.__name__}:{plain.__code__.co_firstlineno}")
    made = CALLS["direct:nn.init.xavier_uniform_"][0]
    assert _running(made, {wanted, ("torch/nn/init.py", "xavier_uniform_:1")}) == [wanted]
    assert _running(CALLS["direct:cond"][0], {wanted}) == []

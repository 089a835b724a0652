"""Test subjects by name: operators and higher-order ones (OpInfo), modules (ModuleInfo), drawn calls; their samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from ..overlay.import_hooks import imported
from .autograd_protocol import Trained
from .call_plans import Planned, call_named
from .samples import Sample, draw, operator_dtype, seed
from .subject_kinds import CALLS, HOPS, MODULES, OPERATORS

BACKWARD = "backward"


def subjects(kind: str, calls: Sequence[str] = ()) -> dict[tuple[str, str], Any]:
    """Return all subjects of a kind by name and variant, for drawn calls those in ``calls``.

    A module has no variants.
    """
    if kind == MODULES:
        modules = imported("torch.testing._internal.common_modules")
        return {(module.name, ""): module for module in modules.module_db}
    if kind == CALLS:
        known = {full_name(name): operator for name, operator in subjects(OPERATORS).items()}
        return {(name, ""): call_named(name, known) for name in calls if name.rpartition("@")[0] in known}
    if kind == HOPS:
        tested = imported("torch.testing._internal.hop_db").hop_db
    else:
        tested = imported("torch.testing._internal.common_methods_invocations").op_db
    return {(operator.name, operator.variant_test_name): operator for operator in tested}


def full_name(name: tuple[str, str]) -> str:
    """Return the dotted name, such as ``linalg.norm.subgradients_at_zero``."""
    return ".".join(filter(None, name))


def drawn(subject: Any, protocol: str) -> Iterator[Sample]:
    """Return a lazy iterator over the samples of one subject in the form that ``protocol`` calls."""
    if isinstance(subject, Planned):
        return iter([subject])
    trained = protocol == BACKWARD
    if hasattr(subject, "module_cls"):
        return _of_module(subject, trained)
    return _differentiable(subject) if trained else draw(subject)


def _differentiable(operator: Any) -> Iterator[Sample]:
    if not operator.supports_autograd:
        return
    seed(0)
    for sample in operator.sample_inputs("cpu", operator_dtype(operator), requires_grad=True):
        yield Trained(operator.op, (sample.input, *sample.args), sample.kwargs)


def _of_module(info: Any, trained: bool) -> Iterator[Sample]:
    """Yield samples whose first argument is the module: it is no tensor, so its parameters keep their sizes."""
    for training in (True, False) if info.train_and_eval_differ else (True,):
        seed(0)
        inputs = info.module_inputs_func(
            info, device="cpu", dtype=torch.float32, requires_grad=trained, training=training
        )
        for one in inputs:
            if one.forward_input is None:
                continue
            module = info.module_cls(*one.constructor_input.args, **one.constructor_input.kwargs)
            module = module.to("cpu", torch.float32).train(training)
            args, kwargs = one.forward_input.args, one.forward_input.kwargs
            if info.is_lazy:
                module(*args, **kwargs)
            kind = Trained if trained else Sample
            yield kind(_call, (module if trained else module.requires_grad_(False), *args), kwargs)


def _call(module: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the module's result and its buffers, since running statistics are a result too."""
    return module(*args, **kwargs), list(module.buffers())

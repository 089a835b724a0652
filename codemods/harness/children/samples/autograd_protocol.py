"""Calls with a backward pass, whose result is that of the forward pass and its gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _pytree as pytree

from .samples import SEED, Sample, seed, tensors_in
from .side_effects import weights


class Untrainable(Exception):
    """Error raised when no result of the call has a gradient."""


class Trained(Sample):
    """Call whose result includes the gradients with respect to inputs that require one and to a module's parameters."""

    backend = "aot_eager"
    """Backend of `torch.compile`. The eager backend traces no backward pass."""

    def __init__(self, function: Callable[..., Any], args: Any, kwargs: Any, refusal: str = "") -> None:
        self._asked = [tensor.requires_grad for tensor in tensors_in((tuple(args), dict(kwargs)))]
        # A view of a tensor with a gradient can't be copied.
        args, kwargs = pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.detach(), (tuple(args), dict(kwargs)))
        super().__init__(function, args, kwargs, refusal=refusal)
        self._resized = False

    def resized(self, new_size: Callable[[int], int]) -> Trained:
        """Resize like `Sample.resized`."""
        other = super().resized(new_size)
        assert isinstance(other, Trained)
        other._resized = True
        return other

    def outcome(self, function: Callable[..., Any] | None = None, *, unbacked: bool = False) -> tuple[Any, list[Any]]:
        """Return the result and the gradients. Raises Untrainable for the call as it was drawn.

        At other sizes a result without gradients has zeros, such as that of an empty tensor that eager returns early.
        """
        args, kwargs = self.marked(unbacked)
        given = zip(tensors_in((args, kwargs)), self._asked, strict=True)
        by = [tensor.requires_grad_() for tensor, asked in given if asked]
        modules = [leaf for leaf in pytree.tree_leaves(args) if isinstance(leaf, torch.nn.Module)]
        by += [weight for module in modules for weight in module.parameters() if weight.requires_grad]
        seed(SEED)
        result = (function or self.function)(*args, **kwargs)
        differentiable = [tensor for tensor in tensors_in(result) if tensor.requires_grad]
        if not by or not (differentiable or self._resized):
            raise Untrainable("no result has a gradient")
        weighted = list(map(weights, differentiable))
        found = torch.autograd.grad(differentiable, by, weighted, allow_unused=True) if weighted else [None] * len(by)
        # An unused input has no gradient on one side and zeros on the other.
        gradients = [torch.zeros_like(at) if one is None else one for one, at in zip(found, by, strict=True)]
        result = pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.detach(), result)
        return (result, gradients), [tensor.detach() for tensor in tensors_in((args, kwargs))]

    def forward(self) -> Sample:
        """Return the same call without gradients."""
        args, kwargs = self.inputs()
        for leaf in pytree.tree_leaves(args):
            if isinstance(leaf, torch.nn.Module):
                leaf.requires_grad_(False)
        return Sample(self.function, args, kwargs, self._marks)

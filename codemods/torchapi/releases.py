"""Releases of torch that added or removed a symbol. This table cannot be derived from one installed torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .api import TorchApi

Release = tuple[int, int]

NEWEST_TRIED: Release = (2, 15)
"""Newest release of ``scripts/releases``. A newer one is named, and everything is probed as ever."""

_SHAPES = "torch.fx.experimental.symbolic_shapes."
_SIZEVARS = "torch._inductor.sizevars.SizeVarAllocator."

FIRST: dict[str, Release] = {
    "torch.sym_min": (2, 1),
    "torch.sym_max": (2, 1),
    "torch.sym_not": (2, 1),
    "torch._check": (2, 1),
    "torch._check_value": (2, 1),
    "torch._check_index": (2, 1),
    "torch._check_type": (2, 1),
    "torch._check_with": (2, 1),
    "TORCH_SYM_CHECK": (2, 1),
    "c10::SymInt::min": (2, 1),
    "c10::SymInt::max": (2, 1),
    _SHAPES + "statically_known_true": (2, 3),
    _SHAPES + "sym_eq": (2, 3),
    _SHAPES + "guard_size_oblivious": (2, 3),
    "TORCH_GUARD_SIZE_OBLIVIOUS": (2, 3),
    "torch._check_is_size": (2, 3),
    "TORCH_MAYBE_SYM_CHECK": (2, 7),
    _SHAPES + "guard_or_false": (2, 8),
    _SHAPES + "guard_or_true": (2, 8),
    _SHAPES + "sym_and": (2, 8),
    _SHAPES + "sym_or": (2, 8),
    "TORCH_GUARD_OR_FALSE": (2, 8),
    "TORCH_GUARD_OR_TRUE": (2, 8),
    "TORCH_STATICALLY_KNOWN_TRUE": (2, 8),
    _SIZEVARS + "guard_or_false": (2, 8),
    _SIZEVARS + "guard_or_true": (2, 8),
    "torch._prims_common.is_contiguous_or_false": (2, 9),
    "at::TensorBase::sym_is_contiguous": (2, 9),
    _SIZEVARS + "guard_int": (2, 9),
    _SIZEVARS + "check_equals": (2, 9),
    "c10::sym_equals": (2, 10),
    _SIZEVARS + "optimization_hint": (2, 11),
}

GONE: dict[str, Release] = {
    _SHAPES + "definitely_true": (2, 8),
    _SHAPES + "definitely_false": (2, 8),
    _SIZEVARS + "evaluate_static_shape": (2, 9),
    _SIZEVARS + "guard_equals": (2, 9),
    _SIZEVARS + "size_hint": (2, 12),
}


def available(symbol: str, min_torch: Release | None, api: TorchApi) -> bool:
    """Return whether new text may use ``symbol``: it exists from ``min_torch`` on, or without one, in ``api``'s torch.

    ``symbol`` is written as for `TorchApi.has`. With ``min_torch``, a symbol that is not in the tables counts only if
    ``api`` is no newer than that and has it.
    """
    if min_torch is None:
        return api.has(symbol)
    if any(_same(symbol, gone) for gone in GONE):
        return False
    first = [release for known, release in FIRST.items() if _same(symbol, known)]
    if first:
        return max(first) <= min_torch
    return api.release <= min_torch and api.has(symbol)


def _same(symbol: str, known: str) -> bool:
    for separator in ("::", "."):
        if known.endswith(separator + symbol):
            return True
    return known == symbol

"""Calls of functions of torch without operator tests: initializers, quantized cells, attention, sparse layouts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Made = tuple[Any, tuple[Any, ...], dict[str, Any]]
"""Function or module with its arguments."""


def direct(faked: tuple[str, ...], every: tuple[str, ...]) -> Iterator[tuple[str, Callable[[], Made], tuple[str, ...]]]:
    """Yield the calls by name. Functions that PyTorch runs on fake tensors have the tracers ``faked``."""
    for calls, tracers in ((_PUBLIC, every), (_FAKED, faked)):
        for name, made in calls.items():
            yield f"direct:{name}", made, tracers


def _rows(*sizes: int) -> Any:
    import torch

    return torch.rand(sizes)


def _heads(number: int) -> Any:
    return _rows(2, number, 16, 8)


def _initializer(name: str) -> Made:
    import torch

    return getattr(torch.nn.init, name), (_rows(3, 5),), {}


def _cell(name: str) -> Made:
    import torch

    state = _rows(3, 6)
    cell = getattr(torch.ao.nn.quantized.dynamic, name)(4, 6)
    return cell, (_rows(3, 4), (state, _rows(3, 6)) if name == "LSTMCell" else state), {}


def _hidden() -> Made:
    import torch

    return torch.ao.nn.quantized.dynamic.GRUCell(4, 6).check_forward_hidden, (_rows(3, 4), _rows(3, 6)), {}


def _flex(heads: int, grouped: bool) -> Made:
    from torch.nn.attention.flex_attention import flex_attention

    def called(query: Any, key: Any, value: Any) -> Any:
        return flex_attention(query, key, value, enable_gqa=grouped)

    return called, (_heads(4), _heads(heads), _heads(heads)), {}


def _embedded() -> Made:
    from torch.nn.attention.flex_attention import _validate_embed_dim

    return _validate_embed_dim, (_heads(4), _heads(4), _heads(4)), {}


def _paged() -> Made:
    import torch
    from torch.nn.attention.experimental._paged_attention import PagedAttention

    pages: Any = PagedAttention(8, 4, 2, device="cpu")
    pages.reserve(torch.tensor(0), torch.tensor(4))
    caches = (_rows(1, 2, 32, 8), _rows(1, 2, 32, 8))
    values = (_rows(1, 2, 4, 8), _rows(1, 2, 4, 8))
    return pages.assign, (torch.tensor([0]), torch.arange(4)[None], *values, *caches), {}


def _packed() -> Made:
    import torch
    from torch.quantization._quantized_conversions import pack_int4_to_int8

    return pack_int4_to_int8, (torch.ones(3, 4, dtype=torch.int8),), {}


def _semi_structured(back: bool) -> Made:
    import torch
    from torch.sparse import _semi_structured_conversions as conversions

    dense = torch.zeros(32, 64, dtype=torch.float16)
    dense[:, ::4], dense[:, 1::4] = 1, 2
    there: Any = conversions.sparse_semi_structured_from_dense_cutlass
    if not back:
        return there, (dense,), {}
    return conversions.sparse_semi_structured_to_dense_cutlass, tuple(there(dense)), {}


def _decomposed_var() -> Made:
    from torch.jit._decompositions import var_decomposition

    return var_decomposition, (_rows(3, 5), [0], 1), {}


def _scalar() -> Made:
    from torch.onnx._internal.torchscript_exporter.jit_utils import _scalar as scalar

    return scalar, (_rows(1),), {}


def _masked(layout: str) -> Made:
    import torch
    from torch.masked import _ops as masked

    if layout == "coo":
        sparse = torch.eye(4).to_sparse()
        where: Any = masked._sparse_coo_where
        return where, (sparse.bool(), sparse, torch.tensor(0.0)), {}
    sparse = torch.eye(4).to_sparse_csr()
    return lambda one, mask: masked.amax(one, 1, keepdim=True, mask=mask), (sparse, sparse.bool()), {}


def _conditional() -> Made:
    import torch

    def called(wanted: Any, x: Any) -> Any:
        return torch.cond(wanted, lambda x: x + 1, lambda x: x * 2, (x,))

    return called, (torch.tensor(True), _rows(3, 4)), {}


def _quantized(back: bool, overload: str) -> Made:
    import torch
    from torch.ao.quantization.fx import _decomposed  # noqa: F401 - registers the operators

    namespace: Any = torch.ops.quantized_decomposed
    operator = getattr(namespace.dequantize_per_tensor if back else namespace.quantize_per_tensor, overload)
    given = torch.ones(3, 4, dtype=torch.uint8) if back else _rows(3, 4)
    limits = (0, 100) if overload == "tensor" else (torch.tensor(0), torch.tensor(100))

    def called(x: Any, scale: Any, zero: Any, *limits: Any) -> Any:
        return operator(x, scale, zero, *limits, torch.uint8)

    return called, (given, torch.tensor(0.1), torch.tensor(1), *limits), {}


def _loss(x: Any) -> Any:
    import torch

    return torch.nn.functional.nll_loss(torch.nn.functional.log_softmax(x, 1), torch.tensor([1, 0]))


def _forward_mode(name: str) -> Made:
    import torch

    def pushed(x: Any, tangent: Any) -> Any:
        return torch.func.jvp(_loss, (x,), (tangent,))[1]

    return (
        (pushed, (_rows(2, 3), _rows(2, 3)), {}) if name == "jvp" else (torch.func.hessian(_loss), (_rows(2, 3),), {})
    )


def _nll_backward(planes: bool) -> Made:
    import torch
    from torch._decomp import decompositions

    one = torch.tensor(1.0)
    if planes:
        target = torch.zeros(2, 4, 5, dtype=torch.long)
        return decompositions.nll_loss2d_backward, (one, _rows(2, 3, 4, 5), target, None, 1, -100, one), {}
    return decompositions.nll_loss_backward, (one, _rows(2, 3), torch.tensor([1, 0]), None, 1, -100, one), {}


def _folded() -> Made:
    from torch._decomp import decompositions

    return decompositions.col2im, (_rows(2, 12, 20), [5, 6], [2, 2], [1, 1], [0, 0], [1, 1]), {}


def _attended() -> Made:
    from torch._decomp import decompositions

    return decompositions.scaled_dot_product_flash_attention_for_cpu, (_heads(4), _heads(4), _heads(4)), {}


def _sparse_linear() -> Made:
    from torch import _meta_registrations as meta

    return meta.meta_sparse_structured_linear, (_rows(3, 8), _rows(5, 4), _rows(5, 1)), {"bias": _rows(5)}


def _sparse_product(added: bool) -> Made:
    from torch import _meta_registrations as meta

    product = (_rows(3, 4), _rows(3, 1), _rows(8, 5))
    if added:
        return meta.meta_sparse_structured_addmm, (_rows(3), *product), {}
    return meta.meta_sparse_structured_mm, product, {}


def _complex() -> Made:
    from torch._subclasses.complex_tensor import ComplexTensor

    return lambda real, imaginary: ComplexTensor(real, imaginary).abs(), (_rows(3, 4), _rows(3, 4)), {}


_PUBLIC: Mapping[str, Callable[[], Made]] = {
    "nn.init.xavier_uniform_": lambda: _initializer("xavier_uniform_"),
    "nn.init.xavier_normal_": lambda: _initializer("xavier_normal_"),
    "ao.nn.quantized.dynamic.LSTMCell": lambda: _cell("LSTMCell"),
    "ao.nn.quantized.dynamic.GRUCell": lambda: _cell("GRUCell"),
    "ao.nn.quantized.dynamic.RNNCell": lambda: _cell("RNNCell"),
    "ao.nn.quantized.dynamic.GRUCell.check_forward_hidden": _hidden,
    "nn.attention.flex_attention": lambda: _flex(4, False),
    "nn.attention.flex_attention of groups": lambda: _flex(2, True),
    "nn.attention.flex_attention._validate_embed_dim": _embedded,
    "nn.attention.experimental.PagedAttention.assign": _paged,
    "quantization.pack_int4_to_int8": _packed,
    "sparse.semi_structured_from_dense": lambda: _semi_structured(False),
    "sparse.semi_structured_to_dense": lambda: _semi_structured(True),
    "jit.var_decomposition": _decomposed_var,
    "onnx.jit_utils._scalar": _scalar,
    "masked._sparse_coo_where": lambda: _masked("coo"),
    "masked.amax of rows": lambda: _masked("csr"),
    "cond": _conditional,
    "quantized_decomposed.quantize_per_tensor": lambda: _quantized(False, "tensor"),
    "quantized_decomposed.dequantize_per_tensor": lambda: _quantized(True, "tensor"),
    "quantized_decomposed.quantize_per_tensor.tensor2": lambda: _quantized(False, "tensor2"),
    "quantized_decomposed.dequantize_per_tensor.tensor2": lambda: _quantized(True, "tensor2"),
    "func.jvp of a loss": lambda: _forward_mode("jvp"),
    "func.hessian of a loss": lambda: _forward_mode("hessian"),
}
_FAKED: Mapping[str, Callable[[], Made]] = {
    "_decomp.nll_loss_backward": lambda: _nll_backward(False),
    "_decomp.nll_loss2d_backward": lambda: _nll_backward(True),
    "_decomp.col2im": _folded,
    "_decomp.scaled_dot_product_flash_attention_for_cpu": _attended,
    "_meta.sparse_structured_linear": _sparse_linear,
    "_meta.sparse_structured_mm": lambda: _sparse_product(False),
    "_meta.sparse_structured_addmm": lambda: _sparse_product(True),
    "_subclasses.ComplexTensor": _complex,
}

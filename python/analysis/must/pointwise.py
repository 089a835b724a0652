"""Expressions on tensors that give a value for all elements: both sides of a choice may be computed.

An index, a count of what a mask chose, a division of whole numbers or a call of unknown code may raise for the values
that the other side was written for.
"""

from __future__ import annotations

import ast
from enum import IntEnum

from ...syntax.module import Module
from ...syntax.tree import literal


class Cost(IntEnum):
    """The cost of computing an expression where its value is not needed."""

    CHEAP = 0
    EXPENSIVE = 1
    UNKNOWN = 2
    """It may raise, too."""


_CHEAP = frozenset(
    """abs absolute neg negative sign sgn exp exp2 expm1 log log1p log2 log10 sqrt rsqrt square pow sin cos tan tanh
    asin acos atan atan2 sinh cosh sigmoid logit erf erfc erfinv relu relu6 elu selu gelu silu mish softplus hardtanh
    hardsigmoid hardswish leaky_relu celu clamp clamp_min clamp_max clip round floor ceil trunc frac add sub subtract
    mul multiply div divide true_divide lerp addcmul addcdiv where masked_fill maximum minimum fmax fmin
    nan_to_num isnan isinf isfinite isclose eq ne lt le gt ge logical_and logical_or logical_not logical_xor
    bitwise_and bitwise_or bitwise_not bitwise_xor sum mean prod std var norm count_nonzero any all cumsum softmax
    log_softmax logsumexp normalize zeros ones full zeros_like ones_like full_like empty_like new_zeros new_ones
    new_full tensor scalar_tensor clone detach to type type_as float double half bfloat16 int long bool contiguous
    flip roll triu tril size dim numel""".split()  # noqa: SIM905
)
_EXPENSIVE = frozenset(
    """matmul mm bmm mv dot addmm baddbmm einsum linear bilinear conv1d conv2d conv3d layer_norm group_norm outer
    scaled_dot_product_attention""".split()  # noqa: SIM905
)
_ALGEBRA = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.BitAnd, ast.BitOr, ast.BitXor)
_PLAIN = (ast.Name, ast.Constant, ast.Attribute)


def cost(module: Module, node: ast.expr) -> Cost:
    """Return what computing an expression on the values of the other side costs, or that it may raise."""
    if isinstance(node, _PLAIN):
        return Cost.CHEAP if isinstance(node, ast.Constant) or not _is_unset(node) else Cost.UNKNOWN
    if isinstance(node, ast.BinOp):
        return max(_of_operator(node), cost(module, node.left), cost(module, node.right))
    if isinstance(node, ast.UnaryOp):
        return Cost.UNKNOWN if isinstance(node.op, ast.Not) else cost(module, node.operand)
    if isinstance(node, ast.Compare):
        plain = all(isinstance(op, (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)) for op in node.ops)
        whole = plain and len(node.ops) == 1
        return max(cost(module, one) for one in (node.left, *node.comparators)) if whole else Cost.UNKNOWN
    if isinstance(node, ast.Call):
        return _of_call(module, node)
    if isinstance(node, (ast.Tuple, ast.List)):
        return max((cost(module, one) for one in node.elts), default=Cost.CHEAP)
    if isinstance(node, ast.Subscript):
        return max(cost(module, node.value), Cost.CHEAP if _is_sliced(node.slice) else Cost.UNKNOWN)
    return Cost.UNKNOWN


def _is_unset(node: ast.Name | ast.Attribute) -> bool:
    """Return whether the root of a chain of attributes is no name."""
    at: ast.expr = node
    while isinstance(at, ast.Attribute):
        at = at.value
    return not isinstance(at, ast.Name)


def _of_operator(node: ast.BinOp) -> Cost:
    if isinstance(node.op, ast.MatMult):
        return Cost.EXPENSIVE
    if isinstance(node.op, (ast.FloorDiv, ast.Mod)):
        return Cost.CHEAP if literal(node.right) not in (None, 0) else Cost.UNKNOWN
    return Cost.CHEAP if isinstance(node.op, _ALGEBRA) else Cost.UNKNOWN


def _of_call(module: Module, node: ast.Call) -> Cost:
    if not isinstance(node.func, ast.Attribute) or any(isinstance(one, ast.Starred) for one in node.args):
        return Cost.UNKNOWN
    name, meaning = node.func.attr, module.names.meaning(node.func)
    if name not in _CHEAP and name not in _EXPENSIVE:
        return Cost.UNKNOWN
    if any(one.arg in ("rounding_mode", "out", "inplace") for one in node.keywords):
        return Cost.UNKNOWN
    own = Cost.CHEAP if name in _CHEAP else Cost.EXPENSIVE
    # A module of the user's may have a method of any name: only tensors are computed with.
    if meaning is None and (isinstance(node.func.value, ast.Name) and node.func.value.id in ("self", "cls")):
        return Cost.UNKNOWN
    receiver = [] if meaning is not None else [node.func.value]
    parts = [*receiver, *node.args, *(one.value for one in node.keywords)]
    if meaning is not None and not meaning.startswith("torch."):
        return Cost.UNKNOWN
    return max([own, *(cost(module, one) for one in parts)])


def _is_sliced(index: ast.expr) -> bool:
    """Return whether an index takes ranges of dimensions only, which never raises for a range that is too long."""
    if isinstance(index, ast.Tuple):
        return all(map(_is_sliced, index.elts))
    whole = isinstance(index, ast.Slice) and index.step is None
    return whole or (isinstance(index, ast.Constant) and index.value in (None, ...))

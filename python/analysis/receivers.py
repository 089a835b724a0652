"""Is it a tensor? A method's name alone is no evidence: ``df.size`` is not ours."""

from __future__ import annotations

import ast

from ..syntax.module import Module
from ..syntax.tree import Function, spelled

# Attributes that tensors have and that arrays of other libraries, process groups and queues do not.
_TENSOR_ONLY = frozenset(
    {
        "numel",
        "dim",
        "new_empty",
        "new_zeros",
        "new_ones",
        "new_full",
        "new_tensor",
        "new_empty_strided",
        "storage_offset",
        "is_contiguous",
        "requires_grad",
        "untyped_storage",
        "as_strided",
        "is_sparse",
        "layout",
        "unsqueeze",
        "element_size",
        "is_cuda",
        "is_floating_point",
        "is_complex",
        "is_conj",
        "is_neg",
        "index_select",
        "narrow",
        "to_dense",
        "expand_as",
        "view_as",
        "type_as",
        "contiguous",
        "sym_size",
    }
)
_META = frozenset({"val", "example_value", "tensor_meta"})


def shown_to_be_tensors(function: Function) -> frozenset[str]:
    """Names on which the function uses what only tensors have."""
    found: set[str] = set()
    # A process group or a layout has a size() and a numel() too.
    others = {one.arg for one in function.arguments if one.annotation and not _open_type(spelled(one.annotation))}
    others |= {name for node in function.nodes.assigns for name in _made_of_other_class(node)}
    for node in function.nodes.attributes:
        if node.attr in _TENSOR_ONLY and isinstance(node.value, ast.Name):
            found.add(node.value.id)
    for call in function.nodes.calls:
        found |= _called(call)
    return frozenset(found - others) | {name for call in function.nodes.calls for name in _asserted(function, call)}


def _open_type(annotation: str) -> bool:
    """An annotation that leaves room for a tensor."""
    return len(annotation.strip("_")) == 1 or any(word in annotation for word in ("Any", "object", "Tensor"))


def _made_of_other_class(node: ast.Assign) -> set[str]:
    """``layout = Layout.of(...)``: what a class makes that has nothing of a tensor in its name."""
    func = node.value.func if isinstance(node.value, ast.Call) else None
    named = func.value if isinstance(func, ast.Attribute) else func
    if not isinstance(named, ast.Name) or not named.id.lstrip("_")[:1].isupper():
        return set()
    if any(word in named.id for word in ("Tensor", "Parameter", "Function")):
        return set()
    return {target.id for target in node.targets if isinstance(target, ast.Name)}


def _called(call: ast.Call) -> set[str]:
    """``x.size(0)``."""
    func = call.func
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
        plain = func.attr in ("size", "stride") and len(call.args) == 1 and not call.keywords
        return {func.value.id} if plain else set()
    return set()


def _asserted(function: Function, call: ast.Call) -> set[str]:
    """``assert isinstance(x, TensorLike)`` says it outright; a branch on isinstance says nothing."""
    if (
        not isinstance(call.func, ast.Name)
        or call.func.id != "isinstance"
        or len(call.args) != 2
        or not isinstance(call.args[0], ast.Name)
    ):
        return set()
    wanted = spelled(call.args[1]).rpartition(".")[2]
    if wanted not in ("Tensor", "TensorLike"):
        return set()
    for node in function.nodes.every(ast.Assert, ast.If):
        if isinstance(node, ast.Assert) and node.test is call:
            return {call.args[0].id}
        if isinstance(node, ast.If) and isinstance(node.test, ast.UnaryOp) and node.test.operand is call:
            return {call.args[0].id}
    return set()


def runs_on_tensors(function: Function) -> bool:
    """The function is registered as a meta, a reference or a decomposition: what has a shape there is a tensor."""
    scope: Function | None = function
    while scope is not None:
        for decorator in scope.node.decorator_list:
            name = spelled(decorator.func if isinstance(decorator, ast.Call) else decorator).rpartition(".")[2]
            if name.startswith("register_") or name in ("out_wrapper", "elementwise_type_promotion_wrapper"):
                return True
        scope = scope.outer
    return False


def is_node_metadata(node: ast.expr) -> bool:
    """``node.meta["val"]`` of an FX node is a fake tensor."""
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "meta"
        and isinstance(node.slice, ast.Constant)
        and node.slice.value in _META
    )


def imports_torch(module: Module) -> bool:
    return any(name == "torch" or name.startswith(("torch.", ".")) for name in module.names.imports.values())

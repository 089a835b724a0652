"""Evidence that names are tensors, by their use. A method's name is no evidence: ``df.size`` is not a tensor's."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache

from ...syntax.module import Module
from ...syntax.tree import FunctionDefinition, spelled
from .dispatch_kind import registered

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


@dataclass(frozen=True)
class Evidence:
    """Evidence for tensors in the text of a function."""

    shown: frozenset[str] = frozenset()
    """Names that the function uses in ways that only tensors support."""
    registered: bool = False
    """True if the function is registered as a meta, a reference or a decomposition. Its parameters that have a shape
    are tensors."""


def evidence(module: Module, function: FunctionDefinition) -> Evidence:
    """Return the evidence in one function. There is none in a file that does not use torch."""
    if not _imports_torch(module):
        return Evidence()
    return Evidence(_shown(function), _registered(function) or registered(module, function) is not None)


def _shown(function: FunctionDefinition) -> frozenset[str]:
    found = {
        node.value.id
        for node in function.nodes.attributes
        if node.attr in _TENSOR_ONLY and isinstance(node.value, ast.Name)
    }
    asserted: set[str] = set()
    for call in function.nodes.calls:
        func = call.func
        if isinstance(func, ast.Attribute) and func.attr in ("size", "stride"):
            found |= _called(call)
        elif isinstance(func, ast.Name) and func.id == "isinstance":
            asserted |= _asserted(function, call)
    return frozenset((found - _others(function) if found else found) | asserted)


def _others(function: FunctionDefinition) -> set[str]:
    """Return the names that are no tensors. A process group or a layout also has a size() and a numel()."""
    typed = {one.arg for one in function.arguments if one.annotation and not _open_type(spelled(one.annotation))}
    return typed | {name for node in function.nodes.assigns for name in _made_of_other_class(node)}


def _open_type(annotation: str) -> bool:
    """Return whether a value with this annotation may be a tensor."""
    return len(annotation.strip("_")) == 1 or any(word in annotation for word in ("Any", "object", "Tensor"))


def _made_of_other_class(node: ast.Assign) -> set[str]:
    """Return the names that are assigned an instance of a class that is not named like a tensor.

    An example is ``layout = Layout.of(...)``.
    """
    func = node.value.func if isinstance(node.value, ast.Call) else None
    named = func.value if isinstance(func, ast.Attribute) else func
    if not isinstance(named, ast.Name) or not named.id.lstrip("_")[:1].isupper():
        return set()
    if any(word in named.id for word in ("Tensor", "Parameter", "Function")):
        return set()
    return {target.id for target in node.targets if isinstance(target, ast.Name)}


def _called(call: ast.Call) -> set[str]:
    """Return the receiver of ``x.size(0)``."""
    func = call.func
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
        plain = func.attr in ("size", "stride") and len(call.args) == 1 and not call.keywords
        return {func.value.id} if plain else set()
    return set()


def _asserted(function: FunctionDefinition, call: ast.Call) -> set[str]:
    """Return the name in ``assert isinstance(x, TensorLike)``. A branch on isinstance is no evidence."""
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


def _registered(function: FunctionDefinition) -> bool:
    scope: FunctionDefinition | None = function
    while scope is not None:
        for decorator in scope.node.decorator_list:
            name = spelled(decorator.func if isinstance(decorator, ast.Call) else decorator).rpartition(".")[2]
            if name.startswith("register_") or name in ("out_wrapper", "elementwise_type_promotion_wrapper"):
                return True
        scope = scope.outer
    return False


@lru_cache(maxsize=8)
def _imports_torch(module: Module) -> bool:
    return any(name == "torch" or name.startswith(("torch.", ".")) for name in module.names.imports.values())

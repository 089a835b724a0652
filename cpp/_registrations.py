"""What a file hands to the dispatcher, and whether under keys whose kernels run on fake tensors."""

from __future__ import annotations

import re

from tree_sitter import Node

from ._declarations import Function
from ._model import Model
from ._tree import ancestors, arguments, every, field

FAKE_KEYS = frozenset(
    {
        "CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional", "Meta",
        "Functionalize", "Autograd",
    }
)  # fmt: skip
"""Dispatch keys whose kernels run on fake tensors."""

LIBRARY = "TORCH_LIBRARY"
MARKS = (b"TORCH_LIBRARY", b"RegisterOperators")
"""Without one of these words, a file registers nothing."""

_KEY = re.compile(r"\bDispatchKey::(\w+)|\b(?:torch|at|c10)::k([A-Z]\w*)\b")
_OPTION = re.compile(r"\b(?:kernel|catchAllKernel)<(.*?)>\(([^()]*)\)", re.DOTALL)
_AUTOGRAD = re.compile(r"\bautograd::Function\s*<")


def registrations(model: Model) -> dict[str, str]:
    """Functions of the file that it registers: "fake" where a key of theirs runs on fake tensors, else "kernel".

    They stand in TORCH_LIBRARY blocks, or in ``RegisterOperators().op(…)`` as it was before those; a key named in the
    call comes before the one of the block. A kernel for no key is one for all.
    """
    found: dict[str, str] = {}
    for function in model.functions:
        if function.name.startswith(LIBRARY):
            fake = is_fake_block(model, function)
            for call in every(function.body, "call_expression"):
                _register(call, fake, model, found)
    if b"RegisterOperators" in model.tree.content:
        for call in every(model.tree.root, "call_expression"):
            if _is_old_registration(call, model):
                _register(call, True, model, found)
    return found


def is_fake_block(model: Model, function: Function) -> bool:
    """Whether a TORCH_LIBRARY block registers for a key that runs on fake tensors."""
    head = model.tree.content[function.node.start_byte : function.body.start_byte].decode()
    block = re.match(r"\s*TORCH_LIBRARY(_IMPL)?\w*\s*\(([^)]*)\)", head)
    words = [] if block is None else [word.strip() for word in block[2].split(",")]
    if block is None or block[1] is None:
        return True
    return len(words) > 1 and _runs_on_fake_tensors(words[1])


def autograd_methods(call: Node, model: Model) -> list[Function]:
    """The methods that ``X::apply(…)`` runs, where the file has ``X``, a torch::autograd::Function."""
    called = field(call, "function")
    scope = None if called is None else called.child_by_field_name("scope")
    if called is None or scope is None or not model.tree.text(called).endswith("::apply"):
        return []
    name = model.tree.text(scope)
    return [
        function
        for function in model.functions
        if function.in_class and function.name in ("forward", "backward") and _stands_in(function, name, model)
    ]


def _stands_in(function: Function, name: str, model: Model) -> bool:
    for around in ancestors(function.node):
        if around.type in ("class_specifier", "struct_specifier"):
            head = model.tree.text(around).partition("{")[0]
            own = around.child_by_field_name("name")
            return own is not None and model.tree.text(own) == name and bool(_AUTOGRAD.search(head))
    return False


def _register(call: Node, fake: bool, model: Model, found: dict[str, str]) -> None:
    handed = arguments(call)
    if _method(call, model) not in ("def", "impl", "op") or len(handed) < 2 or handed[-1].type == "lambda_expression":
        return
    *middle, last = (model.tree.text(argument) for argument in handed[1:])
    options = [(match[1], match[2]) for match in _OPTION.finditer(last)]
    for functions, key in options or [(last, " ".join((*middle, last)))]:
        keys = [match[1] or match[2] for match in _KEY.finditer(key)]
        sees = any(map(_runs_on_fake_tensors, keys)) if keys else fake
        for name in re.findall(r"\b[A-Za-z_]\w*\b", functions):
            if model.named(name):
                found[name] = "fake" if sees or found.get(name) == "fake" else "kernel"


def _is_old_registration(call: Node, model: Model) -> bool:
    return _method(call, model) == "op" and "RegisterOperators" in model.tree.text(call)


def _method(call: Node, model: Model) -> str | None:
    called = field(call, "function")
    method = called.child_by_field_name("field") if called is not None else None
    return model.tree.text(method) if method is not None else None


def _runs_on_fake_tensors(key: str) -> bool:
    return key in FAKE_KEYS or key.startswith("Autograd")

"""What a file hands to the dispatcher, and whether under keys whose kernels run on fake tensors."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from ..syntax.commas import listed
from ..syntax.declarations import Function
from ..syntax.model import Model
from ..syntax.tree import ancestors, arguments, every

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
_BLOCK = re.compile(rb"\bTORCH_LIBRARY(?:_(?:IMPL|FRAGMENT))?(?:_EXPAND|_THIS_API_IS_FOR_\w+)?\s*\(")
_CAPITALS = re.compile(r"(?:CPU|CUDA|HIP|XLA|MPS|IPU|XPU|HPU|VE|MTIA|MAIA|FPGA)")
"""The dispatch keys that look like macros."""
_HEAD = 16
_AUTOGRAD = re.compile(r"\bautograd::Function\s*<")


Unread = tuple[int, int, str]
"""A block of registrations that says nothing of this file's functions: start, end of the name, and why."""


def registrations(model: Model) -> tuple[dict[str, str], tuple[Unread, ...]]:
    """Functions of the file that it registers: "fake" where a key of theirs runs on fake tensors, else "kernel".

    They stand in TORCH_LIBRARY blocks, or in ``RegisterOperators().op(…)`` as it was before those; a key named in the
    call comes before the one of the block. A kernel for no key is one for all. Beside them: what could not be read.
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
    return found, tuple(_unread(model))


def is_fake_block(model: Model, function: Function) -> bool:
    """Whether a TORCH_LIBRARY block registers for a key that runs on fake tensors."""
    key = _key_of(model, function)
    return key == "" or (key is not None and _runs_on_fake_tensors(key))


def is_registration(model: Model, node: Node) -> bool:
    """Whether a place stands in a TORCH_LIBRARY block, or in what ``RegisterOperators().op(…)`` is handed."""
    owner = model.function_at(node.start_byte)
    if owner is not None:
        return owner.name.startswith(LIBRARY)
    calls = (around for around in ancestors(node) if around.type == "call_expression")
    return any(_is_old_registration(call, model) for call in calls)


def _unread(model: Model) -> Iterator[Unread]:
    heads: list[int] = []
    for function in model.functions:
        if not function.name.startswith(LIBRARY):
            continue
        start, end = function.node.start_byte, function.body.start_byte
        heads.append(start)
        key = _key_of(model, function)
        if key is None:
            yield start, end, "the key of this block can't be read: its functions are taken for kernels on real data"
        elif (key == "" or _runs_on_fake_tensors(key)) and _names_no_function(function, model):
            yield start, end, "nothing that this block registers is a function of this file"
    for match in _BLOCK.finditer(model.tree.masked.text):
        node = model.tree.root.descendant_for_byte_range(match.start(), match.end() - 1)
        read = any(start <= match.start() and match.start() - start < _HEAD for start in heads)
        if not read and node is not None and node.type in ("identifier", "type_identifier", "ERROR"):
            yield match.start(), match.end() - 1, "this block of registrations does not parse"


def _key_of(model: Model, function: Function) -> str | None:
    """The dispatch key of a TORCH_LIBRARY_IMPL block; empty for the blocks without one, None if it can't be read."""
    head = model.tree.content[function.node.start_byte : function.body.start_byte].decode()
    block = re.match(r"\s*TORCH_LIBRARY(_IMPL)?\w*\s*\((.*)\)\s*\Z", head, re.DOTALL)
    if block is None:
        return None
    if block[1] is None:
        return ""
    words = listed(block[2])
    key = words[1].strip() if len(words) > 1 else ""
    key = model.tree.macro(key) or key
    return key if re.fullmatch(r"\w+", key) and (key != key.upper() or _CAPITALS.fullmatch(key)) else None


def _names_no_function(function: Function, model: Model) -> bool:
    """Whether a block registers something, and no function of this file or lambda is among it."""
    found: dict[str, str] = {}
    registers = False
    for call in every(function.body, "call_expression"):
        if _method(call, model) is None:
            registers = registers or (call.parent is not None and call.parent.type == "expression_statement")
        elif _method(call, model) in ("def", "impl", "op") and len(handed := _untagged(call, model)) > 1:
            if handed[-1].type == "lambda_expression":
                return False
            registers = True
            _register(call, True, model, found)
    return registers and not found


def autograd_methods(call: Node, model: Model) -> list[Function]:
    """The methods that ``X::apply(…)`` runs, where the file has ``X``, a torch::autograd::Function."""
    called = call.child_by_field_name("function")
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
    handed = _untagged(call, model)
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


def _untagged(call: Node, model: Model) -> list[Node]:
    """What is handed to a registration, without the tags that may end it."""
    handed = arguments(call)
    while handed and (handed[-1].type == "initializer_list" or "Tag::" in model.tree.text(handed[-1])):
        handed.pop()
    return handed


def _is_old_registration(call: Node, model: Model) -> bool:
    return _method(call, model) == "op" and "RegisterOperators" in model.tree.text(call)


def _method(call: Node, model: Model) -> str | None:
    called = call.child_by_field_name("function")
    method = called.child_by_field_name("field") if called is not None else None
    return model.tree.text(method) if method is not None else None


def _runs_on_fake_tensors(key: str) -> bool:
    return key in FAKE_KEYS or key.startswith("Autograd")

"""Dispatcher registrations of a file, and whether their keys run on fake tensors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from ...syntax.declarations import Function
from ...syntax.library_blocks import MARKS, LibraryBlock, Registration, read_blocks
from ...syntax.model import Model
from ...syntax.project import Project
from ...syntax.tree import ancestors

FAKE_KEYS = frozenset(
    {
        "CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional", "Meta",
        "Functionalize", "Autograd",
    }
)  # fmt: skip
"""Dispatch keys whose kernels run on fake tensors."""

LIBRARY = "TORCH_LIBRARY"
_EVERY_KEY = ("", "CatchAll")
"""Keys of a kernel that is registered for all dispatch keys."""
_AUTOGRAD = re.compile(r"\bautograd::Function\s*<")

Unread = tuple[int, int, str]
"""Block of registrations that makes no function of this file eligible: start, end of the name, and the reason."""


@dataclass(frozen=True)
class Registrations:
    """Registrations of the file's functions, in the file and elsewhere in its project.

    ``kinds`` maps names to "fake" if one of their keys runs on fake tensors, else "kernel". ``elsewhere`` are the names
    that another file registers.
    """

    kinds: dict[str, str]
    elsewhere: frozenset[str]
    unread: tuple[Unread, ...]
    blocks: tuple[LibraryBlock, ...]
    """Blocks of the file itself, in source order."""

    def is_fake_block(self, function: Function) -> bool:
        """Return whether a function is the body of a block that registers for a key that runs on fake tensors."""
        start, end = function.node.start_byte, function.node.end_byte
        fakes = (block for block in self.blocks if not block.stable and is_for_fakes(block.key))
        return any(start <= block.start and block.end <= end for block in fakes)

    def names(self, node: Node) -> bool:
        """Return whether a node is inside the arguments of a registration."""
        handed = (one for block in self.blocks for one in block.registrations)
        return any(one.start <= node.start_byte < one.end for one in handed)


def registrations(model: Model, project: Project) -> Registrations:
    """Return the file's functions that are registered, in the file or elsewhere in its project.

    Registrations occur in TORCH_LIBRARY blocks, in macros that expand to them, or in the older
    ``RegisterOperators().op(…)``. A key in the call takes precedence over the key of the block.
    """
    kinds: dict[str, str] = {}
    blocks = read_blocks(model.tree.content, project.macros) if _may_register(model, project) else ()
    for block in blocks:
        for one in block.registrations:
            for name in one.functions:
                _add(kinds, name.rpartition("::")[2], one, model)
    own = frozenset(kinds)
    for function in model.functions:
        if function.name not in own and not function.internal and not function.in_class:
            for found in project.by_function.get(function.name, ()):
                if any(is_named(function, name) for name in found.registration.functions):
                    _add(kinds, function.name, found.registration, model)
    return Registrations(kinds, frozenset(kinds) - own, tuple(_unread(blocks, model, project)), blocks)


def is_for_fakes(key: str | None) -> bool:
    """Return whether the kernels of a key, empty for none, run on fake tensors."""
    return key is not None and (key in FAKE_KEYS or key in _EVERY_KEY or key.startswith("Autograd"))


def _may_register(model: Model, project: Project) -> bool:
    content = model.tree.content
    if any(mark in content for mark in MARKS):
        return True
    if project.root is None:
        return False
    # An undefined macro may come from a library that the project uses.
    return any(name.encode() in content for name in project.macros) or b"DISPATCH" in content or b"REGISTER" in content


def _add(kinds: dict[str, str], name: str, one: Registration, model: Model) -> None:
    if model.named(name):
        sees = is_for_fakes(one.key) and not one.stable
        kinds[name] = "fake" if sees or kinds.get(name) == "fake" else "kernel"


def is_named(function: Function, name: str) -> bool:
    """Return whether a name, as written in another file, may refer to the function."""
    qualifier = name.rpartition("::")[0].removeprefix("::")
    around = "::".join(space for spaces in function.namespaces for space in spaces.split("::") if space)
    return not qualifier or around == qualifier or around.endswith(f"::{qualifier}")


def _unread(blocks: tuple[LibraryBlock, ...], model: Model, project: Project) -> Iterator[Unread]:
    for block in blocks:
        end = model.tree.content.find(b")", block.start) + 1 or block.end
        if block.unread is not None:
            yield block.start, end, block.unread
        elif block.stable and is_for_fakes(block.key) and any(one.functions for one in block.registrations):
            yield block.start, end, "the Tensor of torch's stable ABI has no symbolic sizes: its functions are left"
        elif is_for_fakes(block.key) and _names_no_function(block, model, project):
            yield block.start, end, "nothing that this block registers is a function of this file or project"


def _names_no_function(block: LibraryBlock, model: Model, project: Project) -> bool:
    """Return whether a block registers functions of which none is known in the file or project."""
    named = [one for one in block.registrations if one.functions]
    if not named or any(one.is_lambda for one in block.registrations):
        return False
    return project.root is None and not any(
        model.named(name.rpartition("::")[2]) for one in named for name in one.functions
    )


def autograd_methods(call: Node, model: Model) -> list[Function]:
    """Return the methods that ``X::apply(…)`` runs if the file defines ``X``, a torch::autograd::Function."""
    called = call.child_by_field_name("function")
    scope = None if called is None else called.child_by_field_name("scope")
    if called is None or scope is None or not model.tree.text(called).endswith("::apply"):
        return []
    name = model.tree.text(scope)
    return [
        function
        for function in model.functions
        if function.name in ("forward", "backward") and autograd_class(function, model) == name
    ]


def autograd_class(function: Function, model: Model) -> str | None:
    """Return the torch::autograd::Function of the file that a method belongs to, or None for any other function."""
    for around in ancestors(function.node) if function.in_class else ():
        if around.type in ("class_specifier", "struct_specifier"):
            head = model.tree.text(around).partition("{")[0]
            own = around.child_by_field_name("name")
            return model.tree.text(own) if own is not None and _AUTOGRAD.search(head) else None
    return None

"""Edits of native_functions.yaml: the types of arguments, and the kernels of the keys that see symbolic sizes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from ...codemods.model.edit import Edit
from ...cpp.analysis.file.eligibility import symint_name
from ...cpp.analysis.file.registrations import FAKE_KEYS
from ..syntax.entries import Entry, Line

_KERNEL = re.compile(r"\w+")
_BEFORE_DISPATCH = frozenset(
    {"python_module", "variants", "device_check", "device_guard", "category_override", "manual_kernel_registration"}
)
"""Keys of the lines that usually precede a dispatch table. A missing table is inserted after them."""


@dataclass(frozen=True)
class Renamed:
    """Kernel that takes SymInts under a new name, for one operator."""

    operator: str
    old: str
    new: str
    generated: bool = False
    """True if torchgen generates the kernel, unless a file of the tree defines it."""


def symbolic_kernels(entries: Mapping[str, Entry], names: Collection[str]) -> list[Renamed]:
    """Return the kernels of some operators that run on fake tensors, each with its name for SymInts."""
    found: list[Renamed] = []
    for name in names:
        entry = entries[name]
        if entry.value("manual_kernel_registration") or entry.value("structured_delegate") or entry.value("structured"):
            continue
        if entry.dispatch:
            lines = [line for line in entry.dispatch if _sees_symbols(line)]
            for line in lines:
                if _plain(kernel := kernel_of(line)):
                    generated = line.key.text == "CompositeExplicitAutogradNonFunctional"
                    found.append(Renamed(name, kernel, symint_name(kernel), generated))
        else:
            kernel = default_kernel(entry)
            found.append(Renamed(name, kernel, _name_of_its_own(entries, entry, kernel)))
    return found


def dispatched(entry: Entry, renamed: Collection[Renamed]) -> Iterator[Edit]:
    """Yield the edits of the dispatch table for the renamed kernels. A missing table is added."""
    by_name = {one.old: one.new for one in renamed if one.operator == entry.name}
    if not by_name:
        return
    for line in entry.dispatch:
        new = by_name.get(kernel_of(line)) if _sees_symbols(line) else None
        if new is not None:
            start = line.value.start
            yield Edit(start, start + len(kernel_of(line)), new.encode())
    if not entry.dispatch:
        (new,) = by_name.values()
        at = max((line.end for line in entry.fields if line.key.text in _BEFORE_DISPATCH), default=entry.head_end)
        yield Edit(at, at, f"  dispatch:\n    CompositeImplicitAutograd: {new}\n".encode())


def kernel_of(line: Line) -> str:
    """Return the kernel that a line of a dispatch table names, or ''."""
    found = _KERNEL.match(line.value.text)
    return "" if found is None else found[0]


def default_kernel(entry: Entry) -> str:
    """Return the kernel that torchgen expects for an entry without a dispatch table."""
    is_out = entry.schema.arguments and entry.schema.arguments[-1].type.startswith("Tensor(a!)")
    keyword = is_out and entry.schema.arguments[-1].keyword_only
    return entry.schema.name + ("_out" if keyword else "")


def _sees_symbols(line: Line) -> bool:
    keys = [key.strip() for key in line.key.text.split(",")]
    return bool(kernel_of(line)) and FAKE_KEYS.issuperset(keys)


def _plain(kernel: str) -> bool:
    return bool(kernel) and "_symint" not in kernel


def _name_of_its_own(entries: Mapping[str, Entry], entry: Entry, kernel: str) -> str:
    """Return ``f_symint``, or ``f_padding_symint`` for an overload that shares its kernel's name with another.

    An overload that specifies ``self``, which C++ distinguishes by the type, keeps the plain name, as in PyTorch.
    """
    overload = entry.schema.overload
    if overload in ("", "int", "out") or overload.startswith("self_") or not overload.isidentifier():
        return symint_name(kernel)
    same = [
        other
        for other in entries.values()
        if other.schema.name == entry.schema.name and not other.dispatch and default_kernel(other) == kernel
    ]
    return symint_name(kernel) if len(same) < 2 else symint_name(f"{kernel}_{overload.lower()}")

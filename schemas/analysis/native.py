"""Schemas of a PyTorch tree: its two files of entries, and the context of its torch with changed ones."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from ...codemods.model.rule import Context
from ...codemods.torchapi import NotATorchTree, TorchApi
from ...codemods.torchapi.torch_finder import TorchInstallation
from ..syntax.entries import Entry, read_entries

FUNCTIONS = Path("aten/src/ATen/native/native_functions.yaml")
DERIVATIVES = Path("tools/autograd/derivatives.yaml")


@dataclass(frozen=True)
class NativeTree:
    """Entries of a tree, and the bytes that they were read from."""

    place: TorchInstallation
    root: Path
    functions: bytes
    derivatives: bytes

    @property
    def entries(self) -> Mapping[str, Entry]:
        """Return the operators by name."""
        return _entries(self.functions, str(FUNCTIONS))

    @property
    def formulas(self) -> Mapping[str, Entry]:
        """Return the entries of derivatives.yaml by the names of their operators."""
        return _entries(self.derivatives, str(DERIVATIVES))

    def context(self, functions: bytes) -> Context:
        """Return the context of a rule for native_functions.yaml with the content ``functions``.

        Torchgen reads the content. Raises TorchError if it refuses.
        """
        with tempfile.TemporaryDirectory(prefix="symfix-schemas-") as folder:
            changed = Path(folder)
            (changed / FUNCTIONS.name).write_bytes(functions)
            shutil.copyfile(self.place.native / "tags.yaml", changed / "tags.yaml")
            api = TorchApi(replace(self.place, native=changed))
        return Context(api, torch_root=self.root)


def native_tree(place: TorchInstallation, functions: bytes | None = None) -> NativeTree:
    """Return the tree of a place, with ``functions`` in place of its native_functions.yaml if given.

    Raises NotATorchTree if a file is missing, EntryError if one cannot be read.
    """
    if place.root is None:
        raise NotATorchTree("schemas are changed in a source tree: name one with --torch-root")
    contents = []
    for path in (FUNCTIONS, DERIVATIVES):
        try:
            contents.append((place.root / path).read_bytes())
        except OSError:
            raise NotATorchTree(f"{place.root} has no {path}: is the source tree complete?") from None
    ours, formulas = contents
    tree = NativeTree(place, place.root, ours if functions is None else functions, formulas)
    assert tree.entries and tree.formulas
    return tree


@lru_cache(maxsize=8)
def _entries(content: bytes, path: str) -> Mapping[str, Entry]:
    return read_entries(content, path)

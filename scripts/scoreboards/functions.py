"""Function definitions of a C++ file as values, to compare two versions of the file."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from symfix.codemods.model.source_file import SourceFile
from symfix.cpp.syntax.model import STRUCTURED_KERNEL, Model
from symfix.cpp.syntax.tree import Tree


@dataclass(frozen=True)
class Definition:
    """One function definition: its name, position and text."""

    name: str
    namespaces: tuple[str, ...]
    parameters: tuple[str, ...]
    macro: str | None
    ordinal: int
    """Index among the definitions of that name in the file, with or without ``_symint``."""
    start: int
    end: int
    text: str

    @property
    def key(self) -> tuple[str, str, int]:
        """Return a key that is independent of a changed signature and of a kernel's ``_symint`` suffix."""
        return (self.macro or "", self.name.removesuffix("_symint"), self.ordinal)

    @property
    def structured_kernel(self) -> bool:
        return self.macro in STRUCTURED_KERNEL


def definitions(path: Path, content: bytes) -> list[Definition]:
    """Return the definitions of a file outside classes, in source order. Lambdas belong to the enclosing function."""
    model = Model(Tree(SourceFile(path, content).content))
    seen: Counter[tuple[str | None, str]] = Counter()
    found = []
    for function in model.functions:
        if function.is_lambda or function.in_class:
            continue
        named = function.macro, function.name.removesuffix("_symint")
        ordinal = seen[named]
        seen[named] += 1
        start, end = function.node.start_byte, function.node.end_byte
        names = tuple(parameter.name for parameter in function.parameters)
        text = content[start:end].decode()
        found.append(Definition(function.name, function.namespaces, names, function.macro, ordinal, start, end, text))
    return found


def definition_at(found: list[Definition], offset: int) -> Definition | None:
    """Return the definition that contains a byte offset."""
    return next((one for one in found if one.start <= offset < one.end), None)

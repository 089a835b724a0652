"""Integers that the operators of a tree pass to one another, in their kernels and their formulas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ...codemods.model.rule import Context
from ...codemods.model.source_file import SourceFile
from ...codemods.torchapi import Kernel
from ...cpp.analysis.file.eligibility import has_types
from ...cpp.analysis.file.file_analysis import knowledge
from ...cpp.analysis.file.registrations import FAKE_KEYS
from ...cpp.analysis.operators.argument_flow import SIZE, Origins, Summary, handing
from ...cpp.syntax.declarations import Function
from ..syntax.entries import Entry
from .formula_functions import END, SPACE, around, lines, parameters, unquoted
from .native import DERIVATIVES, NativeTree
from .sources import NATIVE, texts

Argument = tuple[str, str]
"""Operator with its overload, and one of its arguments."""


class Passed(NamedTuple):
    """Value that an operator passes on: its argument ``source``, or the size of a Tensor if that is None."""

    source: Argument | None
    target: Argument
    where: str


class NonSizeArgument(NamedTuple):
    """Argument that is not a size: its use ``what``, and the position."""

    argument: Argument
    what: str
    where: str


class Passing(NamedTuple):
    """Values that are passed on, and arguments that are not sizes, in functions that see symbolic sizes."""

    passed: tuple[Passed, ...]
    chosen: tuple[NonSizeArgument, ...]


def passing(tree: NativeTree, context: Context) -> Passing:
    """Return the values that all kernels on fake tensors, and all formulas, pass to operators."""
    found = [*_of_kernels(tree, context), *_of_formulas(tree, context)]
    passed = dict.fromkeys(one for one in found if isinstance(one, Passed))
    chosen = dict.fromkeys(one for one in found if isinstance(one, NonSizeArgument))
    return Passing(tuple(passed), tuple(chosen))


def _of_kernels(tree: NativeTree, context: Context) -> Iterator[Passed | NonSizeArgument]:
    for path, content in texts(tree.root).items():
        if path.suffix != ".cpp" or not path.is_relative_to(NATIVE):
            continue
        know = knowledge(SourceFile(tree.root / path, content), context)
        for function in know.model.functions:
            names = [_arguments(kernel) for kernel in context.api.kernels(function.name) if _sees(function, kernel)]
            if names and not function.in_class:
                yield from _said(handing(know).of(function), names, str(path))


def _sees(function: Function, kernel: Kernel) -> bool:
    return bool(FAKE_KEYS & set(kernel.keys)) and not kernel.structured and has_types(function, kernel)


def _arguments(kernel: Kernel) -> Mapping[int, Argument]:
    operator = kernel.operator
    name = f"{operator.name}.{operator.overload}" if operator.overload else operator.name
    return {position: (name, own) for position, (_, own) in enumerate(kernel.parameters)}


def _said(summary: Summary, names: list[Mapping[int, Argument]], path: str) -> Iterator[Passed | NonSizeArgument]:
    """Yield the values that a function passes on, and the arguments by which it selects.

    The function is a kernel or a formula of the operators in ``names``.
    """
    for one in summary.handed:
        for source in _sources(one.origins, names):
            yield Passed(source, (one.operator, one.argument), f"{path}:{one.line}")
    for other in summary.selected:
        for source in _sources(other.origins, names):
            if source is not None:
                yield NonSizeArgument(source, other.what, f"{path}:{other.line}")


def _sources(origins: Origins, names: list[Mapping[int, Argument]]) -> Iterator[Argument | None]:
    for origin in sorted(origins):
        if origin == SIZE:
            yield None
        else:
            yield from (known[origin] for known in names if origin in known)


def _of_formulas(tree: NativeTree, context: Context) -> Iterator[Passed | NonSizeArgument]:
    text, owners = _formulas(tree)
    know = knowledge(SourceFile(tree.root / "formulas.cpp", text.encode()), context)
    for function in know.model.functions:
        if function.name in owners:
            entry = owners[function.name]
            first = len(parameters(entry)) - len(entry.schema.arguments)
            names = {first + at: (entry.name, one.name) for at, one in enumerate(entry.schema.arguments)}
            yield from (_in_yaml(one) for one in _said(handing(know).of(function), [names], ""))


def _in_yaml(one: Passed | NonSizeArgument) -> Passed | NonSizeArgument:
    """Replace the position, since a line of the text that was made of the formulas is meaningless to the user."""
    return one._replace(where=str(DERIVATIVES))


def _formulas(tree: NativeTree) -> tuple[str, Mapping[str, Entry]]:
    """Return all formulas in one text, each as a function, and their entries by function name."""
    written: list[str] = []
    owners: dict[str, Entry] = {}
    for entry in tree.formulas.values():
        for line in lines(entry):
            formula = unquoted(line.value)
            if formula is not None:
                name = f"formula_{len(written)}"
                before, behind = around(name, parameters(entry))
                written.append(f"{before}{formula.text}{behind}")
                owners[name] = entry
    return f"{SPACE}{''.join(written)}{END}", owners

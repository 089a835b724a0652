"""Change of a project operator's integers to SymInts: its schema, kernels and declarations, or nothing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context
from ...codemods.model.source_file import SourceFile
from ...codemods.torchapi import DeclaredArgument, DispatcherSignature
from ..analysis.file.sources import Wanted
from ..analysis.graph.reasons import SkipReason
from ..analysis.operators.argument_widening import evidence, widened
from ..analysis.operators.operators import OwnKernel, OwnOperator, other_files, own_kernel
from ..analysis.operators.python_evidence import python_evidence
from ..analysis.propagation.promotions import analyse
from ..syntax.project import Project
from ..syntax.tree import tree_of
from ..syntax.types import LISTS, SYMBOLIC_TYPES, Type, read_type
from .changes import changes
from .emit import HEADERS, emit
from .prototypes import prototypes, redeclared

_LISTS = (Type.INT_VEC, Type.INT_REF, Type.OPTIONAL_INT_REF)
_HIDDEN = ("comment", "string_content", "system_lib_string")


@dataclass(frozen=True)
class Widened:
    """A widened operator: the edits and headers of each file, and the evidence that its arguments are sizes."""

    arguments: tuple[str, ...]
    reasons: tuple[str, ...]
    edits: Mapping[Path, tuple[Edit, ...]]
    needs: Mapping[Path, tuple[str, ...]]
    doubts: str | None


@dataclass(frozen=True)
class WidenedSchema:
    """Reason why an operator keeps integers although an argument of it is a size."""

    reason: SkipReason
    detail: str


class _Left(Exception):
    def __init__(self, reason: SkipReason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


def widen(
    operator: OwnOperator, source: SourceFile, project: Project, context: Context
) -> Widened | WidenedSchema | None:
    """Change the arguments of an operator that are sizes to SymInts, with its kernels for fake tensors.

    Kernels for devices keep their integers, because the dispatcher unpacks for them. Return None if no argument is
    known to be a size.
    """
    kernels = [own_kernel(project, one, source, context) for one in operator.fakes]
    devices = [own_kernel(project, one, source, context) for one in operator.kernels]
    count = len(operator.schema.arguments)
    strange = next(
        (one for one in (*kernels, *devices) if one is not None and len(one.function.parameters) != count), None
    )
    if strange is not None:
        name, taken = strange.function.name, len(strange.function.parameters)
        return WidenedSchema(
            SkipReason.KERNEL_SIGNATURE, f"{operator.name}: {name} takes {taken} arguments, its schema has {count}"
        )
    reasons: dict[str, tuple[str, ...]] = {}
    for place, argument in enumerate(operator.schema.arguments):
        found = (
            tuple(_evidence(operator, project, kernels, devices, place, argument, context)) if argument.widened else ()
        )
        if found:
            reasons[argument.name] = found
    if not reasons:
        return None
    first = next(iter(reasons))
    try:
        missing = [one for one, kernel in zip(operator.fakes, kernels, strict=True) if kernel is None]
        if missing:
            names = ", ".join(missing[0].registration.functions) or "a lambda"
            raise _Left(
                SkipReason.KERNEL_UNKNOWN, f"{names} of {missing[0].file} is not a function that can be read here"
            )
        if not operator.fakes and operator.name.partition(".")[0] not in project.fakes:
            raise _Left(SkipReason.NO_FAKE_KERNEL, SkipReason.NO_FAKE_KERNEL.sentence)
        known = [one for one in kernels if one is not None]
        edits, needs, doubts = _edits(operator, reasons, known, source, project, context)
    except _Left as left:
        return WidenedSchema(left.reason, f"{operator.name}: {left}; {first} is a size: {reasons[first][0]}")
    said = tuple(f"{name} is a size: {lines[0]}" for name, lines in reasons.items())
    return Widened(tuple(reasons), said, edits, needs, doubts)


def _evidence(
    operator: OwnOperator,
    project: Project,
    kernels: Collection[OwnKernel | None],
    devices: Collection[OwnKernel | None],
    place: int,
    argument: DeclaredArgument,
    context: Context,
) -> Iterator[str]:
    """Yield the evidence that an integer argument is a size, a sentence each."""
    for kernel in filter(None, (*kernels, *devices)):
        for line in evidence(kernel.know, kernel.function, kernel.function.parameters[place].name):
            yield f"in {kernel.function.name} {line}"
    base = operator.name.partition(".")[0]
    yield from python_evidence(project, context.api, base, place)
    for other in project.by_operator.get(base, ()):
        schema = other.registration.schema
        if (
            other.registration.operator != operator.name
            and schema
            and re.search(rf"\bSymInt\S* {argument.name}\b", schema)
        ):
            yield f"{other.registration.operator} takes it as a SymInt"


def _edits(
    operator: OwnOperator,
    names: Collection[str],
    kernels: Collection[OwnKernel],
    source: SourceFile,
    project: Project,
    context: Context,
) -> tuple[dict[Path, tuple[Edit, ...]], dict[Path, tuple[str, ...]], str | None]:
    places = [place for place, one in enumerate(operator.schema.arguments) if one.name in names]
    edits: dict[Path, set[Edit]] = defaultdict(set)
    needs: dict[Path, set[str]] = defaultdict(set)
    doubts: list[str] = []
    for place in places:
        argument = operator.schema.arguments[place]
        start = operator.start + argument.start
        assert argument.widened is not None
        edits[operator.path].add(Edit(start, operator.start + argument.end, argument.widened.encode()))
    symbolic = frozenset((operator.name, place) for place in places)
    by_file: dict[SourceFile, dict[int, tuple[OwnKernel, DispatcherSignature]]] = defaultdict(dict)
    for kernel in kernels:
        by_file[kernel.source][kernel.function.node.start_byte] = kernel, _signature(kernel, places, operator, project)
    for file, wanted in by_file.items():
        pairs: tuple[Wanted, ...] = tuple((start, signature) for start, (_, signature) in wanted.items())
        analysis = analyse(file, context, wanted=pairs, symbolic_arguments=symbolic)
        refused = {seed.function.node.start_byte: why for seed, why in analysis.refusals if seed.expected is not None}
        for start, why in refused.items():
            raise _Left(why.reason, f"{wanted[start][0].function.name} stays on integers: {why.detail}")
        for promotion in analysis.promotions:
            if any(seed.expected is not None for seed in promotion.seeds):
                written = emit(promotion, file.content)
                edits[file.path] |= set(written)
                needs[file.path] |= {header for word, header in HEADERS.items() for one in written if word in one.text}
                doubts += [words] if (words := changes(written, analysis.know.model.tree)) else []
        for kernel, signature in wanted.values():
            for other in other_files(project, source):
                edits[other.path] |= set(_elsewhere(other, kernel, signature, project))
    found = {path: tuple(sorted(some)) for path, some in edits.items() if some}
    headers = {path: tuple(sorted(some)) for path, some in needs.items() if some}
    return found, headers, "; ".join(dict.fromkeys(doubts)) or None


def _signature(
    kernel: OwnKernel, places: Collection[int], operator: OwnOperator, project: Project
) -> DispatcherSignature:
    function = kernel.function
    parameters = [function.parameters[place] for place in places]
    plain = next((one for one in parameters if one.type in _LISTS and "ArrayRef" not in one.type_text), None)
    if plain is not None:
        raise _Left(
            SkipReason.DECLARED_TYPE,
            f"{function.name} takes a {plain.type_text}, which has no form for a schema's SymInt[]",
        )
    signature = widened(function, [one.name for one in parameters if one.type not in SYMBOLIC_TYPES])
    if signature is None:
        raise _Left(SkipReason.DECLARED_TYPE, f"{function.name} takes something else than an int64_t there")
    shared = next(
        (
            one.registration.operator
            for one in project.by_function.get(function.name, ())
            if one.registration.operator != operator.name
        ),
        None,
    )
    if shared is not None:
        raise _Left(
            SkipReason.KERNEL_SHARED, f"{function.name} is the kernel of {shared} too, whose schema takes integers"
        )
    return signature


def _elsewhere(
    other: SourceFile, kernel: OwnKernel, signature: DispatcherSignature, project: Project
) -> Iterator[Edit]:
    """Yield the edits of a kernel's declarations in a file. Raise _Left if the file names it in an unsupported way."""
    name = kernel.function.name
    word = re.compile(rb"\b%s\b" % name.encode())
    if not word.search(other.content):
        return
    spaces = [part for one in kernel.function.namespaces for part in one.split("::") if part]
    yield from redeclared(other.content, name, signature, spaces)
    if other.path == kernel.source.path:
        return
    tree = tree_of(other.content)
    declared = [(one.node.start_byte, one.node.end_byte) for one in prototypes(tree, name, spaces)]
    registered = [
        (one.registration.start, one.registration.end)
        for one in project.by_function.get(name, ())
        if project.root is None or project.root / one.file == other.path
    ]
    for found in word.finditer(other.content):
        at = found.start()
        node = tree.root.descendant_for_byte_range(at, found.end())
        known = any(start <= at < end for start, end in (*declared, *registered))
        if known or (node is not None and node.type in _HIDDEN) or _passes_integers(tree, node, signature):
            continue
        line = other.content.count(b"\n", 0, at) + 1
        raise _Left(
            SkipReason.NAMED_ELSEWHERE, f"{other.path.name}:{line} names {name} in a way that can't be followed"
        )


def _passes_integers(tree: object, node: object, signature: DispatcherSignature) -> bool:
    """Return whether a place calls the function with integers, which C++ converts to SymInts.

    It does not convert lists.
    """
    around = getattr(node, "parent", None)
    while around is not None and around.type == "qualified_identifier":
        around = around.parent
    called = around is not None and around.type == "call_expression"
    return called and not any(read_type(kind) in LISTS and "SymInt" in kind for kind, _ in signature.parameters)

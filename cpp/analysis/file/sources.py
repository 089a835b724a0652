"""Sources of symbolic values: concrete calls on Tensors, and signatures that are older than their schemas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from ....codemods.torchapi import DispatcherSignature
from ...syntax.declarations import Function
from ...syntax.model import STRUCTURED_META
from ...syntax.tree import arguments, every, statement_of
from ...syntax.types import Type
from ..graph.graph import Form, Refusal, Value
from ..graph.reasons import SkipReason
from .eligibility import KernelCode
from .file_analysis import FileAnalysis
from .methods import CONCRETE, OF_STORAGES


@dataclass(frozen=True)
class Seed:
    """A concrete call on a Tensor in a function that sees symbolic sizes, or a signature older than its schema.

    For a signature, ``call`` and ``name`` are the function's own name, and ``expected`` is the new signature.
    """

    call: Node
    name: Node
    method: str
    function: Function
    value: Value
    expected: DispatcherSignature | None = None


Refused = tuple[Seed, Refusal]


Wanted = tuple[int, DispatcherSignature]
"""Function, by the first byte of its definition, and the signature that it must get."""


def seeds(
    know: FileAnalysis, *, signatures: bool, wanted: Sequence[Wanted] = ()
) -> tuple[list[Seed], list[Refused], list[KernelCode]]:
    """Return the seeds that may be promoted, the refused seeds, and the kernel code of the eligible functions.

    With ``signatures``, kernels on integers whose schema takes SymInt are seeds too, as are the functions that are
    ``wanted`` with another signature.
    """
    asked = dict(wanted)
    refused: list[Refused] = []
    live: list[Seed] = []
    kernel_code: list[KernelCode] = []
    for function in know.eligibility.functions:
        parts = know.eligibility.kernel_code[function.node.id]
        kernel_code += parts
        kernel = know.eligibility.expected(function) if signatures else None
        expected = asked.get(function.node.start_byte, None if kernel is None else kernel.signature)
        if expected is not None and function.name_node is not None:
            live.append(_signature(function, function.name_node, expected))
        for seed, refusal in _calls(know, function):
            inside = next((p for p in parts if p.start <= seed.call.start_byte < p.end), None)
            if inside is not None:
                iterates = inside.reason is SkipReason.TENSOR_ITERATOR
                detail = "" if iterates else "it stands in code that only runs on real data"
                refusal = _refusal(seed.call, inside.reason, detail)
            if refusal is None:
                live.append(seed)
            else:
                refused.append((seed, refusal))
    return live, refused, kernel_code


def _signature(function: Function, name: Node, expected: DispatcherSignature) -> Seed:
    return Seed(name, name, "signature", function, Value(Form.SEED, name.id), expected)


def _refusal(node: Node, reason: SkipReason, detail: str = "") -> Refusal:
    return Refusal(node.start_byte, node.end_byte, reason, detail or reason.sentence)


def _calls(know: FileAnalysis, function: Function) -> Iterator[tuple[Seed, Refusal | None]]:
    for node in every(function.body, "call_expression"):
        method = know.types.receiver(node)
        if method is None or method[1] not in CONCRETE:
            continue
        receiver, name = method
        passed = arguments(node)
        if len(passed) != (1 if name in ("size", "stride") else 0):
            continue
        call_field = node.child_by_field_name("function")
        name_node = None if call_field is None else call_field.child_by_field_name("field")
        if name_node is None:
            continue
        seed = Seed(node, name_node, name, function, Value(Form.SEED, node.id))
        kind = know.types.type_of(receiver)
        if kind in (Type.TENSOR, Type.OPTIONAL_TENSOR) or (kind is Type.STORAGE and name in OF_STORAGES):
            by_name = bool(passed) and know.types.type_of(passed[0]) is Type.DIMNAME
            yield seed, _refusal(node, SkipReason.DIMNAME) if by_name else None
        elif kind in (Type.UNKNOWN, Type.AUTO) and name not in OF_STORAGES:
            text = know.model.tree.text(receiver)
            yield seed, _refusal(node, SkipReason.RECEIVER_UNKNOWN, f"{text} is not known to be a Tensor")


def without_remains(live: Sequence[Seed], refused: Sequence[Refused]) -> tuple[list[Seed], list[Refused]]:
    """Return the seeds whose statement and structured meta function have no refused seed, and the dropped seeds.

    A partly promoted statement would still throw.
    """
    if not refused:
        return list(live), []
    functions = {seed.function.node.id for seed, _ in refused if seed.function.macro in STRUCTURED_META}
    statements = {statement_of(seed.call).id: seed for seed, _ in refused}
    kept: list[Seed] = []
    dropped: list[Refused] = []
    for seed in live:
        beside = statements.get(statement_of(seed.call).id)
        if seed.function.node.id in functions:
            dropped.append((seed, _refusal(seed.call, SkipReason.STRUCTURED_META)))
        elif beside is not None:
            detail = f"{beside.method}() in the same statement stays concrete"
            dropped.append((seed, _refusal(beside.call, SkipReason.MIXED_STATEMENT, detail)))
        else:
            kept.append(seed)
    return kept, dropped

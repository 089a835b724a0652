"""Propagation of one pass: every live seed is followed to its sinks, fact by fact.

A handler yields facts about one value and changes nothing. A fact about an expression, a variable or a result adds a
value to the graph. That value is followed at once, before the handler continues. Facts wrapped in ``Later`` are
processed after that.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tree_sitter import Node

from ...syntax.types import SYMBOLIC, Type
from ..file.eligibility import KernelCode
from ..file.file_analysis import FileAnalysis
from ..file.methods import CONCRETE
from ..file.sources import Seed
from ..graph.dataflow_facts import (
    AtLast,
    Becomes,
    Constructs,
    Deduces,
    Divides,
    Fact,
    Flows,
    Gives,
    GivesPart,
    Instantiates,
    Keeps,
    Later,
    Links,
    Matches,
    Puts,
    Rearranges,
    Refuses,
    Requires,
    Returns,
    Selects,
    Stores,
    Widens,
    Writes,
)
from ..graph.graph import FlowGraph, Form, Refusal, Value
from ..graph.reasons import SkipReason
from ..handlers.backward_requirements import construct, demand
from ..handlers.deferred_facts import resolve_deferred
from ..handlers.fields import widen
from ..handlers.guard_int import realize
from ..handlers.kernels import follow
from ..handlers.parent_dispatch import dispatch_parent
from ..handlers.pass_context import Pass
from ..handlers.results import give, give_back
from ..handlers.saved_values import keep
from ..handlers.templates import depends, instantiated
from ..handlers.tuples import give_part
from ..handlers.variables import become, put, store

_FOLLOWED: dict[type, Callable[[Pass, Any], Iterable[Fact]]] = {
    Stores: store, Puts: put, Keeps: keep, Returns: give_back, Requires: demand, Constructs: construct,
}  # fmt: skip
"""Handlers of the facts that imply further facts, by the type of the fact."""


@dataclass(frozen=True)
class Growth:
    """The graph of a pass, the edits of each of its values, and the names by which fixes mention the values."""

    graph: FlowGraph
    writings: dict[Value, list[Writes | Rearranges]]
    names: dict[Value, str]


def propagate(
    know: FileAnalysis,
    live: Sequence[Seed],
    kernel_code: Sequence[KernelCode],
    symbolic_arguments: Collection[tuple[str, int]] = (),
) -> Growth:
    """Propagate every live seed, and return the resulting graph."""
    growing = _Growing(know, live, kernel_code, symbolic_arguments)
    for seed in live:
        growing.follow(_begin(growing.p, seed))
    growing.finish()
    graph = FlowGraph(tuple(growing.edges), tuple(growing.sinks))
    return Growth(graph, growing.writings, growing.names)


def _begin(p: Pass, seed: Seed) -> Iterator[Fact]:
    if seed.expected is not None:
        yield from follow(p, seed, seed.expected)
    else:
        twin, kind = CONCRETE[seed.method]
        yield Writes(seed.value, seed.name, twin)
        yield Flows(seed.value, seed.call, SYMBOLIC.get(kind, Type.SYM_INT))


class _Growing:
    def __init__(
        self,
        know: FileAnalysis,
        live: Sequence[Seed],
        kernel_code: Sequence[KernelCode],
        symbolic_arguments: Collection[tuple[str, int]],
    ) -> None:
        self.edges: dict[tuple[Value, Value], None] = {}
        self.sinks: list[tuple[Value, Refusal]] = []
        self.writings: dict[Value, list[Writes | Rearranges]] = {}
        self.names: dict[Value, str] = {}
        self._promoted: dict[int, Type] = {}
        self._reached: set[Value] = set()
        self._waiting: deque[Fact] = deque()
        self._at_last: list[AtLast] = []
        self._templates: set[tuple[int, int]] = set()
        self._kernel_code = kernel_code
        self._starts = [function.node.start_byte for function in know.eligibility.functions]
        self._ends = [function.node.end_byte for function in know.eligibility.functions]
        seeds = {seed.call.id: seed for seed in live}
        expected = {seed.function.node.id: seed.expected for seed in live if seed.expected is not None}
        self.p = Pass(know, know.model, know.types, self._promoted, seeds, expected, symbolic_arguments)

    def follow(self, facts: Iterable[Fact]) -> None:
        """Process facts, each with all that follows from it, and then the facts that were deferred."""
        stack = [iter(facts)]
        while stack:
            fact = next(stack[-1], None)
            if fact is None:
                stack.pop()
            elif further := self._take(fact):
                stack.append(iter(further))
            if not stack and self._waiting:
                stack.append(iter((self._waiting.popleft(),)))

    def finish(self) -> None:
        """Process the facts that can be decided only after all promotions are known."""
        for fact in self._at_last:
            self.follow(resolve_deferred(self.p, fact))
        for value, facts in self.writings.items() if self._templates else ():
            for written in facts:
                if any(start <= written.node.start_byte < end for start, end in self._templates):
                    detail = "a template would have to change that is made for integers too"
                    self._refuse(value, written.node, SkipReason.TEMPLATE_SIGNATURE, detail)

    def _take(self, fact: Fact) -> Iterable[Fact]:
        """Process one fact, and return the facts that follow from it."""
        match fact:
            case Flows(cause, node, kind):
                return self._flow(cause, node, kind)
            case Becomes(cause, variable, kind):
                value = Value(Form.VARIABLE, variable.node.id)
                dependent = variable.function.is_template and depends(variable)
                if dependent:
                    for node in (variable.node, *self.p.model.references(variable)):
                        self._promoted.setdefault(node.id, kind)
                return become(self.p, fact, dependent) if self._reach(cause, value, variable.name) else ()
            case Widens(cause, field):
                value = Value(Form.FIELD, field.node.id)
                self._promoted.setdefault(field.node.id, SYMBOLIC.get(field.type, field.type))
                return widen(self.p, fact) if self._reach(cause, value, f"{field.owner}::{field.name}") else ()
            case Gives(cause, function):
                value = Value(Form.RESULT, function.node.id)
                name = f"{function.name}()" if function.name else None
                return give(self.p, fact) if self._reach(cause, value, name) else ()
            case GivesPart(cause, function, position):
                value = Value(Form.RESULT, (function.node.id, position))
                name = f"{function.name}()" if function.name else None
                return give_part(self.p, fact) if self._reach(cause, value, name) else ()
            case Instantiates(cause, function, letter):
                value = Value(Form.RESULT, (function.node.id, letter))
                self._templates.add((function.node.start_byte, function.node.end_byte))
                return instantiated(self.p, fact) if self._reach(cause, value, None) else ()
            case Links(cause, effect, name):
                self._link(cause, effect, name)
            case Refuses(cause, node, reason, detail):
                self._refuse(cause, node, reason, detail)
            case Writes() | Rearranges():
                self._write(fact)
            case Matches() | Deduces() | Divides() | Selects():
                self._at_last.append(fact)
            case Later(later):
                self._waiting.append(later)
            case _:
                return _FOLLOWED[type(fact)](self.p, fact)
        return ()

    def _flow(self, cause: Value, node: Node, kind: Type) -> Iterable[Fact]:
        value = Value(Form.EXPRESSION, node.id)
        self._link(cause, value, None)
        known = self._promoted.setdefault(node.id, kind)
        if value in self._reached:
            if known is not kind:
                self._refuse(cause, node, SkipReason.TWO_KINDS, "")
            return ()
        self._reached.add(value)
        for part in self._kernel_code:
            if part.start <= node.start_byte < part.end:
                if part.reason is SkipReason.DEVICE_BRANCH:
                    return realize(self.p, node, kind, value, part.reason)
                self._refuse(value, node, part.reason, "the value is used in code that only runs on real data")
                return ()
        if not self._sees_symbols(node):
            return realize(self.p, node, kind, value, SkipReason.SHARED_WITH_KERNEL)
        return dispatch_parent(self.p, node, kind, value)

    def _sees_symbols(self, node: Node) -> bool:
        """Return whether a node is inside an eligible function, and not in a helper of kernels."""
        index = bisect_right(self._starts, node.start_byte) - 1
        return index >= 0 and node.start_byte < self._ends[index]

    def _reach(self, cause: Value, value: Value, name: str | None) -> bool:
        """Link a value to its cause, and return whether the value is new."""
        self._link(cause, value, name)
        is_new = value not in self._reached
        self._reached.add(value)
        return is_new

    def _link(self, cause: Value, effect: Value, name: str | None) -> None:
        if cause != effect:
            self.edges[cause, effect] = None
        if name is not None:
            self.names.setdefault(effect, name)

    def _refuse(self, cause: Value, node: Node, reason: SkipReason, detail: str) -> None:
        refusal = Refusal(node.start_byte, node.end_byte, reason, detail or reason.sentence)
        self.sinks.append((cause, refusal))

    def _write(self, fact: Writes | Rearranges) -> None:
        distrust = self.p.model.tree.trusted(fact.node)
        if distrust is None:
            self.writings.setdefault(fact.cause, []).append(fact)
        else:
            detail = "the text around it can't be read with certainty"
            self._refuse(fact.cause, fact.node, SkipReason(distrust), detail)

"""Where each size flows: promotions that carry values from int64_t to c10::SymInt, solved per file.

Every concrete call in eligible code is assumed promotable. One pass carries each through everything it flows into and
notes each sink that wants a concrete integer; the calls that reach such a sink are given up, and the pass is run again
on the rest, until nothing conflicts. What shares a variable, a call or a signature then forms one transaction.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from pathlib import Path

from tree_sitter import Node

from ..codemods.engine.edits import Edit, apply
from ..codemods.torchapi import Kernel, TorchApi
from ._declarations import Function, Variable
from ._eligible import Eligibility, KernelCode
from ._headers import HeaderIndex
from ._infer import CONCRETE, Inference
from ._model import STRUCTURED_META, Model
from ._tree import STATEMENTS, ancestors, arguments, every, field
from ._types import HEADERS, SYMBOLIC, Type

Entity = Hashable
"""What a promotion is made of: a concrete call, a variable, a call that takes the value, a function's result."""


@dataclass(frozen=True)
class Conflict:
    """A place where a symbolic value is not welcome."""

    node: Node
    reason: str
    detail: str


@dataclass(frozen=True)
class Seed:
    """A concrete call on a Tensor in a function that sees symbolic sizes, or a signature its schema has left behind.

    For a signature, ``call`` and ``name`` are the function's own name and ``kernel`` is what torch expects instead.
    """

    call: Node
    name: Node
    method: str
    function: Function
    kernel: Kernel | None = None

    @property
    def entity(self) -> Entity:
        """The seed as a part of a promotion."""
        return ("seed", self.call.id)


@dataclass(frozen=True)
class Promotion:
    """One transaction: the concrete calls it promotes, its edits, and the names of what it runs through."""

    seeds: tuple[Seed, ...]
    edits: tuple[Edit, ...]
    through: tuple[str, ...]

    @property
    def companions(self) -> str:
        """The end of a sentence: what changes with the seeds."""
        return f", with {', '.join(self.through)}" if self.through else ""

    @property
    def headers(self) -> tuple[str, ...]:
        """The headers that the new types are declared in."""
        return tuple(sorted({HEADERS[edit.text] for edit in self.edits if edit.text in HEADERS}))


@dataclass(frozen=True)
class Knowledge:
    """What the flow asks about one file and its torch."""

    path: Path
    model: Model
    types: Inference
    eligibility: Eligibility
    api: TorchApi
    headers: HeaderIndex


class Flow:
    """One pass: the live seeds carried to their sinks."""

    def __init__(self, know: Knowledge, live: Iterable[Seed], steps: Steps, kernel_code: list[KernelCode]) -> None:
        self.know = know
        self.model = know.model
        self.types = know.types
        self.promoted: dict[int, Type] = {}
        self.conflicts: list[tuple[Entity, Conflict]] = []
        self.variables: dict[int, tuple[Variable, Type]] = {}
        self.results: set[Entity] = set()
        self._live = {seed.call.id: seed for seed in live}
        self.kernels = {seed.function.node.id: seed.kernel for seed in live if seed.kernel is not None}
        self._steps = steps
        self._kernel_code = kernel_code
        self._edits: dict[Entity, set[Edit]] = defaultdict(set)
        self._causes: dict[Entity, set[Entity]] = defaultdict(set)
        self._joined: dict[Entity, set[Entity]] = defaultdict(set)
        self._names: dict[Entity, str] = {}
        self._waiting: deque[Callable[[], None]] = deque()
        self._later: list[Callable[[], None]] = []
        self._rearranged: dict[Entity, tuple[Node, tuple[str | Node, ...]]] = {}

    def run(self) -> None:
        """Carry every live seed as far as it goes."""
        for seed in self._live.values():
            if seed.kernel is not None:
                self._steps.follow(self, seed, seed.kernel)
            else:
                twin, kind = CONCRETE[seed.method]
                self.edit(seed.entity, seed.name, twin)
                self.flow(seed.call, SYMBOLIC[kind], seed.entity)
            self._drain()
        for check in self._later:
            check()
            self._drain()

    def flow(self, node: Node, kind: Type, cause: Entity) -> None:
        """The value of an expression is now of a symbolic kind: carry it into whatever stands around it."""
        entity: Entity = ("value", node.id)
        self.link(cause, entity)
        if node.id in self.promoted:
            if self.promoted[node.id] is not kind:
                self.conflict(cause, node, "two-kinds", "the expression would have two symbolic types")
            return
        cause = entity
        self.promoted[node.id] = kind
        for part in self._kernel_code:
            if part.start <= node.start_byte < part.end:
                self.conflict(cause, node, part.reason, "the value is used in code that only runs on real data")
                return
        self._steps.arrive(self, node, kind, cause)

    def kind_of(self, node: Node) -> Type:
        """The type of an expression after the promotions so far."""
        return self.promoted.get(node.id) or self.types.type_of(node)

    def conflict(self, cause: Entity, node: Node, reason: str, detail: str) -> None:
        """Note that ``cause`` reached a place that does not take it."""
        self.conflicts.append((cause, Conflict(node, reason, detail)))

    def link(self, cause: Entity, effect: Entity, name: str | None = None) -> None:
        """``effect`` is promoted because of ``cause``: if it can't be, neither can its cause."""
        if cause != effect:
            self._causes[effect].add(cause)
            self.join(cause, effect)
        if name is not None:
            self._names.setdefault(effect, name)

    def join(self, one: Entity, other: Entity) -> None:
        """Two entities belong to one transaction, without one being the reason for the other."""
        if one != other:
            self._joined[one].add(other)
            self._joined[other].add(one)

    def edit(self, cause: Entity, node: Node, text: str) -> None:
        """Replace a node by a text, as part of ``cause``."""
        self.splice(cause, node, node.start_byte, node.end_byte, text)

    def splice(self, cause: Entity, node: Node, start: int, end: int, text: str) -> None:
        """Replace a byte range that lies in the statement of ``node``; a conflict where that can't be trusted."""
        distrust = self.model.tree.trusted(node)
        if distrust is not None:
            self.conflict(cause, node, distrust, "the text around it can't be read with certainty")
        else:
            self._edits[cause].add(Edit(start, end, text.encode()))

    def wrap(self, cause: Entity, node: Node, before: str, after: str) -> None:
        """Put text around a node."""
        self.splice(cause, node, node.start_byte, node.start_byte, before)
        self.splice(cause, node, node.end_byte, node.end_byte, after)

    def rearrange(self, cause: Entity, node: Node, pieces: tuple[str | Node, ...]) -> None:
        """Write a node anew from texts and from parts of itself, these with whatever edits they get."""
        distrust = self.model.tree.trusted(node)
        if distrust is not None:
            self.conflict(cause, node, distrust, "the text around it can't be read with certainty")
        else:
            self._rearranged[cause] = (node, pieces)

    def soon(self, work: Callable[[], None]) -> None:
        """Do this after the present step, so that long chains don't nest."""
        self._waiting.append(work)

    def finally_(self, work: Callable[[], None]) -> None:
        """Do this when it is known what is promoted."""
        self._later.append(work)

    def live_seed(self, call: Node) -> Seed | None:
        """The live seed that a call is, or None."""
        return self._live.get(call.id)

    def guilty(self) -> dict[int, Conflict]:
        """The seeds from which a conflict was reached, by the id of their call, with the first such conflict."""
        blamed: dict[Entity, Conflict] = {}
        for cause, conflict in self.conflicts:
            waiting = [cause]
            while waiting:
                entity = waiting.pop()
                if entity not in blamed:
                    blamed[entity] = conflict
                    waiting.extend(self._causes[entity])
        return {call: blamed[seed.entity] for call, seed in self._live.items() if seed.entity in blamed}

    def promotions(self) -> list[Promotion]:
        """The transactions, in source order of their first seed."""
        groups: list[Promotion] = []
        seen: set[Entity] = set()
        by_entity = {seed.entity: seed for seed in self._live.values()}
        for seed in sorted(self._live.values(), key=lambda one: one.call.start_byte):
            if seed.entity in seen:
                continue
            members, waiting = {seed.entity}, [seed.entity]
            while waiting:
                for near in self._joined[waiting.pop()] - members:
                    members.add(near)
                    waiting.append(near)
            seen |= members
            named = (by_entity[member] for member in members if member in by_entity)
            seeds = tuple(sorted(named, key=lambda one: one.call.start_byte))
            edits = self._edits_of(members)
            names = dict.fromkeys(self._names[m] for m in members if m in self._names and not _is_seed(m))
            groups.append(Promotion(seeds, tuple(edits), tuple(sorted(names))))
        return groups

    def _edits_of(self, members: set[Entity]) -> list[Edit]:
        edits = {edit for member in members for edit in self._edits[member]}
        inner_first = sorted(
            (self._rearranged[m] for m in members if m in self._rearranged), key=lambda one: -one[0].start_byte
        )
        for node, pieces in inner_first:
            text = b"".join(
                piece.encode() if isinstance(piece, str) else self._edited(piece, edits) for piece in pieces
            )
            edits = {edit for edit in edits if not node.start_byte <= edit.start <= edit.end <= node.end_byte}
            edits.add(Edit(node.start_byte, node.end_byte, text))
        return sorted(edits)

    def _edited(self, node: Node, edits: set[Edit]) -> bytes:
        start, end = node.start_byte, node.end_byte
        inside = [Edit(e.start - start, e.end - start, e.text) for e in edits if start <= e.start and e.end <= end]
        return apply(self.model.tree.content[start:end], inside)

    def _drain(self) -> None:
        while self._waiting:
            self._waiting.popleft()()


@dataclass(frozen=True)
class Steps:
    """What a pass does with a value in its surroundings, and with a signature that its schema has left behind."""

    arrive: Callable[[Flow, Node, Type, Entity], None]
    follow: Callable[[Flow, Seed, Kernel], None]


def solve(know: Knowledge, steps: Steps, *, signatures: bool) -> tuple[list[Promotion], list[tuple[Seed, Conflict]]]:
    """The promotions of a file, and each seed that has to stay with the place that keeps it.

    With ``signatures``, kernels whose schema takes SymInt while they don't are seeds too.
    """
    refused: list[tuple[Seed, Conflict]] = []
    live: list[Seed] = []
    kernel_code: list[KernelCode] = []
    for function in know.eligibility.functions:
        parts = know.eligibility.kernel_code(function)
        kernel_code += parts
        kernel = know.eligibility.expected(function) if signatures else None
        if kernel is not None and function.name_node is not None:
            live.append(Seed(function.name_node, function.name_node, "signature", function, kernel))
        for seed, conflict in _seeds(know, function):
            inside = next((p for p in parts if p.start <= seed.call.start_byte < p.end), None)
            if inside is not None:
                conflict = Conflict(seed.call, inside.reason, "it stands in code that only runs on real data")
            if conflict is None:
                live.append(seed)
            else:
                refused.append((seed, conflict))
    live, more = _without_remains(live, refused)
    refused += more
    while True:
        flow = Flow(know, live, steps, kernel_code)
        flow.run()
        guilty = flow.guilty()
        if not guilty:
            if flow.conflicts:
                raise AssertionError(f"a conflict that no concrete call leads to: {flow.conflicts[0][1]}")
            return flow.promotions(), sorted(refused, key=lambda pair: pair[0].call.start_byte)
        refused += [(seed, guilty[seed.call.id]) for seed in live if seed.call.id in guilty]
        live = [seed for seed in live if seed.call.id not in guilty]
        live, more = _without_remains(live, refused)
        refused += more


def _seeds(know: Knowledge, function: Function) -> Iterable[tuple[Seed, Conflict | None]]:
    for node in every(function.body, "call_expression"):
        method = know.types.receiver(node)
        if method is None or method[1] not in CONCRETE:
            continue
        receiver, name = method
        passed = arguments(node)
        if len(passed) != (1 if name in ("size", "stride") else 0):
            continue
        call_field = field(node, "function")
        name_node = None if call_field is None else field(call_field, "field")
        if name_node is None:
            continue
        seed = Seed(node, name_node, name, function)
        kind = know.types.type_of(receiver)
        if kind in (Type.TENSOR, Type.OPTIONAL_TENSOR):
            if passed and know.types.type_of(passed[0]) is Type.DIMNAME:
                yield seed, Conflict(node, "dimname", "a dimension by name has no symbolic form")
            else:
                yield seed, None
        elif kind in (Type.UNKNOWN, Type.AUTO):
            text = know.model.tree.text(receiver)
            yield seed, Conflict(node, "receiver-unknown", f"{text} is not known to be a Tensor")


def _without_remains(
    live: list[Seed], refused: list[tuple[Seed, Conflict]]
) -> tuple[list[Seed], list[tuple[Seed, Conflict]]]:
    """Promote a statement whole or not at all, and a structured meta function likewise: what is left still throws."""
    functions = {seed.function.node.id for seed, _ in refused if seed.function.macro in STRUCTURED_META}
    statements = {_statement(seed.call).id: seed for seed, _ in refused}
    kept: list[Seed] = []
    dropped: list[tuple[Seed, Conflict]] = []
    for seed in live:
        beside = statements.get(_statement(seed.call).id)
        if seed.function.node.id in functions:
            detail = (
                "set_output takes IntArrayRef: the function stays concrete as a whole, the way out is a Python meta"
            )
            dropped.append((seed, Conflict(seed.call, "structured-meta", detail)))
        elif beside is not None:
            detail = f"{beside.method}() in the same statement stays concrete"
            dropped.append((seed, Conflict(beside.call, "mixed-statement", detail)))
        else:
            kept.append(seed)
    return kept, dropped


def _statement(node: Node) -> Node:
    return next((around for around in ancestors(node) if around.type in STATEMENTS), node)


def _is_seed(entity: Entity) -> bool:
    return isinstance(entity, tuple) and entity[0] == "seed"

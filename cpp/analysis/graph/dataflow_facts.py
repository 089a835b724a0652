"""Dataflow facts about symbolic values, which syntax handlers yield and propagation consumes.

``cause`` is the value a fact follows from. A fact about an expression or a variable leads to further facts about its
uses. A place that does not accept a symbolic value yields ``Refuses``.
"""

from __future__ import annotations

from typing import NamedTuple

from tree_sitter import Node

from ...syntax.declarations import Function, Variable
from ...syntax.structs import Field
from ...syntax.types import Type
from .graph import Value
from .reasons import SkipReason


class Flows(NamedTuple):
    """Fact that an expression now has a symbolic type."""

    cause: Value
    node: Node
    kind: Type


class Becomes(NamedTuple):
    """Fact that a variable becomes symbolic, with all of its uses."""

    cause: Value
    variable: Variable
    kind: Type


class Widens(NamedTuple):
    """Fact that a struct member becomes symbolic in all of its uses. ``node`` is the place that requires it."""

    cause: Value
    field: Field
    node: Node


class Gives(NamedTuple):
    """Fact that a function of the file returns a symbolic result in all calls.

    ``node`` is the place that requires it.
    """

    cause: Value
    function: Function
    kind: Type
    node: Node


class GivesPart(NamedTuple):
    """Fact that one part of a function's returned tuple is symbolic. ``node`` is the place that requires it."""

    cause: Value
    function: Function
    position: int
    kind: Type
    node: Node


class Stores(NamedTuple):
    """Fact that a symbolic value is stored into a variable at a place."""

    cause: Value
    variable: Variable
    kind: Type
    node: Node


class Puts(NamedTuple):
    """Fact that a symbolic value is assigned to an lvalue."""

    cause: Value
    node: Node
    kind: Type


class Keeps(NamedTuple):
    """Fact that a symbolic value is stored in ``saved_data`` under a key."""

    cause: Value
    node: Node
    key: str
    kind: Type


class Returns(NamedTuple):
    """Fact that a symbolic value is returned at a place."""

    cause: Value
    function: Function
    kind: Type
    node: Node


class Requires(NamedTuple):
    """Fact that an array must become symbolic because it meets a symbolic array.

    With ``convert``, an array that must stay concrete (a kernel's parameter) is converted in place, which is exact.
    """

    cause: Value
    node: Node
    convert: bool = False


class Constructs(NamedTuple):
    """Fact that an explicit concrete type constructs an array and must be replaced with its symbolic type."""

    cause: Value
    node: Node
    type_node: Node | None
    kind: Type


class Links(NamedTuple):
    """Fact that ``effect`` is promoted because of ``cause``, under a name that the fix mentions."""

    cause: Value
    effect: Value
    name: str | None = None


class Instantiates(NamedTuple):
    """Fact that a function template of the file is called with a SymInt for one of its type parameters."""

    cause: Value
    function: Function
    letter: str
    node: Node


class Refuses(NamedTuple):
    """Fact that a place does not accept a symbolic value.

    Without a ``detail``, the reason's own sentence explains it.
    """

    cause: Value
    node: Node
    reason: SkipReason
    detail: str = ""


class Writes(NamedTuple):
    """Fact that a text replaces a node, or a byte range inside the statement of a node."""

    cause: Value
    node: Node
    text: str
    span: tuple[int, int] | None = None


class Rearranges(NamedTuple):
    """Fact that a node is rebuilt from texts and from its own parts, including the edits inside these parts."""

    cause: Value
    node: Node
    pieces: tuple[str | Node, ...]


class Matches(NamedTuple):
    """Fact that an operand next to a SymInt must be one too. It is decided at the end, after all promotions.

    An operand of one of the types ``wrapped`` is converted in place. Any other concrete operand is refused for the
    reason.
    """

    cause: Value
    node: Node
    wrapped: frozenset[Type]
    reason: SkipReason


class Deduces(NamedTuple):
    """Fact that a variable declared ``auto`` holds a SymInt. Its deduced type is checked at the end."""

    cause: Value
    variable: Variable


class Divides(NamedTuple):
    """Fact that one of several members in one declaration changes its type. It is checked at the end that all do."""

    cause: Value
    field: Field


class Selects(NamedTuple):
    """Fact that ``std::max`` or ``std::min`` becomes a method of the operand that is a SymInt at the end."""

    cause: Value
    call: Node
    method: str
    operands: tuple[Node, Node]


class Later(NamedTuple):
    """Fact that is propagated after the present chain, as the uses of a variable are."""

    fact: Flows | Becomes | Stores | Requires | Widens


AtLast = Matches | Deduces | Divides | Selects
Fact = (
    Flows | Becomes | Widens | Gives | GivesPart | Stores | Puts | Keeps | Returns | Requires | Constructs | Links
    | Instantiates | Refuses | Writes | Rearranges | AtLast | Later
)  # fmt: skip


def wrapped(cause: Value, node: Node, before: str, after: str) -> tuple[Writes, Writes]:
    """Return the two edits that put text around a node."""
    start, end = node.start_byte, node.end_byte
    return Writes(cause, node, before, (start, start)), Writes(cause, node, after, (end, end))

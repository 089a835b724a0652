"""What the handlers of syntax forms say of a value that is now symbolic: facts, which the growth of a graph takes in.

``cause`` is the value a fact follows from. A fact about an expression or a variable leads to further facts about what
stands around it; where a place does not take a symbolic value, the fact is a ``Refuses``.
"""

from __future__ import annotations

from typing import NamedTuple

from tree_sitter import Node

from ..syntax.declarations import Function, Variable
from ..syntax.structs import Field
from ..syntax.types import Type
from .graph import Value
from .reasons import SkipReason


class Flows(NamedTuple):
    """An expression is now of a symbolic kind."""

    cause: Value
    node: Node
    kind: Type


class Becomes(NamedTuple):
    """A variable takes a symbolic type, with all of its uses."""

    cause: Value
    variable: Variable
    kind: Type


class Widens(NamedTuple):
    """A member of a struct takes a symbolic type, wherever it is named; ``node`` is where that was found."""

    cause: Value
    field: Field
    node: Node


class Gives(NamedTuple):
    """A function of the file gives a symbolic result, in all of its calls; ``node`` is where it was found."""

    cause: Value
    function: Function
    kind: Type
    node: Node


class GivesPart(NamedTuple):
    """A function of the file gives a tuple of which one part is symbolic; ``node`` is where that was found."""

    cause: Value
    function: Function
    position: int
    kind: Type
    node: Node


class Stores(NamedTuple):
    """A value of a symbolic kind is put into a variable at a place."""

    cause: Value
    variable: Variable
    kind: Type
    node: Node


class Puts(NamedTuple):
    """A value of a symbolic kind is assigned to an lvalue."""

    cause: Value
    node: Node
    kind: Type


class Keeps(NamedTuple):
    """A value of a symbolic kind is stored in ``saved_data`` under a key."""

    cause: Value
    node: Node
    key: str
    kind: Type


class Returns(NamedTuple):
    """A value of a symbolic kind is returned at a place."""

    cause: Value
    function: Function
    kind: Type
    node: Node


class Requires(NamedTuple):
    """An array must become symbolic because it meets one that is.

    With ``convert``, an array that has to stay concrete (a kernel's parameter) is converted in place, which is exact.
    """

    cause: Value
    node: Node
    convert: bool = False


class Constructs(NamedTuple):
    """An array is constructed by an explicit type of a concrete kind, which takes its symbolic twin."""

    cause: Value
    node: Node
    type_node: Node | None
    kind: Type


class Links(NamedTuple):
    """``effect`` is promoted because of ``cause``, under a name that the fix mentions."""

    cause: Value
    effect: Value
    name: str | None = None


class Instantiates(NamedTuple):
    """A function template of the file is called with a SymInt for one of its type parameters."""

    cause: Value
    function: Function
    letter: str
    node: Node


class Refuses(NamedTuple):
    """A place does not take a symbolic value; without a ``detail`` the reason's own sentence says why."""

    cause: Value
    node: Node
    reason: SkipReason
    detail: str = ""


class Writes(NamedTuple):
    """A text takes the place of a node, or of a byte range that lies in the statement of a node."""

    cause: Value
    node: Node
    text: str
    span: tuple[int, int] | None = None


class Rearranges(NamedTuple):
    """A node is written anew from texts and from parts of itself, these with whatever is written in them."""

    cause: Value
    node: Node
    pieces: tuple[str | Node, ...]


class Matches(NamedTuple):
    """An expression beside a SymInt has to be one too: known at the end, when all that is promoted is known.

    One of the kinds ``wrapped`` is converted in place; any other that is not symbolic is refused for the reason.
    """

    cause: Value
    node: Node
    wrapped: frozenset[Type]
    reason: SkipReason


class Deduces(NamedTuple):
    """A variable declared ``auto`` holds a SymInt: known at the end is whether its first value says so."""

    cause: Value
    variable: Variable


class Divides(NamedTuple):
    """A declaration of several members, one of which takes another type: known at the end is whether all do."""

    cause: Value
    field: Field


class Selects(NamedTuple):
    """``std::max`` or ``std::min`` of two values becomes a method of the one that is a SymInt at the end."""

    cause: Value
    call: Node
    method: str
    operands: tuple[Node, Node]


class Later(NamedTuple):
    """A fact that is followed after the present chain, as the uses of a variable are."""

    fact: Flows | Becomes | Stores | Requires | Widens


AtLast = Matches | Deduces | Divides | Selects
Fact = (
    Flows | Becomes | Widens | Gives | GivesPart | Stores | Puts | Keeps | Returns | Requires | Constructs | Links
    | Instantiates | Refuses | Writes | Rearranges | AtLast | Later
)  # fmt: skip


def wrapped(cause: Value, node: Node, before: str, after: str) -> tuple[Writes, Writes]:
    """A node gets text around it."""
    start, end = node.start_byte, node.end_byte
    return Writes(cause, node, before, (start, start)), Writes(cause, node, after, (end, end))

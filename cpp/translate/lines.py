"""Output lines of a translation, and the known lower bounds of its variables at each line."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ..syntax.tree import every
from .expressions import Expressions
from .kinds import INT, UNKNOWN, CppKind
from .values import PythonExpression
from .write_sets import child_field

if TYPE_CHECKING:
    from tree_sitter import Node

INDENT = "    "


def lower(lows: Iterator[int | None] | Sequence[int | None]) -> int | None:
    found = list(lows)
    known = [low for low in found if low is not None]
    return min(known) if len(known) == len(found) and known else None


@dataclass
class StatementWriter:
    """Writer of the statements of one function into ``lines``."""

    expressions: Expressions
    result: CppKind = UNKNOWN
    """Kind of the function's result. If a lambda does not declare it, its first ``return`` determines it."""
    comments: bool = True
    lines: list[str] = field(default_factory=list)
    depth: int = 1
    changed: frozenset[str] = frozenset()
    """Lists whose elements are assigned somewhere in the function."""
    _comment_end: int = -1

    @abstractmethod
    def block(self, node: Node) -> None:
        """Write the statements of a block, or a single statement."""

    def write(self, text: str) -> None:
        """Append one line at the current depth."""
        self.lines.append(INDENT * self.depth + text)

    @contextmanager
    def indented(self) -> Iterator[None]:
        """Write one level deeper, in a new block of names. Write ``pass`` if the block is empty."""
        names = self.expressions.names
        names.blocks.append({})
        self.depth += 1
        before = len(self.lines)
        yield
        if all(line.lstrip().startswith("#") for line in self.lines[before:]):
            self.write("pass")
        self.depth -= 1
        names.blocks.pop()

    def facts(self) -> dict[str, int | None]:
        return {name: value.low for block in self.expressions.names.blocks for name, value in block.items()}

    def restore(self, facts: dict[str, int | None]) -> None:
        for block in self.expressions.names.blocks:
            for name, value in block.items():
                if name in facts:
                    block[name] = replace(value, low=facts[name])

    def loses(self, loop: Node) -> set[str]:
        """Return the integers that a loop may decrease below their known lower bounds."""
        expressions = self.expressions
        lost = set()
        for one in every(loop, "assignment_expression", "update_expression"):
            left = one.child_by_field_name("left") or one.child_by_field_name("argument")
            text = expressions.tree.text(one).replace(" ", "")
            name = "" if left is None else expressions.tree.text(left)
            # An integer that only grows, or is divided, keeps its sign.
            if not re.match(re.escape(name) + rf"(?:\+\+|\+=\d|/=\d|={re.escape(name)}/\d+\Z)|\+\+", text):
                lost.add(name)
        return lost

    def forget(self, lost: set[str]) -> None:
        for name in lost:
            known = self.expressions.names.find(name)
            if known is not None and known.low is not None:
                self.expressions.names.change(name, replace(known, low=None))

    def lose(self, holder: PythonExpression) -> None:
        for block in self.expressions.names.blocks:
            for name, known in block.items():
                if holder.name and known.name == holder.name:
                    block[name] = replace(known, low=None)

    def now(self, node: Node, value: PythonExpression) -> None:
        """Record the known lower bound of a variable after an assignment, or of the elements of a list."""
        names = self.expressions.names
        if node.type == "identifier":
            name = self.expressions.tree.text(node)
            known = names.find(name)
            if known is not None:
                names.change(name, replace(known, low=value.low))
        elif node.type == "subscript_expression":
            holder = self.expressions.write(child_field(node, "argument"))
            if holder.low is not None and (value.low is None or value.low < holder.low):
                self.lose(holder)

    def learn(self, condition: Node) -> None:
        """Record the lower bound of an integer that a check establishes."""
        expressions = self.expressions
        if condition.type == "binary_expression":
            left, right = child_field(condition, "left"), child_field(condition, "right")
            sign = expressions.tree.text(child_field(condition, "operator"))
            if sign == "&&":
                self.learn(left)
                self.learn(right)
            name, number = expressions.tree.text(left), expressions.tree.text(right)
            known = expressions.names.find(name)
            if sign in (">", ">=") and known is not None and known.kind is INT and number.isdigit():
                low = int(number) + (sign == ">")
                expressions.names.change(name, replace(known, low=max(low, known.low or low)))

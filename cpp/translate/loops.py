"""Translation of loops."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from ..syntax.tree import arguments, every
from .declarations import Declarations
from .kinds import INT
from .values import Level, Untranslatable
from .write_sets import assigned, changed_lists, child_field

if TYPE_CHECKING:
    from tree_sitter import Node


class Loops(Declarations):
    """Writer of loops."""

    def _while_statement(self, node: Node) -> None:
        clause = child_field(node, "condition")
        value = child_field(clause, "value")
        self.forget(self.loses(node))
        self.write(f"while {self.expressions.condition(value).text}:")
        with self.indented():
            self.block(child_field(node, "body"))

    def _for_range_loop(self, node: Node) -> None:
        expressions = self.expressions
        self.forget(self.loses(node))
        right, declarator = child_field(node, "right"), child_field(node, "declarator")
        body = child_field(node, "body")
        over = self._range(right)
        reference = declarator.type == "reference_declarator"
        inner = declarator.named_children[-1] if reference else declarator
        if inner.type != "identifier":
            raise expressions.refused(node, "a loop over several names at once")
        name = expressions.tree.text(inner)
        constant = any(child.type == "type_qualifier" and child.text == b"const" for child in node.children)
        with self._loop_block():
            if over is not None:
                variable = expressions.names.declare(name, INT, low=0)
                self.write(f"for {variable.text} in {over}:")
            else:
                listed = expressions.write(right)
                if listed.kind.name != "list":
                    raise expressions.refused(node, f"a loop over {listed.kind}")
                variable = expressions.names.declare(name, listed.kind.held)
                if reference and not constant and name in assigned(body):
                    number = expressions.names.declare("i", INT, low=0)
                    self.write(f"for {number.text}, {variable.text} in enumerate({listed.text}):")
                    expressions.names.change(name, replace(variable, text=f"{listed.atom}[{number.text}]", name=""))
                else:
                    self.write(f"for {variable.text} in {listed.text}:")
            with self.indented():
                self.block(body)

    @contextmanager
    def _loop_block(self) -> Iterator[None]:
        self.expressions.names.blocks.append({})
        yield
        self.expressions.names.blocks.pop()

    def _range(self, node: Node) -> str | None:
        """Return the Python ``range`` of ``c10::irange(…)``, or None for any other expression."""
        if node.type != "call_expression":
            return None
        if self.expressions.tree.text(child_field(node, "function")) not in ("c10::irange", "irange"):
            return None
        given = [self.expressions.write(one) for one in arguments(node)]
        if any(one.kind is not INT for one in given):
            raise Untranslatable("`irange` of something that is no integer")
        return f"range({', '.join(one.text for one in given)})"

    def _for_statement(self, node: Node) -> None:
        expressions = self.expressions
        start, condition, update, body = (
            child_field(node, name) for name in ("initializer", "condition", "update", "body")
        )
        declarator = start.child_by_field_name("declarator")
        if start.type != "declaration" or declarator is None or declarator.type != "init_declarator":
            raise expressions.refused(node, "a loop that does not declare its variable")
        name = expressions.tree.text(child_field(declarator, "declarator"))
        first = expressions.write(child_field(declarator, "value"))
        if condition.type != "binary_expression" or expressions.tree.text(child_field(condition, "left")) != name:
            raise expressions.refused(node, f"the loop condition `{expressions.short(condition)}`")
        sign = expressions.tree.text(child_field(condition, "operator"))
        last_node = child_field(condition, "right")
        written = assigned(body)
        words = {expressions.tree.text(one) for one in every(last_node, "identifier")}
        if name in written or words & (written | changed_lists(body)):
            raise expressions.refused(node, "a loop that changes what it counts by")
        last = expressions.write(last_node)
        step = self._step(update, name)
        if (sign, step > 0) not in ((("<"), True), ("<=", True), (">", False), (">=", False)) or first.kind is not INT:
            raise expressions.refused(node, f"the loop `{expressions.short(condition)}`")
        more = {"<=": " + 1", ">=": " - 1"}.get(sign, "")
        end = last.inside(Level.SUM) + more
        words_of = [first.text, end, *([str(step)] if step != 1 else [])]
        if step == 1 and first.text == "0":
            words_of = [end]
        self.forget(self.loses(node))
        with self._loop_block():
            variable = expressions.names.declare(name, INT, low=first.low if step > 0 else 0 if sign == ">=" else None)
            self.write(f"for {variable.text} in range({', '.join(words_of)}):")
            with self.indented():
                self.block(body)

    def _step(self, update: Node, name: str) -> int:
        text = self.expressions.tree.text(update).replace(" ", "")
        if text in (f"{name}++", f"++{name}"):
            return 1
        if text in (f"{name}--", f"--{name}"):
            return -1
        found = re.fullmatch(re.escape(name) + r"([+-])=(\d+)", text)
        if found is None:
            raise self.expressions.refused(update, f"the loop step `{text}`")
        return int(found[1] + found[2])

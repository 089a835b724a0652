"""Translation of statements with side effects: assignments, list changes, calls."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..syntax.tree import arguments
from .conversions import converted
from .kinds import BOOL, BRACES, INT, TENSOR
from .library_map import plain, span
from .lines import StatementWriter
from .messages import check, message
from .operations import arithmetic
from .values import Level, PythonExpression, Untranslatable
from .write_sets import child_field

if TYPE_CHECKING:
    from tree_sitter import Node

_DROPPED = frozenset({"reserve", "shrink_to_fit"})
_IGNORED_CALLS = re.compile(r"(?:at::)?namedinference::|(?:TORCH_)?INTERNAL_ASSERT|TORCH_INTERNAL_ASSERT")
_WARNINGS = frozenset({"TORCH_WARN", "TORCH_WARN_ONCE"})
_CHECKS = {
    "TORCH_CHECK": "torch._check", "TORCH_SYM_CHECK": "torch._check", "TORCH_CHECK_VALUE": "torch._check_value",
    "TORCH_CHECK_INDEX": "torch._check_index", "TORCH_CHECK_TYPE": "torch._check_type",
    "TORCH_CHECK_NOT_IMPLEMENTED": "torch._check_not_implemented",
}  # fmt: skip
_THROWN = {"NotImplementedError": "NotImplementedError", "ValueError": "ValueError", "TypeError": "TypeError",
           "IndexError": "IndexError"}  # fmt: skip


class Changes(StatementWriter):
    """Writer of assignments, list changes and calls."""

    def _expression_statement(self, node: Node) -> None:
        inside = [child for child in node.named_children if child.type != "comment"]
        if not inside:
            return
        expression = inside[0]
        method = getattr(self, f"_on_{expression.type}", None)
        if method is not None:
            method(expression)
            return
        raise self.expressions.refused(node, f"the statement `{self.expressions.short(node)}`")

    def _on_call_expression(self, node: Node) -> None:
        expressions = self.expressions
        function = child_field(node, "function")
        name = expressions.tree.text(function)
        if name in _CHECKS:
            self._check(node, name)
        elif _IGNORED_CALLS.match(name):
            return
        elif name in _WARNINGS:
            self.write(f"warnings.warn({message(expressions, arguments(node))})")
        elif name in ("C10_THROW_ERROR", "TORCH_CHECK_WITH"):
            kind, *parts = arguments(node)
            error = _THROWN.get(expressions.tree.text(kind))
            if error is None or name != "C10_THROW_ERROR":
                raise expressions.refused(node, f"`{name}`")
            self.write(f"raise {error}({message(expressions, parts)})")
        elif name in ("std::swap", "swap"):
            first, second = (expressions.write(one).text for one in arguments(node))
            self.write(f"{first}, {second} = {second}, {first}")
        elif plain(name) == "maybe_wrap_dims":
            listed, rank = (expressions.write(one) for one in arguments(node)[:2])
            self.write(f"{listed.text}[:] = utils.canonicalize_dims({rank.text}, {listed.text})")
        elif name in ("std::iota", "std::reverse", "std::sort", "std::copy", "std::fill"):
            self._algorithm(name, [expressions.write(one) for one in arguments(node)])
        elif function.type == "field_expression" and self._list_change(node, function):
            return
        else:
            self.write(expressions.write(node).text)

    def _on_cast_expression(self, node: Node) -> None:
        if self.expressions.tree.text(child_field(node, "type")) != "void":
            raise self.expressions.refused(node, f"the statement `{self.expressions.short(node)}`")

    def _check(self, node: Node, name: str) -> None:
        condition, *parts = arguments(node)
        for line in check(self.expressions, _CHECKS[name], condition, parts):
            self.write(line)
        self.learn(condition)

    def _algorithm(self, name: str, given: Sequence[PythonExpression]) -> None:
        listed = given[0].name
        if span(given[0], given[1]) != listed:
            raise Untranslatable(f"`{name}` of a part of a list")
        if name == "std::iota":
            start = given[2].inside(Level.SUM)
            first = "" if start == "0" else f"{start}, "
            end = f"len({listed})" if not first else f"{start} + len({listed})"
            self.write(f"{listed}[:] = range({first}{end})")
        elif name in ("std::reverse", "std::sort") and len(given) == 2:
            self.write(f"{listed}.{name.removeprefix('std::')}()")
        elif name == "std::fill":
            self.write(f"{listed}[:] = [{given[2].text}] * len({listed})")
        else:
            raise Untranslatable(f"`{name}`")

    def _list_change(self, node: Node, function: Node) -> bool:
        """Write a call that changes a list. Return False for any other call."""
        expressions = self.expressions
        name = expressions.tree.text(child_field(function, "field"))
        holder = expressions.write(child_field(function, "argument"))
        if holder.kind.name != "list" or not holder.kind.owned:
            return False
        given = [expressions.write(one) for one in arguments(node)]
        if name in _DROPPED:
            return True
        self.lose(holder)
        if name in ("push_back", "emplace_back") and len(given) == 1:
            self.write(f"{holder.atom}.append({converted(given[0], holder.kind.held).text})")
        elif name == "pop_back":
            self.write(f"{holder.atom}.pop()")
        elif name == "clear":
            self.write(f"{holder.atom}.clear()")
        elif name == "insert" and len(given) == 2 and given[1].kind is BRACES and given[0].kind.name == "iterator":
            if given[0].text != f"len({given[0].name})":
                raise Untranslatable(f"`{name}` in the middle of a list")
            self.write(f"{holder.atom}.extend({given[1].text})")
        elif name == "insert" and len(given) == 3 and given[1].kind.name == "iterator":
            place, added = given[0], span(given[1], given[2])
            at_end = place.text == f"len({place.name})"
            self.write(
                f"{holder.atom}.extend({added})" if at_end else f"{holder.atom}[{place.text}:{place.text}] = {added}"
            )
        elif name == "insert" and len(given) == 2 and given[0].kind.name == "iterator":
            self.write(f"{holder.atom}.insert({given[0].text}, {given[1].text})")
        elif name == "erase" and len(given) == 1 and given[0].kind.name == "iterator":
            self.write(f"del {holder.atom}[{given[0].text}]")
        elif name == "set" and not given and holder.kind.held is BOOL:
            self.write(f"{holder.atom}[:] = [True] * len({holder.text})")
        else:
            return False
        return True

    def _on_assignment_expression(self, node: Node) -> None:
        expressions = self.expressions
        left, right = child_field(node, "left"), child_field(node, "right")
        sign = expressions.tree.text(child_field(node, "operator"))
        if left.type == "call_expression" and expressions.tree.text(child_field(left, "function")) in (
            "std::tie",
            "tie",
        ):
            targets = [expressions.write(one).text for one in arguments(left)]
            self.write(f"{', '.join(targets)} = {expressions.write(right).text}")
            return
        ends = left.type == "call_expression" and expressions.tree.text(left).endswith((".back()", ".front()"))
        if left.type not in ("identifier", "subscript_expression") and not ends:
            raise expressions.refused(node, f"an assignment to `{expressions.short(left)}`")
        counter = self._counter(left)
        target, value = expressions.write(left) if counter is None else counter[0], expressions.write(right)
        if counter is not None:
            self.write(f"{target.text} = {converted(value, target.kind).text}")
            self.write(f"{counter[1].text} += 1")
            return
        if sign == "=":
            value = self.taken(converted(value, target.kind))
            self.write(f"{target.text} = {value.text}")
            self.now(left, value)
            return
        operator = sign.removesuffix("=")
        combined = arithmetic(operator, target, value)
        if target.kind is not TENSOR:
            combined = converted(combined, target.kind)
        word = "//=" if operator == "/" and target.kind is INT else sign
        self.write(f"{target.text} {word} {value.text}")
        self.now(left, combined)

    def _counter(self, left: Node) -> tuple[PythonExpression, PythonExpression] | None:
        """Return the element that ``list[n++] = …`` writes, and ``n``, or None for any other target."""
        indices = left.child_by_field_name("indices")
        index = indices.named_children[0] if indices is not None and indices.named_child_count == 1 else None
        if index is None or index.type != "update_expression" or not self.expressions.tree.text(index).endswith("++"):
            return None
        holder, number = (
            self.expressions.write(child_field(left, "argument")),
            self.expressions.write(child_field(index, "argument")),
        )
        if holder.kind.name != "list" or number.kind is not INT:
            return None
        return PythonExpression(f"{holder.atom}[{number.text}]", holder.kind.held), number

    def _on_update_expression(self, node: Node) -> None:
        target = self.expressions.write(child_field(node, "argument"))
        if target.kind is not INT:
            raise Untranslatable(f"`{self.expressions.short(node)}`")
        sign = "+" if b"++" in (node.text or b"") else "-"
        self.write(f"{target.text} {sign}= 1")
        if sign == "-":
            self.now(child_field(node, "argument"), replace(target, low=None))

    def taken(self, value: PythonExpression) -> PythonExpression:
        """Return the value to store in a new variable. A vector is copied."""
        if value.kind.name == "list" and value.kind.owned and not value.fresh:
            return replace(value, text=f"list({value.text})", fresh=True, level=Level.ATOM)
        return value

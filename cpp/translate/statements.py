"""Statements of C++ as lines of Python."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ..syntax.functions import parameter_nodes
from ..syntax.tree import arguments, every
from .expressions import Expressions, empty, filled
from .kinds import BOOL, BRACES, FLOAT, GUARD, INT, NAMES, NOTHING, NULL, TENSOR, UNKNOWN, Kind, list_of, read_kind
from .messages import check, message
from .values import Level, Refused, Value, negated
from .vocabulary import span

if TYPE_CHECKING:
    from tree_sitter import Node

_INDENT = "    "
_COMMENT_WIDTH = 80
_NO_OP = re.compile(r"(?:NoNamesGuard|NoTF32Guard)\Z")
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


@dataclass
class Body:
    """Writes the statements of one function into ``lines``."""

    expressions: Expressions
    result: Kind = UNKNOWN
    """What the function gives; found out by the first ``return`` of a lambda that does not say it."""
    comments: bool = True
    lines: list[str] = field(default_factory=list)
    depth: int = 1
    _comment_end: int = -1
    changed: frozenset[str] = frozenset()
    """Lists whose elements are written somewhere in the function."""

    def write(self, text: str) -> None:
        """One line at the current depth."""
        self.lines.append(_INDENT * self.depth + text)

    @contextmanager
    def indented(self) -> Iterator[None]:
        """One level deeper, in a block of names of its own; never empty."""
        names = self.expressions.names
        names.blocks.append({})
        self.depth += 1
        before = len(self.lines)
        yield
        if all(line.lstrip().startswith("#") for line in self.lines[before:]):
            self.write("pass")
        self.depth -= 1
        names.blocks.pop()

    def block(self, node: Node) -> None:
        """The statements of a block, or the one statement that stands in its place."""
        if node.type != "compound_statement":
            self.statement(node)
            return
        depth = self.depth
        for child in node.named_children:
            self.statement(child)
        self.depth = depth

    def statement(self, node: Node) -> None:
        """One statement. Raises Refused."""
        expressions = self.expressions
        method = getattr(self, f"_{node.type}", None)
        if method is None:
            raise expressions.refused(node, f"the statement `{expressions.short(node)}` ({node.type.replace('_', ' ')})")
        try:
            method(node)
        except Refused as refusal:
            refusal.line = refusal.line or node.start_point[0] + 1
            raise

    # What a node of the syntax tree is written as, by its type.

    def _comment(self, node: Node) -> None:
        text = self.expressions.tree.text(node)
        if not self.comments or not text.startswith("//"):
            return
        before = node.prev_named_sibling
        if before is not None and before.end_point[0] == node.start_point[0] and self.lines:
            self.lines[-1] += f"  # {text.lstrip('/ ')}"
            return
        if before is not None and before.type == "comment" and self._comment_end == node.start_point[0]:
            text = f"{self.lines.pop().strip()} {text.lstrip('/ ')}".removeprefix("#")
        self._comment_end = node.end_point[0] + 1
        for line in textwrap.wrap(text.lstrip("/ "), _COMMENT_WIDTH - 4 * self.depth):
            self.write(f"# {line}")

    def _compound_statement(self, node: Node) -> None:
        names = self.expressions.names
        names.blocks.append({})
        self.block(node)
        names.blocks.pop()

    def _return_statement(self, node: Node) -> None:
        given = [child for child in node.named_children if child.type != "comment"]
        if not given:
            self.write("return")
            return
        value = self.expressions.write(given[0])
        if self.result is UNKNOWN:
            if value.kind is BRACES:
                raise Refused("braces returned where the type is not said")
            self.result = value.kind
        self.write(f"return {self.expressions.converted(value, self.result).text}")

    def _break_statement(self, node: Node) -> None:
        self.write("break")

    def _continue_statement(self, node: Node) -> None:
        self.write("continue")

    def _if_statement(self, node: Node, word: str = "if") -> None:
        clause = node.child_by_field_name("condition")
        value = None if clause is None else clause.child_by_field_name("value")
        if clause is None or value is None or clause.child_by_field_name("initializer") is not None:
            raise self.expressions.refused(node, "an `if` that declares a variable")
        asked = self.expressions.condition(value)
        if asked.text in ("True", "False"):
            self._decided(node, asked.text == "True", word)
            return
        self.write(f"{word} {asked.text}:")
        facts = self._facts()
        after = []
        with self.indented():
            self.block(_field(node, "consequence"))
            after.append(self._facts())
        otherwise = node.child_by_field_name("alternative")
        self._restore(facts)
        if otherwise is not None:
            (inner,) = [child for child in otherwise.named_children if child.type != "comment"][-1:]
            if inner.type == "if_statement":
                self._if_statement(inner, "elif")
            else:
                self.write("else:")
                with self.indented():
                    self.block(inner)
        after.append(self._facts())
        self._restore({name: _lower(one.get(name) for one in after) for name in facts})

    def _decided(self, node: Node, truth: bool, word: str) -> None:
        """An ``if`` of which it is known which way it goes: the other one is left out."""
        otherwise = node.child_by_field_name("alternative")
        branch = _field(node, "consequence") if truth else None
        if branch is None and otherwise is not None:
            (branch,) = [child for child in otherwise.named_children if child.type != "comment"][-1:]
        if branch is None:
            return
        if word == "elif" and branch.type == "if_statement" and not truth:
            self._if_statement(branch, word)
            return
        if word == "if":
            self._compound_statement(branch)
            return
        self.write("else:")
        with self.indented():
            self.block(branch)

    def _while_statement(self, node: Node) -> None:
        clause = _field(node, "condition")
        value = _field(clause, "value")
        self._forget(self._loses(node))
        self.write(f"while {self.expressions.condition(value).text}:")
        with self.indented():
            self.block(_field(node, "body"))

    def _for_range_loop(self, node: Node) -> None:
        expressions = self.expressions
        self._forget(self._loses(node))
        right, declarator = _field(node, "right"), _field(node, "declarator")
        body = _field(node, "body")
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
                if reference and not constant and name in assigned(body, expressions):
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
        """What ``c10::irange(…)`` counts over; None for any other expression."""
        if node.type != "call_expression":
            return None
        if self.expressions.tree.text(_field(node, "function")) not in ("c10::irange", "irange"):
            return None
        given = [self.expressions.write(one) for one in arguments(node)]
        if any(one.kind is not INT for one in given):
            raise Refused("`irange` of something that is no integer")
        return f"range({', '.join(one.text for one in given)})"

    def _for_statement(self, node: Node) -> None:
        expressions = self.expressions
        start, condition, update, body = (_field(node, name) for name in ("initializer", "condition", "update", "body"))
        declarator = start.child_by_field_name("declarator")
        if start.type != "declaration" or declarator is None or declarator.type != "init_declarator":
            raise expressions.refused(node, "a loop that does not declare its variable")
        name = expressions.tree.text(_field(declarator, "declarator"))
        first = expressions.write(_field(declarator, "value"))
        if condition.type != "binary_expression" or expressions.tree.text(_field(condition, "left")) != name:
            raise expressions.refused(node, f"the loop condition `{expressions.short(condition)}`")
        sign = expressions.tree.text(_field(condition, "operator"))
        last_node = _field(condition, "right")
        written = assigned(body, expressions)
        words = {expressions.tree.text(one) for one in every(last_node, "identifier")}
        if name in written or words & (written | expressions_changed(body, expressions)):
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
        self._forget(self._loses(node))
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

    def _switch_statement(self, node: Node) -> None:
        expressions = self.expressions
        asked = expressions.write(_field(_field(node, "condition"), "value"))
        waiting: list[str] = []
        word = "if"
        cases = [child for child in _field(node, "body").named_children if child.type != "comment"]
        for case in cases:
            value = case.child_by_field_name("value")
            inside = [child for child in case.named_children if child != value and child.type != "comment"]
            if value is not None:
                waiting.append(expressions.write(value).text)
                if not inside:
                    continue
            flat = [one for child in inside for one in (child.named_children if child.type == "compound_statement" else [child])]
            last = flat[-1] if flat else None
            ends = last is None or last.type in ("break_statement", "return_statement") or _raises(last, expressions)
            if not ends and case is not cases[-1]:
                raise expressions.refused(case, "a case that falls through to the next")
            if value is None:
                if case is not cases[-1]:
                    raise expressions.refused(case, "a default in front of a case")
                self.write("else:" if word == "elif" else "if True:")
            else:
                words = asked.inside(Level.BIT_OR)
                test = f"{words} == {waiting[0]}" if len(waiting) == 1 else f"{words} in ({', '.join(waiting)})"
                self.write(f"{word} {test}:")
                word = "elif"
            waiting = []
            with self.indented():
                for one in flat:
                    if one.type != "break_statement":
                        self.statement(one)

    def _expression_statement(self, node: Node) -> None:
        (expression,) = [child for child in node.named_children if child.type != "comment"] or [None]
        if expression is None:
            return
        method = getattr(self, f"_on_{expression.type}", None)
        if method is not None:
            method(expression)
            return
        raise self.expressions.refused(node, f"the statement `{self.expressions.short(node)}`")

    def _on_call_expression(self, node: Node) -> None:
        expressions = self.expressions
        function = _field(node, "function")
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
        elif name in ("std::iota", "std::reverse", "std::sort", "std::copy", "std::fill"):
            self._algorithm(name, [expressions.write(one) for one in arguments(node)])
        elif function.type == "field_expression" and self._list_change(node, function):
            return
        else:
            self.write(expressions.write(node).text)

    def _check(self, node: Node, name: str) -> None:
        condition, *parts = arguments(node)
        for line in check(self.expressions, _CHECKS[name], condition, parts):
            self.write(line)
        self._learn(condition)

    def _learn(self, condition: Node) -> None:
        """After a check, an integer is known not to be below what it was held against."""
        expressions = self.expressions
        if condition.type == "binary_expression":
            left, right = _field(condition, "left"), _field(condition, "right")
            sign = expressions.tree.text(_field(condition, "operator"))
            if sign == "&&":
                self._learn(left)
                self._learn(right)
            name, number = expressions.tree.text(left), expressions.tree.text(right)
            known = expressions.names.find(name)
            if sign in (">", ">=") and known is not None and known.kind is INT and number.isdigit():
                low = int(number) + (sign == ">")
                expressions.names.change(name, replace(known, low=max(low, known.low or low)))

    def _algorithm(self, name: str, given: Sequence[Value]) -> None:
        listed = given[0].name
        if span(given[0], given[1]) != listed:
            raise Refused(f"`{name}` of a part of a list")
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
            raise Refused(f"`{name}`")

    def _list_change(self, node: Node, function: Node) -> bool:
        """A call that changes a list; False for any other."""
        expressions = self.expressions
        name = expressions.tree.text(_field(function, "field"))
        holder = expressions.write(_field(function, "argument"))
        if holder.kind.name != "list" or not holder.kind.owned:
            return False
        given = [expressions.write(one) for one in arguments(node)]
        if name in _DROPPED:
            return True
        self._lose(holder)
        if name in ("push_back", "emplace_back") and len(given) == 1:
            self.write(f"{holder.atom}.append({expressions.converted(given[0], holder.kind.held).text})")
        elif name == "pop_back":
            self.write(f"{holder.atom}.pop()")
        elif name == "clear":
            self.write(f"{holder.atom}.clear()")
        elif name == "insert" and len(given) == 3 and given[1].kind.name == "iterator":
            place, added = given[0], span(given[1], given[2])
            at_end = place.text == f"len({place.name})"
            self.write(f"{holder.atom}.extend({added})" if at_end else f"{holder.atom}[{place.text}:{place.text}] = {added}")
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
        left, right = _field(node, "left"), _field(node, "right")
        sign = expressions.tree.text(_field(node, "operator"))
        if left.type == "call_expression" and expressions.tree.text(_field(left, "function")) in ("std::tie", "tie"):
            targets = [expressions.write(one).text for one in arguments(left)]
            self.write(f"{', '.join(targets)} = {expressions.write(right).text}")
            return
        ends = left.type == "call_expression" and expressions.tree.text(left).endswith((".back()", ".front()"))
        if left.type not in ("identifier", "subscript_expression") and not ends:
            raise expressions.refused(node, f"an assignment to `{expressions.short(left)}`")
        target, value = expressions.write(left), expressions.write(right)
        if sign == "=":
            value = self._taken(expressions.converted(value, target.kind))
            self.write(f"{target.text} = {value.text}")
            self._now(left, value)
            return
        operator = sign.removesuffix("=")
        combined = expressions.arithmetic(operator, target, value)
        if target.kind is not TENSOR:
            combined = expressions.converted(combined, target.kind)
        word = "//=" if operator == "/" and target.kind is INT else sign
        self.write(f"{target.text} {word} {value.text}")
        self._now(left, combined)

    def _on_update_expression(self, node: Node) -> None:
        target = self.expressions.write(_field(node, "argument"))
        if target.kind is not INT:
            raise Refused(f"`{self.expressions.short(node)}`")
        sign = "+" if b"++" in (node.text or b"") else "-"
        self.write(f"{target.text} {sign}= 1")
        if sign == "-":
            self._now(_field(node, "argument"), replace(target, low=None))

    def _taken(self, value: Value) -> Value:
        """A value that a variable of its own gets: a vector is copied."""
        if value.kind.name == "list" and value.kind.owned and not value.fresh:
            return replace(value, text=f"list({value.text})", fresh=True, level=Level.ATOM)
        return value

    def _now(self, node: Node, value: Value) -> None:
        """What is known of a variable after an assignment, or of the elements of a list."""
        names = self.expressions.names
        if node.type == "identifier":
            name = self.expressions.tree.text(node)
            known = names.find(name)
            if known is not None:
                names.change(name, replace(known, low=value.low))
        elif node.type == "subscript_expression":
            holder = self.expressions.write(_field(node, "argument"))
            if holder.low is not None and (value.low is None or value.low < holder.low):
                self._lose(holder)

    def _lose(self, holder: Value) -> None:
        for block in self.expressions.names.blocks:
            for name, known in block.items():
                if holder.name and known.name == holder.name:
                    block[name] = replace(known, low=None)

    def _facts(self) -> dict[str, int | None]:
        return {name: value.low for block in self.expressions.names.blocks for name, value in block.items()}

    def _restore(self, facts: dict[str, int | None]) -> None:
        for block in self.expressions.names.blocks:
            for name, value in block.items():
                if name in facts:
                    block[name] = replace(value, low=facts[name])

    def _loses(self, loop: Node) -> set[str]:
        """The integers that a loop may bring below what is known of them now."""
        expressions = self.expressions
        lost = set()
        for one in every(loop, "assignment_expression", "update_expression"):
            left = one.child_by_field_name("left") or one.child_by_field_name("argument")
            text = expressions.tree.text(one).replace(" ", "")
            name = "" if left is None else expressions.tree.text(left)
            # What only grows, or is divided, stays on its side of zero.
            if not re.match(re.escape(name) + rf"(?:\+\+|\+=\d|/=\d|={re.escape(name)}/\d+\Z)|\+\+", text):
                lost.add(name)
        return lost

    def _forget(self, lost: set[str]) -> None:
        for name in lost:
            known = self.expressions.names.find(name)
            if known is not None and known.low is not None:
                self.expressions.names.change(name, replace(known, low=None))

    def _declaration(self, node: Node) -> None:
        expressions = self.expressions
        type_node = _field(node, "type")
        kind = expressions.kind_of(type_node)
        constant = any(child.type == "type_qualifier" and b"const" in (child.text or b"") for child in node.children)
        for declarator in node.children_by_field_name("declarator"):
            if kind is GUARD:
                self._guard(node, expressions.tree.text(type_node))
                return
            self._declared(node, declarator, kind, expressions.tree.text(type_node) == "auto", constant)

    def _alias_declaration(self, node: Node) -> None:
        text = self.expressions.tree.text
        self.expressions.aliases[text(_field(node, "name"))] = text(_field(node, "type"))

    def _guard(self, node: Node, text: str) -> None:
        name = text.rpartition("::")[2]
        if _NO_OP.match(name):
            return  # names are not traced, and a graph does not keep which precision was allowed around it
        if name != "NoGradGuard":
            raise self.expressions.refused(node, f"the guard `{text}`")
        self.write("with torch.no_grad():")
        self.depth += 1

    def _declared(self, node: Node, declarator: Node, kind: Kind, auto: bool, constant: bool) -> None:
        expressions = self.expressions
        if declarator.type == "function_declarator":
            self._constructed_like_a_function(declarator, kind)
            return
        if declarator.type != "init_declarator":
            name = expressions.tree.text(declarator)
            if auto or kind is UNKNOWN:
                raise expressions.refused(node, f"a variable of type `{expressions.tree.text(_field(node, 'type'))}`")
            if kind.name == "list" and "bitset" in expressions.tree.text(_field(node, "type")):
                value = Value("[False] * 64", kind, Level.PRODUCT)
            else:
                value = empty(kind)
            self.write(f"{expressions.names.declare(name, kind, low=value.low).text} = {value.text}")
            return
        target, given = _field(declarator, "declarator"), _field(declarator, "value")
        reference = target.type == "reference_declarator"
        if reference:
            target = target.named_children[-1]
        if given.type == "lambda_expression":
            self._lambda(expressions.tree.text(target), given)
            return
        if given.type == "call_expression" and _field(given, "function").type == "lambda_expression":
            made = self._lambda(f"{expressions.tree.text(target)}_", _field(given, "function"))
            value = Value(f"{made.text}()", made.kind.inner[-1], fresh=True)
        elif given.type == "argument_list":
            value = self._of_arguments(kind, [expressions.write(one) for one in arguments(given)])
        else:
            value = expressions.write(given)
        if kind is UNKNOWN and not auto:
            raise expressions.refused(node, f"a variable of type `{expressions.tree.text(_field(node, 'type'))}`")
        if target.type == "structured_binding_declarator":
            self._bound(target, value)
            return
        if auto and value.kind in (BRACES, NULL, UNKNOWN):
            raise expressions.refused(node, f"what kind `{expressions.short(given)}` is")
        value = value if auto else expressions.converted(value, kind)
        if value.kind is NAMES:
            expressions.names.declare(expressions.tree.text(target), NAMES)
            return
        if reference and given.type == "subscript_expression":
            listed = expressions.tree.text(_field(given, "argument"))
            if not constant or listed in self.changed:
                raise expressions.refused(node, f"a reference into `{listed}`, which changes")
        value = value if reference else self._taken(value)
        variable = expressions.names.declare(expressions.tree.text(target), value.kind, low=value.low)
        self.write(f"{variable.text} = {value.text}")

    def _of_arguments(self, kind: Kind, given: Sequence[Value]) -> Value:
        if kind.name == "list" and given and given[0].kind is INT and kind.owned and len(given) <= 2:
            return filled(kind, [given[0], *(self.expressions.converted(one, kind.held) for one in given[1:])])
        if kind.name == "list" and len(given) == 2 and given[0].kind.name == "iterator":
            return Value(f"list({span(given[0], given[1])})", kind, fresh=True)
        if len(given) == 1:
            value = self.expressions.converted(given[0], kind)
            return replace(value, fresh=value.fresh and given[0].fresh)
        raise Refused(f"{kind} made of {len(given)} arguments")

    def _constructed_like_a_function(self, declarator: Node, kind: Kind) -> None:
        """``std::vector<T> v(n, x);`` may declare a function, by the syntax alone."""
        expressions = self.expressions
        name = expressions.tree.text(_field(declarator, "declarator"))
        words = [expressions.tree.text(one) for one in parameter_nodes(declarator)]
        given = [expressions.names.find(word) for word in words]
        if not words or any(one is None for one in given):
            raise expressions.refused(declarator, f"`{expressions.short(declarator)}`")
        value = self._of_arguments(kind, [one for one in given if one is not None])
        value = self._taken(value)
        self.write(f"{expressions.names.declare(name, kind, low=value.low).text} = {value.text}")

    def _bound(self, target: Node, value: Value) -> None:
        expressions = self.expressions
        names = [expressions.tree.text(one) for one in target.named_children]
        if value.kind.name != "tuple" or len(value.kind.inner) != len(names):
            raise expressions.refused(target, f"{len(names)} names for {value.kind}")
        made = [
            expressions.names.declare(name, kind).text for name, kind in zip(names, value.kind.inner, strict=True)
        ]
        self.write(f"{', '.join(made)} = {value.text}")

    def _lambda(self, name: str, node: Node) -> Value:
        """A function inside of the function."""
        expressions = self.expressions
        names = expressions.names
        body = _field(node, "body")
        written = assigned(body, expressions)
        own = {expressions.tree.text(one) for one in every(body, "identifier") if _declares(one)}
        if any(names.find(one) is not None for one in written - own):
            raise expressions.refused(node, "a lambda that changes variables around it")
        declarator = node.child_by_field_name("declarator")
        names.blocks.append({})
        made, kinds = [], []
        for one in parameter_nodes(declarator) if declarator is not None else []:
            kind = expressions.kind_of(_field(one, "type"))
            inner = one.child_by_field_name("declarator")
            while inner is not None and inner.type == "reference_declarator":
                inner = inner.named_children[-1]
            if inner is None or kind is UNKNOWN:
                raise expressions.refused(one, f"a parameter of type `{expressions.tree.text(one)}`")
            made.append(names.declare(expressions.tree.text(inner), kind).text)
            kinds.append(kind)
        python = names.declare(name, NOTHING).text
        self.write(f"def {python}({', '.join(made)}):")
        inner_body = replace(self, result=UNKNOWN, depth=self.depth + 1)
        inner_body.block(body)
        names.blocks.pop()
        self.write("")
        self.lines[-1] = ""
        function = Kind("function", (*kinds, inner_body.result))
        variable = Value(python, function, name=python)
        names.blocks[-1][name] = variable
        return variable


def assigned(node: Node, expressions: Expressions) -> set[str]:
    """The variables that are assigned to below a node."""
    found = set()
    for one in every(node, "assignment_expression", "update_expression"):
        left = one.child_by_field_name("left") or one.child_by_field_name("argument")
        if left is not None and left.type == "identifier":
            found.add(expressions.tree.text(left))
    return found


_CHANGING = frozenset({"push_back", "emplace_back", "insert", "erase", "pop_back", "clear", "resize", "set"})


def expressions_changed(node: Node, expressions: Expressions) -> set[str]:
    """The lists of which an element is written, or that grow or shrink, below a node."""
    found = set()
    for one in every(node, "assignment_expression", "update_expression"):
        left = one.child_by_field_name("left") or one.child_by_field_name("argument")
        if left is not None and left.type == "subscript_expression":
            found.add(expressions.tree.text(_field(left, "argument")))
    for one in every(node, "call_expression"):
        function = _field(one, "function")
        if function.type == "field_expression" and expressions.tree.text(_field(function, "field")) in _CHANGING:
            found.add(expressions.tree.text(_field(function, "argument")))
        if expressions.tree.text(function) in ("std::iota", "std::sort", "std::reverse", "std::fill", "std::swap"):
            found |= {expressions.tree.text(one) for one in every(_field(one, "arguments"), "identifier")}
    return found


def _declares(node: Node) -> bool:
    return node.parent is not None and node.parent.type in ("init_declarator", "declaration", "reference_declarator")


def _raises(node: Node, expressions: Expressions) -> bool:
    return expressions.tree.text(node).startswith(("TORCH_CHECK(false", "TORCH_CHECK(\n", "C10_THROW_ERROR"))


def _lower(lows: Iterator[int | None] | Sequence[int | None]) -> int | None:
    found = list(lows)  # type: ignore[arg-type]
    known = [low for low in found if low is not None]
    return min(known) if len(known) == len(found) and known else None


def _field(node: Node, name: str) -> Node:
    found = node.child_by_field_name(name)
    if found is None:
        raise Refused(f"a {node.type.replace('_', ' ')} without its {name}", node.start_point[0] + 1)
    return found


_ = (FLOAT, list_of, negated, read_kind)

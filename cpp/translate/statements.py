"""Translation of C++ statements to lines of Python."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from .conversions import converted
from .kinds import BRACES, UNKNOWN
from .lines import INDENT, lower
from .loops import Loops
from .values import Level, Untranslatable
from .write_sets import child_field, leaves

if TYPE_CHECKING:
    from tree_sitter import Node

_COMMENT_WIDTH = 80
_OTHER_BUILDS = ("C10_MOBILE", "FBCODE_CAFFE2")


class Body(Loops):
    """Writer of the statements of one function."""

    def block(self, node: Node) -> None:
        """Write the statements of a block, or a single statement."""
        if node.type != "compound_statement":
            self.statement(node)
            return
        depth = self.depth
        for child in node.named_children:
            self.statement(child)
            if self.lines and self.lines[-1].startswith(
                (INDENT * self.depth + "return", INDENT * self.depth + "raise")
            ):
                break
        self.depth = depth

    def statement(self, node: Node) -> None:
        """Write one statement. Raise Untranslatable."""
        expressions = self.expressions
        method = getattr(self, f"_{node.type}", None)
        if method is None:
            raise expressions.refused(
                node, f"the statement `{expressions.short(node)}` ({node.type.replace('_', ' ')})"
            )
        try:
            method(node)
        except Untranslatable as refusal:
            refusal.line = refusal.line or node.start_point[0] + 1
            raise

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
        self.expressions.last = given[0].id
        value = self.expressions.write(given[0])
        if self.result is UNKNOWN:
            if value.kind is BRACES:
                raise Untranslatable("braces returned where the type is not said")
            self.result = value.kind
        self.write(f"return {converted(value, self.result).text}")

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
        facts = self.facts()
        after = []
        with self.indented():
            self.block(child_field(node, "consequence"))
            after.append(self.facts())
        otherwise = node.child_by_field_name("alternative")
        self.restore(facts)
        if otherwise is not None:
            (inner,) = [child for child in otherwise.named_children if child.type != "comment"][-1:]
            if inner.type == "if_statement":
                self._if_statement(inner, "elif")
            else:
                self.write("else:")
                with self.indented():
                    self.block(inner)
        after.append(self.facts())
        self.restore({name: lower(one.get(name) for one in after) for name in facts})

    def _decided(self, node: Node, truth: bool, word: str) -> None:
        """Write the taken branch of an ``if`` with a known condition. The other one is omitted."""
        otherwise = node.child_by_field_name("alternative")
        branch = child_field(node, "consequence") if truth else None
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

    def _switch_statement(self, node: Node) -> None:
        expressions = self.expressions
        asked = expressions.write(child_field(child_field(node, "condition"), "value"))
        waiting: list[str] = []
        word = "if"
        cases = [child for child in child_field(node, "body").named_children if child.type != "comment"]
        for case in cases:
            value = case.child_by_field_name("value")
            inside = [child for child in case.named_children if child != value and child.type != "comment"]
            if value is not None:
                waiting.append(expressions.write(value).text)
                if not inside:
                    continue
            flat = [
                one
                for child in inside
                for one in (child.named_children if child.type == "compound_statement" else [child])
            ]
            last = flat[-1] if flat else None
            ends = last is None or leaves(last)
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

    def _preproc_if(self, node: Node) -> None:
        self._conditional(node, self.expressions.tree.text(child_field(node, "condition")))

    def _preproc_ifdef(self, node: Node) -> None:
        if not self.expressions.tree.text(node).startswith("#ifdef"):
            raise self.expressions.refused(node, "a branch of the preprocessor")
        self._conditional(node, self.expressions.tree.text(child_field(node, "name")))

    def _conditional(self, node: Node, condition: str) -> None:
        """Write the preprocessor branch for this build. The branch of another build is omitted."""
        if "||" in condition or "!" in condition or not any(word in condition for word in _OTHER_BUILDS):
            raise self.expressions.refused(node, f"`#if {condition}`")
        otherwise = node.child_by_field_name("alternative")
        for child in otherwise.named_children if otherwise is not None else []:
            self.statement(child)

"""Translation of C++ expressions to Python. Unsupported ones are refused by name."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ..syntax.tree import Tree, arguments
from .conversions import common, converted, empty, truth
from .kinds import (
    BOOL,
    BRACES,
    DTYPE,
    FLOAT,
    INT,
    NAMES,
    NULL,
    SCALAR,
    TENSOR,
    TENSOR_ARGUMENT,
    TEXT,
    UNKNOWN,
    CppKind,
    read_kind,
)
from .library_map import constant, library, plain
from .members import low_of, member
from .names import VariableScopes
from .operations import arithmetic, compared, made
from .operators import Schemas
from .values import Level, PythonExpression, Untranslatable, call, negated, quoted
from .write_sets import child_field

if TYPE_CHECKING:
    from tree_sitter import Node

_ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^"})
_COMPARED = frozenset({"==", "!=", "<", "<=", ">", ">="})
_NUMBERS = (INT, FLOAT, BOOL)
_CASTS = frozenset({"static_cast", "const_cast"})

Helper = Callable[[str, Sequence[PythonExpression], bool], "PythonExpression | None"]
"""Writer of a call by name and arguments. The flag is True if the caller returns the result directly."""


@dataclass
class Expressions:
    """Writer of the expressions of one function. ``helper`` writes a call of a function that the tree defines."""

    tree: Tree
    schemas: Schemas
    names: VariableScopes
    helper: Helper
    aliases: dict[str, str] = field(default_factory=dict)
    last: int = -1
    """Id of the call node that is the whole value of a ``return``."""

    def write(self, node: Node) -> PythonExpression:
        """Return the expression in Python. Raise Untranslatable."""
        method = getattr(self, f"_{node.type}", None)
        if method is None or node.has_error:
            raise self.refused(node, f"`{self.short(node)}` ({node.type.replace('_', ' ')})")
        try:
            written: PythonExpression = method(node)
        except Untranslatable as refusal:
            if not refusal.line:
                refusal.line = node.start_point[0] + 1
            raise
        return written

    def refused(self, node: Node, what: str) -> Untranslatable:
        """Return a refusal at a node."""
        return Untranslatable(what, node.start_point[0] + 1)

    def short(self, node: Node) -> str:
        """Return the start of the text of a node, for a message."""
        text = " ".join(self.tree.text(node).split())
        return text if len(text) <= 50 else text[:50] + "…"

    def condition(self, node: Node) -> PythonExpression:
        """Return an expression as a condition."""
        return truth(self.write(node))

    # One method for each type of syntax node.

    def _identifier(self, node: Node) -> PythonExpression:
        name = self.tree.text(node)
        known = self.names.find(name)
        if known is not None:
            return known
        found = constant(name) or self.helper(name, (), False)
        if found is None:
            raise self.refused(node, f"what `{name}` is")
        return found

    def _qualified_identifier(self, node: Node) -> PythonExpression:
        found = constant(self.tree.text(node))
        if found is None:
            raise self.refused(node, f"what `{self.tree.text(node)}` is")
        return found

    def _number_literal(self, node: Node) -> PythonExpression:
        text = self.tree.text(node).lower().replace("'", "")
        if text.startswith("0x"):
            return PythonExpression(text.rstrip("ul"), INT, low=0)
        if any(letter in text for letter in ".e") or text.endswith("f"):
            number = text.rstrip("fl")
            number = number + "0" if number.endswith(".") else number
            return PythonExpression("0" + number if number.startswith(".") else number, FLOAT)
        digits = text.rstrip("ul")
        return PythonExpression(digits, INT, low=int(digits))

    def _true(self, node: Node) -> PythonExpression:
        return PythonExpression("True", BOOL)

    def _false(self, node: Node) -> PythonExpression:
        return PythonExpression("False", BOOL)

    def _null(self, node: Node) -> PythonExpression:
        return PythonExpression("None", NULL)

    def _string_literal(self, node: Node) -> PythonExpression:
        return PythonExpression(quoted(self.text_of(node)), TEXT)

    def _concatenated_string(self, node: Node) -> PythonExpression:
        return PythonExpression(quoted(self.text_of(node)), TEXT)

    def text_of(self, node: Node) -> str:
        """Return the text of a string literal, or of several adjacent ones. Raise Untranslatable."""
        if node.type == "concatenated_string":
            return "".join(self.text_of(part) for part in node.named_children if part.type != "comment")
        if node.type != "string_literal":
            raise self.refused(node, f"the text `{self.short(node)}`")
        text: str = ast.literal_eval(self.tree.text(node))
        return text

    def _parenthesized_expression(self, node: Node) -> PythonExpression:
        (inner,) = (child for child in node.named_children if child.type != "comment")
        return self.write(inner)

    def _conditional_expression(self, node: Node) -> PythonExpression:
        condition = self.condition(child_field(node, "condition"))
        if condition.text in ("True", "False"):
            return self.write(child_field(node, "consequence" if condition.text == "True" else "alternative"))
        first, second = self.write(child_field(node, "consequence")), self.write(child_field(node, "alternative"))
        kind = common(first, second)
        first, second = converted(first, kind), converted(second, kind)
        lows = [one.low for one in (first, second) if one.low is not None]
        text = f"{first.inside(Level.OR)} if {condition.inside(Level.OR)} else {second.inside(Level.TERNARY)}"
        low = min(lows) if len(lows) == 2 else None
        return PythonExpression(text, kind, Level.TERNARY, low=low, fresh=first.fresh and second.fresh)

    def _unary_expression(self, node: Node) -> PythonExpression:
        sign = (node.children[0].text or b"").decode()
        value = self.write(child_field(node, "argument"))
        if sign == "!":
            if value.kind is TENSOR:
                return call(f"aten.logical_not({value.text})", TENSOR)
            return negated(truth(value))
        if sign in ("-", "+") and value.kind in (INT, FLOAT, TENSOR, SCALAR):
            return (
                PythonExpression(f"{sign}{value.inside(Level.SIGN)}", value.kind, Level.SIGN, fresh=True)
                if sign == "-"
                else value
            )
        if sign == "~" and value.kind in (TENSOR, INT):
            return PythonExpression(f"~{value.inside(Level.SIGN)}", value.kind, Level.SIGN, fresh=True)
        raise self.refused(node, f"`{self.short(node)}`")

    def _pointer_expression(self, node: Node) -> PythonExpression:
        value = self.write(child_field(node, "argument"))
        if not self.tree.text(node).startswith("*"):
            raise self.refused(node, f"the address `{self.short(node)}`")
        return self._dereferenced(value, node)

    def _dereferenced(self, value: PythonExpression, node: Node) -> PythonExpression:
        if value.kind.name == "optional":
            return replace(value, kind=value.kind.held)
        if value.kind is TENSOR:  # a MaybeOwned, or an optional that is undefined
            return value
        if value.kind is TENSOR_ARGUMENT:
            return converted(value, TENSOR)
        raise self.refused(node, f"`{self.short(node)}`, which is {value.kind}")

    def _binary_expression(self, node: Node) -> PythonExpression:
        sign = (child_field(node, "operator").text or b"").decode()
        if sign in ("&&", "||"):
            word, level = ("and", Level.AND) if sign == "&&" else ("or", Level.OR)
            first = self.condition(child_field(node, "left"))
            if first.text in ("True", "False"):
                return (
                    first if (first.text == "False") == (sign == "&&") else self.condition(child_field(node, "right"))
                )
            second = self.condition(child_field(node, "right"))
            if second.text in ("True", "False") and (second.text == "True") == (sign == "&&"):
                return first
            return PythonExpression(f"{first.inside(level)} {word} {second.inside(Level(level + 1))}", BOOL, level)
        left, right = (
            self._divided(node, sign) or self.write(child_field(node, "left")),
            self.write(child_field(node, "right")),
        )
        if sign in _COMPARED:
            return compared(sign, left, right)
        if sign in _ARITHMETIC:
            return arithmetic(sign, left, right)
        raise self.refused(node, f"`{self.short(node)}`")

    def _divided(self, node: Node, sign: str) -> PythonExpression | None:
        """Return the remainder on the left of a comparison with 0, or None.

        Both languages agree on whether it is 0.
        """
        left = child_field(node, "left")
        if (
            sign not in ("==", "!=")
            or left.type != "binary_expression"
            or self.tree.text(child_field(node, "right")) != "0"
        ):
            return None
        if self.tree.text(child_field(left, "operator")) != "%":
            return None
        first, second = self.write(child_field(left, "left")), self.write(child_field(left, "right"))
        if first.kind is not INT or second.kind is not INT:
            return None
        return PythonExpression(f"{first.inside(Level.PRODUCT)} % {second.inside(Level.SIGN)}", INT, Level.PRODUCT)

    def _subscript_expression(self, node: Node) -> PythonExpression:
        holder = self.write(child_field(node, "argument"))
        (index,) = (self.write(one) for one in child_field(node, "indices").named_children)
        if holder.kind.name == "optional":
            raise self.refused(node, f"`{self.short(node)}` of an optional")
        if holder.kind.name == "list" and index.kind is INT:
            return PythonExpression(f"{holder.atom}[{index.text}]", holder.kind.held, low=low_of(holder))
        if holder.kind is TENSOR and index.kind in (INT, TENSOR):
            return PythonExpression(f"{holder.atom}[{index.text}]", TENSOR, fresh=True)
        raise self.refused(node, f"`{self.short(node)}`, of {holder.kind}")

    def _initializer_list(self, node: Node) -> PythonExpression:
        parts = tuple(self.write(one) for one in arguments(node))
        return PythonExpression(
            f"[{', '.join(part.inside(Level.TERNARY) for part in parts)}]", BRACES, fresh=True, parts=parts
        )

    def _compound_literal_expression(self, node: Node) -> PythonExpression:
        kind = self.kind_of(child_field(node, "type"))
        return converted(self.write(child_field(node, "value")), kind)

    def kind_of(self, node: Node) -> CppKind:
        """Return the kind that a type names here."""
        return self.read(self.tree.text(node))

    def read(self, text: str) -> CppKind:
        """Return the kind that a type text names here, with the function's own type aliases."""
        for name, meaning in self.aliases.items():
            text = re.sub(rf"\b{name}\b", meaning, text)
        return read_kind(text)

    def _cast_expression(self, node: Node) -> PythonExpression:
        return self._cast(self.write(child_field(node, "value")), self.tree.text(child_field(node, "type")))

    def _cast(self, value: PythonExpression, type_text: str) -> PythonExpression:
        kind = self.read(type_text)
        if kind is UNKNOWN:
            raise Untranslatable(f"a cast to `{type_text}`")
        return converted(value, kind)

    def _field_expression(self, node: Node) -> PythonExpression:
        raise self.refused(node, f"the field `{self.short(node)}`")

    def _call_expression(self, node: Node) -> PythonExpression:
        function = child_field(node, "function")
        if function.type == "field_expression":
            return self._method(node, function)
        if function.type == "lambda_expression":
            raise self.refused(node, "a lambda that is called inside of an expression")
        if function.type == "template_function" or function.type == "primitive_type":
            return self._template_call(node, function)
        name = self.tree.text(function)
        given = [self.write(one) for one in arguments(node)]
        template = self._qualified_template(name)
        if template is not None and library(name) is None:
            return self.templated(*template, given, node)
        local = self.names.find(name)
        if local is not None:
            return self._lambda_call(local, given)
        return self.called(name, given, node)

    def _lambda_call(self, local: PythonExpression, given: Sequence[PythonExpression]) -> PythonExpression:
        if local.kind.name != "function":
            raise Untranslatable(f"`{local.text}` is called, which is {local.kind}")
        *asked, result = local.kind.inner
        words = [converted(one, kind).inside(Level.TERNARY) for one, kind in zip(given, asked, strict=True)]
        return call(f"{local.text}({', '.join(words)})", result)

    def called(self, name: str, given: Sequence[PythonExpression], node: Node) -> PythonExpression:
        """Return a call of a function by its qualified name."""
        kind = read_kind(name)
        if kind is not UNKNOWN and kind.name not in ("TensorArg",):
            return self._constructed(kind, given)
        bare = plain(name)
        operator = name.startswith(("at::", "torch::")) and "::" not in bare and self.schemas.api.functions(bare)
        written = None if operator else library(name)
        if written is not None:
            return written(given)
        if bare.startswith("namedinference::") and "outnames" in bare:
            return PythonExpression("None", NAMES)
        native = "native::" in name
        if operator and not native:
            return self.schemas.function(bare, given)
        found = self.helper(name, given, node.id == self.last)
        if found is not None:
            return found
        if self.schemas.api.functions(bare) and "::" not in bare and not native:
            return self.schemas.function(bare, given)
        raise self.refused(
            node, f"the function `{name}`, which is neither an operator nor defined where it can be read"
        )

    def _constructed(self, kind: CppKind, given: Sequence[PythonExpression]) -> PythonExpression:
        if not given:
            return empty(kind)
        return made(kind, given)

    def _template_call(self, node: Node, function: Node) -> PythonExpression:
        given = [self.write(one) for one in arguments(node)]
        if function.type == "primitive_type":
            return self._cast(given[0], self.tree.text(function))
        name = self.tree.text(child_field(function, "name"))
        inner = self.tree.text(child_field(function, "arguments"))[1:-1]
        return self.templated(name, inner, given, node)

    def templated(self, name: str, inner: str, given: Sequence[PythonExpression], node: Node) -> PythonExpression:
        """Return a call of a template with explicit template arguments."""
        if name in _CASTS and len(given) == 1:
            return self._cast(given[0], inner)
        if name == "get" and len(given) == 1 and given[0].kind.name == "tuple" and inner.isdigit():
            return call(f"{given[0].atom}[{inner}]", given[0].kind.inner[int(inner)], fresh=False)
        kind = self.read(f"{name}<{inner}>")
        if kind is not UNKNOWN:
            return self._constructed(kind, given)
        if name in ("max", "min"):
            written = library(f"std::{name}")
            assert written is not None
            return written([converted(one, self.read(inner)) for one in given])
        raise self.refused(node, f"the template `{name}<{inner}>`")

    def _qualified_template(self, text: str) -> tuple[str, str] | None:
        name, bracket, rest = text.partition("<")
        return (plain(name.strip()), rest.rstrip()[:-1]) if bracket and rest.rstrip().endswith(">") else None

    def _method(self, node: Node, function: Node) -> PythonExpression:
        holder = self.write(child_field(function, "argument"))
        named = child_field(function, "field")
        arrow = any(child.type == "->" for child in function.children)
        if arrow:
            holder = self._dereferenced(holder, function)
        given = [self.write(one) for one in arguments(node)]
        if named.type == "template_method":
            return self._template_method(holder, named, given, node)
        return self.method(holder, self.tree.text(named), given, node)

    def _template_method(
        self, holder: PythonExpression, named: Node, given: Sequence[PythonExpression], node: Node
    ) -> PythonExpression:
        name = self.tree.text(child_field(named, "name"))
        kind = self.read(self.tree.text(child_field(named, "arguments"))[1:-1])
        if name == "item" and holder.kind is TENSOR and kind in _NUMBERS and not given:
            return call(f"{holder.atom}.item()", kind)
        if name == "to" and holder.kind is SCALAR and kind in (INT, FLOAT) and not given:
            return converted(call(f"sym_{'int' if kind is INT else 'float'}({holder.text})", kind), kind)
        raise self.refused(node, f"`{self.short(node)}`")

    def method(
        self, holder: PythonExpression, name: str, given: Sequence[PythonExpression], node: Node
    ) -> PythonExpression:
        """Return a call of a member. Raise Untranslatable."""
        found = member(holder, name, given)
        if found is not None:
            return found
        if holder.kind is TENSOR_ARGUMENT:
            holder = converted(holder, TENSOR)
        if holder.kind is TENSOR:
            if name == "to" and len(given) == 1 and given[0].kind is DTYPE:
                return call(f"{holder.atom}.to({given[0].text})", TENSOR)
            written = self.schemas.method(holder, name, given)
            if written is not None:
                return written
        raise self.refused(node, f"`.{name}(…)` of {holder.kind}")

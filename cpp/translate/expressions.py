"""Expressions of C++ as expressions of Python; what is not covered is refused by name."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ..syntax.tree import Tree, arguments
from .kinds import (
    BOOL,
    BRACES,
    DTYPE,
    FLOAT,
    INT,
    NAMES,
    NOTHING,
    NULL,
    SCALAR,
    TENSOR,
    TENSOR_ARGUMENT,
    TEXT,
    UNKNOWN,
    Kind,
    iterator_over,
    list_of,
    optional,
    read_kind,
)
from .members import low_of, member, options, same_lists
from .operators import Schemas
from .values import Level, Refused, Value, call, negated
from .vocabulary import constant, library, plain

if TYPE_CHECKING:
    from tree_sitter import Node

_ARITHMETIC = {
    "+": Level.SUM, "-": Level.SUM, "*": Level.PRODUCT, "/": Level.PRODUCT, "%": Level.PRODUCT,
    "<<": Level.SHIFT, ">>": Level.SHIFT, "&": Level.BIT_AND, "|": Level.BIT_OR, "^": Level.BIT_XOR,
}  # fmt: skip
_COMPARED = frozenset({"==", "!=", "<", "<=", ">", ">="})
_NUMBERS = (INT, FLOAT, BOOL)
_CASTS = frozenset({"static_cast", "const_cast"})

Helper = Callable[[str, Sequence[Value]], "Value | None"]


@dataclass
class Names:
    """The variables in sight, the innermost block last."""

    blocks: list[dict[str, Value]] = field(default_factory=lambda: [{}])
    used: set[str] = field(default_factory=set)

    def find(self, name: str) -> Value | None:
        """What a name stands for here."""
        return next((block[name] for block in reversed(self.blocks) if name in block), None)

    def declare(self, name: str, kind: Kind, low: int | None = None, wanted: str = "") -> Value:
        """A new variable under a Python name that nothing else has."""
        python = wanted or name
        while python in self.used or python in _TAKEN:
            python += "_"
        self.used.add(python)
        self.blocks[-1][name] = Value(python, kind, low=low, name=python)
        return self.blocks[-1][name]

    def change(self, name: str, value: Value) -> None:
        """Say something else of a variable that is in sight."""
        for block in reversed(self.blocks):
            if name in block:
                block[name] = value
                return


_TAKEN = frozenset(
    "and as assert break class continue def del elif else except finally for from global if import in is lambda nonlocal "
    "not or pass raise return try while with yield None True False aten utils torch math list tuple len range abs int "
    "float bool str sum isinstance type enumerate reversed Tensor sym_float sym_int".split()
)


@dataclass
class Expressions:
    """Writes the expressions of one function; ``helper`` writes a call of a function that the tree defines."""

    tree: Tree
    schemas: Schemas
    names: Names
    helper: Helper
    aliases: dict[str, str] = field(default_factory=dict)

    def write(self, node: Node) -> Value:
        """The expression in Python. Raises Refused."""
        method = getattr(self, f"_{node.type}", None)
        if method is None or node.has_error:
            raise self.refused(node, f"`{self.short(node)}` ({node.type.replace('_', ' ')})")
        try:
            written: Value = method(node)
        except Refused as refusal:
            if not refusal.line:
                refusal.line = node.start_point[0] + 1
            raise
        return written

    def refused(self, node: Node, what: str) -> Refused:
        """A refusal at a node."""
        return Refused(what, node.start_point[0] + 1)

    def short(self, node: Node) -> str:
        """The start of the text of a node, for a message."""
        text = " ".join(self.tree.text(node).split())
        return text if len(text) <= 50 else text[:50] + "…"

    def condition(self, node: Node) -> Value:
        """An expression that is asked for its truth."""
        return self.truth(self.write(node))

    def truth(self, value: Value) -> Value:
        """A value as a condition: of an optional whether there is something in it."""
        if value.kind.name == "optional":
            return Value(f"{value.inside(Level.BIT_OR)} is not None", BOOL, Level.COMPARISON)
        if value.kind not in _NUMBERS:
            raise Refused(f"the truth of `{value.text}`, of kind {value.kind}")
        return value if value.kind is BOOL else Value(f"{value.inside(Level.BIT_OR)} != 0", BOOL, Level.COMPARISON)

    def converted(self, value: Value, kind: Kind) -> Value:
        """A value where C++ asks for a kind. Raises Refused."""
        if kind is UNKNOWN or value.kind == kind:
            return value
        if value.kind is BRACES and value.parts is not None:
            return self._braces_as(value, kind)
        if kind.name == "optional":
            if value.kind is NULL:
                return replace(value, kind=kind)
            return replace(self.converted(value, value.kind if value.kind.name == "optional" else kind.held), kind=kind)
        if value.kind is NULL and kind is TENSOR:
            return replace(value, kind=TENSOR)
        if value.kind.name == "optional" and value.kind.held == kind:
            raise Refused(f"an optional where {kind} is asked: `{value.text}`")
        if kind.name == "list" and value.kind.name == "list" and kind.held == value.kind.held:
            return replace(value, kind=kind)
        if kind.name == "list" and not kind.owned and value.kind == kind.held:
            return Value(f"[{value.text}]", kind, fresh=True, low=value.low)
        if kind is SCALAR and value.kind in _NUMBERS:
            return replace(value, kind=SCALAR)
        if kind is INT and value.kind is BOOL:
            return call(f"int({value.text})", INT, low=0)
        if kind is FLOAT and value.kind in (INT, BOOL):
            literal = value.text.lstrip("-").isdigit()
            return replace(value, text=f"{value.text}.0", kind=FLOAT) if literal else call(f"sym_float({value.text})", FLOAT)
        if kind is INT and value.kind is FLOAT:
            return call(f"sym_int({value.text})", INT)
        if kind is BOOL and value.kind in _NUMBERS:
            return self.truth(value)
        if kind.name == "tuple" and value.kind.name == "tuple" and value.parts is not None:
            return replace(value, kind=kind)
        if kind.name == "tuple" and value.kind.name == "tuple" and len(kind.inner) == len(value.kind.inner):
            return replace(value, kind=kind)
        if kind is TENSOR and value.kind is TENSOR_ARGUMENT:
            return value.parts[0] if value.parts else Value(f"{value.atom}[0]", TENSOR)
        raise Refused(f"`{value.text}`, of kind {value.kind}, where {kind} is asked")

    def _braces_as(self, value: Value, kind: Kind) -> Value:
        parts = value.parts or ()
        if kind.name == "list":
            if len(parts) == 1 and parts[0].kind.name == "list" and kind.held.name != "list":
                # `SymDimVector sizes{x.sizes()}` copies.
                return Value(f"list({parts[0].text})", kind, fresh=True, low=low_of(parts[0]))
            words = ", ".join(self.converted(part, kind.held).inside(Level.TERNARY) for part in parts)
            return Value(f"[{words}]", kind, fresh=True)
        if not parts and kind.name in ("optional", "Tensor"):
            return Value("None", kind)
        if kind.name == "tuple" and len(parts) == len(kind.inner):
            words = ", ".join(
                self.converted(part, inner).inside(Level.TERNARY) for part, inner in zip(parts, kind.inner, strict=True)
            )
            return Value(f"({words})", kind, fresh=True, parts=parts)
        if not parts and kind.name == "TensorOptions":
            return options(())
        if len(parts) == 1:
            return self.converted(parts[0], kind)
        raise Refused(f"braces where {kind} is asked")

    # What a node of the syntax tree is written as, by its type.

    def _identifier(self, node: Node) -> Value:
        name = self.tree.text(node)
        known = self.names.find(name)
        if known is not None:
            return known
        found = constant(name) or self.helper(name, ())
        if found is None:
            raise self.refused(node, f"what `{name}` is")
        return found

    def _qualified_identifier(self, node: Node) -> Value:
        found = constant(self.tree.text(node))
        if found is None:
            raise self.refused(node, f"what `{self.tree.text(node)}` is")
        return found

    def _number_literal(self, node: Node) -> Value:
        text = self.tree.text(node).lower().replace("'", "")
        if text.startswith("0x"):
            return Value(text.rstrip("ul"), INT, low=0)
        if any(letter in text for letter in ".e") or text.endswith("f"):
            number = text.rstrip("fl")
            number = number + "0" if number.endswith(".") else number
            return Value("0" + number if number.startswith(".") else number, FLOAT)
        digits = text.rstrip("ul")
        return Value(digits, INT, low=int(digits))

    def _true(self, node: Node) -> Value:
        return Value("True", BOOL)

    def _false(self, node: Node) -> Value:
        return Value("False", BOOL)

    def _null(self, node: Node) -> Value:
        return Value("None", NULL)

    def _string_literal(self, node: Node) -> Value:
        return Value(quoted(self.text_of(node)), TEXT)

    def _concatenated_string(self, node: Node) -> Value:
        return Value(quoted(self.text_of(node)), TEXT)

    def text_of(self, node: Node) -> str:
        """What a string literal, or several behind each other, say. Raises Refused."""
        if node.type == "concatenated_string":
            return "".join(self.text_of(part) for part in node.named_children if part.type != "comment")
        if node.type != "string_literal":
            raise self.refused(node, f"the text `{self.short(node)}`")
        text: str = ast.literal_eval(self.tree.text(node))
        return text

    def _parenthesized_expression(self, node: Node) -> Value:
        (inner,) = (child for child in node.named_children if child.type != "comment")
        return self.write(inner)

    def _conditional_expression(self, node: Node) -> Value:
        condition = self.condition(_field(node, "condition"))
        if condition.text in ("True", "False"):
            return self.write(_field(node, "consequence" if condition.text == "True" else "alternative"))
        first, second = self.write(_field(node, "consequence")), self.write(_field(node, "alternative"))
        kind = self._common(first, second)
        first, second = self.converted(first, kind), self.converted(second, kind)
        lows = [one.low for one in (first, second) if one.low is not None]
        text = f"{first.inside(Level.OR)} if {condition.inside(Level.OR)} else {second.inside(Level.TERNARY)}"
        low = min(lows) if len(lows) == 2 else None
        return Value(text, kind, Level.TERNARY, low=low, fresh=first.fresh and second.fresh)

    def _common(self, first: Value, second: Value) -> Kind:
        if first.kind == second.kind:
            return first.kind
        for one, other in ((first, second), (second, first)):
            if one.kind is NULL:
                return optional(other.kind)
            if one.kind.name == "optional" and other.kind == one.kind.held:
                return one.kind
            if one.kind in _NUMBERS and other.kind in (FLOAT, SCALAR):
                return other.kind
            if one.kind is BOOL and other.kind is INT:
                return INT
            if one.kind.name == "list" and other.kind.name == "list" and one.kind.held == other.kind.held:
                return list_of(one.kind.held, owned=False)
        raise Refused(f"a choice between {first.kind} and {second.kind}")

    def _unary_expression(self, node: Node) -> Value:
        sign = (node.children[0].text or b"").decode()
        value = self.write(_field(node, "argument"))
        if sign == "!":
            if value.kind is TENSOR:
                return call(f"aten.logical_not({value.text})", TENSOR)
            return negated(self.truth(value))
        if sign in ("-", "+") and value.kind in (INT, FLOAT, TENSOR, SCALAR):
            return Value(f"{sign}{value.inside(Level.SIGN)}", value.kind, Level.SIGN, fresh=True) if sign == "-" else value
        if sign == "~" and value.kind in (TENSOR, INT):
            return Value(f"~{value.inside(Level.SIGN)}", value.kind, Level.SIGN, fresh=True)
        raise self.refused(node, f"`{self.short(node)}`")

    def _pointer_expression(self, node: Node) -> Value:
        value = self.write(_field(node, "argument"))
        if not self.tree.text(node).startswith("*"):
            raise self.refused(node, f"the address `{self.short(node)}`")
        return self._dereferenced(value, node)

    def _dereferenced(self, value: Value, node: Node) -> Value:
        if value.kind.name == "optional":
            return replace(value, kind=value.kind.held)
        if value.kind is TENSOR:  # a MaybeOwned, or an optional that is undefined
            return value
        if value.kind is TENSOR_ARGUMENT:
            return self.converted(value, TENSOR)
        raise self.refused(node, f"`{self.short(node)}`, which is {value.kind}")

    def _binary_expression(self, node: Node) -> Value:
        sign = (_field(node, "operator").text or b"").decode()
        if sign in ("&&", "||"):
            word, level = ("and", Level.AND) if sign == "&&" else ("or", Level.OR)
            first = self.condition(_field(node, "left"))
            if first.text in ("True", "False"):
                return first if (first.text == "False") == (sign == "&&") else self.condition(_field(node, "right"))
            second = self.condition(_field(node, "right"))
            if second.text in ("True", "False") and (second.text == "True") == (sign == "&&"):
                return first
            return Value(f"{first.inside(level)} {word} {second.inside(Level(level + 1))}", BOOL, level)
        left, right = self._divided(node, sign) or self.write(_field(node, "left")), self.write(_field(node, "right"))
        if sign in _COMPARED:
            return self._compared(sign, left, right)
        if sign in _ARITHMETIC:
            return self.arithmetic(sign, left, right)
        raise self.refused(node, f"`{self.short(node)}`")

    def _divided(self, node: Node, sign: str) -> Value | None:
        """The remainder on the left of a comparison with 0, which is 0 by the rules of both languages or of none."""
        left = _field(node, "left")
        if sign not in ("==", "!=") or left.type != "binary_expression" or self.tree.text(_field(node, "right")) != "0":
            return None
        if self.tree.text(_field(left, "operator")) != "%":
            return None
        first, second = self.write(_field(left, "left")), self.write(_field(left, "right"))
        if first.kind is not INT or second.kind is not INT:
            return None
        return Value(f"{first.inside(Level.PRODUCT)} % {second.inside(Level.SIGN)}", INT, Level.PRODUCT)

    def _compared(self, sign: str, left: Value, right: Value) -> Value:
        kinds = {left.kind, right.kind}
        if left.kind.name == "list" and right.kind.name == "list" and sign in ("==", "!="):
            same = same_lists(left, right)
            return same if sign == "==" else replace(same, text=same.text.replace(" == ", " != "))
        if TENSOR in kinds and kinds <= {TENSOR, SCALAR, *_NUMBERS}:
            return Value(f"{left.inside(Level.BIT_OR)} {sign} {right.inside(Level.BIT_OR)}", TENSOR, Level.COMPARISON)
        if NULL in kinds or any(kind.name == "optional" for kind in kinds) or UNKNOWN in kinds:
            raise Refused(f"`{left.text} {sign} {right.text}`, of {left.kind} and {right.kind}")
        if len(kinds) > 1 and not kinds <= {*_NUMBERS}:
            raise Refused(f"`{left.text} {sign} {right.text}`, of {left.kind} and {right.kind}")
        return Value(f"{left.inside(Level.BIT_OR)} {sign} {right.inside(Level.BIT_OR)}", BOOL, Level.COMPARISON)

    def arithmetic(self, sign: str, left: Value, right: Value) -> Value:
        """Two values with an operator of arithmetic between them. Raises Refused."""
        kinds = {left.kind, right.kind}
        level = _ARITHMETIC[sign]
        if "iterator" in (left.kind.name, right.kind.name):
            return self._moved(sign, left, right)
        if kinds == {TEXT} and sign == "+":
            return Value(f"{left.inside(level)} + {right.inside(Level(level + 1))}", TEXT, level)
        if TENSOR in kinds and kinds <= {TENSOR, SCALAR, *_NUMBERS}:
            return Value(f"{left.inside(level)} {sign} {right.inside(Level(level + 1))}", TENSOR, level, fresh=True)
        if not kinds <= {*_NUMBERS}:
            raise Refused(f"`{left.text} {sign} {right.text}`, of {left.kind} and {right.kind}")
        kind = FLOAT if FLOAT in kinds else INT
        if kind is INT and sign in ("/", "%") and (left.low is None or right.low is None or min(left.low, right.low) < 0):
            raise Refused(f"`{left.text} {sign} {right.text}`: C++ rounds to zero, Python down, if one may be negative")
        written = "//" if sign == "/" and kind is INT else sign
        low = _lower_bound(sign, left, right) if kind is INT else None
        return Value(f"{left.inside(level)} {written} {right.inside(Level(level + 1))}", kind, level, low=low)

    def _moved(self, sign: str, left: Value, right: Value) -> Value:
        if left.kind.name == "iterator" and right.kind is INT and sign in "+-":
            if left.text == "0" and sign == "+":
                return replace(right, kind=left.kind, name=left.name)
            text = f"{left.text} {sign} {right.inside(Level.PRODUCT)}"
            return Value(text, left.kind, Level.SUM, name=left.name)
        raise Refused(f"arithmetic of iterators: `{left.text} {sign} {right.text}`")

    def _subscript_expression(self, node: Node) -> Value:
        holder = self.write(_field(node, "argument"))
        (index,) = (self.write(one) for one in _field(node, "indices").named_children)
        if holder.kind.name == "optional":
            raise self.refused(node, f"`{self.short(node)}` of an optional")
        if holder.kind.name == "list" and index.kind is INT:
            return Value(f"{holder.atom}[{index.text}]", holder.kind.held, low=low_of(holder))
        if holder.kind is TENSOR and index.kind in (INT, TENSOR):
            return Value(f"{holder.atom}[{index.text}]", TENSOR, fresh=True)
        raise self.refused(node, f"`{self.short(node)}`, of {holder.kind}")

    def _initializer_list(self, node: Node) -> Value:
        parts = tuple(self.write(one) for one in arguments(node))
        return Value(f"[{', '.join(part.inside(Level.TERNARY) for part in parts)}]", BRACES, fresh=True, parts=parts)

    def _compound_literal_expression(self, node: Node) -> Value:
        kind = self.kind_of(_field(node, "type"))
        return self.converted(self.write(_field(node, "value")), kind)

    def kind_of(self, node: Node) -> Kind:
        """The kind that a type names here."""
        return self.read(self.tree.text(node))

    def read(self, text: str) -> Kind:
        """The kind that the text of a type names here, where the function may have names of its own for types."""
        for name, meaning in self.aliases.items():
            text = re.sub(rf"\b{name}\b", meaning, text)
        return read_kind(text)

    def _cast_expression(self, node: Node) -> Value:
        return self._cast(self.write(_field(node, "value")), self.tree.text(_field(node, "type")))

    def _cast(self, value: Value, type_text: str) -> Value:
        kind = self.read(type_text)
        if kind is UNKNOWN:
            raise Refused(f"a cast to `{type_text}`")
        return self.converted(value, kind)

    def _field_expression(self, node: Node) -> Value:
        raise self.refused(node, f"the field `{self.short(node)}`")

    def _call_expression(self, node: Node) -> Value:
        function = _field(node, "function")
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

    def _lambda_call(self, local: Value, given: Sequence[Value]) -> Value:
        if local.kind.name != "function":
            raise Refused(f"`{local.text}` is called, which is {local.kind}")
        *asked, result = local.kind.inner
        words = [self.converted(one, kind).inside(Level.TERNARY) for one, kind in zip(given, asked, strict=True)]
        return call(f"{local.text}({', '.join(words)})", result)

    def called(self, name: str, given: Sequence[Value], node: Node) -> Value:
        """A call of a function by its qualified name."""
        kind = read_kind(name)
        if kind is not UNKNOWN and kind.name not in ("TensorArg",):
            return self._constructed(kind, given)
        bare = plain(name)
        operator = name.startswith(("at::", "torch::")) and "::" not in bare and self.schemas.api.functions(bare)
        written = None if operator else library(name)
        if written is not None:
            return written(given)
        if bare.startswith("namedinference::") and "outnames" in bare:
            return Value("None", NAMES)
        native = "native::" in name
        if operator and not native:
            return self.schemas.function(bare, given)
        found = self.helper(name, given)
        if found is not None:
            return found
        if self.schemas.api.functions(bare) and "::" not in bare and not native:
            return self.schemas.function(bare, given)
        raise self.refused(node, f"the function `{name}`, which is neither an operator nor defined where it can be read")

    def _constructed(self, kind: Kind, given: Sequence[Value]) -> Value:
        if not given:
            return empty(kind)
        if kind.name == "list" and len(given) <= 2 and given[0].kind is INT and kind.owned:
            return filled(kind, given)
        if len(given) == 1:
            return self.converted(given[0], kind)
        raise Refused(f"{kind} made of {len(given)} arguments")

    def _template_call(self, node: Node, function: Node) -> Value:
        given = [self.write(one) for one in arguments(node)]
        if function.type == "primitive_type":
            return self._cast(given[0], self.tree.text(function))
        name = self.tree.text(_field(function, "name"))
        inner = self.tree.text(_field(function, "arguments"))[1:-1]
        return self.templated(name, inner, given, node)

    def templated(self, name: str, inner: str, given: Sequence[Value], node: Node) -> Value:
        """A call of a template with arguments in its brackets."""
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
            return written([self.converted(one, self.read(inner)) for one in given])
        raise self.refused(node, f"the template `{name}<{inner}>`")

    def _qualified_template(self, text: str) -> tuple[str, str] | None:
        name, bracket, rest = text.partition("<")
        return (plain(name.strip()), rest.rstrip()[:-1]) if bracket and rest.rstrip().endswith(">") else None

    def _method(self, node: Node, function: Node) -> Value:
        holder = self.write(_field(function, "argument"))
        named = _field(function, "field")
        arrow = any(child.type == "->" for child in function.children)
        if arrow:
            holder = self._dereferenced(holder, function)
        given = [self.write(one) for one in arguments(node)]
        if named.type == "template_method":
            return self._template_method(holder, named, given, node)
        return self.method(holder, self.tree.text(named), given, node)

    def _template_method(self, holder: Value, named: Node, given: Sequence[Value], node: Node) -> Value:
        name = self.tree.text(_field(named, "name"))
        kind = self.read(self.tree.text(_field(named, "arguments"))[1:-1])
        if name == "item" and holder.kind is TENSOR and kind in _NUMBERS and not given:
            return call(f"{holder.atom}.item()", kind)
        if name == "to" and holder.kind is SCALAR and kind in (INT, FLOAT) and not given:
            return self.converted(call(f"sym_{'int' if kind is INT else 'float'}({holder.text})", kind), kind)
        raise self.refused(node, f"`{self.short(node)}`")

    def method(self, holder: Value, name: str, given: Sequence[Value], node: Node) -> Value:
        """A call of a member. Raises Refused."""
        found = member(holder, name, given)
        if found is not None:
            return found
        if holder.kind is TENSOR_ARGUMENT:
            holder = self.converted(holder, TENSOR)
        if holder.kind is TENSOR:
            if name == "to" and len(given) == 1 and given[0].kind is DTYPE:
                return call(f"{holder.atom}.to({given[0].text})", TENSOR)
            written = self.schemas.method(holder, name, given)
            if written is not None:
                return written
        raise self.refused(node, f"`.{name}(…)` of {holder.kind}")


def _lower_bound(sign: str, left: Value, right: Value) -> int | None:
    if left.low is None:
        return None
    if sign == "-":
        return left.low - int(right.text) if right.text.isdigit() else None
    if right.low is None:
        return None
    if sign == "+":
        return left.low + right.low
    if min(left.low, right.low) < 0:
        return None
    return left.low * right.low if sign == "*" else 0


def empty(kind: Kind) -> Value:
    """What is made of nothing: an undefined Tensor, an empty list, a zero."""
    if kind.name == "list":
        return Value("[]", kind, fresh=True)
    if kind.name in ("Tensor", "optional"):
        return Value("None", kind)
    if kind in _NUMBERS:
        return Value({INT: "0", FLOAT: "0.0", BOOL: "False"}[kind], kind, low=0 if kind is INT else None)
    if kind.name == "TensorOptions":
        return options(())
    raise Refused(f"an empty {kind}")


def filled(kind: Kind, given: Sequence[Value]) -> Value:
    """A vector of so many elements, all the same."""
    element = given[1] if len(given) > 1 else empty(kind.held)
    low = element.low if kind.held is INT else None
    return Value(f"[{element.text}] * {given[0].inside(Level.SIGN)}", kind, Level.PRODUCT, fresh=True, low=low)


def quoted(text: str) -> str:
    """A string literal with double quotes."""
    return '"' + repr("'" + text)[2:-1].replace('"', '\\"').replace("\\'", "'") + '"'


def _field(node: Node, name: str) -> Node:
    found = node.child_by_field_name(name)
    if found is None:
        raise Refused(f"a {node.type.replace('_', ' ')} without its {name}", node.start_point[0] + 1)
    return found


_ = (iterator_over, NOTHING)

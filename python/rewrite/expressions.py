"""Construction of LibCST expressions: names, calls and comparisons, with the necessary parentheses.

LibCST never adds parentheses. They are needed where an operator binds more loosely than its position allows.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache

import libcst as cst

from .lines import Blank, code

NO_BLANK = cst.SimpleWhitespace("")
_IN_FULL: dict[type[cst.BaseAugOp], cst.BaseBinaryOp] = {
    cst.AddAssign: cst.Add(),
    cst.SubtractAssign: cst.Subtract(),
    cst.MultiplyAssign: cst.Multiply(),
}


class Binding(IntEnum):
    """Precedence of expressions, in the order of operators of the language reference."""

    LOOSE = 0
    """Precedence of an assignment expression, a ``yield`` or a tuple without parentheses."""
    CONDITIONAL = 1
    OR = 2
    AND = 3
    NOT = 4
    COMPARISON = 5
    BIT_OR = 6
    BIT_XOR = 7
    BIT_AND = 8
    SHIFT = 9
    SUM = 10
    PRODUCT = 11
    SIGN = 12
    POWER = 13
    AWAIT = 14
    ATOM = 15


_BY_OPERATOR: dict[str, Binding] = {
    "Or": Binding.OR,
    "And": Binding.AND,
    "Not": Binding.NOT,
    "BitOr": Binding.BIT_OR,
    "BitXor": Binding.BIT_XOR,
    "BitAnd": Binding.BIT_AND,
    "LeftShift": Binding.SHIFT,
    "LShift": Binding.SHIFT,
    "RightShift": Binding.SHIFT,
    "RShift": Binding.SHIFT,
    "Add": Binding.SUM,
    "Subtract": Binding.SUM,
    "Sub": Binding.SUM,
    "Power": Binding.POWER,
    "Pow": Binding.POWER,
    "Plus": Binding.SIGN,
    "Minus": Binding.SIGN,
    "BitInvert": Binding.SIGN,
    "UAdd": Binding.SIGN,
    "USub": Binding.SIGN,
    "Invert": Binding.SIGN,
}
"""Precedences of the operators of LibCST and ``ast``. All others have the precedence of a product."""


def binding(node: cst.BaseExpression) -> Binding:
    """Return the precedence of ``node``, including its parentheses."""
    if node.lpar:
        return Binding.ATOM
    if isinstance(node, (cst.NamedExpr, cst.Yield, cst.Tuple, cst.GeneratorExp)):
        return Binding.LOOSE
    if isinstance(node, (cst.IfExp, cst.Lambda)):
        return Binding.CONDITIONAL
    if isinstance(node, cst.Comparison):
        return Binding.COMPARISON
    if isinstance(node, (cst.Await, cst.Integer)):  # ``1.real`` is no attribute of 1
        return Binding.AWAIT
    if isinstance(node, (cst.BooleanOperation, cst.UnaryOperation, cst.BinaryOperation)):
        return _BY_OPERATOR.get(type(node.operator).__name__, Binding.PRODUCT)
    return Binding.ATOM


def grouped(node: cst.BaseExpression, needed: Binding) -> cst.BaseExpression:
    """Return ``node``, in parentheses if it binds more loosely than ``needed``."""
    if binding(node) >= needed:
        return node
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def needed_by(parent: ast.AST, node: ast.expr) -> Binding:
    """Return the precedence that a replacement of ``node`` needs, so that the structure of ``parent`` is unchanged."""
    if isinstance(parent, ast.BoolOp):
        return _BY_OPERATOR[type(parent.op).__name__]
    if isinstance(parent, ast.UnaryOp):
        return _BY_OPERATOR[type(parent.op).__name__]
    if isinstance(parent, ast.Compare):
        return Binding.BIT_OR
    if isinstance(parent, ast.BinOp):
        return _needed_by_operator(parent, node)
    if isinstance(parent, (ast.Attribute, ast.Await)) or getattr(parent, "func", None) is node:
        return Binding.ATOM
    if isinstance(parent, ast.Subscript):
        return Binding.ATOM if parent.value is node else Binding.CONDITIONAL
    if isinstance(parent, ast.IfExp):
        return Binding.CONDITIONAL if parent.orelse is node else Binding.OR
    if isinstance(parent, ast.comprehension):
        return Binding.OR
    if isinstance(parent, ast.Starred):
        return Binding.BIT_OR
    if isinstance(parent, ast.FormattedValue):
        return Binding.OR
    return Binding.CONDITIONAL


def _needed_by_operator(parent: ast.BinOp, node: ast.expr) -> Binding:
    own = _BY_OPERATOR.get(type(parent.op).__name__, Binding.PRODUCT)
    if own is Binding.POWER:
        # ``-a ** b`` is ``-(a ** b)``, and ``a ** -b`` needs no parentheses.
        return Binding.AWAIT if parent.left is node else Binding.SIGN
    return own if parent.left is node else Binding(own + 1)


def own_parentheses(node: cst.BaseExpression) -> int:
    """Return the number of parentheses that belong to the expression: those of a tuple or a generator."""
    return int(isinstance(node, (cst.Tuple, cst.GeneratorExp, cst.Yield, cst.NamedExpr)))


def ungrouped(node: cst.BaseExpression) -> cst.BaseExpression:
    """Return ``node`` without the parentheses that only group it and contain no comment."""
    own = own_parentheses(node)
    if len(node.lpar) <= own or any("#" in code(one) for one in (*node.lpar, *node.rpar)):
        return node
    return node.with_changes(lpar=node.lpar[len(node.lpar) - own :], rpar=node.rpar[:own])


@lru_cache(maxsize=64)
def name(dotted: str) -> cst.Name | cst.Attribute:
    """Return a name, or an attribute of one."""
    tree = cst.parse_expression(dotted)
    assert isinstance(tree, (cst.Name, cst.Attribute))
    return tree


def call(dotted: str, arguments: Sequence[cst.Arg], opening: Blank = NO_BLANK) -> cst.Call:
    """Return ``dotted(arguments)``, with parentheses around arguments that need them."""
    args = [one.with_changes(value=grouped(one.value, Binding.CONDITIONAL)) for one in arguments]
    return cst.Call(name(dotted), args, whitespace_before_args=opening)


def comparison(left: cst.BaseExpression, operator: cst.BaseCompOp, right: cst.BaseExpression) -> cst.Comparison:
    """Return ``left operator right``, each in parentheses only if needed."""
    return cst.Comparison(_side(left), [cst.ComparisonTarget(operator, _side(right))])


def _side(node: cst.BaseExpression) -> cst.BaseExpression:
    """Return one side of a comparison, in parentheses only if needed."""
    return grouped(ungrouped(node), Binding.BIT_OR)


def in_full(node: cst.AugAssign) -> cst.BinaryOperation:
    """Return ``n - 1`` for ``n -= 1``."""
    assert isinstance(node.target, cst.Name)
    operator = _IN_FULL[type(node.operator)]
    tighter = Binding.SIGN if isinstance(operator, cst.Multiply) else Binding.PRODUCT
    return cst.BinaryOperation(node.target, operator, grouped(node.value, tighter))

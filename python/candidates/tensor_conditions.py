"""The condition of a branch as a tensor of one truth, for operators that decide while a program runs."""

from __future__ import annotations

import ast
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

from ...codemods.model.rule import Context
from ...codemods.system.python_parser import parse_expression
from ..analysis.flow.flow import flow
from ..analysis.must.must_type_inference import surely
from ..analysis.must.pointwise import Cost, cost
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..analysis.types.may_types import Kind
from ..analysis.types.must_types import ScalarType, SequenceType
from ..rewrite.qualified_names import spelled_out
from ..syntax.module import Module

_SCALARS = ("builtins.bool", "builtins.int", "builtins.float")
_BINDING = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)
_TRUTHS = frozenset(
    """any all isnan isinf isfinite isclose eq ne lt le gt ge logical_and logical_or logical_not logical_xor bool
    signbit isin isposinf isneginf isreal""".split()  # noqa: SIM905
)
_TRACERS = frozenset({"is_compiling", "is_dynamo_compiling", "is_exporting", "is_scripting", "is_tracing"})
"""Functions of torch that return whether something traces."""
_ORDERS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_REDUCTIONS = frozenset("max min amax amin argmax argmin median item".split())  # noqa: SIM905


@dataclass(frozen=True)
class Asked:
    """A condition in two parts: what Python decides while it traces (empty for none), and the tensor's truth."""

    outside: str
    text: str
    needs: tuple[str, ...] = ()
    in_order: bool = True
    """Python asks the first part first in the code as it is, too."""
    conjunction: bool = True
    """The parts are joined by ``and``: the tensor decides where ``outside`` is true, else where it is false."""
    operands: int = 1
    """Number of operands whose truths are joined in ``text``."""

    @property
    def reached(self) -> str:
        """Return the condition, as Python decides it, under which the tensor decides; empty for always."""
        if not self.outside or self.conjunction:
            return self.outside
        return f"not {self.outside}" if self.outside.isidentifier() else f"not ({self.outside})"


def asked_of_tensor(module: Module, test: ast.expr, context: Context) -> Iterator[Asked]:
    """Yield the ways to ask a condition of a tensor; several where nothing says which operand is one.

    Raises CannotRewrite.
    """
    if isinstance(test, ast.BoolOp):
        conjunction = isinstance(test.op, ast.And)
        found = 0
        for choice in product(*(_guesses(module, one) for one in test.values)):
            plain = [one for one, python in zip(test.values, choice, strict=True) if python]
            tensors = [one for one, python in zip(test.values, choice, strict=True) if not python]
            if not tensors or any(may_raise(module, one) for one in tensors[1:]):
                continue
            word = " and " if conjunction else " or "
            outside = word.join(_grouped(module, one) for one in plain)
            in_order = [*choice] == sorted(choice, reverse=True)
            yield Asked(outside, *_joined(module, tensors, conjunction, context), in_order, conjunction, len(tensors))
            found += 1
        if not found:
            detail = f"at line {test.lineno} an operand of `{ast.unparse(test)}` is asked only where another allows it"
            raise CannotRewrite("condition-not-total", detail)
    else:
        if _is_python(module, test):
            raise CannotRewrite("no-tensor", f"`{ast.unparse(test)}` is no value of a tensor")
        yield Asked("", *_truth(module, test, context))


def tensor_condition(module: Module, test: ast.expr, context: Context) -> tuple[str, tuple[str, ...]]:
    """Return the text of a condition all of whose operands are tensors, and what it needs. Raises CannotRewrite."""
    return _truth(module, test, context)


def asserted_text(module: Module, test: ast.expr, context: Context) -> str:
    """Return the text of a condition for an assertion, which takes tensors of any dtype. Raises CannotRewrite."""
    bare = _unwrapped(module, test)
    if isinstance(bare, (ast.Name, ast.Attribute, ast.Subscript)):
        return module.text(bare).decode()
    return _truth(module, test, context)[0]


def _guesses(module: Module, operand: ast.expr) -> tuple[bool, ...]:
    """Return whether an operand is Python's: one answer where that is sure, else the likelier first."""
    if _is_python(module, operand):
        return (True,)
    inner = operand.operand if isinstance(operand, ast.UnaryOp) and isinstance(operand.op, ast.Not) else operand
    return (True, False) if isinstance(inner, (ast.Name, ast.Attribute)) else (False,)


def _is_python(module: Module, operand: ast.expr) -> bool:
    inner = operand.operand if isinstance(operand, ast.UnaryOp) and isinstance(operand.op, ast.Not) else operand
    inner = _unwrapped(module, inner)
    if isinstance(inner, ast.Call) and (module.names.meaning(inner.func) or "").rpartition(".")[2] in _TRACERS:
        return True
    parts = list(ast.walk(inner))
    if any(isinstance(one, ast.Attribute) and one.attr == "item" for one in parts):
        return False
    if isinstance(inner, ast.Attribute) and inner.attr == "training":
        return True
    if isinstance(inner, ast.Compare):
        named = any(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in inner.ops)
        sides = (inner.left, *inner.comparators)
        texts = any(isinstance(one, ast.Constant) and isinstance(one.value, str) for one in sides)
        return named or texts or flow(module).kind(inner) is Kind.TRUTH
    sure = surely(module).of(inner)
    return isinstance(sure, SequenceType) or sure in (
        ScalarType.TRUTH,
        ScalarType.WHOLE,
        ScalarType.FLOAT,
        ScalarType.TEXT,
        ScalarType.NOTHING,
    )


def may_raise(module: Module, operand: ast.expr) -> bool:
    """Return whether an operand may raise for values for which Python would not come to it."""
    for one in ast.walk(operand):
        if isinstance(one, ast.Call):
            name = one.func.attr if isinstance(one.func, ast.Attribute) else ""
            scalar = module.names.meaning(one.func) in _SCALARS
            if not scalar and name not in _REDUCTIONS and cost(module, one) is Cost.UNKNOWN and not _reduces(one):
                return True
        elif isinstance(one, ast.Subscript) and cost(module, one) is Cost.UNKNOWN:
            return True
    return False


def _reduces(call: ast.Call) -> bool:
    """Return whether what is not known of a call is only a largest or smallest element inside of it."""
    names = {
        one.func.attr for one in ast.walk(call) if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute)
    }
    return bool(names & _REDUCTIONS) and isinstance(call.func, ast.Attribute) and call.func.attr in _TRUTHS


def _joined(module: Module, tensors: Sequence[ast.expr], both: bool, context: Context) -> tuple[str, tuple[str, ...]]:
    text, needs = _truth(module, tensors[0], context)
    for one in tensors[1:]:
        join = spelled_out(module, one, f"torch.logical_{'and' if both else 'or'}", context)
        other, more = _truth(module, one, context)
        text, needs = f"{join.text}({text}, {other})", (*needs, *more, *join.needs)
    return text, needs


def _truth(module: Module, test: ast.expr, context: Context) -> tuple[str, tuple[str, ...]]:
    """Return the text of a tensor of bools, and what it needs. Raises CannotRewrite."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner, needs = _truth(module, test.operand, context)
        binds = isinstance(parse_expression(f"({inner})"), _BINDING)
        return (f"~{inner}" if binds else f"~({inner})"), needs
    if isinstance(test, ast.BoolOp):
        if any(may_raise(module, one) for one in test.values[1:]):
            raise CannotRewrite(
                "condition-not-total", f"at line {test.lineno} `{ast.unparse(test)}` stops at an operand"
            )
        return _joined(module, test.values, isinstance(test.op, ast.And), context)
    if isinstance(test, ast.Compare):
        return _comparison(module, test, context)
    if isinstance(test, ast.Call):
        close = _closeness(module, test)
        if close:
            return close, ()
        if module.names.meaning(test.func) in ("torch.equal", "torch.is_nonzero", "builtins.any", "builtins.all"):
            raise CannotRewrite("no-tensor", f"at line {test.lineno} `{ast.unparse(test)}` gives no tensor")
    tensor = _unwrapped(module, test)
    if _is_truth(module, tensor):
        return module.text(tensor).decode(), ()
    return f"{operand_text(module, tensor)}.bool()", ()


def _comparison(module: Module, test: ast.Compare, context: Context) -> tuple[str, tuple[str, ...]]:
    if not all(isinstance(op, _ORDERS) for op in test.ops):
        raise CannotRewrite("no-tensor", f"`{ast.unparse(test)}` compares no values of tensors")
    operands = [test.left, *test.comparators]
    if len(test.ops) > 1 and not all(isinstance(one, (ast.Name, ast.Constant)) for one in operands[1:-1]):
        raise CannotRewrite("condition-not-total", f"at line {test.lineno} `{ast.unparse(test)}` asks one value twice")
    parts = []
    content = module.source.content
    for left, right in pairwise(operands):
        between = content[module.grouped_span(left)[1] : module.grouped_span(right)[0]].decode()
        parts.append(f"{_number(module, left, right)}{between}{_number(module, right, left)}")
    if len(parts) == 1:
        return parts[0], ()
    join = spelled_out(module, test, "torch.logical_and", context)
    text = parts[0]
    for one in parts[1:]:
        text = f"{join.text}({text}, {one})"
    return text, join.needs


def _number(module: Module, side: ast.expr, other: ast.expr) -> str:
    """Return one side of a comparison: the tensor itself for ``.item()``, in double precision if Python uses that.

    Two tensors are compared as they are: double precision would round large integers.
    """
    bare = _unwrapped(module, side)
    if bare is side:
        return _text(module, side)
    text = operand_text(module, bare)
    return text if is_exact(other) or _unwrapped(module, other) is not other else f"{text}.double()"


def is_exact(value: ast.expr) -> bool:
    """Return whether a constant is the same number in half precision."""
    inner = value.operand if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub) else value
    number = inner.value if isinstance(inner, ast.Constant) else None
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not abs(number) <= 256:
        return False
    return bool(struct.unpack("e", struct.pack("e", number))[0] == number)


def operand_text(module: Module, value: ast.expr) -> str:
    """Return the text of a value on which a method is called."""
    text = module.text(value).decode()
    return text if isinstance(value, _BINDING) else f"({text})"


def read_tensor(module: Module, value: ast.expr) -> ast.expr | None:
    """Return the tensor of which an expression reads the one element, or None."""
    bare = _unwrapped(module, value)
    return None if bare is value else bare


def _unwrapped(module: Module, value: ast.expr) -> ast.expr:
    """Return the tensor of which an expression reads the one element; the expression itself where it reads none."""
    if isinstance(value, ast.Call):
        if isinstance(value.func, ast.Attribute) and value.func.attr == "item" and not value.args:
            return value.func.value
        meaning = module.names.meaning(value.func)
        if meaning in ("builtins.bool", "builtins.float") and len(value.args) == 1 and not value.keywords:
            return _unwrapped(module, value.args[0])
    return value


def _closeness(module: Module, call: ast.Call) -> str:
    """``torch.isclose(…).all()`` for ``torch.allclose(…)``, and ``x.isclose(y).all()`` for the method."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "allclose":
        return ""
    if module.names.meaning(call.func) not in ("torch.allclose", None):
        return ""
    start, end = module.span(call.func.value)[1], module.span(call.func)[1]
    content, whole = module.source.content, module.span(call)
    return f"{content[whole[0] : start].decode()}.isclose{content[end : whole[1]].decode()}.all()"


def _is_truth(module: Module, node: ast.expr) -> bool:
    """Return whether a tensor is known to hold bools."""
    if isinstance(node, ast.Compare):
        return True
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitAnd, ast.BitOr, ast.BitXor)):
        return _is_truth(module, node.left) and _is_truth(module, node.right)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
        return _is_truth(module, node.operand)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in _TRUTHS
    function = module.function_of(node)
    if isinstance(node, ast.Name) and function is not None:
        made = function.assigned_once.get(node.id)
        parameter = node.id in {one.arg for one in function.arguments}
        return made is not None and not parameter and _is_truth(module, made)
    return False


def _grouped(module: Module, node: ast.expr) -> str:
    text = _text(module, node)
    return f"({text})" if isinstance(node, ast.BoolOp) and not text.startswith("(") else text


def _text(module: Module, node: ast.expr) -> str:
    start, end = module.grouped_span(node)
    return module.source.content[start:end].decode()

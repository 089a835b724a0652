"""Loops whose steps each take one row of tensors, and nothing that another step leaves."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...syntax.module import Module
from ...syntax.tree import literal
from ..types.cannot_rewrite import CannotRewrite
from .blocks import stored

_SCOPES = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)


@dataclass(frozen=True)
class RowLoop:
    """The head of a loop: ``for row in x``, ``for i in range(n)`` or ``for i, row in enumerate(x)``."""

    module: Module
    index: str
    """The name of the step's number, or "" for none."""
    count: ast.expr | None
    """The number of steps, if the loop goes through a range."""
    row: str
    """The name of the step's row, or "" for none."""
    rows: ast.expr | None
    """The tensor that the loop goes through."""
    are_numbers: bool = False
    """True if each row is a number of Python's: ``x.tolist()``."""

    @property
    def bound(self) -> frozenset[str]:
        return frozenset({self.index, self.row} - {""})

    def tensor(self, node: ast.AST) -> ast.expr | None:
        """Return the tensor of which an expression takes the step's row, or None for any other expression."""
        if isinstance(node, ast.Name):
            return self.rows if node.id == self.row != "" else None
        taken = isinstance(node, ast.Subscript) and self.is_index(node.slice) and is_path(node.value)
        return (
            node.value if isinstance(node, ast.Subscript) and taken and not names_in(node.value) & self.bound else None
        )

    def is_index(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id == self.index != ""

    def parts(self, node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
        """Yield the expressions inside a node that take a row, each with its tensor.

        Raises CannotRewrite for another use of the step's number, and for a scope in which names may mean others.
        """
        tensor = self.tensor(node)
        if tensor is not None and isinstance(node, ast.expr):
            yield node, tensor
            return
        if self.is_index(node):
            raise CannotRewrite("number-of-step", f"at line {node.lineno} the number of the step is a value")  # type: ignore[attr-defined]
        if isinstance(node, _SCOPES):
            raise CannotRewrite("loop-in-loop", f"at line {node.lineno} a step has a loop or function of its own")
        for child in ast.iter_child_nodes(node):
            yield from self.parts(child)

    def text(self, tensor: ast.expr) -> str:
        """Return the text of the rows of all steps. It raises where a tensor has fewer rows than there are steps."""
        text = self.module.text(tensor).decode()
        if self.rows is not None and ast.unparse(tensor) == ast.unparse(self.rows):
            return text
        return text if self._is_own_size(tensor) else f"{text}.narrow(0, 0, {self.steps})"

    @property
    def steps(self) -> str:
        """Return the text of the number of steps. A trace makes a constant of ``len(x)``."""
        counted = self.rows if self.count is None else _measured(self.module, self.count)
        if counted is not None:
            return f"{self.module.text(counted).decode()}.size(0)"
        assert self.count is not None
        return self.module.text(self.count).decode()

    def _is_own_size(self, tensor: ast.expr) -> bool:
        """Return whether the number of steps is the number of a tensor's rows, by its text."""
        counted = None if self.count is None else _measured(self.module, self.count)
        return counted is not None and ast.unparse(counted) == ast.unparse(tensor)


def row_loop(module: Module, target: ast.expr, iterable: ast.expr) -> RowLoop | None:
    """Return the head of a loop that takes rows, or None for any other."""
    index, row, numbers = "", target, False
    called = module.names.meaning(iterable.func) if isinstance(iterable, ast.Call) else None
    plain = isinstance(iterable, ast.Call) and len(iterable.args) == 1 and not iterable.keywords
    if isinstance(iterable, ast.Call) and called == "builtins.range" and plain and isinstance(target, ast.Name):
        count = iterable.args[0]
        # A program may evaluate the count several times.
        known = isinstance(count, ast.Name) or _measured(module, count) is not None
        return RowLoop(module, target.id, count, "", None) if known else None
    if isinstance(iterable, ast.Call) and called == "builtins.enumerate" and plain:
        if not isinstance(target, ast.Tuple) or len(target.elts) != 2 or not isinstance(target.elts[0], ast.Name):
            return None
        index, row, iterable = target.elts[0].id, target.elts[1], iterable.args[0]
    listed = iterable.func if isinstance(iterable, ast.Call) and not iterable.args and not iterable.keywords else None
    if isinstance(listed, ast.Attribute) and listed.attr == "tolist":
        numbers, iterable = True, listed.value
    if not isinstance(row, ast.Name) or not is_path(iterable):
        return None
    return RowLoop(module, index, None, row.id, iterable, numbers)


def is_path(node: ast.expr) -> bool:
    """Return whether an expression is a name, or an attribute of one, so that each step reads the same tensor."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _measured(module: Module, count: ast.expr) -> ast.expr | None:
    """Return the tensor of ``x.size(0)``, ``x.shape[0]`` or ``len(x)``, or None."""
    tensor: ast.expr | None = None
    if isinstance(count, ast.Call) and len(count.args) == 1 and not count.keywords:
        if isinstance(count.func, ast.Attribute) and count.func.attr == "size" and literal(count.args[0]) == 0:
            tensor = count.func.value
        elif module.names.meaning(count.func) == "builtins.len":
            tensor = count.args[0]
    elif isinstance(count, ast.Subscript) and literal(count.slice) == 0:
        shape = count.value
        tensor = shape.value if isinstance(shape, ast.Attribute) and shape.attr == "shape" else None
    return tensor if tensor is not None and is_path(tensor) else None


def names_in(node: ast.AST) -> frozenset[str]:
    return frozenset(one.id for one in ast.walk(node) if isinstance(one, ast.Name))


def require_apart(loop: RowLoop, body: Sequence[ast.stmt], result: ast.expr) -> None:
    """Raise CannotRewrite unless a step gives each name once, before it is read, and changes no tensor with rows."""
    given: set[str] = set(loop.bound)
    of_step = {*stored(body)}
    tensors = {id(tensor): tensor for one in (*body, result) for _, tensor in loop.parts(one)}
    if of_step & (given | {name for one in tensors.values() for name in names_in(one)}):
        raise CannotRewrite("step-depends", f"at line {result.lineno} a step changes what the next one takes")
    parts: list[ast.stmt | ast.expr] = [*body, result]
    for one in parts:
        value = one.value if isinstance(one, ast.Assign) else one
        early = (names_in(value) & of_step) - given
        if early:
            raise CannotRewrite(
                "step-depends", f"at line {one.lineno} a step may read `{min(early)}` of the one before"
            )
        if isinstance(one, ast.Assign):
            target = one.targets[0]
            if len(one.targets) > 1 or not isinstance(target, ast.Name) or target.id in given:
                raise CannotRewrite("several-values", f"at line {one.lineno} a step gives a name more than one value")
            given.add(target.id)
        elif isinstance(one, ast.stmt):
            raise CannotRewrite("several-operations", f"at line {one.lineno} a step does more than give names values")

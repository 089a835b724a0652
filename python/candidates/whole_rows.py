"""Expressions of one step of a loop as expressions on the rows of all steps."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ...codemods.model.edit import Edit, apply
from ..analysis.flow.row_steps import Part, RowSteps
from ..analysis.must.pointwise import is_elementwise
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..syntax.module import Module
from ..syntax.tree import literal

_ALGEBRA = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.BitAnd, ast.BitOr, ast.BitXor)
_OF_LAST = frozenset({"sum", "mean", "softmax", "log_softmax", "amax", "amin", "argmax", "argmin", "logsumexp"})
"""Functions that reduce a dimension, which keeps its number from behind."""
_LAYERS = frozenset(
    """Linear LayerNorm Embedding Identity ReLU GELU SiLU Tanh Sigmoid ELU LeakyReLU Softplus Hardtanh Mish
    Hardswish""".split()  # noqa: SIM905
)
"""Layers that treat each row by itself, with any dimensions before the last."""


def edited_text(module: Module, value: ast.expr, edits: Sequence[Edit]) -> str:
    """Return the text of an expression with those of the edits that are inside of it."""
    start, end = module.grouped_span(value)
    inside = [edit for edit in edits if start <= edit.start and edit.end <= end]
    moved = [Edit(edit.start - start, edit.end - start, edit.text) for edit in sorted(inside)]
    return apply(module.source.content[start:end], moved).decode()


@dataclass(frozen=True)
class WholeRows:
    """Writer of expressions on all rows at once."""

    steps: RowSteps

    def text(self, value: ast.expr) -> str:
        """Return the text of the values of all steps, one beside the other. Raises CannotRewrite.

        The step's dimension is that of the parts, which all have the same.
        """
        self._require_rowwise(value)
        return self.replaced(value)

    def after(self, statements: Sequence[ast.stmt]) -> tuple[WholeRows, list[str]]:
        """Return the writer for what comes behind statements that name values of rows, and their lines.

        Raises CannotRewrite.
        """
        rows, lines = self, []
        for one in statements:
            target = one.targets[0] if isinstance(one, ast.Assign) and len(one.targets) == 1 else None
            if not isinstance(target, ast.Name) or not isinstance(one, ast.Assign) or target.id in rows.steps.names:
                raise CannotRewrite("several-operations", f"at line {one.lineno} a step does more than name values")
            lines.append(f"{target.id} = {rows.text(one.value)}")
            made = Part(target, rows.dimension(one.value), is_whole=True)
            rows = WholeRows(replace(rows.steps, names={**rows.steps.names, target.id: made}))
        return rows, lines

    def replaced(self, value: ast.expr) -> str:
        """Return the text of an expression with the rows of all steps in the place of each part."""
        module = self.steps.module
        edits = [Edit(*module.span(node), self._all(part).encode()) for node, part in self.steps.parts(value)]
        return edited_text(module, value, edits)

    def dimension(self, value: ast.expr) -> int:
        """Return the dimension along which the steps go. Raises CannotRewrite if there are several."""
        found = {part.dimension for _, part in self.steps.parts(value)}
        if len(found) != 1:
            line = value.lineno
            raise CannotRewrite("not-row-wise", f"at line {line} the steps go along several dimensions, or none")
        return found.pop()

    def _all(self, part: Part) -> str:
        text = self.steps.whole(part)
        if not part.rest:
            return text
        rest = ", ".join(self.steps.text(one) for one in part.rest)
        return f"{text}[{', '.join([':'] * (part.dimension + 1))}, {rest}]"

    def _require_rowwise(self, node: ast.expr) -> None:
        """Raise CannotRewrite unless an expression of whole tensors has in each row what the step computes."""
        part = self.steps.part(node)
        if part is not None:
            if part.lengths is not None or any(not isinstance(one, (ast.Slice, ast.Constant)) for one in part.rest):
                raise self._unfit(node)
            return
        if not any(True for _ in self.steps.parts(node)):
            self._require_fixed(node)
            return
        for one in self._operands(node):
            self._require_rowwise(one)

    def _require_fixed(self, node: ast.expr) -> None:
        """Raise CannotRewrite where an expression without a part differs between steps."""
        names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
        changing = sorted(names & self.steps.bound)
        if changing:
            name = changing[0]
            if name == self.steps.index:
                detail = f"at line {node.lineno} the number `{name}` of the step is a value"
                raise CannotRewrite("number-of-step", detail)
            raise CannotRewrite("step-depends", f"at line {node.lineno} a step reads `{name}` of the step before")

    def _operands(self, node: ast.expr) -> Iterator[ast.expr]:
        if isinstance(node, ast.BinOp) and isinstance(node.op, _ALGEBRA):
            yield from (node.left, node.right)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Invert)):
            yield node.operand
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            if not isinstance(node.ops[0], (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
                raise self._unfit(node)
            yield from (node.left, *node.comparators)
        elif isinstance(node, ast.Call):
            yield from self._of_call(node)
        else:
            raise self._unfit(node)

    def _of_call(self, node: ast.Call) -> Iterator[ast.expr]:
        module = self.steps.module
        values = [*node.args, *(one.value for one in node.keywords)]
        if self._is_layer(node.func) and len(values) == 1:
            yield values[0]
            return
        of_torch = (module.names.meaning(node.func) or "").startswith("torch.")
        receiver = [] if of_torch or not isinstance(node.func, ast.Attribute) else [node.func.value]
        if is_elementwise(module, node):
            yield from (*receiver, *values)
            return
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        operands = [*receiver, *node.args]
        dims = [one.value for one in node.keywords if one.arg in ("dim", "axis")] or operands[1:2]
        rest = len(operands) + len(node.keywords) - 2
        last = literal(dims[0]) if dims else None
        if name in _OF_LAST and last is not None and last < 0 and rest == 0 and (of_torch or receiver):
            yield operands[0]
            return
        raise self._unfit(node)

    def _is_layer(self, function: ast.expr) -> bool:
        """Return whether ``self.proj`` is a layer that the class makes once, and that treats each row by itself."""
        if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
            return False
        module = self.steps.module
        owner = module.function_of(self.steps.node)
        classes = [one for one in (owner.around if owner is not None else ()) if isinstance(one, ast.ClassDef)]
        if function.value.id != "self" or not classes:
            return False
        made = [
            one.value
            for one in ast.walk(classes[0])
            if isinstance(one, ast.Assign)
            for target in one.targets
            if isinstance(target, ast.Attribute) and target.attr == function.attr
        ]
        return len(made) == 1 and self._makes_layer(made[0])

    def _makes_layer(self, call: ast.expr) -> bool:
        """Return whether a call makes a layer that treats each row by itself, or several in a row."""
        meaning = self.steps.module.names.meaning(call.func) or "" if isinstance(call, ast.Call) else ""
        home, _, name = meaning.rpartition(".")
        if not isinstance(call, ast.Call) or not home.startswith("torch.nn"):
            return False
        return name in _LAYERS or (name == "Sequential" and all(map(self._makes_layer, call.args)))

    def _unfit(self, node: ast.expr) -> CannotRewrite:
        said = " ".join(ast.unparse(node).split())[:60]
        return CannotRewrite("not-row-wise", f"at line {node.lineno} `{said}` may mix the rows")

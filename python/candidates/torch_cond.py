"""Keep both sides of a choice on values in the program by ``torch.cond``, which runs the one that is chosen.

Eager keeps the statement as it is: only while torch compiles does the operator choose.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Safety
from ..analysis.flow.blocks import always_returns, bound_before, following, read, read_after, stored, surely_stored
from ..analysis.must.effects import require_pure
from ..analysis.must.must_type_inference import surely
from ..analysis.must.pointwise import Cost
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..analysis.types.must_types import ScalarType
from ..rewrite.findings import fix
from ..rewrite.qualified_names import COMPILING, Spelled, spelled_out
from ..syntax.module import Module
from ..syntax.tree import COMPREHENSIONS
from .local_functions import (
    Layout,
    NameChooser,
    anew,
    copied,
    described,
    function_text,
    joined_blocks,
    may_alias,
    operands_text,
    own_text,
    reindented,
    returns_own,
    tuple_text,
)
from .tensor_conditions import Asked, asked_of_tensor
from .torch_where import highest_cost

NAME = "use_cond"
_LONGEST = 24
"""The number of statements behind an early ``return`` that are repeated in a function."""


@dataclass(frozen=True)
class Choice:
    """An ``if`` as two sides that give the same names values, or that both return."""

    node: ast.If
    then: Sequence[ast.stmt]
    otherwise: Sequence[ast.stmt]
    results: Sequence[str]
    """Empty where both sides return."""
    operands: Sequence[str]

    @property
    def returns(self) -> bool:
        return not self.results


def conditional(module: Module, node: ast.If | ast.IfExp, context: Context) -> Iterator[Fix]:
    """``if c: x = f(x)`` → ``if is_compiling(): x = torch.cond(c, apply_f, keep_x, (x,))`` and ``elif c: x = f(x)``.

    Raises CannotRewrite where a side does what no program can keep to itself.
    """
    if isinstance(node, ast.IfExp):
        yield from _of_expression(module, node, context)
        return
    choice = choice_of(module, node)
    require_pure(module, [node.test])
    for side in (choice.then, choice.otherwise):
        require_pure(module, side, returns=choice.returns)
    for asked in asked_of_tensor(module, node.test, context):
        for always in (False, True):
            yield _written(module, choice, asked, context, always=always)


def choice_of(module: Module, node: ast.If) -> Choice:
    """Return the two sides of an ``if``. Raises CannotRewrite where they can't be paired."""
    then: list[ast.stmt] = node.body
    otherwise: list[ast.stmt] = node.orelse
    if always_returns(then):
        behind = otherwise or following(module, node)
        if not always_returns(behind):
            raise CannotRewrite(
                "leaves-in-branch", f"at line {then[-1].lineno} one side leaves the function, the other goes on"
            )
        if len(behind) > _LONGEST:
            raise CannotRewrite("too-long", f"behind line {node.lineno} come more than {_LONGEST} statements")
        return Choice(node, then, behind, (), _operands(module, node, (), then, behind))
    before = bound_before(module, node)
    live = read_after(module, [node])
    results = [name for name in stored([*then, *otherwise]) if name in live]
    for name in results:
        if name not in before and not (name in surely_stored(then) and name in surely_stored(otherwise)):
            raise CannotRewrite("bound-on-one-side", f"at line {node.lineno} `{name}` may have no value on one side")
    if not results:
        raise CannotRewrite(
            "effect-in-branch", f"at line {then[0].lineno} the branch gives no name a value that is read"
        )
    return Choice(node, then, otherwise, results, _operands(module, node, results, then, otherwise))


def _operands(
    module: Module,
    node: ast.If,
    results: Sequence[str],
    then: Sequence[ast.stmt],
    otherwise: Sequence[ast.stmt],
) -> list[str]:
    """Return the operands: names that a side rebinds, and those that it reads and that are known to be tensors."""
    before = bound_before(module, node)
    bound = set(stored([*then, *otherwise]))
    used = read([*then, *otherwise]) | {name for name in results if name in before}
    rebound = [name for name in before if name in bound and name in used]
    sure = {
        one.id
        for statement in (*then, *otherwise)
        for one in ast.walk(statement)
        if isinstance(one, ast.Name)
        and isinstance(one.ctx, ast.Load)
        and one.id in before
        and one.id not in bound
        and surely(module).of(one) is ScalarType.TENSOR
    }
    order = {name: at for at, name in enumerate(results)}
    return sorted({*rebound, *sure}, key=lambda name: (order.get(name, len(order)), name))


def _written(module: Module, choice: Choice, asked: Asked, context: Context, *, always: bool) -> Fix:
    node = choice.node
    indent, layout = _layout(module, node)
    names = [spelled_out(module, node, symbol, context) for symbol in (COMPILING, "torch.cond")]
    compiling, cond = names
    writer = _Writer(module, context, NameChooser(module), always)
    block = layout.newline.join([_head(compiling, asked), "", *writer.chosen(choice, asked, cond, layout)])
    start, end = module.span(node)
    content = module.source.content
    if content.startswith(b"elif", start):
        rest = reindented(content[start:end].decode(), indent, indent + layout.unit, "")
        deeper = reindented(block, indent, indent + layout.unit, indent + layout.unit)
        joint = (
            f"{layout.newline}{indent}{layout.unit}" if choice.returns else f"{layout.newline}{indent}{layout.unit}el"
        )
        rest = rest.removeprefix("el")
        edit = Edit(start, end, f"else:{layout.newline}{deeper}{joint}{rest}".encode())
    else:
        joint = f"{layout.newline}{indent}" + ("" if choice.returns else "el")
        edit = Edit(start, start, f"{block}{joint}".encode())
    return _fix(module, node, edit, asked, names)


def _fix(module: Module, node: ast.If | ast.stmt, edit: Edit, asked: Asked, names: Sequence[Spelled]) -> Fix:
    test = node.test if isinstance(node, ast.If) else node.value  # type: ignore[attr-defined]
    said = module.text(test.test if isinstance(test, ast.IfExp) else test).decode()
    words = f"in the program `{said}` is decided by torch.cond when it runs, in eager as before"
    message = f"keep both sides of `{said}` by torch.cond: {_reason(module, node)}"
    needs = [*(need for name in names for need in name.needs), *asked.needs]
    return fix(NAME, module.place(node), [edit], message, needs, [words], Safety.UNSAFE)


def _reason(module: Module, node: ast.stmt) -> str:
    choice = node if isinstance(node, ast.If) else next(one for one in ast.walk(node) if isinstance(one, ast.IfExp))
    reasons = {Cost.CHEAP: "only one of them is computed", Cost.EXPENSIVE: "one of them is expensive"}
    return reasons.get(highest_cost(module, choice), "one of them is expensive, or may raise where the other is chosen")


def _layout(module: Module, node: ast.stmt) -> tuple[str, Layout]:
    indent = module.indentation(node)
    if indent is None:
        raise CannotRewrite("one-line", f"at line {node.lineno} the statement stands behind another one")
    first = node.body[0] if isinstance(node, (ast.If, ast.For, ast.While)) else None
    if first is not None and module.indentation(first) is None:
        raise CannotRewrite("one-line", f"at line {node.lineno} a block stands on the line of its head")
    unit = module.unit_of_indentation(first) if first is not None else "    "
    return indent, Layout(indent + unit, unit, module.newline)


@dataclass(frozen=True)
class _Writer:
    """Writer of calls of ``torch.cond`` and of the functions that they choose between."""

    module: Module
    context: Context
    chooser: NameChooser
    always: bool
    """True if results of calls are copied too. See `own_text`."""

    def chosen(self, choice: Choice, asked: Asked, cond: Spelled, layout: Layout) -> list[str]:
        """Return the functions of both sides, and the call that chooses."""
        called, defined = [], []
        for side in (choice.then, choice.otherwise):
            name = self.chooser.choose(described(side, choice.results))
            edits = list(self._inner_choices(side))
            body, result = self._side(choice, side, edits)
            defined.append(function_text(self.module, layout, name, choice.operands, body, result, edits))
            called.append(name)
        operands = operands_text(choice.operands) if choice.operands else "()"
        call = f"{cond.text}({asked.text}, {called[0]}, {called[1]}, {operands})"
        given = "return " if choice.returns else f"{tuple_text(choice.results)} = "
        return [joined_blocks(defined, layout.newline), "", f"{layout.indent}{given}{call}"]

    def _inner_choices(self, side: Sequence[ast.stmt]) -> Iterator[Edit]:
        """Yield the edits that have torch decide inside of a side, which is only traced, unless Python does."""
        end = -1
        for statement in side:
            if self.module.span(statement)[0] < end:
                continue
            if isinstance(statement, ast.If):
                ways = [one for one in _ways(self.module, statement, self.context) if not one.outside]
                if ways:
                    edit = self._inner(statement, ways[0], first=statement is side[0])
                    end = edit.end
                    yield edit
                else:
                    yield from self._inner_choices(statement.body)
                    yield from self._inner_choices(statement.orelse)
            elif isinstance(statement, (ast.For, ast.While, ast.With)):
                yield from self._inner_choices(statement.body)

    def _inner(self, node: ast.If, asked: Asked, *, first: bool) -> Edit:
        """Return the edit that puts a call of ``torch.cond`` in the place of an ``if`` that is only traced."""
        choice = choice_of(self.module, node)
        outer, deeper = _layout(self.module, node)
        start, end = self.module.span(node)
        apart = self.module.source.content.startswith(b"elif", start) and not first
        layout = deeper if apart else Layout(outer, deeper.unit, deeper.newline)
        cond = spelled_out(self.module, node, "torch.cond", self.context)
        lines = self.chosen(choice, asked, cond, layout)
        if choice.returns and not node.orelse:
            end = self.module.span(choice.otherwise[-1])[1]
        text = layout.newline.join(lines)
        text = f"else:{layout.newline}{text}" if apart else text.removeprefix(layout.indent)
        return Edit(start, end, text.encode())

    def _side(self, choice: Choice, side: Sequence[ast.stmt], edits: Sequence[Edit]) -> tuple[Sequence[ast.stmt], str]:
        """Return the statements of a side's function, and the text of its result."""
        if choice.returns:
            return returns_own(self.module, side, edits, always=self.always)
        only = side[0] if len(side) == 1 else None
        named = isinstance(only, ast.Assign) and [ast.unparse(one) for one in only.targets] == [*choice.results]
        if isinstance(only, ast.Assign) and named:
            return [], own_text(self.module, only.value, side, always=self.always)
        if isinstance(only, ast.AugAssign) and [ast.unparse(only.target)] == [*choice.results]:
            return [], anew(self.module, only)
        results = [ast.Name(name, ast.Load()) for name in choice.results]
        return side, tuple_text([_named(one, side, always=self.always) for one in results])


def _ways(module: Module, node: ast.If, context: Context) -> list[Asked]:
    """Return the ways to ask a condition of a tensor; none for an attribute of the module, which is its setting."""
    test = node.test.operand if isinstance(node.test, ast.UnaryOp) else node.test
    if isinstance(test, ast.Attribute) and isinstance(test.value, ast.Name) and test.value.id == "self":
        return []
    try:
        return list(asked_of_tensor(module, node.test, context))
    except CannotRewrite as unfit:
        if unfit.reason == "no-tensor":
            return []
        raise


def _named(name: ast.Name, side: Sequence[ast.stmt], *, always: bool) -> str:
    return f"{name.id}{copied(always)}" if may_alias(name, side, always=always) else name.id


def _head(compiling: Spelled, asked: Asked) -> str:
    """Return the line of the ``if`` for tracing, without its blanks."""
    return f"if {compiling.text}() and {_operand(asked)}:" if asked.outside else f"if {compiling.text}():"


def _operand(asked: Asked) -> str:
    if not asked.conjunction:
        return asked.reached
    return f"({asked.outside})" if " or " in asked.outside else asked.outside


def _of_expression(module: Module, node: ast.IfExp, context: Context) -> Iterator[Fix]:
    """``y = f(a if c else b)`` as ``y = f(a)`` or ``y = f(b)``: the sides without names are functions, too."""
    place = module.place(node)
    statement = next(one for one in place.ancestors if isinstance(one, ast.stmt))
    single = isinstance(statement, ast.Assign) and len(statement.targets) == 1
    lazy = any(map(_is_lazy, place.of_expression))
    if not (single or isinstance(statement, ast.Return)) or not isinstance(statement, (ast.Assign, ast.Return)) or lazy:
        raise CannotRewrite("inside-expression", f"at line {node.lineno} the choice is a part of a longer expression")
    if isinstance(statement, ast.Assign) and not isinstance(statement.targets[0], ast.Name):
        raise CannotRewrite(
            "changes-attribute", f"at line {node.lineno} what is chosen is kept outside of the function"
        )
    value = statement.value
    assert value is not None
    require_pure(module, [value])
    start = module.span(node)[0]
    if any(isinstance(one, ast.Call) and module.span(one)[1] <= start for one in ast.walk(value)):
        detail = f"at line {node.lineno} a call in front of the choice would run behind its condition"
        raise CannotRewrite("inside-expression", detail)
    _, layout = _layout(module, statement)
    names = [spelled_out(module, node, symbol, context) for symbol in (COMPILING, "torch.cond")]
    compiling, cond = names
    if b"#" in module.text(statement) or b"\n" in module.text(statement):
        raise CannotRewrite("comment-inside", f"at line {node.lineno} the choice goes over several lines")
    for asked in asked_of_tensor(module, node.test, context):
        for always in (False, True):
            chooser = NameChooser(module)
            sides = [ast.Return(one) for one in (node.body, node.orelse)]
            whole = value is node
            called = [chooser.choose(described([one], ["value"]) if whole else "compute_value") for one in sides]
            defined = [
                function_text(module, layout, name, (), [], _side_text(module, value, node, one, always=always))
                for name, one in zip(called, (node.body, node.orelse), strict=True)
            ]
            block = [_head(compiling, asked), "", joined_blocks(defined, layout.newline), ""]
            call = f"{cond.text}({asked.text}, {called[0]}, {called[1]}, ())"
            edit = _spread(module, statement, node, layout, block, call)
            yield _fix(module, statement, edit, asked, names)


def _is_lazy(node: ast.AST) -> bool:
    """Return whether an expression may leave a part of it uncomputed, or compute it several times."""
    chained = isinstance(node, ast.Compare) and len(node.ops) > 1
    return chained or isinstance(node, (ast.Lambda, ast.BoolOp, ast.IfExp, *COMPREHENSIONS))


def _chosen_text(module: Module, value: ast.expr, node: ast.IfExp, side: ast.expr) -> str:
    """Return the text of an expression with one side of a choice in the place of the choice."""
    text = module.text(side).decode()
    if value is node:
        return text
    start, end = module.span(value)
    at = module.grouped_span(node)
    content = module.source.content
    bare = isinstance(side, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant))
    alone = isinstance(module.parents[node], ast.Call)
    return f"{content[start : at[0]].decode()}{text if bare or alone else f'({text})'}{content[at[1] : end].decode()}"


def _side_text(module: Module, value: ast.expr, node: ast.IfExp, side: ast.expr, *, always: bool) -> str:
    """Return the text of the result of one side, with ``.clone()`` where it may be an input."""
    if value is node:
        return own_text(module, side, [], always=always)
    text = _chosen_text(module, value, node, side)
    return f"{text}{copied(always)}" if may_alias(value, [], always=always) else text


def _spread(
    module: Module,
    statement: ast.Assign | ast.Return,
    node: ast.IfExp,
    layout: Layout,
    block: Sequence[str],
    call: str,
) -> Edit:
    """Return the statement as an ``if`` with both sides, and in front of it the block for tracing with ``call``."""
    indent, inner = layout.indent.removesuffix(layout.unit), layout.indent
    given = "return " if isinstance(statement, ast.Return) else f"{module.text(statement.targets[0]).decode()} = "
    assert statement.value is not None
    then, otherwise = (_chosen_text(module, statement.value, node, one) for one in (node.body, node.orelse))
    lines = [*block, f"{inner}{given}{call}"]
    lines += [f"{indent}elif {module.text(node.test).decode()}:", f"{inner}{given}{then}"]
    lines += [f"{indent}else:", f"{inner}{given}{otherwise}"]
    return Edit(*module.span(statement), layout.newline.join(lines).encode())

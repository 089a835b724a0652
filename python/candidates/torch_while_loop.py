"""Keep a loop that values end in the program: by ``while_loop``, or by ``torch.cond`` in each step that is traced.

Eager keeps the loop as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Safety
from ..analysis.flow.blocks import bound_before, following, given_by, read, read_after, stored
from ..analysis.must.effects import require_pure
from ..analysis.must.must_type_inference import surely
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..analysis.types.must_types import ScalarType
from ..rewrite.findings import fix
from ..rewrite.qualified_names import COMPILING, spelled_out
from ..syntax.module import Module
from .local_functions import (
    Layout,
    NameChooser,
    function_text,
    joined_blocks,
    kept_name,
    may_alias,
    operands_text,
    shifted,
    tuple_text,
)
from .tensor_conditions import operand_text, read_tensor, tensor_condition

WHILE, UNROLLED = "use_while_loop", "use_cond"
_LOOP = "torch._higher_order_ops.while_loop"
_DOUBLE = "torch.float64"
_NOT, _AND = "torch.logical_not", "torch.logical_and"


@dataclass(frozen=True)
class Loop:
    """A loop whose steps give names new values, ``before`` and ``behind`` the ``if`` that leaves it."""

    node: ast.While | ast.For
    leaves: ast.If | None
    before: Sequence[ast.stmt]
    behind: Sequence[ast.stmt]
    carried: Sequence[str]
    counters: Sequence[str]
    """Of these the numbers of Python's, which become tensors of one number."""
    readings: Mapping[str, str]
    """Of these the numbers and truths that steps read from tensors, with the dtype of the tensor that they become."""
    edits: Sequence[Edit]
    """Edits that leave the readings tensors."""
    live: frozenset[str]


def looped(module: Module, node: ast.While | ast.For, context: Context) -> Iterator[Fix]:
    """``while c: x = f(x)`` → ``(x,) = while_loop(goes_on, update_x, (x,))`` while torch compiles.

    Raises CannotRewrite.
    """
    loop = _loop(module, node, context)
    limit = _limit(module, node) if isinstance(node, ast.For) else ""
    asked, needs = _asked(module, loop, context)
    names = [spelled_out(module, node, symbol, context) for symbol in (COMPILING, _LOOP, _AND)]
    compiling, called, both = (one.text for one in names)
    layout = _layout(module, node)
    chooser = NameChooser(module)
    flag = chooser.choose("going") if loop.leaves is not None else ""
    count = chooser.choose("step") if limit else ""
    goes_on, update = chooser.choose("goes_on"), chooser.choose(_update_name(loop))
    parameters = [*filter(None, (count, flag)), *loop.carried]
    tensor = _tensor(module, loop)
    limit, before = _kept_limit(chooser, tensor, limit)
    conditions = [*([f"{count} < {limit}"] if limit else []), *filter(None, (flag, asked))]
    condition = conditions[0] if conditions != [flag] else f"{flag}.clone()"
    if len(conditions) == 1 and "\n" in condition:
        condition = f"({condition})"
    for one in conditions[1:]:
        condition = f"{both}({condition}, {one})"
    first = [
        *([_new(tensor, "zeros")] if count else []),
        *([f"{tensor}.new_ones((), dtype=torch.bool)"] if flag else []),
    ]
    first += [_first(module, tensor, loop, one) for one in loop.carried]
    blocks = [
        function_text(module, layout, goes_on, parameters, (), condition),
        _StepWriter(module, loop, chooser, context).text(layout, update, parameters, flag, count),
    ]
    targets = [*("_" for one in (count, flag) if one), *(one if one in loop.live else "_" for one in loop.carried)]
    given = f"({targets[0]},)" if len(targets) == 1 else tuple_text(targets)
    lines = [f"if {compiling}():", *(f"{layout.indent}{one}" for one in before), ""]
    lines += [joined_blocks(blocks, layout.newline), ""]
    lines.append(f"{layout.indent}{given} = {called}({goes_on}, {update}, {operands_text(first)})")
    lines += [f"{layout.indent}{one} = {one}.item()" for one in (*loop.counters, *loop.readings) if one in loop.live]
    needs = (*needs, *(need for name in names for need in name.needs))
    said = module.text(_said(loop)).decode()
    words = [f"in the program `{said}` is decided by while_loop when it runs, in eager as before"]
    words += [
        f"in the program `{one}` is in double precision, which rounds whole numbers beyond 2**53"
        for one, dtype in loop.readings.items()
        if dtype == _DOUBLE
    ]
    message = f"keep the loop that `{said}` ends by while_loop: what it carries keeps its shape and dtype"
    yield fix(WHILE, module.place(node), [_edit(module, node, lines, layout)], message, needs, words, Safety.UNSAFE)


def unrolled(module: Module, node: ast.While | ast.For, context: Context) -> Iterator[Fix]:
    """``for f in fs: x = f(x); if c: break`` → each step by ``torch.cond`` until one ends it. Raises CannotRewrite."""
    if not isinstance(node, ast.For):
        raise CannotRewrite("loop-without-end", f"at line {node.lineno} nothing says how many steps there are at most")
    loop = _loop(module, node, context)
    if loop.leaves is None:
        raise CannotRewrite("no-tensor", f"at line {node.lineno} no value ends the loop")
    if loop.counters or loop.readings:
        raise CannotRewrite("counts", f"at line {node.lineno} a step changes a number of Python's")
    target = ast.unparse(node.target)
    if loop.live & {*stored([node.target])}:
        raise CannotRewrite("number-of-step", f"at line {node.lineno} `{target}` is read behind the loop")
    compiling = spelled_out(module, node, COMPILING, context)
    layout = _layout(module, node)
    steps, needs = _steps(module, loop, loop.leaves, layout, context)
    head = module.source.content[module.span(node)[0] : module.grouped_span(node.iter)[1]].decode()
    flag = f"{layout.indent}{steps[0]} = {loop.carried[0]}.new_ones((), dtype=torch.bool)"
    lines = [f"if {compiling.text}():", flag, f"{layout.indent}{head}:", "", *steps[1:]]
    said = module.text(loop.leaves.test).decode()
    words = f"in the program each step is decided by torch.cond when it runs, until `{said}`, in eager as before"
    message = f"run each step by torch.cond as long as `{said}` has not ended the loop"
    edit = _edit(module, node, lines, layout)
    yield fix(UNROLLED, module.place(node), [edit], message, [*needs, *compiling.needs], [words], Safety.UNSAFE)


def _steps(
    module: Module, loop: Loop, leaves: ast.If, outer: Layout, context: Context
) -> tuple[list[str], tuple[str, ...]]:
    """Return the name of the flag that says whether the loop goes on, the lines of one step, and what these need."""
    cond, opposite, both = (spelled_out(module, loop.node, one, context) for one in ("torch.cond", _NOT, _AND))
    layout = Layout(outer.indent + outer.unit, outer.unit, outer.newline)
    chooser = NameChooser(module)
    flag, update = chooser.choose("going"), chooser.choose(_update_name(loop))
    keep = chooser.choose(kept_name(loop.carried))
    # A program has no gradient of what comes out beside a truth: that is asked behind the step where it can be.
    apart = not loop.behind and not read([leaves.test]) & ({*stored(loop.before)} - {*loop.carried})
    asked = "" if apart else flag
    held = [*(f"{one}.clone()" for one in loop.carried), *([] if apart else [f"{flag}.clone()"])]
    blocks = [
        _StepWriter(module, loop, chooser, context).text(layout, update, loop.carried, asked, "", last=True),
        function_text(module, layout, keep, loop.carried, (), tuple_text(held)),
    ]
    given = tuple_text([*loop.carried, *([] if apart else [flag])])
    call = f"{cond.text}({flag}, {update}, {keep}, {operands_text(loop.carried)})"
    lines = [joined_blocks(blocks, layout.newline), "", f"{layout.indent}{given} = {call}"]
    needs = (*cond.needs, *opposite.needs)
    if apart:
        text, more = tensor_condition(module, leaves.test, context)
        lines.append(f"{layout.indent}{flag} = {both.text}({flag}, {opposite.text}({text}))")
        needs = (*needs, *more, *both.needs)
    return [flag, *lines], needs


def _loop(module: Module, node: ast.While | ast.For, context: Context) -> Loop:
    if node.orelse:
        raise CannotRewrite("loop-with-else", f"at line {node.lineno} the loop has an `else`")
    at = [place for place, one in enumerate(node.body) if isinstance(one, ast.If) and _is_exit(module, node, one)]
    if len(at) > 1:
        raise CannotRewrite("several-exits", f"at line {node.body[at[1]].lineno} the loop has another exit")
    place = at[0] if at else len(node.body)
    leaves = node.body[place] if at else None
    before, behind = node.body[:place], node.body[place + 1 :]
    parts = [*before, *behind]
    require_pure(module, [*parts, *([leaves.test] if isinstance(leaves, ast.If) else [])])
    bound, live = bound_before(module, node), read_after(module, [node])
    names = stored(parts)
    lost = next((one for one in names if one in live and one not in bound), None)
    if lost is not None:
        raise CannotRewrite(
            "bound-on-one-side", f"at line {node.lineno} `{lost}` has no value where the loop makes no step"
        )
    carried = [one for one in names if one in bound]
    if not carried:
        raise CannotRewrite(
            "effect-in-branch", f"at line {node.lineno} no value that the loop changes is read behind it"
        )
    assert leaves is None or isinstance(leaves, ast.If)
    counters = [one for one in carried if _is_number(module, parts, one)]
    _require_whole(module, counters, [*parts, *([leaves.test] if leaves is not None else [])])
    found = {one: _reading(module, parts, one, context) for one in carried if one not in counters}
    readings = {name: made[0] for name, made in found.items() if made is not None}
    edits = list(dict.fromkeys(edit for made in found.values() if made is not None for edit in made[1]))
    return Loop(node, leaves, before, behind, carried, counters, readings, edits, frozenset(live))


def _reading(module: Module, parts: Sequence[ast.stmt], name: str, context: Context) -> tuple[str, list[Edit]] | None:
    """Return the dtype and the edits of a name that holds a float or a truth of Python's before the loop.

    Each step has to read its value from a tensor.
    """
    inside = {one for part in parts for one in ast.walk(part)}
    function = module.function_of(parts[0])
    values = [] if function is None else _given(function.node, name)
    first = [one for one in values if one not in inside]
    steps = [one for one in values if one in inside]
    if function is None or not first or not steps or not _only_assigned(function.node, name, len(values)):
        return None
    if all(isinstance(one, ast.Constant) and isinstance(one.value, bool) for one in first):
        texts = [tensor_condition(module, one, context)[0] for one in steps]
        return "torch.bool", [
            Edit(*module.grouped_span(one), text.encode()) for one, text in zip(steps, texts, strict=True)
        ]
    if all(surely(module).of(one) is ScalarType.FLOAT for one in first):
        edits = _read_as_tensors(module, function.node, inside, steps, frozenset({name}))
        return None if edits is None else (_DOUBLE, edits)
    return None


def _read_as_tensors(
    module: Module, function: ast.AST, inside: Set[ast.AST], values: Sequence[ast.expr], seen: frozenset[str]
) -> list[Edit] | None:
    """Return the edits that leave values tensors that Python reads, also by way of a name; None if one is no such."""
    edits: list[Edit] = []
    for one in values:
        read = read_tensor(module, one)
        if read is not None:
            edits.append(Edit(*module.grouped_span(one), f"{operand_text(module, read)}.double()".encode()))
        elif isinstance(one, ast.Name) and one.id not in seen:
            given = [value for value in _given(function, one.id) if value in inside]
            further = _read_as_tensors(module, function, inside, given, seen | {one.id}) if given else None
            if further is None:
                return None
            edits += further
        elif not isinstance(one, ast.Name):
            return None
    return list(dict.fromkeys(edits))


def _require_whole(module: Module, counters: Sequence[str], parts: Sequence[ast.AST]) -> None:
    """Raise CannotRewrite where a counter meets a float, which its tensor would make a float32."""
    for one in (one for part in parts for one in ast.walk(part) if isinstance(one, ast.BinOp)):
        names = [side.id for side in (one.left, one.right) if isinstance(side, ast.Name) and side.id in counters]
        floats = [side for side in (one.left, one.right) if surely(module).of(side) is ScalarType.FLOAT]
        if names and (floats or isinstance(one.op, (ast.Pow, ast.Div))):
            detail = f"at line {one.lineno} `{names[0]}` is a number of Python's in `{ast.unparse(one)}`"
            raise CannotRewrite("counts", detail)


def _is_exit(module: Module, loop: ast.While | ast.For, branch: ast.If) -> bool:
    """Return whether a branch does nothing but leave the loop, or return what is returned behind it anyway."""
    only = branch.body[0]
    if len(branch.body) > 1 or branch.orelse:
        return False
    if isinstance(only, ast.Return):
        behind = following(module, loop)[:1]
        return bool(behind) and ast.dump(only) == ast.dump(behind[0])
    return isinstance(only, ast.Break)


def _is_number(module: Module, parts: Sequence[ast.stmt], name: str) -> bool:
    uses = (one for part in parts for one in ast.walk(part) if isinstance(one, ast.Name) and one.id == name)
    first = next(uses, None)
    if first is None:
        return False
    function = module.function_of(first)
    if function is None:
        return False
    values = _given(function.node, name)
    inside = {one for part in parts for one in ast.walk(part)}
    if name in {one.arg for one in function.arguments} and inside.issuperset(values):
        return False
    return bool(values) and all(_is_whole(module, one, name) for one in values)


def _given(function: ast.AST, name: str) -> list[ast.expr]:
    found = []
    for one in ast.walk(function):
        given = list(given_by(one, name)) if isinstance(one, ast.Assign) else []
        targets = one.targets if isinstance(one, ast.Assign) else [one.target] if isinstance(one, ast.AugAssign) else []
        if given:
            found += given
        elif any(isinstance(part, ast.Name) and part.id == name for target in targets for part in ast.walk(target)):
            found.append(one.value)  # type: ignore[attr-defined]
    return found


def _only_assigned(function: ast.FunctionDef | ast.AsyncFunctionDef, name: str, count: int) -> bool:
    """Return whether a name gets all of its values by ``count`` assignments, and is no parameter."""
    bound = [one for one in ast.walk(function) if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)]
    taken = any(isinstance(one, ast.arg) and one.arg == name for one in ast.walk(function))
    return not taken and sum(one.id == name for one in bound) == count


def _is_whole(module: Module, value: ast.expr, name: str) -> bool:
    if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Add, ast.Sub, ast.Mult)):
        return _is_whole(module, value.left, name) and _is_whole(module, value.right, name)
    return (isinstance(value, ast.Name) and value.id == name) or surely(module).of(value) is ScalarType.WHOLE


def _limit(module: Module, node: ast.For) -> str:
    """Return the number of steps of a ``for``.

    Raises CannotRewrite unless it is over a range whose number is not read.
    """
    call = node.iter
    if not isinstance(call, ast.Call) or module.names.meaning(call.func) != "builtins.range" or len(call.args) != 1:
        raise CannotRewrite("loop-over-objects", f"at line {node.lineno} the loop is not over a range of numbers")
    name = node.target.id if isinstance(node.target, ast.Name) else ""
    inside = read(node.body)
    if not name or name in inside or name in read_after(module, [node]):
        raise CannotRewrite(
            "number-of-step", f"at line {node.lineno} `{ast.unparse(node.target)}` is read as a number of Python's"
        )
    return _number_text(module, call.args[0])


def _number_text(module: Module, count: ast.expr) -> str:
    """Return the text of a number of steps: of the tensor that it is read from, if it is read."""
    if isinstance(count, ast.Call) and module.names.meaning(count.func) == "builtins.int" and len(count.args) == 1:
        read = read_tensor(module, count.args[0])
        return f"{operand_text(module, count.args[0] if read is None else read)}.long()"
    read = read_tensor(module, count)
    return module.text(count).decode() if read is None else f"{operand_text(module, read)}.long()"


def _kept_limit(chooser: NameChooser, tensor: str, limit: str) -> tuple[str, list[str]]:
    """Return the number of steps as an operand, and the line that keeps it: a step may change what it is read from."""
    if not limit or limit.isdecimal() or limit.startswith("self."):
        return limit, []
    name = chooser.choose("limit")
    made = limit if limit.endswith(".long()") else f"{tensor}.new_full((), {limit}, dtype=torch.int64)"
    return name, [f"{name} = {made}"]


def _asked(module: Module, loop: Loop, context: Context) -> tuple[str, tuple[str, ...]]:
    """Return the condition of a ``while`` as a tensor; empty for a ``for`` and for ``while True``."""
    if not isinstance(loop.node, ast.While):
        return "", ()
    if isinstance(loop.node.test, ast.Constant) and loop.node.test.value:
        if loop.leaves is None:
            raise CannotRewrite("loop-without-end", f"at line {loop.node.lineno} nothing ends the loop")
        return "", ()
    require_pure(module, [loop.node.test])
    return tensor_condition(module, loop.node.test, context)


@dataclass(frozen=True)
class _StepWriter:
    """Writer of the function of one step of a loop."""

    module: Module
    loop: Loop
    chooser: NameChooser
    context: Context

    def text(
        self, layout: Layout, name: str, parameters: Sequence[str], flag: str, count: str, *, last: bool = False
    ) -> str:
        """Return the function: what comes before the exit, whether it is taken, and what comes behind."""
        loop, inner = self.loop, layout.indent + layout.unit
        body = [f"{layout.indent}def {name}({', '.join(parameters)}):"]
        if loop.before:
            body.append(shifted(self.module, loop.before, inner, edits=_within(self.module, loop.edits, loop.before)))
        if loop.leaves is not None and flag:
            text, _ = tensor_condition(self.module, loop.leaves.test, self.context)
            opposite = spelled_out(self.module, loop.node, _NOT, self.context).text
            body.append(f"{inner}{flag} = {opposite}({text})")
            if loop.behind:
                body += self._behind(Layout(inner, layout.unit, layout.newline), flag)
        parts = [*loop.before, *loop.behind]
        results = [_result(one, parts) for one in loop.carried]
        front = [f"{count} + 1"] if count else []
        flags = [flag] if flag else []
        given = [*front, *results, *flags] if last else [*front, *flags, *results]
        alone = len(given) == 1 and not last
        body.append(f"{inner}return {operands_text(given) if alone else tuple_text(given)}")
        return layout.newline.join(body)

    def _behind(self, layout: Layout, flag: str) -> list[str]:
        """Return the lines of the code behind the exit, for when that was not taken."""
        module, loop = self.module, self.loop
        bound = stored(loop.behind)
        results = [one for one in loop.carried if one in bound]
        if not results:
            return []
        cond = spelled_out(module, loop.node, "torch.cond", self.context).text
        go, keep = self.chooser.choose(f"go_on_with_{results[0]}"), self.chooser.choose(kept_name(results))
        kept = tuple_text([f"{one}.clone()" for one in results])
        made = tuple_text([_result(one, loop.behind) for one in results])
        blocks = [
            function_text(module, layout, go, results, loop.behind, made, _within(module, loop.edits, loop.behind)),
            function_text(module, layout, keep, results, (), kept),
        ]
        call = f"{cond}({flag}, {go}, {keep}, {operands_text(results)})"
        return ["", joined_blocks(blocks, layout.newline), "", f"{layout.indent}{tuple_text(results)} = {call}"]


def _within(module: Module, edits: Sequence[Edit], statements: Sequence[ast.stmt]) -> list[Edit]:
    start, end = module.span(statements[0])[0], module.span(statements[-1])[1]
    return [edit for edit in edits if start <= edit.start < end]


def _result(name: str, parts: Sequence[ast.stmt]) -> str:
    return f"{name}.clone()" if may_alias(ast.Name(name, ast.Load()), parts) else name


def _update_name(loop: Loop) -> str:
    tensors = [one for one in loop.carried if one not in (*loop.counters, *loop.readings)]
    return f"update_{tensors[0]}" if len(tensors) == 1 else "update_values"


def _tensor(module: Module, loop: Loop) -> str:
    found = next((one for one in loop.carried if one not in (*loop.counters, *loop.readings)), None)
    if found is None:
        raise CannotRewrite("no-tensor", f"at line {loop.node.lineno} the loop changes no tensor")
    return found


def _new(tensor: str, kind: str) -> str:
    return f"{tensor}.new_{kind}((), dtype=torch.int64)"


def _first(module: Module, tensor: str, loop: Loop, name: str) -> str:
    """Return the value of a name before the first step, as the loop carries it."""
    dtype = "torch.int64" if name in loop.counters else loop.readings.get(name)
    return name if dtype is None else f"{tensor}.new_full((), {name}, dtype={dtype})"


def _said(loop: Loop) -> ast.expr:
    if isinstance(loop.node, ast.While) and not isinstance(loop.node.test, ast.Constant):
        return loop.node.test
    assert loop.leaves is not None or isinstance(loop.node, ast.For)
    return loop.leaves.test if loop.leaves is not None else loop.node.iter  # type: ignore[union-attr]


def _layout(module: Module, node: ast.While | ast.For) -> Layout:
    indent, first = module.indentation(node), module.indentation(node.body[0])
    if indent is None or first is None:
        raise CannotRewrite("one-line", f"at line {node.lineno} the loop stands on one line")
    unit = module.unit_of_indentation(node.body[0])
    return Layout(indent + unit, unit, module.newline)


def _edit(module: Module, node: ast.While | ast.For, lines: Sequence[str], layout: Layout) -> Edit:
    """Return the lines in front of the loop, which goes one step further in."""
    outer = layout.indent.removesuffix(layout.unit)
    kept = shifted(module, [node], layout.indent, changed=False)
    return Edit(*module.span(node), layout.newline.join([*lines, f"{outer}else:", kept]).encode())

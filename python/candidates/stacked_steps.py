"""Loops whose steps each compute one value of a row: one expression on all rows, or ``torch.vmap``, in the program."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix
from ..analysis.flow.blocks import read_after, stored
from ..analysis.flow.collected_rows import Collected, collected
from ..analysis.flow.row_steps import Part, RowSteps, StepLoop
from ..analysis.must.effects import require_pure
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..rewrite.qualified_names import spelled_out
from ..syntax.module import Module
from .local_functions import Layout, NameChooser, described, function_text
from .program_branch import ProgramBranch, grouped
from .whole_rows import WholeRows, edited_text

NAME, MAPPED = "use_whole_rows", "use_vmap"


def stacked(module: Module, loop: StepLoop, context: Context) -> Iterator[Fix]:
    """``torch.stack([f(x[i]) for i in range(n)])`` → ``f(x)``, if `f` takes each element, or row, by itself.

    Raises CannotRewrite.
    """
    found = _values(module, loop)
    if found is None:
        return
    _require_apart(found.steps, [*found.body, found.value])
    rows, lines = WholeRows(found.steps).after(found.body)
    text, along = rows.text(found.value), rows.dimension(found.value)
    kept = {part.is_kept for one in (*found.body, found.value) for _, part in found.steps.parts(one)}
    if len(kept) > 1:
        raise CannotRewrite("not-row-wise", f"at line {found.value.lineno} rows meet slices of one row")
    is_kept = kept.pop()
    if found.stacks:
        text = _moved(f"{grouped(text)}.unsqueeze({along + 1})" if is_kept else text, along, found.dimension)
    elif not is_kept and along == found.dimension == 0:
        text = f"{grouped(text)}.flatten(0, 1)"
    elif not (is_kept and found.dimension == along):
        raise CannotRewrite(
            "not-row-wise", f"at line {found.value.lineno} the steps are joined along another dimension"
        )
    branch = ProgramBranch(module, context, found.statements)
    message = f"compute `{ast.unparse(found.value)}` of all rows at once"
    yield branch.fix(NAME, [*lines, branch.joined(found.join, text)], message)


def mapped(module: Module, loop: StepLoop, context: Context) -> Iterator[Fix]:
    """``torch.stack([f(x[i]) for i in range(n)])`` → ``torch.vmap(f)(x)``. Raises CannotRewrite."""
    found = _values(module, loop)
    if found is None:
        return
    branch = ProgramBranch(module, context, found.statements)
    vmap = spelled_out(module, loop, "torch.vmap", context)
    before, call = mapping(found.steps, found.body, found.value, branch.layout, vmap.text)
    if not found.stacks:
        if found.dimension:
            raise CannotRewrite(
                "not-row-wise", f"at line {found.value.lineno} the steps are joined along another dimension"
            )
        call = f"{call}.flatten(0, 1)"
    elif found.dimension:
        call = f"{call}.movedim(0, {found.dimension})"
    message = f"compute `{ast.unparse(found.value)}` of all rows by torch.vmap"
    yield branch.fix(MAPPED, [*before, branch.joined(found.join, call)], message, vmap.needs)


def mapping(
    steps: RowSteps, body: Sequence[ast.stmt], value: ast.expr, layout: Layout, vmap: str
) -> tuple[list[str], str]:
    """Return the lines in front of a call of ``torch.vmap``, and the call. Raises CannotRewrite."""
    module = steps.module
    chooser = NameChooser(module)
    names: dict[str, tuple[str, Part]] = {}
    edits: list[Edit] = []
    for one in (*body, value):
        for node, part in steps.parts(one):
            key = f"{ast.unparse(part.tensor)} {part.dimension} {part.is_kept}"
            if part.lengths is not None or (part.rest and part.dimension):
                raise CannotRewrite("not-row-wise", f"at line {node.lineno} a step takes several rows")
            if part.is_number and not isinstance(module.parents[node], (ast.BinOp, ast.Compare, ast.UnaryOp)):
                raise CannotRewrite("number-of-step", f"at line {node.lineno} `{ast.unparse(node)}` is a size or index")
            wanted = node.id if isinstance(node, ast.Name) else _row_name(part)
            if key not in names:
                names[key] = (wanted if isinstance(node, ast.Name) else chooser.choose(wanted), part)
            rest = f"[{', '.join(steps.text(each) for each in part.rest)}]" if part.rest else ""
            edits.append(Edit(*module.span(node), f"{names[key][0]}{rest}".encode()))
    _require_apart(steps, [*body, value])
    parameters = [name for name, _ in names.values()]
    if not parameters:
        raise CannotRewrite("not-row-wise", f"at line {value.lineno} a step takes no row")
    function = described(body, []) if body else ""
    before: list[str] = []
    text = edited_text(module, value, edits)
    if body:
        function = chooser.choose(function)
        written = function_text(module, layout, function, parameters, body, text, edits)
        before = [written.removeprefix(layout.indent), ""]
    elif (
        isinstance(value, ast.Call)
        and len(value.args) == 1
        and not value.keywords
        and text.endswith(f"({parameters[0]})")
    ):
        function = steps.text(value.func)
    else:
        function = f"lambda {', '.join(parameters)}: {text}"
    places = tuple(part.dimension for _, part in names.values())
    options = "" if not any(places) else f", in_dims={places[0] if len(places) == 1 else places}"
    wholes = [_whole(steps, part) for _, part in names.values()]
    return before, f"{vmap}({function}{options})({', '.join(wholes)})"


def _whole(steps: RowSteps, part: Part) -> str:
    text = steps.whole(part)
    return f"{text}.unsqueeze({part.dimension + 1})" if part.is_kept else text


def _row_name(part: Part) -> str:
    last = part.tensor.attr if isinstance(part.tensor, ast.Attribute) else ast.unparse(part.tensor)
    return f"{last}_row" if last.isidentifier() else "row"


def _values(module: Module, loop: StepLoop) -> Collected | None:
    """Return what the steps of a loop give, if each does nothing else. Raises CannotRewrite."""
    found = collected(module, loop)
    if found is None or not (found.body or any(True for _ in found.steps.parts(found.value))):
        return None
    require_pure(module, [*found.body, found.value])
    if found.behind:
        line = found.behind[0].lineno
        raise CannotRewrite("step-depends", f"at line {line} a step gives the next one a value")
    return found


def _require_apart(steps: RowSteps, parts: Sequence[ast.AST]) -> None:
    """Raise CannotRewrite where a step reads its number, or what the step before left."""
    taken = {id(inner) for one in parts for node, _ in steps.parts(one) for inner in ast.walk(node)}
    own = [one for one in parts if isinstance(one, ast.stmt)]
    given: set[str] = set()
    for one in parts:
        for node in ast.walk(one):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in taken:
                if node.id == steps.index:
                    detail = f"at line {node.lineno} the number `{node.id}` of the step is a value"
                    raise CannotRewrite("number-of-step", detail)
                if node.id in steps.bound and node.id not in given and node.id not in steps.names:
                    detail = f"at line {node.lineno} a step reads `{node.id}` of the step before"
                    raise CannotRewrite("step-depends", detail)
        given.update(stored([one]))
    late = {*stored(own)} & read_after(steps.module, [steps.node]) if isinstance(steps.node, ast.For) else set()
    if late:
        raise CannotRewrite("step-depends", f"`{min(late)}` of the last step is read behind the loop")


def _moved(text: str, along: int, wanted: int) -> str:
    return text if along == wanted else f"{grouped(text)}.movedim({along}, {wanted})"

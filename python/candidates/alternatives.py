"""Candidate rewrites at a failing line where no rule applies. Each is kept only when a run proves it.

A value chosen by a size becomes ``torch.sym_ite``. A check keeps its AssertionError. A comparison gets a default if
there is a reason for one. Shapes are compared by ``sym_eq``. ``is_contiguous`` becomes a form that does not raise. A
branch on an order is taken with amounts that are neutral where the condition is false. Calls that need a number or have
no derivative become equivalent others. Code that TorchScript compiles is unchanged.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...codemods.model.rule import Context, Fix, Safety
from ...codemods.model.source_file import SourceFile
from ..analysis.decisions.comparisons import Default, of_comparison
from ..analysis.decisions.condition_leaves import leaf_at, quantified
from ..analysis.decisions.default_choice import ONLY_BAD_REFUSED
from ..analysis.flow.fix_eligibility import obstacle
from ..analysis.flow.flow import flow
from ..analysis.must.must_type_inference import surely
from ..analysis.must.sym_operator_equivalence import unfit_for_sym_eq
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..analysis.types.may_types import Kind
from ..rewrite.change_types import Called, Change, Changes, Compared, Equated, Plain, Received, Selected
from ..rewrite.edits import chosen_value
from ..rewrite.findings import change, fix
from ..rewrite.qualified_names import guarded, refusal, spell
from ..rewrite.raised_checks import check_beside, check_for, exception_of
from ..syntax.module import Module, parse
from .cache_bypass import computed_anew, uncached_attribute
from .call_contracts import length_stated
from .checked_defaults import checked_choice, checked_default
from .clamped_slices import clamped_ends, read_bounds
from .equality import equal_dimensions, equal_in_eager, may_refuse
from .inductor_choices import early_fallback, estimated_cost, estimated_order
from .inductor_sizes import floored_size, symbolic_clamp, undecided_sizes
from .inert_branches import always_cropped, modular_amounts, taken_while_compiling, told_in_eager
from .inferred_size import computed_size
from .inlined_wrappers import unwrapped
from .neutral_amounts import neutral_amounts
from .prim_replacement import replace_prim
from .relayout import laid_out_anew, made_in_format
from .runtime_assertions import assert_in_program, assert_side, refuse_joined
from .safe_division import floored_choice, floored_divisors, quotient_or_zero
from .scalar_reads import read_scalar
from .script_choice import chosen_beside_script
from .skipped_shortcuts import left_out
from .stride_sort import sorted_by_stride
from .symbolic_logic import concrete_first, opposite_chosen
from .symbolic_numbers import (
    first_sizes,
    number_of_elements,
    scalar_tensor,
    symbolic_complex,
    symbolic_extremum,
    symbolic_root,
)
from .traceable_calls import filled_diagonal, fixed_algorithm, listed_range
from .value_decisions import of_loops, of_rows, of_values

NAME = "alternative"
_SIMPLE = (ast.Name, ast.Constant, ast.Attribute, ast.BinOp, ast.UnaryOp, ast.Subscript, ast.operator, ast.unaryop)
_HARMLESS = (ast.Add, ast.Sub, ast.Mult)
_DIVIDING = (ast.Div, ast.FloorDiv, ast.Mod)


def extent(source: SourceFile, line: int, function: str) -> tuple[int, int] | None:
    """Return the byte range of the smallest statement at a line.

    For a compound statement it is only the head, unless the statement is all on one line.
    """
    module = parse(source)
    best: tuple[int, ast.stmt] | None = None
    for node in _statements_at(module.tree, line):
        size = (node.end_lineno or node.lineno) - node.lineno
        if best is None or size <= best[0]:
            best = size, node
    if best is None:
        return None
    start, end = module.span(best[1])
    above = module.parents[best[1]]
    if isinstance(above, ast.stmt) and above.lineno == above.end_lineno:
        return module.span(above)
    body = getattr(best[1], "body", None)
    return (start, module.span(body[0])[0]) if isinstance(body, list) and body else (start, end)


def _statements_at(node: ast.AST, line: int) -> Iterator[ast.stmt]:
    """Yield the statements inside a node that contain a line, outer before inner."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            if child.lineno <= line <= (child.end_lineno or child.lineno):
                yield child
                yield from _statements_at(child, line)
        elif isinstance(child, ast.ExceptHandler | ast.match_case):
            yield from _statements_at(child, line)


def alternatives(source: SourceFile, context: Context, where: tuple[int, int]) -> Iterator[Fix]:
    """Yield the fixes inside the byte range ``where``. Those that need no default come first.

    In a package that supports TorchScript, those that it does not compile come last, as a choice beside the old text.
    """
    yield from _alternatives(source, context, where)
    if context.tried and source.package_speaks:
        for found in _alternatives(source, replace(context, drop_torchscript=True), where):
            yield from chosen_beside_script(parse(source), found, where, context)


def _alternatives(source: SourceFile, context: Context, where: tuple[int, int]) -> Iterator[Fix]:
    # Uses LibCST, which is slow to import.
    from .torchscript_branch import check_beside_script, default_beside_script, warning_beside_script

    module = parse(source)
    choices: list[ast.If | ast.IfExp] = [*module.nodes.ifs, *module.nodes.every(ast.IfExp)]
    for node in choices:
        if _inside(module, node.test, where) and _allowed(module, node, context):
            yield from _chosen_value(module, node, context)
            if isinstance(node, ast.IfExp):
                yield from quotient_or_zero(NAME, module, node, context)
    calls = [one for one in module.nodes.calls if _inside(module, one, where) and _allowed(module, one, context)]
    for call in calls:
        for rewrite in (
            replace_prim,
            computed_size,
            laid_out_anew,
            made_in_format,
            sorted_by_stride,
            symbolic_root,
            symbolic_complex,
            scalar_tensor,
            number_of_elements,
            symbolic_extremum,
            equal_in_eager,
            floored_size,
            symbolic_clamp,
            undecided_sizes,
            estimated_cost,
            estimated_order,
            early_fallback,
        ):
            yield from rewrite(NAME, module, call, context)
    # TorchScript compiles `x.size(0)`.
    scripted = replace(context, drop_torchscript=True)
    lengths = [one for one in module.nodes.calls if _inside(module, one, where) and _allowed(module, one, scripted)]
    yield from first_sizes(NAME, module, lengths, context)
    for branch in module.nodes.ifs:
        if _inside(module, branch.test, where) and _allowed(module, branch, context):
            yield from neutral_amounts(NAME, module, branch, context)
        if _inside(module, branch.test, where):
            for write in (check_beside_script, warning_beside_script):
                beside = write(module, branch, context, NAME)
                if beside is not None:
                    yield beside
            if not context.tried:
                yield from default_beside_script(module, branch, context, NAME)
    for asserted in module.nodes.asserts:
        if _inside(module, asserted.test, where) and _allowed(module, asserted, context):
            yield from _same_error(module, asserted, context)
    for joined in module.nodes.every(ast.BoolOp):
        if _inside(module, joined, where):
            yield from concrete_first(NAME, module, joined, context)
    atoms = [
        atom
        for atom in _atoms(module, loops=not context.tried)
        if _inside(module, atom, where) and _allowed(module, atom, context)
    ]
    for atom in atoms:
        yield from _contiguity(module, atom, context)
    for atom in atoms:
        yield from _default(module, atom, context)
        if context.tried:
            yield from _default_of_predicate(module, atom, context)
    for branch in module.nodes.ifs:
        if _inside(module, branch.test, where) and _allowed(module, branch, context):
            yield from checked_default(NAME, module, branch, context)
    for choice in module.nodes.every(ast.IfExp):
        if _inside(module, choice.test, where) and _allowed(module, choice, context):
            yield from checked_choice(NAME, module, choice, context)
    yield from unwrapped(NAME, module, where, context)
    if context.tried:
        yield from _of_values(module, where, context)
        for size in _sizes_as_truths(module, where):
            yield from _default_of_size(module, size, context)
        yield from left_out(NAME, module, where, context)


def _of_values(module: Module, where: tuple[int, int], context: Context) -> Iterator[Fix]:
    """Yield the fixes for values that a trace has shown to be symbolic, regardless of their inferred types."""
    for call in module.nodes.calls:
        if _inside(module, call, where):
            yield from read_scalar(NAME, module, call, context)
            if _allowed(module, call, context):
                yield from fixed_algorithm(NAME, module, call, context)
                yield from filled_diagonal(NAME, module, call, context)
    for operation in module.nodes.every(ast.BinOp):
        if _inside(module, operation, where):
            yield from opposite_chosen(NAME, module, operation, context)
    for statement in module.nodes.every(ast.stmt, ast.stmt):
        if module.span(statement)[0] == where[0]:
            yield from length_stated(NAME, module, statement, context)
            yield from read_bounds(NAME, module, statement, context)
            yield from listed_range(NAME, module, statement, context)
            if _allowed(module, statement, context):
                yield from uncached_attribute(NAME, module, statement, context)
    branches = [one for one in module.nodes.ifs if _inside(module, one.test, where) and _allowed(module, one, context)]
    for node in branches:
        yield from computed_anew(NAME, module, node, context)
        yield from always_cropped(NAME, module, node, context)
        yield from told_in_eager(NAME, module, node, context)
        yield from floored_divisors(NAME, module, node, context)
    choices: list[ast.If | ast.IfExp] = [*branches, *module.nodes.every(ast.IfExp)]
    decisions = [one for one in choices if _inside(module, one.test, where) and not _is_of_sizes(module, one.test)]
    for choice in choices:
        if isinstance(choice, ast.IfExp) and _inside(module, choice.test, where):
            yield from floored_choice(NAME, module, choice, context)
    for choice in decisions:
        # No input can test the other side of a flag of the module.
        if not _is_flag(choice.test):
            yield from of_values(module, choice, context)
    yield from of_loops(module, where, context)
    yield from of_rows(module, where, context)
    for node in branches:
        yield from modular_amounts(NAME, module, node, context)
        yield from taken_while_compiling(NAME, module, node, context)
    for part in module.nodes.every(ast.Subscript):
        if _inside(module, part, where):
            yield from clamped_ends(NAME, module, part, context)


def _is_of_sizes(module: Module, test: ast.expr) -> bool:
    """Return whether a condition certainly compares sizes. A value that is read out of a tensor may still be one."""
    if any(isinstance(one, ast.Attribute) and one.attr == "item" for one in ast.walk(test)):
        return False
    return any(isinstance(one, ast.Compare) and flow(module).kind(one) is Kind.TRUTH for one in ast.walk(test))


def _compares_numbers(test: ast.expr) -> bool:
    """Return whether every operand of a condition is a comparison, so that it may be of sizes."""
    if isinstance(test, ast.BoolOp):
        return all(map(_compares_numbers, test.values))
    return _compares_numbers(test.operand) if isinstance(test, ast.UnaryOp) else isinstance(test, ast.Compare)


def _is_flag(test: ast.expr) -> bool:
    """Return whether a condition only reads attributes of the module."""
    names = [one for one in ast.walk(test) if isinstance(one, ast.Name)]
    calls = [one.func for one in ast.walk(test) if isinstance(one, ast.Call)]
    reads = all(isinstance(one, ast.Attribute) and one.attr == "item" for one in calls)
    return bool(names) and reads and all(one.id == "self" for one in names)


def preferred(source: SourceFile, context: Context, where: tuple[int, int]) -> Iterator[Fix]:
    """Yield the fixes inside the byte range ``where`` that come before any default.

    After these, a program rejects the same inputs as the statement there, or keeps the tested flag fixed.
    """
    if not context.tried:
        return
    module = parse(source)
    for node in module.nodes.ifs:
        if (
            exception_of(node.body) is not None
            and _inside(module, node.test, where)
            and obstacle(module.place(node), context, scriptable=True) is None
        ):
            allowed, of_sizes = _allowed(module, node, context), _is_of_sizes(module, node.test)
            if allowed and not _compares_numbers(node.test):
                yield from assert_side(NAME, module, node, context, truth=False)
                yield from refuse_joined(NAME, module, node, context)
            plain = isinstance(node.body[-1], ast.Raise)
            for write in (*(check_for,) * plain, *(check_beside,) * allowed):
                with contextlib.suppress(CannotRewrite):
                    yield write(NAME, module.place(node), node, context)
            if allowed and not of_sizes:
                yield from assert_side(NAME, module, node, context, truth=False)
    for node in module.nodes.ifs:
        if _inside(module, node.test, where) and _is_flag(node.test) and _allowed(module, node, context):
            for truth in (False, True):
                yield from assert_side(NAME, module, node, context, truth=truth)
    for asserted in module.nodes.asserts:
        if _inside(module, asserted.test, where) and _allowed(module, asserted, context):
            if not _compares_numbers(asserted.test):
                yield from assert_in_program(NAME, module, asserted, context)
            yield from _same_error(module, asserted, context)


def _inside(module: Module, node: ast.AST, where: tuple[int, int]) -> bool:
    start, end = module.span(node)
    return where[0] <= start and end <= where[1]


def _allowed(module: Module, node: ast.AST, context: Context) -> bool:
    return obstacle(module.place(node), context, default=True) is None


def _atoms(module: Module, *, loops: bool) -> Iterator[ast.expr]:
    """Yield the comparisons and calls in conditions, without ``and``, ``or`` and ``not``.

    A default makes the tracing of a loop on values endless. With ``loops``, the conditions of ``while`` are included.
    """
    seen: set[int] = set()
    tested: list[ast.If | ast.While | ast.IfExp] = [
        *module.nodes.ifs,
        *(module.nodes.every(ast.While) if loops else ()),
    ]
    conditions = [node.test for node in (*tested, *module.nodes.every(ast.IfExp))]
    conditions += [one for node in module.nodes.every(ast.comprehension) for one in node.ifs]
    conditions += module.nodes.every(ast.BoolOp)
    conditions += [node.operand for node in module.nodes.every(ast.UnaryOp) if isinstance(node.op, ast.Not)]
    conditions += [
        node.args[0].elt
        for node in module.nodes.calls
        if quantified(node) and isinstance(node.args[0], (ast.GeneratorExp, ast.ListComp))
    ]
    conditions += [
        node.args[0]
        for node in module.nodes.calls
        if isinstance(node.func, ast.Name) and node.func.id == "bool" and len(node.args) == 1
    ]
    for condition in conditions:
        pending = [condition]
        while pending:
            node = pending.pop(0)
            if isinstance(node, ast.BoolOp):
                pending += node.values
            elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
                pending.append(node.operand)
            elif id(node) not in seen and isinstance(node, (ast.Compare, ast.Call)):
                seen.add(id(node))
                yield node


def _sizes_as_truths(module: Module, where: tuple[int, int]) -> Iterator[ast.expr]:
    """Yield the names in the condition of an ``if`` that may be sizes tested for truth."""
    tested: list[ast.If | ast.IfExp] = [*module.nodes.ifs, *module.nodes.every(ast.IfExp)]
    for node in tested:
        pending = [node.test] if _inside(module, node.test, where) else []
        while pending:
            one = pending.pop(0)
            if isinstance(one, ast.BoolOp):
                pending += one.values
            elif isinstance(one, ast.UnaryOp) and isinstance(one.op, ast.Not):
                pending.append(one.operand)
            elif isinstance(one, ast.Name) and not _may_be_bool(module, one):
                yield one


def _may_be_bool(module: Module, use: ast.Name) -> bool:
    """Return whether a value assigned to the name may be no size. Then 0 would not be its special case."""
    function = module.place(use).function
    given = (
        []
        if function is None
        else [
            one.value
            for one in function.nodes.every(ast.Assign)
            if any(isinstance(target, ast.Name) and target.id == use.id for target in one.targets)
        ]
    )
    return not given or any(isinstance(one, (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Constant)) for one in given)


def _default_of_size(module: Module, size: ast.expr, context: Context) -> Iterator[Fix]:
    """Yield the fix ``if n:`` → ``if guard_or_true(n != 0):``, for ``not n`` likewise."""
    guard = spell(module, size, guarded("guard_or_true"), context)
    if guard is None or not _allowed(module, size, context):
        return
    text = module.text(size).decode()
    words = f"an undecided `{text}` is taken as not 0: 0 is the special case"
    changes: list[tuple[ast.expr, Change]] = [(size, Compared("!=")), (size, Called(guard.text))]
    yield from _written(module, size, changes, f"give `{text}` the default not 0", guard.needs, [words])


def _same_error(module: Module, node: ast.Assert, context: Context) -> Iterator[Fix]:
    """Yield the fix ``assert c, m`` → ``torch._check_with(AssertionError, c, lambda: m)``. The error keeps its type."""
    place = module.place(node)
    try:
        written = check_for(NAME, place, node, context, same_error=True)
    except CannotRewrite:
        return
    yield written


def _default_of_predicate(module: Module, call: ast.expr, context: Context) -> Iterator[Fix]:
    """Yield the fix ``empty(x)`` → ``guard_or_false(empty(x))``, for a function that only returns a comparison."""
    compared = None if may_refuse(module, call) else _compared_by(module, call)
    default = _reasoned(module, compared) if compared is not None else None
    guard = spell(module, call, guarded(f"guard_or_{str(default.truth).lower()}"), context) if default else None
    if default is None or guard is None:
        return
    text = module.text(call).decode()
    words = f"an undecided `{text}` is taken as {str(default.truth).lower()}: {default.why}"
    yield from _written(
        module, call, [(call, Called(guard.text))], f"give `{text}` the default {default.truth}", guard.needs, [words]
    )


def _compared_by(module: Module, call: ast.expr) -> ast.Compare | None:
    """Return the comparison that is all that a called function of this module does, or None."""
    name = call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""
    called, caller = module.names.defined_at_top.get(name), module.place(call).function
    if called is None or caller is None or name in caller.nodes.stored:
        return None
    body = called.node.body[1:] if ast.get_docstring(called.node) is not None else called.node.body
    value = body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None
    one = isinstance(value, ast.Compare) and len(value.ops) == 1 and _compares(value)
    return value if isinstance(value, ast.Compare) and one and _is_of_sizes(module, value) else None


def _default(module: Module, atom: ast.expr, context: Context) -> Iterator[Fix]:
    """Yield the fix that gives a comparison a default, if there is a reason for one."""
    if not isinstance(atom, ast.Compare) or len(atom.ops) != 1 or not _compares(atom):
        return
    default = _reasoned(module, atom)
    if default is None:
        return
    truth = str(default.truth).lower()
    text = module.text(atom).decode()
    words = f"an undecided `{text}` is taken as {truth}: {default.why}"
    guard = spell(module, atom, guarded(f"guard_or_{truth}"), context)
    if guard is None:
        return
    message = f"give `{text}` the default {default.truth}"
    of_shapes = flow(module).comparison(atom).of_shapes
    plain = _written(module, atom, [(atom, Called(guard.text))], message, guard.needs, [words])
    if not of_shapes:
        yield from plain
    if isinstance(atom.ops[0], (ast.Eq, ast.NotEq)) and not _number(atom.comparators[0]) and not _number(atom.left):
        yield from _on_sequences(module, atom, context, default.truth, words)
    if of_shapes:
        yield from plain


def _reasoned(module: Module, atom: ast.Compare) -> Default | None:
    """Return the default by a branch that only raises, or by the operands."""
    branch = next((one for one in module.place(atom).ancestors if isinstance(one, ast.stmt)), None)
    leaf = leaf_at(flow(module), atom, atom)
    if isinstance(branch, ast.If) and isinstance(branch.body[-1], ast.Raise):
        no_branch = replace(leaf, test=branch).no_branch
        return None if no_branch is None else Default(no_branch, ONLY_BAD_REFUSED)
    found = of_comparison(leaf, atom)
    return found if isinstance(found, Default) else None


def _on_sequences(module: Module, atom: ast.Compare, context: Context, truth: bool, words: str) -> Iterator[Fix]:
    equality = isinstance(atom.ops[0], ast.Eq)
    guard = spell(module, atom, guarded(f"guard_or_{str(truth is equality).lower()}"), context)
    equal = spell(module, atom, guarded("sym_eq"), context)
    unfit = unfit_for_sym_eq(surely(module), atom)
    if refusal(module, atom, guarded("sym_eq"), context):
        if context.tried:
            yield from equal_dimensions(NAME, module, atom, context, truth=truth is equality)
        return
    if guard is None or equal is None or (unfit and unfit[0] == "list-against-tuple"):
        return
    changes: list[tuple[ast.expr, Change]] = [(atom, Equated(equal.text)), (atom, Called(guard.text))]
    if not equality:
        changes.append((atom, Plain.NEGATED))
    message = f"compare the shapes without forcing each size, default {truth}"
    yield from _written(module, atom, changes, message, (*guard.needs, *equal.needs), [words])


def _compares(atom: ast.Compare) -> bool:
    return isinstance(atom.ops[0], (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE))


def _number(node: ast.expr) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, (ast.Constant, ast.BinOp))


def _contiguity(module: Module, atom: ast.expr, context: Context) -> Iterator[Fix]:
    """Yield the fix ``x.is_contiguous()`` → ``is_contiguous_or_false(x)``, also for the contiguous memory format."""
    if not isinstance(atom, ast.Call) or not isinstance(atom.func, ast.Attribute) or atom.args:
        return
    formats = {one.arg: module.names.meaning(one.value) for one in atom.keywords}
    if atom.func.attr != "is_contiguous" or formats not in ({}, {"memory_format": "torch.contiguous_format"}):
        return
    spelled = spell(module, atom, "torch._prims_common.is_contiguous_or_false", context)
    if spelled is None:
        return
    receiver = module.text(atom.func.value).decode()
    words = f"`{receiver}` counts as not contiguous when that is undecided"
    changes = [(atom, Received(spelled.text))]
    yield from _written(module, atom, changes, "ask for contiguity without an error", spelled.needs, [words])


def _written(
    module: Module, atom: ast.expr, changes: Changes, message: str, needs: tuple[str, ...], doubts: Sequence[str] = ()
) -> Iterator[Fix]:
    made = change(NAME, module.place(atom), changes, message, needs, doubts, Safety.UNSAFE)
    if isinstance(made, Fix):
        yield made


def _chosen_value(module: Module, node: ast.If | ast.IfExp, context: Context) -> Iterator[Fix]:
    """Yield the fix ``if c: n -= 1`` → ``n = torch.sym_ite(c, n - 1, n)``. The choice becomes an expression."""
    compares = isinstance(node.test, ast.Compare) and len(node.test.ops) == 1
    # A value that a trace has shown to be symbolic may be a plain name.
    if not compares and not (context.tried and isinstance(node.test, ast.Name)):
        return
    choose = spell(module, node, "torch.sym_ite", context)
    if choose is None:
        return
    test = module.text(node.test).decode()
    message = f"`{test}` chooses a size; both stay in one expression"
    if isinstance(node, ast.IfExp):
        if _harmless(node.body) and _harmless(node.orelse):
            yield from _written(module, node, [(node, Selected(choose.text))], message, choose.needs)
    elif _one_assignment(node):
        try:
            edit = chosen_value(module, node, choose.text)
        except CannotRewrite:
            return
        yield fix(NAME, module.place(node), [edit], message, choose.needs, safety=Safety.UNSAFE)


def _one_assignment(node: ast.If) -> bool:
    """Return whether the body is one assignment whose value can't raise."""
    if node.orelse or len(node.body) != 1:
        return False
    only = node.body[0]
    if isinstance(only, ast.AugAssign):
        return isinstance(only.target, ast.Name) and isinstance(only.op, _HARMLESS) and _harmless(only.value)
    one = isinstance(only, ast.Assign) and len(only.targets) == 1 and isinstance(only.targets[0], ast.Name)
    return one and isinstance(only, ast.Assign) and _harmless(only.value)


def _harmless(node: ast.expr) -> bool:
    """Return whether evaluating it can't raise: sizes added, subtracted and multiplied."""
    inside = [one for one in ast.walk(node) if not isinstance(one, (ast.expr_context,))]
    return all(isinstance(one, _SIMPLE) and not isinstance(one, _DIVIDING) for one in inside)

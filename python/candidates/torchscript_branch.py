"""Checks for branches that TorchScript needs, in the style of torch.nn.functional.

TorchScript compiles neither a lambda nor a symbolic helper. It skips the ``else`` of ``if torch.jit.is_scripting()``
and functions that are marked as unused. So the branch is unchanged for TorchScript. Otherwise a small function, marked
as unused, is called. It contains the check or gives a comparison its default.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import libcst as cst

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Safety
from ...codemods.system.python_parser import parse_module
from ..analysis.decisions.branch_kind import only_complains, only_raises
from ..analysis.decisions.comparisons import Default
from ..analysis.decisions.condition_leaves import leaf_at
from ..analysis.decisions.default_choice import general
from ..analysis.flow.fix_eligibility import scripted
from ..analysis.flow.flow import flow
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..rewrite.change_types import Scripted
from ..rewrite.edits import edited
from ..rewrite.findings import fix
from ..rewrite.qualified_names import SCRIPTING, guarded, spell
from ..rewrite.raised_checks import check_for
from ..rewrite.script_code import branch_for_script, function_unused, parsed, warning
from ..syntax.module import Module
from ..syntax.tree import FunctionDefinition

_UNUSED, _OWN_UNUSED = "torch.jit.unused", "torch._jit_internal.unused"
"""Decorator for functions that TorchScript does not compile, and its name in torch's own modules, which are imported
before ``torch.jit``."""
_SHARED = "_warn_unless_same_size"
_NOBODY_TOLD = "only sizes that surely differ are told"


def _unused(module: Module) -> str:
    return _OWN_UNUSED if module.own_tree else _UNUSED


def check_beside_script(module: Module, node: ast.If, context: Context, name: str) -> Fix | None:
    """Return the fix for an ``if`` that only raises, in a function that TorchScript compiles, or None."""
    if not only_raises(node) or not _compiled(module, node):
        return None
    place = module.place(node)
    try:
        check = check_for(name, place, node, context, beside_script=True)
    except CannotRewrite:
        return None
    message = f"`{module.text(node.test).decode()}` can be checked later, outside of TorchScript"
    (edit,) = check.edits
    body = parsed(module, node, edit.text)
    beside = _beside(module, node, context, "check", body, check.needs)
    if beside is None:
        return None
    edits, needs = beside
    return fix(name, place, edits, message, needs, [check.default] if check.default else [], Safety.UNSAFE)


def warning_beside_script(module: Module, node: ast.If, context: Context, name: str) -> Fix | None:
    """Return the fix for an ``if`` that only warns of different shapes. Undecided shapes are taken as equal."""
    call = _only_warns(node)
    test = node.test.operand if isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not) else node.test
    if call is None or not _compiled(module, node) or not isinstance(test, ast.Compare):
        return None
    differ = isinstance(test.ops[0], ast.NotEq) is (test is node.test)
    if len(test.ops) != 1 or not isinstance(test.ops[0], (ast.Eq, ast.NotEq)) or not differ:
        return None
    if not flow(module).comparison(test).of_shapes:
        return None
    words = f"undecided shapes are taken as equal in `{module.text(node.test).decode()}`, and nobody is warned"
    message = f"`{module.text(node.test).decode()}` only decides about a warning"
    imports = (guarded("guard_or_true"), guarded("sym_eq"))
    beside = _beside(module, node, context, "warn", warning(module, node, test), imports)
    if beside is None:
        return None
    edits, needs = beside
    return fix(name, module.place(node), edits, message, needs, [words], Safety.UNSAFE)


def default_beside_script(module: Module, node: ast.If, context: Context, name: str) -> Iterator[Fix]:
    """Yield a default for each comparison of the condition, in a function that TorchScript compiles."""
    if not _compiled(module, node) or only_raises(node):
        return
    for atom in _operands(node.test):
        default = _general(module, atom, node)
        unused, scripting = (spell(module, node, one, context) for one in (_unused(module), SCRIPTING))
        if default is None or unused is None or scripting is None or flow(module).comparison(atom).of_shapes:
            continue
        guard = f"guard_or_{str(default.truth).lower()}"
        helper = f"_{guard}"
        body = cst.parse_statement(f"return {guard}(condition)")
        assert isinstance(body, cst.SimpleStatementLine)
        text = function_unused(
            module, unused.text, helper, ["condition"], _homes((guarded(guard),)), body, returns="bool"
        )
        known = _defined(module, helper, text)
        if helper in module.names.bound and not known:
            continue
        try:
            edits = [edited(module, atom, [(atom, Scripted(scripting.text, helper))])]
        except CannotRewrite:
            continue
        if not known:
            start = _start(module, module.place(node).ancestors)
            edits.append(Edit(start, start, text.encode()))
        words = module.text(atom).decode()
        taken = f"an undecided `{words}` is taken as {str(default.truth).lower()}: {default.why}"
        message = f"give `{words}` a default, outside of TorchScript"
        needs = (*unused.needs, *scripting.needs)
        yield fix(name, module.place(atom), edits, message, needs, [taken], Safety.UNSAFE)


def _general(module: Module, atom: ast.Compare, branch: ast.If) -> Default | None:
    """Return the default by the effect of the branch, or by the operands."""
    known = flow(module)
    leaf = replace(leaf_at(known, atom, atom), test=branch)
    if only_complains(branch):
        return None if leaf.no_branch is None else Default(leaf.no_branch, _NOBODY_TOLD)
    found = general(known, leaf)
    return found if isinstance(found, Default) else None


def _operands(condition: ast.expr) -> Iterator[ast.Compare]:
    """Yield the two-sided comparisons that ``and``, ``or`` and ``not`` join."""
    if isinstance(condition, ast.BoolOp):
        for value in condition.values:
            yield from _operands(value)
    elif isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not):
        yield from _operands(condition.operand)
    elif isinstance(condition, ast.Compare) and len(condition.ops) == 1:
        yield condition


def _compiled(module: Module, node: ast.If) -> bool:
    function = module.place(node).function
    return function is not None and function.outer is None and scripted(module, function)


def _only_warns(node: ast.If) -> ast.Call | None:
    only = node.body[0] if len(node.body) == 1 and not node.orelse else None
    call = only.value if isinstance(only, ast.Expr) else None
    return call if isinstance(call, ast.Call) and ast.unparse(call.func) == "warnings.warn" else None


def _beside(
    module: Module, node: ast.If, context: Context, verb: str, body: cst.BaseStatement, imports: Sequence[str]
) -> tuple[list[Edit], tuple[str, ...]] | None:
    """Return edits that keep the branch for TorchScript, and otherwise call a new function, and what these need.

    The new function has this ``body``, which needs ``imports``.
    """
    function = module.place(node).function
    assert function is not None
    unused = spell(module, function.node, _unused(module), context)
    scripting = spell(module, node, SCRIPTING, context)
    names = _used(module, function, node)
    if unused is None or scripting is None or module.indentation(node) is None:
        return None
    for helper in _names(verb, function, node):
        text = function_unused(module, unused.text, helper, names, _homes(imports), body)
        known = _defined(module, helper, text)
        if known or helper not in module.names.bound:
            break
    else:
        return None
    edits = [branch_for_script(module, node, scripting.text, helper, names)]
    if not known:
        start = _before_all(module, node)
        edits.append(Edit(start, start, text.encode()))
    return edits, (*unused.needs, *scripting.needs)


def _homes(needs: Sequence[str]) -> dict[str, list[str]]:
    """Return the imports inside the new function. torch.nn.functional is imported before these modules."""
    homes: dict[str, list[str]] = {}
    for need in needs:
        home, _, what = need.rpartition(".")
        if home:
            homes.setdefault(home, []).append(what)
    return homes


def _before_all(module: Module, node: ast.If) -> int:
    """Return the start of the first function with the same branch. All of them share one new function."""
    text = ast.dump(node)
    found = [module.place(one).function for one in module.nodes.ifs if ast.dump(one) == text]
    return min(_start(module, [one.node]) for one in found if one is not None and one.outer is None)


def _start(module: Module, inside: Iterable[ast.AST]) -> int:
    """Return the start of the outermost definition among these."""
    defined = [one for one in inside if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))]
    at = min(module.span(one)[0] for outer in defined for one in (outer, *outer.decorator_list))
    return module.source.content.rfind(b"\n", 0, at) + 1


def _names(verb: str, function: FunctionDefinition, node: ast.If) -> list[str]:
    """Return the possible names of the new function. A check is named for its function, a warning for its content."""
    own = f"_{verb}_{function.node.name.strip('_').removeprefix('verify_')}"
    alike = only_raises if verb == "check" else _only_warns
    found = [own]
    if sum(bool(alike(one)) for one in function.nodes.ifs) > 1:
        words = sorted({one.id for one in ast.walk(node.test) if isinstance(one, ast.Name)}) or ["sizes"]
        found = [f"{own}_{word}" for word in words] + [f"{own}_{words[0]}_{number}" for number in range(2, 9)]
    return [_SHARED, *found] if verb == "warn" else found


def _defined(module: Module, name: str, text: str) -> bool:
    """Return whether the module already has the same function."""
    (wanted,) = parse_module(text).body
    found = (one for one in module.tree.body if isinstance(one, ast.FunctionDef) and one.name == name)
    return any(ast.dump(one) == ast.dump(wanted) for one in found)


def _used(module: Module, function: FunctionDefinition, node: ast.If) -> list[str]:
    """Return the function's own names that the check and its message read, in order of their first use."""
    loads = [one for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)]
    ordered = sorted(loads, key=lambda one: (one.lineno, one.col_offset))
    return list(dict.fromkeys(one.id for one in ordered if one.id in function.bound))

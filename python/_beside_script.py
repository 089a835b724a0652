"""A check beside the branch that TorchScript needs, the way torch.nn.functional itself does it.

TorchScript compiles neither a lambda nor a helper of symbolic shapes, but it skips what stands under
``if torch.jit.is_scripting(): … else:`` and calls of functions it is told not to compile. So the branch stays for
TorchScript, and everybody else calls a small function, marked unused for TorchScript, that holds the check.
"""

from __future__ import annotations

import ast
import textwrap

from ..codemods.engine.edits import Edit
from ..codemods.engine.rule import Context, Fix, Safety
from ._findings import fix
from ._flow import flow
from ._layout import indentation
from ._module import Function, Module
from ._purpose import only_raises
from ._shapes import compared_shapes
from ._spelling import guarded, spell
from ._territory import scripted
from ._together import Unfit

_UNUSED = "torch._jit_internal.unused"
_SHARED = "_warn_unless_same_size"
_HELPER = """@{unused}
def {name}({parameters}):
{imports}    {check}


"""


def check_beside_script(module: Module, node: ast.If, context: Context, name: str) -> Fix | None:
    """The fix for an ``if`` that only raises in a function which TorchScript compiles; None where it does not fit."""
    from .use_torch_check import rewritten

    if not only_raises(node) or not _compiled(module, node):
        return None
    try:
        check = rewritten(module, node, context)
    except Unfit:
        return None
    if len(check.edits) != 1:
        return None
    message = f"`{module.text(node.test).decode()}` can be checked later, outside of TorchScript"
    return _beside(
        module, node, context, name, "check", check.edits[0].text.decode(), check.needs, message, check.default
    )


def warning_beside_script(module: Module, node: ast.If, context: Context, name: str) -> Fix | None:
    """The fix for an ``if`` that only warns of two shapes that differ: undecided ones are taken as equal."""
    call = _only_warns(node)
    test = node.test.operand if isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not) else node.test
    if call is None or not _compiled(module, node) or not isinstance(test, ast.Compare):
        return None
    differ = isinstance(test.ops[0], ast.NotEq) is (test is node.test)
    if len(test.ops) != 1 or not isinstance(test.ops[0], (ast.Eq, ast.NotEq)) or not differ:
        return None
    if compared_shapes(flow(module), test) is None:
        return None
    sides = f"{module.text(test.left).decode()}, {module.text(test.comparators[0]).decode()}"
    body = _one_frame_further(module, node, call)
    condition = f"if not guard_or_true(sym_eq({sides})):"
    text = condition + body
    words = f"undecided shapes are taken as equal in `{module.text(node.test).decode()}`, and nobody is warned"
    message = f"`{module.text(node.test).decode()}` only decides about a warning"
    needs = (guarded("guard_or_true"), guarded("sym_eq"))
    return _beside(module, node, context, name, "warn", text, needs, message, words)


def _compiled(module: Module, node: ast.If) -> bool:
    function = module.function_of(node)
    return function is not None and function.outer is None and scripted(module, function)


def _only_warns(node: ast.If) -> ast.Call | None:
    only = node.body[0] if len(node.body) == 1 and not node.orelse else None
    call = only.value if isinstance(only, ast.Expr) else None
    return call if isinstance(call, ast.Call) and ast.unparse(call.func) == "warnings.warn" else None


def _one_frame_further(module: Module, node: ast.If, call: ast.Call) -> str:
    """The body of the branch, whose warning is now given by a function further down."""
    start, end = module.span(node.test)[1], module.span(node)[1]
    text = module.source.content[start:end].decode()
    text = text[text.index(":") + 1 :]
    for keyword in call.keywords:
        level = keyword.value
        if keyword.arg == "stacklevel" and isinstance(level, ast.Constant) and isinstance(level.value, int):
            first, last = (at - (end - len(text.encode())) for at in module.span(level))
            text = text.encode()[:first].decode() + str(level.value + 1) + text.encode()[last:].decode()
    return text


def _beside(
    module: Module,
    node: ast.If,
    context: Context,
    name: str,
    verb: str,
    body: str,
    needs: tuple[str, ...],
    message: str,
    default: str | None,
) -> Fix | None:
    """The branch for TorchScript, and for everybody else a call of a new function that holds ``body``."""
    function = module.function_of(node)
    assert function is not None
    unused = spell(module, function.node, _UNUSED, context)
    names = _used(module, function, node)
    try:
        indent = indentation(module, node)
    except Unfit:
        return None
    if unused is None:
        return None
    lines = textwrap.dedent(indent + body).splitlines()
    for helper in _names(verb, function, node):
        text = _HELPER.format(
            unused=unused.text,
            name=helper,
            parameters=", ".join(names),
            imports=_imports(needs),
            check="\n    ".join(line.rstrip() for line in lines),
        )
        known = _defined(module, helper, text)
        if known or helper not in module.bound:
            break
    else:
        return None
    old = textwrap.indent(module.text(node).decode(), "    ").lstrip()
    beside = f"if torch.jit.is_scripting():\n{indent}    {old}\n{indent}else:\n{indent}    {helper}({', '.join(names)})"
    edits = [Edit(*module.span(node), beside.encode())]
    if not known:
        start = _before_all(module, node)
        edits.append(Edit(start, start, text.encode()))
    return fix(name, Safety.UNSAFE, module, node, edits, message, unused.needs, default)


def _imports(needs: tuple[str, ...]) -> str:
    """The helper's own imports: torch.nn.functional is imported before the modules that hold these."""
    homes: dict[str, list[str]] = {}
    for need in needs:
        home, _, what = need.rpartition(".")
        if home:
            homes.setdefault(home, []).append(what)
    lines = [f"    from {home} import {', '.join(sorted(names))}\n" for home, names in sorted(homes.items())]
    return "".join(lines) + "\n" if lines else ""


def _before_all(module: Module, node: ast.If) -> int:
    """The start of the first function with this very branch: one helper serves them all."""
    text = ast.dump(node)
    found = [module.function_of(one) for one in module.every(ast.If) if ast.dump(one) == text]
    return min(_start(module, one) for one in found if one is not None and one.outer is None)


def _start(module: Module, function: Function) -> int:
    decorators = [module.span(one)[0] for one in function.node.decorator_list]
    at = min([module.span(function.node)[0], *decorators])
    return module.source.content.rfind(b"\n", 0, at) + 1


def _names(verb: str, function: Function, node: ast.If) -> list[str]:
    """What the helper may be called: a check for the function whose it is, a warning for what it says."""
    own = f"_{verb}_{function.node.name.strip('_').removeprefix('verify_')}"
    alike = only_raises if verb == "check" else _only_warns
    if sum(bool(alike(one)) for one in function.nodes.every(ast.If)) > 1:
        words = sorted({one.id for one in ast.walk(node.test) if isinstance(one, ast.Name)})
        own += f"_{words[0] if words else 'sizes'}"
    return [_SHARED, own] if verb == "warn" else [own]


def _defined(module: Module, name: str, text: str) -> bool:
    """Whether the module already has this very helper."""
    (wanted,) = ast.parse(text).body
    found = (one for one in module.tree.body if isinstance(one, ast.FunctionDef) and one.name == name)
    return any(ast.dump(one) == ast.dump(wanted) for one in found)


def _used(module: Module, function: Function, node: ast.If) -> list[str]:
    """The function's own names that the check and its message read, in order of their first use."""
    loads = [one for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)]
    ordered = sorted(loads, key=lambda one: (one.lineno, one.col_offset))
    return list(dict.fromkeys(one.id for one in ordered if one.id in function.bound))

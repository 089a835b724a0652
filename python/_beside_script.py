"""A check beside the branch that TorchScript needs, the way torch.nn.functional itself does it.

TorchScript compiles neither a lambda nor a helper of symbolic shapes, but it skips what stands under
``if torch.jit.is_scripting(): … else:`` and calls of functions it is told not to compile. So the branch stays for
TorchScript, and everybody else calls a small function, marked unused for TorchScript, that holds the check.
"""

from __future__ import annotations

import ast
import textwrap

from ..codemods.edits import Edit
from ..codemods.rule import Context, Fix, Safety
from ._findings import fix
from ._flow import flow
from ._joining import Unfit
from ._layout import indentation
from ._module import Function, Module
from ._purpose import only_raises
from ._spelling import spell
from ._territory import scripted

_UNUSED = "torch._jit_internal.unused"
_HELPER = """@{unused}
def {name}({parameters}):
{imports}    {check}


"""


def check_beside_script(module: Module, node: ast.If, context: Context, name: str) -> Fix | None:
    """The fix for an ``if`` that only raises in a function which TorchScript compiles; None where it does not fit."""
    from .use_torch_check import rewritten

    function = module.function_of(node)
    if function is None or function.outer is not None or not only_raises(node) or not scripted(module, function):
        return None
    try:
        indent = indentation(module, node)
        check = rewritten(module, flow(module.source), node, context)
    except Unfit:
        return None
    unused = spell(module, function.node, _UNUSED, context)
    if unused is None or len(check.edits) != 1 or module.bound & {_name(function, node)}:
        return None
    content = module.source.content
    before = content[: module.span(node)[0]]
    body = check.edits[0].text.decode()
    old = textwrap.indent(content[slice(*module.span(node))].decode(), "    ").lstrip()
    helper, names = _name(function, node), _used(module, function, node)
    start = _start(module, function)
    parameters = ", ".join(names)
    lines = textwrap.dedent(indent + body).splitlines()
    text = _HELPER.format(
        unused=unused.text,
        name=helper,
        parameters=parameters,
        imports=_imports(check.needs),
        check="\n    ".join(line.rstrip() for line in lines),
    )
    beside = f"if torch.jit.is_scripting():\n{indent}    {old}\n{indent}else:\n{indent}    {helper}({', '.join(names)})"
    edits = [Edit(start, start, text.encode()), Edit(len(before), module.span(node)[1], beside.encode())]
    message = f"`{module.text(node.test).decode()}` can be checked later, outside of TorchScript"
    return fix(name, Safety.UNSAFE, module, node, edits, message, unused.needs, check.default)


def _imports(needs: tuple[str, ...]) -> str:
    """The helper's own imports: torch.nn.functional is imported before the modules that hold these."""
    lines = [f"    from {need.rpartition('.')[0]} import {need.rpartition('.')[2]}\n" for need in needs if "." in need]
    return "".join(lines) + "\n" if lines else ""


def _start(module: Module, function: Function) -> int:
    decorators = [module.span(one)[0] for one in function.node.decorator_list]
    at = min([module.span(function.node)[0], *decorators])
    return module.source.content.rfind(b"\n", 0, at) + 1


def _name(function: Function, node: ast.If) -> str:
    """``_check_batch_norm``: for the function whose check it is."""
    words = sorted({one.id for one in ast.walk(node.test) if isinstance(one, ast.Name)})
    return f"_check_{function.node.name.strip('_').removeprefix('verify_')}_{words[0] if words else 'sizes'}"


def _used(module: Module, function: Function, node: ast.If) -> list[str]:
    """The function's own names that the check and its message read, in order of their first use."""
    loads = [one for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)]
    ordered = sorted(loads, key=lambda one: (one.lineno, one.col_offset))
    return list(dict.fromkeys(one.id for one in ordered if one.id in function.bound))

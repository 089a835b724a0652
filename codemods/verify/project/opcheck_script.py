"""Script of one operator call that exits 0 if the operator works: in eager, under opcheck, and with symbolic sizes."""

from __future__ import annotations

import ast
import hashlib
from pathlib import Path

from ...system.python_parser import parse_module

_SCRIPT = '''\
"""Call an operator eagerly, by torch.library.opcheck, and with symbols for the integers that are SymInts to it.

Of a function or module that is no operator, the call is captured by each of torch's tracers.
"""

import ast

import torch

CALL = {call!r}

*before, last = ast.parse(CALL).body
names = {{"torch": torch}}
exec(compile(ast.Module(before, []), "<call>", "exec"), names)


def value(node):
    return eval(compile(ast.Expression(node), "<call>", "eval"), names)


function = value(last.value.func)
args = [value(one) for one in last.value.args]
kwargs = {{one.arg: value(one.value) for one in last.value.keywords}}
overload = function.default if isinstance(function, torch._ops.OpOverloadPacket) else function
function(*args, **kwargs)
if not isinstance(overload, torch._ops.OpOverload):
    try:
        from symfix_watching import say_captures
    except ImportError:
        raise SystemExit(f"{{ast.unparse(last.value.func)}} is no operator: call torch.ops.name.operator") from None
    say_captures(ast.unparse(last.value), function, tuple(args), kwargs)
    raise SystemExit(0)
torch.library.opcheck(overload, tuple(args), kwargs)
'''
_SYMBOLS = """\
arguments = enumerate(overload._schema.arguments[: len(args)])
symints = [place for place, argument in arguments if isinstance(argument.real_type, torch._C.SymIntType)]
symbolic = [place for place in symints if type(args[place]) is int and args[place] > 1]
if not symbolic:
    raise SystemExit(f"none of the integers of the call is a SymInt in the schema: {overload._schema}")
for place in symbolic:
    rows = torch.empty(args[place])
    torch._dynamo.reset()
    torch._dynamo.mark_dynamic(rows, 0)

    def call(rows):
        return overload(*args[:place], rows.size(0), *args[place + 1 :], **kwargs)

    torch.compile(call, backend="aot_eager", fullgraph=True)(rows)
"""


class NoCall(ValueError):
    """Error raised for a text that is not a call. ``str()`` is the reason."""


def call_script(call: str, *, symbols: bool = True) -> str:
    """Return the script for ``import mine; torch.ops.mine.f(torch.ones(3), 5)``, with or without symbols.

    Raises NoCall.
    """
    try:
        body = parse_module(call).body
    except (SyntaxError, ValueError) as error:
        raise NoCall(f"does not parse as Python: {error.args[0]}") from None
    if not body or not isinstance(body[-1], ast.Expr) or not isinstance(body[-1].value, ast.Call):
        raise NoCall("has to end with a call, such as `import mine; torch.ops.mine.f(torch.ones(3), 5)`")
    if any(isinstance(one, ast.Starred) for one in body[-1].value.args):
        raise NoCall("may not spread its arguments with `*`")
    return _SCRIPT.format(call=call) + (_SYMBOLS if symbols else "")


def written(call: str, folder: Path, *, symbols: bool = True) -> Path:
    """Write the script of a call to ``folder`` under a stable name, and return its path. Raises NoCall."""
    text = call_script(call, symbols=symbols)
    path = folder / f"call_{hashlib.blake2b(text.encode(), digest_size=4).hexdigest()}.py"
    path.write_text(text, encoding="utf-8")
    return path

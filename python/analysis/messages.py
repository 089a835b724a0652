"""Messages that are put off into a lambda, and what a lambda would change about them."""

from __future__ import annotations

import ast

from ..syntax.module import Module
from .unfit import Unfit

_OF_THE_FRAME = frozenset(
    {f"builtins.{name}" for name in ("locals", "vars", "dir", "eval", "exec", "super")}
    | {"sys._getframe", "inspect.currentframe", "inspect.stack", "sys.exc_info", "traceback.format_exc"}
)
"""What answers by the frame that asks."""


def deferred(module: Module, place: ast.stmt, message: ast.expr | None) -> None:
    """Raise Unfit where ``lambda: message`` would say something else than ``message`` at ``place``."""
    if message is None:
        return
    if isinstance(next(iter(module.names.chain(place)), None), ast.ClassDef):
        raise Unfit("message-shape", "a lambda does not see the names of a class body")
    for part in ast.walk(message):
        if isinstance(part, (ast.Starred, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)):
            raise Unfit("message-shape", "the message cannot be put off into a lambda")
        if isinstance(part, ast.Name) and part.id == "__class__":
            raise Unfit("message-shape", "a lambda has another frame than the message had")
        if isinstance(part, (ast.Name, ast.Attribute)) and module.names.meaning(part) in _OF_THE_FRAME:
            raise Unfit("message-shape", f"`{ast.unparse(part)}` answers by the frame that asks, a lambda's now")


def read_only_in(module: Module, target: ast.Name, within: ast.stmt) -> bool:
    """Whether the name that ``target`` binds is a local one and nothing outside ``within`` reads it."""
    function = module.place(within).function
    if function is None or module.names.owner(target.id, within) is not function.node:
        return False
    inside = {id(one) for one in ast.walk(within)}
    reads = (one for one in ast.walk(function.node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load))
    by_frame = [one for one in reads if id(one) not in inside]
    return not any(one.id == target.id or module.names.meaning(one) in _OF_THE_FRAME for one in by_frame)

"""The check in place of a statement that refuses bad sizes."""

from __future__ import annotations

import ast

from ...codemods.engine.rule import Context, Fix
from ..analysis.certain import Sure
from ..analysis.messages import deferred, read_only_in
from ..analysis.surely import surely
from ..analysis.territory import doubts_of_script
from ..analysis.unfit import Unfit
from ..syntax.module import Module
from .deferring import Deferral
from .findings import doubted, fix, safety_of
from .writing import checked

_CHECKS = {
    "RuntimeError": "torch._check",
    "ValueError": "torch._check_value",
    "IndexError": "torch._check_index",
    "TypeError": "torch._check_type",
    "NotImplementedError": "torch._check_not_implemented",
    "AssertionError": "torch._check",
}


def check_for(
    rule: str, module: Module, node: ast.If | ast.Assert, context: Context, *, same_error: bool = False
) -> Fix:
    """The check in place of a refusal, wherever it stands; raises Unfit.

    With ``same_error`` an ``assert`` keeps its AssertionError, as what is raised by name always does.
    """
    start, _end = module.span(node)
    if module.source.content[start : start + 4] == b"elif":
        raise Unfit("elif", "a check cannot stand between the branches of an if")
    error, message = _refusal(module, node)
    types = surely(module)
    deferral = Deferral(types, context, node)
    deferral.condition(node.test, isinstance(node, ast.Assert))
    asserts = error == "AssertionError"
    named = asserts and message is not None and (same_error or isinstance(node, ast.If))
    changed = asserts and not named
    if same_error and changed:
        raise Unfit("message-shape", "a check without a message gives one of its own")
    if named and module.names.meaning_of_name(error, node) != f"builtins.{error}":
        raise Unfit("exception-type", f"{error} means something else here")
    check = deferral.symbol("torch._check_with" if named else _CHECKS[error])
    edit = checked(module, node, deferral.changes, check, message, error if named else None)
    doubts = list(deferral.doubts)
    if changed:
        doubts.insert(0, "a bad size raises RuntimeError instead of AssertionError, if need be at run time")
    elif message is None:
        doubts.insert(0, "the exception, which had no message, gets one")
    elif types.of(message) is not Sure.TEXT:
        doubts.append(f"the exception holds `str({ast.unparse(message)})`, which may have been no str")
    doubts += doubts_of_script(module, module.place(node).function)
    why = f"`{module.text(node.test).decode()}` must be known now; a check can wait"
    return fix(rule, safety_of(doubts), module, node, [edit], why, deferral.needs, doubted(doubts))


def _refusal(module: Module, node: ast.If | ast.Assert) -> tuple[str, ast.expr | None]:
    """Name of the exception and its message; raises Unfit."""
    if isinstance(node, ast.Assert):
        deferred(module, node, node.msg)
        return "AssertionError", node.msg
    raised = node.body[-1]
    assert isinstance(raised, ast.Raise)
    if raised.exc is None or raised.cause is not None:
        raise Unfit("raise-from", "a check raises its own exception, without a cause")
    arguments = raised.exc.args if isinstance(raised.exc, ast.Call) else []
    kind = raised.exc.func if isinstance(raised.exc, ast.Call) else raised.exc
    meaning = (module.names.meaning(kind) or "").removeprefix("builtins.")
    if meaning not in _CHECKS:
        unknown = isinstance(kind, ast.Name) and kind.id in _CHECKS
        said = "may mean something else here" if unknown else "is raised by no check"
        raise Unfit("exception-type", f"{ast.unparse(kind)} {said}")
    if len(arguments) > 1 or (isinstance(raised.exc, ast.Call) and raised.exc.keywords):
        raise Unfit("message-shape", "a check takes one message")
    message = _message(module, node, arguments)
    deferred(module, node, message)
    return meaning, message


def _message(module: Module, node: ast.If, arguments: list[ast.expr]) -> ast.expr | None:
    """What the exception is given: as it stands there, or what was assigned to the name that stands there."""
    first = node.body[0]
    if isinstance(first, ast.Raise):
        return arguments[0] if arguments else None
    target = first.targets[0] if isinstance(first, ast.Assign) and len(first.targets) == 1 else None
    told = isinstance(target, ast.Name) and [ast.unparse(one) for one in arguments] == [target.id]
    if not isinstance(first, ast.Assign) or not isinstance(target, ast.Name) or not told:
        raise Unfit("message-shape", "what is assigned before the exception is more than its message")
    if not read_only_in(module, target, node):
        raise Unfit("message-shape", f"`{target.id}` is read elsewhere too")
    return first.value

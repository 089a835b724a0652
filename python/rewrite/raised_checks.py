"""Conversion of a statement that rejects bad sizes to a check."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ...codemods.model.rule import Context, Fix
from ..analysis.flow.fix_eligibility import torchscript_obstacle
from ..analysis.must.must_type_inference import surely
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..analysis.types.must_types import ScalarType
from ..syntax.module import Module, Place
from .deferrable_condition import deferred
from .edits import checked, checked_while_compiling
from .findings import fix
from .qualified_names import COMPILING, SCRIPTING, refusal, spelled_out

_TEXT, _VALUES = "torch._check(text)", "torch._check(values)"
"""Helper names for `TorchApi.dynamo_refusal`: a check with a message, and one whose message captures values."""
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_CHECKS = {
    "RuntimeError": "torch._check",
    "ValueError": "torch._check_value",
    "IndexError": "torch._check_index",
    "TypeError": "torch._check_type",
    "NotImplementedError": "torch._check_not_implemented",
    "AssertionError": "torch._check",
}


def check_for(
    rule: str,
    place: Place,
    node: ast.If | ast.Assert,
    context: Context,
    *,
    same_error: bool = False,
    beside_script: bool = False,
) -> Fix:
    """Return the fix that replaces the rejecting statement at ``place`` by a check. Raise CannotRewrite.

    With ``beside_script`` TorchScript does not compile the check. With ``same_error`` an ``assert`` keeps its
    AssertionError. An exception raised by name always does. If dynamo may trace the place and rejects the message, the
    statement stays for eager, next to a check for tracers.
    """
    module = place.module
    if module.source.content.startswith(b"elif", place.span[0]):
        raise CannotRewrite("elif", "a check cannot stand between the branches of an if")
    error, message = _refusal(place, node)
    deferral = deferred(surely(module), context, node, node.test, isinstance(node, ast.Assert))
    scripted = None if beside_script else torchscript_obstacle(module, place.function, context)
    why = f"`{module.text(node.test).decode()}` must be known now; a check can wait"
    if message is not None and _refused_message(place, message, context):
        check, compiling = (spelled_out(module, node, one, context) for one in (_CHECKS[error], COMPILING))
        told = None if refusal(module, node, _TEXT, context) else message
        if scripted and told:
            raise CannotRewrite(*scripted)
        asked = [compiling, *([spelled_out(module, node, SCRIPTING, context)] if scripted else [])]
        edit = checked_while_compiling(place, node, deferral.changes, check.text, told, [one.text for one in asked])
        needs = [*deferral.needs, *check.needs, *(need for one in asked for need in one.needs)]
        return fix(rule, place, [edit], why, needs, deferral.doubts)
    if scripted:
        raise CannotRewrite(*scripted)
    asserts = error == "AssertionError"
    named = asserts and message is not None and (same_error or isinstance(node, ast.If))
    changed = asserts and not named
    if same_error and changed:
        raise CannotRewrite("message-shape", "a check without a message gives one of its own")
    if named and module.names.meaning_of_name(error, node) != f"builtins.{error}":
        raise CannotRewrite("exception-type", f"{error} means something else here")
    check = spelled_out(module, node, "torch._check_with" if named else _CHECKS[error], context)
    edit = checked(place, node, deferral.changes, check.text, message, error if named else None)
    said = list(deferral.doubts)
    if changed:
        said.insert(0, "a bad size raises RuntimeError instead of AssertionError, if need be at run time")
    elif message is None:
        said.insert(0, "the exception, which had no message, gets one")
    elif surely(module).of(message) is not ScalarType.TEXT:
        said.append(f"the exception holds `str({ast.unparse(message)})`, which may have been no str")
    return fix(rule, place, [edit], why, [*deferral.needs, *check.needs], said)


def check_beside(rule: str, place: Place, node: ast.If, context: Context) -> Fix:
    """Return the fix that adds a check for tracers next to a statement that raises. Raise CannotRewrite.

    The statement may do anything before it raises. Eager keeps it. An exception that no check raises becomes a
    RuntimeError in the program.
    """
    module = place.module
    raised = exception_of(node.body)
    if node.orelse or raised is None or module.source.content.startswith(b"elif", place.span[0]):
        raise CannotRewrite("elif", "a check cannot stand between the branches of an if")
    kind = raised.exc.func if isinstance(raised.exc, ast.Call) else raised.exc
    meaning = "" if kind is None else (module.names.meaning(kind) or "").removeprefix("builtins.")
    deferral = deferred(surely(module), context, node, node.test, truth=False)
    symbols = _CHECKS.get(meaning, "torch._check"), COMPILING
    check, compiling = (spelled_out(module, node, one, context) for one in symbols)
    edit = checked_while_compiling(place, node, deferral.changes, check.text, None, [compiling.text])
    said = module.text(node.test).decode()
    needs = [*deferral.needs, *check.needs, *compiling.needs]
    doubts = deferral.doubts or ["the program raises its own text"]
    return fix(rule, place, [edit], f"refuse `{said}` by a check while compiling", needs, doubts)


def exception_of(body: Sequence[ast.stmt]) -> ast.Raise | None:
    """Return the first exception of statements that end by raising on each side, or None for others."""
    last = body[-1] if body else None
    if isinstance(last, ast.If):
        sides = exception_of(last.body), exception_of(last.orelse)
        return sides[0] if all(sides) else None
    return last if isinstance(last, ast.Raise) else None


def _refused_message(place: Place, message: ast.expr, context: Context) -> bool:
    """Return whether dynamo may trace the place and rejects a lambda around the message."""
    captures = any(_is_captured(place, one) for one in _names(message))
    return refusal(place.module, place.node, _VALUES if captures else _TEXT, context) is not None


def _names(node: ast.AST) -> Iterator[ast.Name]:
    return (one for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load))


def _is_captured(place: Place, name: ast.Name) -> bool:
    """Return whether a lambda around a name captures a value. A constant that is assigned once is not captured."""
    owner = place.module.names.owner(name.id, name)
    if owner is None or owner is place.module.tree or place.node in _above(place.module, owner):
        return False
    function = next((one for one in place.module.functions if one.node is owner), None)
    if function is None or any(one.arg == name.id for one in function.arguments):
        return True
    return not isinstance(function.assigned_once.get(name.id), ast.Constant)


def _above(module: Module, node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes around a node."""
    above = module.parents.get(node)
    while above is not None:
        yield above
        above = module.parents.get(above)


def _refusal(place: Place, node: ast.If | ast.Assert) -> tuple[str, ast.expr | None]:
    """Return the name of the exception and its message. Raise CannotRewrite."""
    if isinstance(node, ast.Assert):
        deferrable(place, node.msg)
        return "AssertionError", node.msg
    raised = node.body[-1]
    assert isinstance(raised, ast.Raise)
    if raised.exc is None or raised.cause is not None:
        raise CannotRewrite("raise-from", "a check raises its own exception, without a cause")
    arguments = raised.exc.args if isinstance(raised.exc, ast.Call) else []
    kind = raised.exc.func if isinstance(raised.exc, ast.Call) else raised.exc
    meaning = (place.module.names.meaning(kind) or "").removeprefix("builtins.")
    if meaning not in _CHECKS:
        unknown = isinstance(kind, ast.Name) and kind.id in _CHECKS
        said = "may mean something else here" if unknown else "is raised by no check"
        raise CannotRewrite("exception-type", f"{ast.unparse(kind)} {said}")
    if len(arguments) > 1 or (isinstance(raised.exc, ast.Call) and raised.exc.keywords):
        raise CannotRewrite("message-shape", "a check takes one message")
    message = _message(place, node, arguments)
    deferrable(place, message)
    return meaning, message


def _message(place: Place, node: ast.If, arguments: list[ast.expr]) -> ast.expr | None:
    """Return the argument of the exception, or the value assigned to the name that is the argument."""
    first = node.body[0]
    if isinstance(first, ast.Raise):
        return arguments[0] if arguments else None
    target = first.targets[0] if isinstance(first, ast.Assign) and len(first.targets) == 1 else None
    told = isinstance(target, ast.Name) and [ast.unparse(one) for one in arguments] == [target.id]
    if not isinstance(first, ast.Assign) or not isinstance(target, ast.Name) or not told:
        raise CannotRewrite("message-shape", "what is assigned before the exception is more than its message")
    if not read_only_in(place, target, node):
        raise CannotRewrite("message-shape", f"`{target.id}` is read elsewhere too")
    return first.value


_OF_THE_FRAME = frozenset(
    {f"builtins.{name}" for name in ("locals", "vars", "dir", "eval", "exec", "super")}
    | {"sys._getframe", "inspect.currentframe", "inspect.stack", "sys.exc_info", "traceback.format_exc"}
)
"""Functions whose result depends on the calling frame."""


def deferrable(place: Place, message: ast.expr | None) -> None:
    """Raise CannotRewrite if ``lambda: message`` may give another text than ``message`` in the statement."""
    if message is None:
        return
    if isinstance(next((one for one in place.ancestors if isinstance(one, _SCOPES)), None), ast.ClassDef):
        raise CannotRewrite("message-shape", "a lambda does not see the names of a class body")
    if isinstance(message, ast.Starred):
        raise CannotRewrite("message-shape", "a check takes one message")
    for part in ast.walk(message):
        if isinstance(part, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)):
            raise CannotRewrite("message-shape", "the message cannot be put off into a lambda")
        if isinstance(part, ast.Name) and part.id == "__class__":
            raise CannotRewrite("message-shape", "a lambda has another frame than the message had")
        if isinstance(part, (ast.Name, ast.Attribute)) and place.module.names.meaning(part) in _OF_THE_FRAME:
            raise CannotRewrite(
                "message-shape", f"`{ast.unparse(part)}` answers by the frame that asks, a lambda's now"
            )


def read_only_in(place: Place, target: ast.Name, within: ast.stmt) -> bool:
    """Return whether the name that ``target`` binds is a local that only the statement ``within`` reads."""
    module, function = place.module, place.function
    if function is None or module.names.owner(target.id, within) is not function.node:
        return False
    inside = {id(one) for one in ast.walk(within)}
    reads = (one for one in ast.walk(function.node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load))
    by_frame = [one for one in reads if id(one) not in inside]
    return not any(one.id == target.id or module.names.meaning(one) in _OF_THE_FRAME for one in by_frame)

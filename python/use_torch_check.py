"""Refuse bad sizes by a check that can wait: ``if n != m: raise ...`` → ``torch._check(n == m, lambda: ...)``.

What: an ``if`` on sizes whose body only raises, and an ``assert`` on sizes. RuntimeError → ``_check``, ValueError →
``_check_value``, IndexError → ``_check_index``, TypeError → ``_check_type``, NotImplementedError →
``_check_not_implemented``, AssertionError → ``_check_with``, and ``assert`` → ``_check``. The condition is negated by
De Morgan's laws, with ``sym_and``, ``sym_or`` and ``sym_eq`` inside; concrete conditions in front stay in front.

Why: a check of undecided sizes becomes an assertion at run time; an ``if`` must know now.

Leaves alone: other exceptions, ``raise ... from``, several arguments, ``elif``, conditions that may be no bool or that
decide a size by themselves (``int(n)``), messages that a lambda would change (``locals()``, ``super()``), and what
TorchScript compiles (it has no lambdas).

Safety: safe when the exception and its text stay the same whatever the values are: comparisons of what surely are sizes
and other plain values, and a message that surely is a str. Else unsafe, and the fix says why: an exception without a
message gets one; ``assert`` and an AssertionError without a message become RuntimeError; a value that is taken for a
size may be something else.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..codemods.engine.edits import Edit
from ..codemods.engine.rule import Context, Fix, Rule, Safety, Skip
from ..codemods.engine.source import SourceFile
from ._certain import Sure
from ._findings import SIZE_MARKERS, doubted, fix, safety_of, skip
from ._flow import Flow, flow
from ._layout import check_statement, comments_in, indentation, line_end
from ._messages import deferred, read_only_in
from ._module import Module, parse
from ._purpose import only_raises
from ._rendering import Renderer
from ._surely import surely
from ._territory import doubts_of_script, obstacle
from ._together import Unfit
from ._truths import forced_parts

NAME = "use_torch_check"
_CHECKS = {
    "RuntimeError": "torch._check",
    "ValueError": "torch._check_value",
    "IndexError": "torch._check_index",
    "TypeError": "torch._check_type",
    "NotImplementedError": "torch._check_not_implemented",
    "AssertionError": "torch._check",
}


def decide(source: SourceFile, context: Context) -> Iterator[Fix | Skip]:
    module = parse(source)
    known = flow(module)
    refusals: list[ast.If | ast.Assert] = [*module.every(ast.Assert)]
    refusals += [node for node in module.every(ast.If) if only_raises(node)]
    for node in refusals:
        if any(True for _ in forced_parts(node.test, known)):
            yield _answer(module, known, node, context)


def _answer(module: Module, known: Flow, node: ast.If | ast.Assert, context: Context) -> Fix | Skip:
    stop = obstacle(module, module.function_of(node), context, asked=False)
    if stop:
        return skip(NAME, module, node.test, *stop)
    if _of_other_types(module, node):
        return skip(NAME, module, node.test, "not-a-bool", "a branch on isinstance has taken what is an int or SymInt")
    try:
        return rewritten(module, node, context)
    except Unfit as unfit:
        return skip(NAME, module, node.test, unfit.reason, unfit.detail)


def _of_other_types(module: Module, node: ast.If | ast.Assert) -> bool:
    """``if isinstance(n, (int, SymInt)): ... else:`` holds here, so ``n`` is something else, such as a sympy number."""
    names = {one.id for one in ast.walk(node.test) if isinstance(one, ast.Name)}
    below: ast.AST = node
    for above in module.ancestors(node):
        if isinstance(above, ast.If) and below in above.orelse and isinstance(above.test, ast.Call):
            call = above.test
            named = isinstance(call.func, ast.Name) and call.func.id == "isinstance" and len(call.args) == 2
            if named and isinstance(call.args[0], ast.Name) and call.args[0].id in names:
                return "SymInt" in ast.unparse(call.args[1])
        below = above
    return False


def rewritten(module: Module, node: ast.If | ast.Assert, context: Context, *, same_error: bool = False) -> Fix:
    """The check in place of a refusal, wherever it stands; raises Unfit.

    With ``same_error`` an ``assert`` keeps its AssertionError, as what is raised by name always does.
    """
    start, end = module.span(node)
    if module.source.content[start : start + 4] == b"elif":
        raise Unfit("elif", "a check cannot stand between the branches of an if")
    error, message = _refusal(module, node)
    types = surely(module)
    renderer = Renderer(types, context, node)
    condition = renderer.condition(node.test, isinstance(node, ast.Assert))
    asserts = error == "AssertionError"
    named = asserts and message is not None and (same_error or isinstance(node, ast.If))
    changed = asserts and not named
    if same_error and changed:
        raise Unfit("message-shape", "a check without a message gives one of its own")
    if named and module.meaning_of_name(error, node) != f"builtins.{error}":
        raise Unfit("exception-type", f"{error} means something else here")
    check = renderer.symbol("torch._check_with" if named else _CHECKS[error])
    indent = indentation(module, node)
    said = None if message is None else module.text(message).decode()
    statement = check_statement(check, condition, said, indent, line_end(module), error if named else None)
    text = comments_in(module, node, indent) + statement
    doubts = list(renderer.doubts)
    if changed:
        doubts.insert(0, "a bad size raises RuntimeError instead of AssertionError, if need be at run time")
    elif message is None:
        doubts.insert(0, "the exception, which had no message, gets one")
    elif types.of(message) is not Sure.TEXT:
        doubts.append(f"the exception holds `str({ast.unparse(message)})`, which may have been no str")
    doubts += doubts_of_script(module, module.function_of(node))
    why = f"`{module.text(node.test).decode()}` must be known now; a check can wait"
    edits = [Edit(start, end, text.encode())]
    return fix(NAME, safety_of(doubts), module, node, edits, why, renderer.needs, doubted(doubts))


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
    meaning = (module.meaning(kind) or "").removeprefix("builtins.")
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


rule = Rule(NAME, Safety.UNSAFE, "Python", SIZE_MARKERS, decide, __doc__)

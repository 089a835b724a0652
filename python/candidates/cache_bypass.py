"""Bypass of caches while torch compiles: of a dict that sizes key, and of an attribute that keeps the last result."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Safety
from ..analysis.flow.blocks import following
from ..rewrite.findings import fix
from ..rewrite.qualified_names import COMPILING, spell
from ..syntax.module import Module
from .local_functions import shifted


def computed_anew(rule: str, module: Module, node: ast.If, context: Context) -> Iterator[Fix]:
    """Yield the fix that recomputes a cached value while compiling.

    ``if n not in kept: kept[n] = f(n)``, ``return kept[n]`` → before it ``if is_compiling(): return f(n)``.
    """
    compiling, indent = spell(module, node, COMPILING, context), module.indentation(node)
    function = module.place(node).function
    only = node.body[0]
    missing = isinstance(node.test, ast.Compare) and len(node.test.ops) == 1 and isinstance(node.test.ops[0], ast.NotIn)
    if not missing or compiling is None or indent is None or function is None or len(node.body) > 1 or node.orelse:
        return
    target = only.targets[0] if isinstance(only, ast.Assign) else None
    if (
        not isinstance(only, ast.Assign)
        or not isinstance(target, ast.Subscript)
        or not isinstance(node.test, ast.Compare)
    ):
        return
    asked = node.test.left, node.test.comparators[0]
    if [ast.unparse(one) for one in asked] != [ast.unparse(one) for one in (target.slice, target.value)]:
        return
    kept = ast.unparse(only.targets[0])
    body = function.node.body
    at = body.index(node) if node in body else len(body)
    returned = body[at + 1] if at + 1 < len(body) else None
    if not isinstance(returned, ast.Return) or returned.value is None or ast.unparse(returned.value) != kept:
        return
    value = module.text(only.value).decode()
    unit = module.unit_of_indentation(only)
    lines = [f"if {compiling.text}():", f"{indent}{unit}return {value}", indent]
    start = module.span(node)[0]
    edit = Edit(start, start, module.newline.join(lines).encode())
    words = f"while compiling `{kept}` is neither read nor written"
    message = f"compute `{kept}` anew while compiling"
    yield fix(rule, module.place(node), [edit], message, compiling.needs, [words], Safety.UNSAFE)


def uncached_attribute(rule: str, module: Module, statement: ast.stmt, context: Context) -> Iterator[Fix]:
    """Yield the fix that neither reads nor writes an attribute while compiling in which a method keeps its last result.

    ``if self.a is not None and c: return self.a`` is of eager only, as is ``self.a = None``. Before ``self.a = f(x)``,
    ``return self.a`` comes ``if is_compiling(): return f(x)``. An attribute that no such ``if`` returns, or on which
    the next result depends, is a state, which stays.
    """
    kept = _attribute_given(statement)
    compiling, function = spell(module, statement, COMPILING, context), module.place(statement).function
    if kept is None or compiling is None or function is None or not _is_only_here(module, kept, function.node):
        return
    edits: list[Edit] = []
    uses = {id(one) for one in ast.walk(function.node) if _is_same(one, kept)}
    guards = writes = 0
    for one in function.nodes.every(ast.stmt, ast.stmt):
        indent = module.indentation(one)
        if indent is None or not _is_cache_use(one, kept):
            continue
        start = module.span(one)[0]
        if isinstance(one, ast.If):
            guards += 1
            uses -= {id(part) for part in ast.walk(one)}
            test = module.grouped_span(one.test)
            text = module.source.content[test[0] : test[1]].decode()
            edits.append(Edit(*test, f"not {compiling.text}() and {text}".encode()))
        elif isinstance(one, ast.Assign) and _is_none(one.value):
            uses -= {id(one.targets[0])}
            inner = shifted(module, [one], indent + module.unit_of_indentation(one), changed=False)
            edits.append(Edit(*module.span(one), f"if not {compiling.text}():{module.newline}{inner}".encode()))
        elif isinstance(one, ast.Assign):
            returned = following(module, one)[:1]
            if not returned or not isinstance(returned[0], ast.Return) or not _is_same(returned[0].value, kept):
                return
            writes += 1
            uses -= {id(one.targets[0]), id(returned[0].value)}
            begin, end = module.grouped_span(one.value)
            value = module.source.content[begin:end].decode()
            lines = [f"if {compiling.text}():", f"{indent}{module.unit_of_indentation(one)}return {value}", indent]
            edits.append(Edit(start, start, module.newline.join(lines).encode()))
    if uses or not guards or not writes:
        return
    text = ast.unparse(kept)
    words = f"while compiling `{text}` is neither read nor written"
    yield fix(
        rule, module.place(statement), edits, f"compute `{text}` anew while compiling", compiling.needs, [words],
        Safety.UNSAFE,
    )  # fmt: skip


def _attribute_given(statement: ast.stmt) -> ast.Attribute | None:
    """Return ``self.a`` of ``self.a = …``, or None."""
    only = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    of_self = isinstance(only, ast.Attribute) and isinstance(only.value, ast.Name) and only.value.id == "self"
    return only if isinstance(only, ast.Attribute) and of_self else None


def _is_cache_use(statement: ast.stmt, kept: ast.Attribute) -> bool:
    """Return whether a statement writes the cached result, or returns it where there is one."""
    if isinstance(statement, ast.If):
        only = statement.body[0] if len(statement.body) == 1 and not statement.orelse else None
        return isinstance(only, ast.Return) and _is_same(only.value, kept) and _asks_for(statement.test, kept)
    given = _attribute_given(statement)
    return given is not None and _is_same(given, kept)


def _asks_for(test: ast.expr, kept: ast.Attribute) -> bool:
    """Return whether a condition is ``self.a is not None``, or begins with it and ``and``."""
    first = test.values[0] if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else test
    of_kept = isinstance(first, ast.Compare) and len(first.ops) == 1 and _is_same(first.left, kept)
    return (
        isinstance(first, ast.Compare)
        and of_kept
        and isinstance(first.ops[0], ast.IsNot)
        and _is_none(first.comparators[0])
    )


def _is_same(node: ast.AST | None, kept: ast.Attribute) -> bool:
    own = isinstance(node, ast.Attribute) and node.attr == kept.attr
    return own and isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_only_here(module: Module, kept: ast.Attribute, function: ast.AST) -> bool:
    """Return whether nothing else in the module may read the attribute, so that nothing misses what is not written.

    Methods of another class read one of their own.
    """
    own = _class_of(module, function)
    for one in module.nodes.every(ast.Attribute):
        if one.attr != kept.attr or not isinstance(one.ctx, ast.Load) or _function_of(module, one) is function:
            continue
        if not _is_same(one, kept) or _class_of(module, one) is own:
            return False
    return own is not None


def _class_of(module: Module, node: ast.AST) -> ast.ClassDef | None:
    return next((one for one in module.place(node).ancestors if isinstance(one, ast.ClassDef)), None)


def _function_of(module: Module, node: ast.AST) -> ast.AST | None:
    function = module.function_of(node)
    return None if function is None else function.node

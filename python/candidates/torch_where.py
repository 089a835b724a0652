"""Choose between two tensors by ``torch.where``, where the values of a tensor decide and both sides can be computed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Safety
from ..analysis.flow.blocks import bound_before, following
from ..analysis.must.effects import require_pure
from ..analysis.must.must_type_inference import surely
from ..analysis.must.pointwise import Cost, cost
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..analysis.types.must_types import ScalarType
from ..rewrite.findings import fix
from ..rewrite.qualified_names import spelled_out
from ..syntax.module import Module
from .local_functions import NameChooser, anew
from .tensor_conditions import Asked, asked_of_tensor, is_exact, may_raise

NAME = "use_where"
_UNBOUNDED = frozenset(
    """acos addcdiv asin atan2 cosh div divide erfinv exp exp2 expm1 log log10 log1p log2 logit logsumexp norm normalize
    pow prod rsqrt sinh sqrt std true_divide var""".split()  # noqa: SIM905
)
"""Functions with gradients that are infinite or no number for some values."""
_NUMBERS = (ScalarType.FLOAT, ScalarType.NUMBER)


def selected(module: Module, node: ast.If | ast.IfExp, context: Context) -> Iterator[Fix]:
    """``if c: x = f(x)`` → ``x = torch.where(c, f(x), x)``; chains, two ``return``s, and ``f(x) if c else x``.

    Raises CannotRewrite where a side may raise on the values of the other, or does more than give a value.
    """
    where = spelled_out(module, node, "torch.where", context)
    chain = _chain(node)
    start, end = module.span(node)
    require_pure(module, [one.test for one in chain])
    for one in chain[1:]:
        if may_raise(module, one.test):
            detail = f"at line {one.lineno} `{ast.unparse(one.test)}` is asked only where another allows it"
            raise CannotRewrite("condition-not-total", detail)
    for asked in _asked(module, chain, context):
        conditions = [one.text for one in asked]
        if isinstance(node, ast.IfExp):
            _require_tensor(module, [node.body, node.orelse])
            values = [_total(module, one) for one in (node.body, node.orelse)]
            text = _nested([f"{where.text}({one}" for one in conditions], values)
        else:
            lines, end = _lines(module, node, chain, where.text, conditions)
            text = _laid_out(module, node, lines, end, asked[0])
        needs = [*where.needs, *(need for one in asked for need in one.needs)]
        said = module.text(node.test).decode()
        words = "both sides are computed for all values, also where the other one is chosen"
        if _divides(module, node):
            words += "; in training the gradient of a quotient or root that is not chosen may be nan"
        message = f"`{said}` chooses between two tensors by torch.where: both sides are cheap and never raise"
        edit = Edit(start, end, text.encode())
        yield fix(NAME, module.place(node), [edit], message, needs, [words], Safety.UNSAFE)


def _divides(module: Module, node: ast.If | ast.IfExp) -> bool:
    """Return whether a side holds a quotient, power, root or the like, whose gradient may be no number."""
    parts = [part for value in _values(module, node) for part in ast.walk(value)]
    operators = (one.op for one in parts if isinstance(one, ast.BinOp))
    called = {one.attr for one in parts if isinstance(one, ast.Attribute)}
    return any(isinstance(one, (ast.Div, ast.Pow)) for one in operators) or bool(called & _UNBOUNDED)


def highest_cost(module: Module, node: ast.If | ast.IfExp) -> Cost:
    """Return the highest cost of a value that `selected` computes although it is not chosen."""
    return max((cost(module, one) for one in _values(module, node)), default=Cost.UNKNOWN)


def _values(module: Module, node: ast.If | ast.IfExp) -> Iterator[ast.expr]:
    """Yield the values of both sides, that of a ``return`` behind the ``if`` included."""
    if isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
        return
    behind = [] if node.orelse or not isinstance(node.body[-1], ast.Return) else following(module, node)[:1]
    for one in (part for statement in (*node.body, *node.orelse, *behind) for part in ast.walk(statement)):
        if isinstance(one, ast.AugAssign):
            yield ast.copy_location(ast.BinOp(one.target, one.op, one.value), one)
        elif isinstance(one, (ast.Assign, ast.Return)) and one.value is not None:
            yield one.value


def _chain(node: ast.If | ast.IfExp) -> list[ast.If | ast.IfExp]:
    """Return the ``if`` with those of its ``elif``s."""
    found = [node]
    while len(node.orelse) == 1 if isinstance(node, ast.If) else False:
        only = node.orelse[0]  # type: ignore[index]
        if not isinstance(only, ast.If):
            break
        found.append(only)
        node = only
    return found


def _asked(module: Module, chain: Sequence[ast.If | ast.IfExp], context: Context) -> Iterator[list[Asked]]:
    first, *others = chain
    for asked in asked_of_tensor(module, first.test, context):
        alone = isinstance(first, ast.If) and not first.orelse and not isinstance(first.body[-1], ast.Return)
        if asked.outside and not (alone and asked.conjunction and asked.in_order):
            continue
        found = [asked]
        for one in others:
            whole = [way for way in asked_of_tensor(module, one.test, context) if not way.outside]
            if not whole:
                raise CannotRewrite(
                    "no-tensor", f"at line {one.lineno} `{ast.unparse(one.test)}` is no value of a tensor"
                )
            found.append(whole[0])
        yield found


def _total(module: Module, value: ast.expr) -> str:
    """Return the text of a value that can be computed for nothing. Raises CannotRewrite."""
    require_pure(module, [value])
    if cost(module, value) is Cost.UNKNOWN:
        detail = f"at line {value.lineno} `{ast.unparse(value)[:60]}` may raise on the values of the other side"
        raise CannotRewrite("not-total", detail)
    return module.text(value).decode()


def _nested(heads: Sequence[str], values: Sequence[str]) -> str:
    """``where(a, x, where(b, y, z))``."""
    text = values[-1]
    for head, value in zip(reversed(heads), reversed(values[:-1]), strict=True):
        text = f"{head}, {value}, {text})"
    return text


def _lines(
    module: Module, node: ast.If, chain: Sequence[ast.If | ast.IfExp], where: str, conditions: Sequence[str]
) -> tuple[list[str], int]:
    """Return the statements that take the place of a chain, and where the last statement ends that they replace."""
    blocks = [one.body for one in chain if isinstance(one, ast.If)]
    last = chain[-1]
    orelse = list(last.orelse) if isinstance(last, ast.If) else []
    if isinstance(node.body[0], ast.Return):
        follower = orelse or following(module, node)[:1]
        sides = [*blocks, follower]
        values = [_returned(module, one) for one in sides]
        _require_tensor(module, [one[0].value for one in sides])  # type: ignore[attr-defined]
        heads = [f"{where}({one}" for one in conditions]
        return [f"return {_nested(heads, values)}"], module.span(follower[-1])[1]
    return _chosen_values(module, node, [*blocks, orelse], where, conditions), module.span(node)[1]


def _returned(module: Module, block: Sequence[ast.stmt]) -> str:
    only = block[0] if len(block) == 1 else None
    if not isinstance(only, ast.Return) or only.value is None:
        line = block[0].lineno if block else 0
        raise CannotRewrite("leaves-in-branch", f"at line {line} a side does more than return a value")
    if isinstance(only.value, ast.Tuple):
        raise CannotRewrite("several-results", f"at line {only.lineno} several results are returned")
    return _total(module, only.value)


def _chosen_values(
    module: Module, node: ast.If, blocks: Sequence[Sequence[ast.stmt]], where: str, conditions: Sequence[str]
) -> list[str]:
    """Return the lines that give names one of several values, and before them names to what is asked several times."""
    given = [_assigned(module, block) for block in blocks]
    names = list(dict.fromkeys(name for block in given for name in block))
    before = bound_before(module, node)
    for name in names:
        if name not in before and not all(name in block for block in given):
            raise CannotRewrite("bound-on-one-side", f"at line {node.lineno} `{name}` may have no value on one side")
    _require_tensors(module, node, names, blocks)
    lines, heads = [], list(conditions)
    if len(names) > 1:
        chooser = NameChooser(module)
        for at, one in enumerate(conditions):
            if not one.isidentifier():
                heads[at] = chooser.choose("condition")
                lines.append(f"{heads[at]} = {one}")
    chosen = [
        _nested([f"{where}({one}" for one in heads], [block.get(name, name) for block in given]) for name in names
    ]
    if len(names) > 1:
        _require_apart(module, blocks)
        if {*heads} & {*names} or any(_reads_another(module, one, names) for block in blocks for one in block):
            return [*lines, f"{', '.join(names)} = {', '.join(chosen)}"]
    return [*lines, *(f"{name} = {one}" for name, one in zip(names, chosen, strict=True))]


def _require_tensor(module: Module, values: Sequence[ast.expr], before: Sequence[ast.expr] | None = ()) -> None:
    """Raise CannotRewrite if only numbers of Python's are chosen, and a tensor may round one of them.

    ``before`` are the values that a name may have where no value is chosen, None if they are unknown.
    """
    if not all(surely(module).of(one) in _NUMBERS for one in values):
        return
    if before is None or not all(is_exact(one) for one in (*values, *before)):
        detail = (
            f"at line {values[0].lineno} `{ast.unparse(values[0])}` is a number of Python's, which a tensor may round"
        )
        raise CannotRewrite("number-of-python", detail)


def _require_tensors(module: Module, node: ast.If, names: Sequence[str], blocks: Sequence[Sequence[ast.stmt]]) -> None:
    """Raise CannotRewrite for a name that is given only numbers of Python's, see `_require_tensor`."""
    for name in names:
        given = [one for block in blocks for one in block if name in _assigned(module, [one])]
        values = [one.value for one in given if isinstance(one, (ast.Assign, ast.AugAssign))]
        uses = _uses(module, node, name)
        loads = [one for one in uses if isinstance(one.ctx, ast.Load)]
        added = any(isinstance(one, ast.AugAssign) for one in given)
        # What is added to a tensor may be a number.
        if added and not (loads and surely(module).of(loads[0]) in _NUMBERS):
            continue
        _require_tensor(module, values, () if len(given) == len(blocks) and not added else _bound(module, node, name))


def _uses(module: Module, node: ast.If, name: str) -> list[ast.Name]:
    function = module.function_of(node)
    parts = () if function is None else ast.walk(function.node)
    return [one for one in parts if isinstance(one, ast.Name) and one.id == name]


def _bound(module: Module, node: ast.If, name: str) -> list[ast.expr] | None:
    """Return the values that assignments give a name, or None if it has others."""
    function = module.function_of(node)
    stores = [module.parents[one] for one in _uses(module, node, name) if isinstance(one.ctx, ast.Store)]
    plain = [one for one in stores if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name)]
    parameters = () if function is None else {one.arg for one in function.arguments}
    return [one.value for one in plain] if len(plain) == len(stores) and name not in parameters else None


def _reads_another(module: Module, statement: ast.stmt, names: Sequence[str]) -> bool:
    """Return whether a value is computed from another of the names that get values."""
    value = getattr(statement, "value", None)
    inside = ast.walk(value) if isinstance(value, ast.expr) else ()
    others = {*names} - {*_assigned(module, [statement])}
    return any(isinstance(one, ast.Name) and one.id in others for one in inside)


def _require_apart(module: Module, blocks: Sequence[Sequence[ast.stmt]]) -> None:
    """Raise CannotRewrite where a value reads what its block has just given another name."""
    for block in blocks:
        bound: set[str] = set()
        for one in block:
            value = getattr(one, "value", None)
            inside = ast.walk(value) if isinstance(value, ast.expr) else ()
            if bound & {part.id for part in inside if isinstance(part, ast.Name)}:
                raise CannotRewrite("several-steps", f"at line {one.lineno} a value is computed of one just before it")
            bound.update(name for name in _assigned(module, [one]))


def _assigned(module: Module, block: Sequence[ast.stmt]) -> dict[str, str]:
    """Return the names that a block gives values once each, and the texts of these. Raises CannotRewrite."""
    require_pure(module, block)
    found: dict[str, str] = {}
    for one in block:
        if isinstance(one, ast.Assign) and len(one.targets) == 1 and isinstance(one.targets[0], ast.Name):
            name, text = one.targets[0].id, _total(module, one.value)
        elif isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name):
            _total(module, ast.copy_location(ast.BinOp(one.target, one.op, one.value), one))
            name, text = one.target.id, anew(module, one)
        else:
            raise CannotRewrite("several-steps", f"at line {one.lineno} a side does more than give names values")
        if name in found:
            raise CannotRewrite("several-steps", f"at line {one.lineno} `{name}` gets two values")
        found[name] = text
    return found


def _laid_out(module: Module, node: ast.If, lines: Sequence[str], end: int, asked: Asked) -> str:
    """Return the lines at the place of the ``if``, below what Python decides. Raises CannotRewrite."""
    indent, start = module.indentation(node), module.span(node)[0]
    is_elif = module.source.content.startswith(b"elif", start)
    if indent is None or ((is_elif or asked.outside) and module.indentation(node.body[0]) is None):
        raise CannotRewrite("one-line", f"at line {node.lineno} a block stands on the line of its head")
    if b"#" in module.source.content[start:end]:
        raise CannotRewrite("comment-inside", f"at line {node.lineno} a comment would be lost")
    unit = module.unit_of_indentation(node.body[0]) if is_elif or asked.outside else ""
    inner, head = indent, ""
    if is_elif:
        inner, head = indent + unit, f"else:{module.newline}{indent}{unit}"
    if asked.outside:
        head, inner = f"{head}if {asked.outside}:{module.newline}{inner}{unit}", inner + unit
    return head + f"{module.newline}{inner}".join(lines)

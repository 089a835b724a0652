"""Keep rounded quotients of sizes integers: ``math.ceil(n / k)`` → ``(n + k - 1) // k``.

What: ``math.ceil``, ``math.floor`` and ``int`` of ``n / k`` for a size ``n``, and ``int(...)`` around these. Also
``float(n)`` → ``torch.sym_float(n)``.

Why: the quotient of two SymInts is a SymFloat, and rounding it to a Python number specializes it.

Leaves alone: a plain ``int(n)``, which requests a static value. A divisor that may be negative or a fraction or that
would be evaluated twice. Code that TorchScript compiles.

Safety: safe for ``float(n)``. Else unsafe: a quotient of more than 2**53, which a float rounds, is exact now, and a
division by 0 has another message.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.rule import Context, Fix, Rule, Safety, Skip
from ...codemods.model.source_file import SourceFile
from ..analysis.decisions.condition_leaves import check_conditions
from ..analysis.flow.fix_eligibility import obstacle
from ..analysis.flow.flow import Flow, flow
from ..analysis.must.must_type_inference import surely
from ..analysis.types.may_types import Kind
from ..analysis.types.must_types import ScalarType
from ..rewrite.change_types import Change, Divided, Named, Plain
from ..rewrite.findings import SIZE_MARKERS, cannot_name, change, skip
from ..rewrite.qualified_names import spell
from ..syntax.module import Module, Place, parse
from ..syntax.tree import last_word

NAME = "divide_sizes_as_integers"
_ROUNDING = ("math.ceil", "math.floor", "builtins.int")
_ROUNDED = frozenset(name.rpartition(".")[2] for name in (*_ROUNDING, "builtins.float"))


def decide(source: SourceFile, context: Context) -> Iterator[Fix | Skip]:
    if not any(word in source.content for word in (b"ceil(", b"floor(", b"int(", b"float(")):
        return
    module = parse(source)
    known = flow(module)
    spelled = module.names.spellings(_ROUNDED)
    for node in module.nodes.calls:
        if len(node.args) == 1 and not node.keywords and last_word(node.func) in spelled:
            meaning = module.names.meaning(node.func) or ""
            if meaning not in _ROUNDING and meaning != "builtins.float":
                continue
            place = module.place(node)
            if not place.in_format_string:
                yield from _answer(place, known, node, meaning, context)


def _answer(place: Place, known: Flow, call: ast.Call, meaning: str, context: Context) -> Iterator[Fix | Skip]:
    argument = call.args[0]
    kind = known.kind(argument)
    if kind not in (Kind.SIZE, Kind.RATIO) or _is_element(argument):
        return
    unfit = obstacle(place, context, scriptable=meaning != "builtins.float")
    if unfit:
        yield skip(NAME, place, *unfit)
    elif meaning == "builtins.float":
        yield _as_float(place, call, context)
    elif isinstance(argument, ast.BinOp) and isinstance(argument.op, ast.Div) and kind is Kind.RATIO:
        yield _quotient(place, known, call, argument, meaning)
    elif kind is Kind.SIZE:
        yield skip(NAME, place, "keeps-static", "int() of a size asks for its value")
    else:
        yield skip(NAME, place, "not-a-quotient", "only the rounded quotient of two sizes has an integer form")


def _is_element(node: ast.expr) -> bool:
    """Return whether an expression is ``x.item()``, a tensor element that need not be an integer."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "item"


def _as_float(place: Place, call: ast.Call, context: Context) -> Fix | Skip:
    module = place.module
    if _compared(module, call):
        return skip(NAME, place, "keeps-static", "the comparison around it needs the value of the size")
    if _rounded_elsewhere(place, call):
        return skip(
            NAME, place, "keeps-static", "int() of a product in this function already needs the value of the size"
        )
    spelled = spell(module, call, "torch.sym_float", context)
    if spelled is None:
        return cannot_name(NAME, place, "torch.sym_float", context)
    changes = [(call.func, Named(spelled.text))]
    message = "`float` decides the size"
    return change(NAME, place, changes, message, spelled.needs)


def _compared(module: Module, call: ast.Call) -> bool:
    """Return whether a call is compared, as in ``float(n) <= limit``, outside of a check. A check can be deferred."""
    if not isinstance(module.parents[call], ast.Compare):
        return False
    return all(call not in ast.walk(condition) for condition in check_conditions(module))


def _rounded_elsewhere(place: Place, call: ast.Call) -> bool:
    """Return whether ``int(h * scale)`` in the same function specializes ``h`` anyway."""
    function = place.function
    names = {one.id for one in ast.walk(call.args[0]) if isinstance(one, ast.Name)}
    for other in function.nodes.calls if function is not None else ():
        if place.module.names.meaning(other.func) in _ROUNDING and len(other.args) == 1:
            rounded = other.args[0]
            product = isinstance(rounded, ast.BinOp) and isinstance(rounded.op, ast.Mult)
            if product and names & {one.id for one in ast.walk(rounded) if isinstance(one, ast.Name)}:
                return True
    return False


def _quotient(place: Place, known: Flow, call: ast.Call, division: ast.BinOp, meaning: str) -> Fix | Skip:
    module = place.module
    left, right = division.left, division.right
    types = surely(module)
    if known.kind(left) is not Kind.SIZE or known.kind(right) not in (Kind.SIZE, Kind.CONCRETE, Kind.UNKNOWN):
        return skip(NAME, place, "not-a-quotient", "one side of the division is a float")
    if any(isinstance(one, ast.Constant) and isinstance(one.value, float) for one in ast.walk(division)):
        return skip(NAME, place, "not-a-quotient", "one side of the division is a float")
    if not {types.of(left), types.of(right)} <= {ScalarType.WHOLE, ScalarType.NUMBER, None}:
        return skip(NAME, place, "not-a-quotient", "one side of the division may be no whole number")
    if meaning != "math.floor" and _may_be_negative(right):
        return skip(NAME, place, "may-be-negative", "a negative divisor rounds to the other side")
    if meaning == "builtins.int" and _may_be_negative(left):
        return skip(NAME, place, "may-be-negative", "int() of a negative quotient rounds to the other side")
    if meaning == "math.ceil" and not isinstance(right, (ast.Name, ast.Constant, ast.Attribute)):
        return skip(NAME, place, "evaluated-twice", "give the divisor a name first")
    whole = _int_around(module, call)
    doubts = ["a quotient of more than 2**53, which a float rounds, is exact"]
    doubts += [f"`{ast.unparse(one)}` is taken for a size" for one in (left, right) if not types.whole(one)]
    if meaning != "math.floor" and not _positive(right):
        doubts.append(f"`{ast.unparse(right)}` is taken for positive")
    message = f"`{place.text}` goes through a float"
    changes: list[tuple[ast.expr, Change]] = [(whole, Divided(up=meaning == "math.ceil"))]
    if isinstance(module.parents[whole], (ast.BinOp, ast.UnaryOp)):
        changes.append((whole, Plain.GROUPED))
    return change(NAME, place, changes, message, doubts=doubts)


def _int_around(module: Module, call: ast.Call) -> ast.Call:
    """Return the redundant ``int(...)`` around ``math.ceil(n / k)``, else the call.

    Integer division returns an integer.
    """
    above = module.parents[call]
    around = isinstance(above, ast.Call) and len(above.args) == 1 and not above.keywords and above.args[0] is call
    if around and isinstance(above, ast.Call) and module.names.meaning(above.func) == "builtins.int":
        return above
    return call


def _may_be_negative(node: ast.expr) -> bool:
    """Return whether an expression has a difference, a sign, a remainder or a power, and may not be a size."""
    operators = [one.op for one in ast.walk(node) if isinstance(one, (ast.BinOp, ast.UnaryOp))]
    return any(isinstance(one, (ast.Sub, ast.USub, ast.Mod, ast.Pow)) for one in operators)


def _positive(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value > 0


rule = Rule(NAME, Safety.UNSAFE, "Python", SIZE_MARKERS, decide, __doc__)

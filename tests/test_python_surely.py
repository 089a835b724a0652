"""Tests of must-types, of expressions that may be evaluated early, and of dominating conditions."""

from __future__ import annotations

import ast
from pathlib import Path

import libcst as cst
import pytest
from symfix.codemods.model.source_file import SourceFile
from symfix.python.analysis.decisions.condition_leaves import decides
from symfix.python.analysis.flow.fix_eligibility import foreign_decorator
from symfix.python.analysis.must.aliasing import changed_elsewhere
from symfix.python.analysis.must.definite_assignment import binds
from symfix.python.analysis.must.dominating_conditions import facts_at
from symfix.python.analysis.must.must_type_inference import MustTypes, surely
from symfix.python.analysis.must.no_raise import Partial, partial
from symfix.python.analysis.must.sym_operator_equivalence import evaluated_together
from symfix.python.analysis.types.cannot_rewrite import CannotRewrite
from symfix.python.analysis.types.must_types import ScalarType, SequenceType
from symfix.python.rewrite.lines import code, one_line
from symfix.python.rewrite.raised_checks import deferrable
from symfix.python.syntax.module import Module, parse

HEAD = "import math\nimport functools\nimport torch\nfrom torch import Tensor\nfrom typing import Optional\nK = 3\n"
SIZES, LISTED = SequenceType(False, ScalarType.WHOLE), SequenceType(True, ScalarType.WHOLE)


def module(text: str) -> Module:
    return parse(SourceFile(Path("a.py"), (HEAD + text).encode()))


def probed(body: str, parameters: str = "x: Tensor, y, n: int") -> tuple[MustTypes, list[ast.expr]]:
    """Return the must-types of a function, and the arguments of the call of ``probe`` in it."""
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    made = module(f"def f({parameters}):\n{lines}")
    (probe,) = (one for one in made.nodes.calls if ast.unparse(one.func) == "probe")
    return surely(made), probe.args


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("probe(x.size(0))", ScalarType.WHOLE),
        ("probe(x.size(n))", None),
        ("probe(x.shape)", SIZES),
        ("probe(x.shape[0])", ScalarType.WHOLE),
        ("probe(x.shape[1:])", SIZES),
        ("probe(list(x.shape))", LISTED),
        ("probe(n)", None),
        ("probe(K)", ScalarType.WHOLE),
        ("a = x.size(0)\nprobe(a)", ScalarType.WHOLE),
        ("a = x.size(0)\na = a + 1\nprobe(a)", ScalarType.WHOLE),
        ("a = x.size(0)\na = None\nprobe(a)", ScalarType.OPTIONAL),
        ("a = x.size(0)\na = a / 2\nprobe(a)", ScalarType.NUMBER),
        ("a = x.size(0)\na += 1.5\nprobe(a)", ScalarType.NUMBER),
        ("a = x.size(0)\nfor a in y: pass\nprobe(a)", None),
        ("a = x.size(0)\nwith y as a: pass\nprobe(a)", None),
        ("a, b = x.shape\nprobe(b)", ScalarType.WHOLE),
        ("a, *b = x.shape\nprobe(len(b), b[0])", ScalarType.WHOLE),
        ("b = [x.size(0)]\nb.append(2)\nprobe(b)", SequenceType(True, None)),
        ("b = [x.size(0)]\nb.append(2)\nprobe(len(b), b[0])", ScalarType.WHOLE),
        ("b = [x.size(0)]\nb.append(y)\nprobe(b[0])", None),
        ("b = [x.size(0)]\ny(b)\nprobe(b[0])", None),
        ("b = [x.size(0)]\ny(b)\na = b[0]\nprobe(a)", None),
        ("b = [x.size(0)]\nfor a in b: y(a)\nprobe(b[0])", ScalarType.WHOLE),
        ("b = [x.size(0)]\na, *c = b\nprobe(c[0])", ScalarType.WHOLE),
        ("probe([d + 1 for d in x.shape])", LISTED),
        ("probe((x.size(0), x.device)[1])", ScalarType.PLAIN),
        ("probe(x.item())", ScalarType.NUMBER),
        ("probe(x.size(0) / 2)", ScalarType.FLOAT),
        ("probe(x.size(0) == 1)", ScalarType.TRUTH),
        ("probe(x.size(0) == n)", None),
        ("probe(not n)", ScalarType.TRUTH),
        ("probe(x.dtype == torch.float32)", ScalarType.TRUTH),
        ("probe(f'{n}')", ScalarType.TEXT),
        ("probe('%s' % n)", ScalarType.TEXT),
        ("probe(min(x.size(0), 2))", ScalarType.WHOLE),
        ("probe((lambda len: len(x.shape))(y))", None),
        ("def len(a): return 'a'\nprobe(len(x))", None),
        ("probe(math.prod(x.shape))", ScalarType.WHOLE),
        ("probe(x.size(0) if n else None)", ScalarType.OPTIONAL),
    ],
)
def test_what_a_value_surely_is(body: str, value: object) -> None:
    types, arguments = probed(body)
    assert types.of(arguments[-1]) == value


@pytest.mark.parametrize(
    ("parameters", "body", "value"),
    [
        ("x", "probe(x.shape)", None),
        ("x", "probe(x.shape, x.numel())", ScalarType.WHOLE),
        ("x", "probe(x.numel(), x.shape)", SIZES),
        ("x", "probe(x.numel(), x)", ScalarType.TREATED),
        ("x", "probe(x.numel(), (-x + 1).t()[0].T)", ScalarType.TREATED),
        ("x", "y = x\ny = torch.ones(2)\nprobe(x.numel(), y)", ScalarType.TREATED),
        ("x=None", "probe(x.numel(), x.shape)", SIZES),
        ("x", "x = torch.ones(2)\nprobe(x.shape)", None),
        ("x, y", "a = y.get()\nif y: a = torch.ones(2)\nprobe(a.shape)", None),
        ("x: Tensor, y", "a = x.t()\nif y: a = torch.ones(2, device=y)\nprobe(a.shape)", SIZES),
        ("x: Tensor = None", "probe(x.shape)", SIZES),
        ("x: Tensor", "probe(x.grad.shape)", SIZES),
        ("x: Tensor", "probe((1 - -x)[0].T.shape)", SIZES),
        ("x: Tensor, y", "probe(x * y)", ScalarType.TENSOR),
        ("x: Tensor", "probe(2 * x)", ScalarType.TENSOR),
        ("x: Tensor, y", "probe(y * x)", ScalarType.TREATED),
        ("x: Tensor", "probe([1] * x)", None),
        ("x: Tensor", "probe('%s' % x)", ScalarType.TEXT),
        ("x: list[Tensor]", "probe(x[1:])", ScalarType.TENSORS),
        ("x: list[Tensor]", "probe(x[0])", ScalarType.TENSOR),
        ("x: list[Tensor]", "for a in x: probe(a.shape)", SIZES),
        ("x: list[Tensor], y", "x[0] = y\nprobe(x[0])", None),
        ("x: list[Tensor], y", "x[1:] = y\nprobe(x[0])", None),
        ("x: list[Tensor], y", "x[0] = x[1]\nprobe(x[0])", ScalarType.TENSOR),
        ("x: list[Tensor], y", "x.append(y)\nprobe(x[0])", None),
        ("x: list[Tensor], y", "x.append(x[0].t())\nx.extend(x[1:])\nprobe(x[0])", ScalarType.TENSOR),
        ("x: list[Tensor], y", "y(x)\na = x[0]\nprobe(a)", None),
        ("x: list[Tensor], y", "a, b = x\nif x: a = torch.cat(x)\nprobe(a)", ScalarType.TENSOR),
        ("x: list[Tensor], y", "x = y.get()\nfor a in x: probe(a.shape)", None),
        ("x: Tensor", "for a in x: probe(a.shape)", SIZES),
        ("x: Tensor", "a, b = torch.max(x, 0)\nprobe(b.shape)", SIZES),
        ("x: Tensor", "a, *b = x.unbind()\nprobe(b[0].shape)", SIZES),
        ("x: Tensor", "probe(torch.max(x).shape)", SIZES),
        ("x: Tensor", "probe(torch.where(x > 0, x, 1).shape)", SIZES),
        ("x: Tensor", "probe(torch.where(x > 0))", ScalarType.TENSORS),
        ("x: Tensor", "probe(x.numpy())", None),
        ("x: Tensor", "probe(torch.result_type(x, x))", None),
    ],
)
def test_what_surely_is_a_tensor(parameters: str, body: str, value: object) -> None:
    types, arguments = probed(body, parameters)
    assert types.of(arguments[-1]) == value


@pytest.mark.parametrize(
    "use", ["len(b), b[0], b + [1], (*b,)", "b.append(2), b.index(1)", "torch.cat(b)", "x.view(b)"]
)
def test_a_list_that_is_only_read_is_as_the_function_made_it(use: str) -> None:
    made = module(f"def f(x: Tensor, y):\n    b = [x.size(0)]\n    {use}\n")
    assert changed_elsewhere(made, made.functions[0], {"b"}) == set()


@pytest.mark.parametrize("use", ["y(b)", "y.f(b)", "b.sort()", "c = b", "c = [b]"])
def test_a_list_that_is_handed_on_may_hold_anything(use: str) -> None:
    made = module(f"def f(x: Tensor, y):\n    b = [x.size(0)]\n    {use}\n")
    assert changed_elsewhere(made, made.functions[0], {"b"}) == {"b"}


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("probe(n + 1 == 2)", Partial.TYPE),
        ("a = x.size(0)\nprobe(a + 1 == 2)", None),
        ("a = x.size(0)\nprobe(a % 2 == 1)", None),
        ("a = x.size(0)\nprobe(a % a == 1)", Partial.OTHER),
        ("a = x.size(0)\nprobe(a << 1 == 1)", Partial.OTHER),
        ("a = x.size(0)\nprobe(a ** 2 == 1)", Partial.OTHER),
        ("probe(x.size(1) == 1)", Partial.PRESENCE),
        ("a = x.dim()\nprobe(x.size(1) == 1)", Partial.RANK),
        ("a = x.size(1)\nprobe(x.size(0) == 1)", None),
        ("a = x.size(1)\nprobe(x.size(2) == 1)", Partial.RANK),
        ("a, b, c = x.size()\nprobe(x.size(2) == 1)", None),
        ("a, *b = x.size()\nprobe(x.size(1) == 1)", Partial.RANK),
        ("assert x.dim() == 2\nprobe(x.size(1) == 1)", None),
        ("assert x.dim() in (2, 3)\nprobe(x.size(-2) == 1)", None),
        ("if x.dim() < 2: return\nprobe(x.size(1) == 1)", None),
        ("if x.dim() < 2: y()\nprobe(x.size(1) == 1)", Partial.RANK),
        ("torch._check(x.dim() > 1)\nprobe(x.size(1) == 1)", None),
        ("if x.dim() == 2:\n    probe(x.size(1) == 1)", None),
        ("s = x.shape\nassert x.dim() == 2\nprobe(s[1] == 1)", None),
        ("s = x.size()\nassert x.dim() == 2\nprobe(s[2] == 1)", Partial.OTHER),
        ("s = x.shape\nx = y\nassert x.dim() == 2\nprobe(s[1] == 1)", Partial.OTHER),
        ("s = x.shape\nx.unsqueeze_(0)\nassert x.dim() == 2\nprobe(s[1] == 1)", Partial.OTHER),
        ("s = x.shape\nif n: s = y.shape\nassert x.dim() == 2\nprobe(s[1] == 1)", Partial.OTHER),
        ("s = x.mT.shape\nassert x.mT.dim() == 2\nprobe(s[1] == 1)", Partial.OTHER),
        ("if x.dim() != 2: n = x.shape\nprobe(n[1] == 1)", Partial.OTHER),
        ("s = x.shape\nassert x.dim() == 2\nfor d in y: probe(s[d] == 1)", Partial.OTHER),
        ("if x.dim() == 2: pass\nelse: probe(x.size(1) == 1)", Partial.RANK),
        ("assert x.dim() == 2\nx = x.t()\nprobe(x.size(1) == 1)", Partial.PRESENCE),
        ("assert x.dim() == 2\nx = y\nprobe(x.size(1) == 1)", Partial.OTHER),
        ("assert x.dim() == 2\nx.squeeze_()\nprobe(x.size(1) == 1)", Partial.PRESENCE),
        ("a = x.size(1)\nx.data = y\nprobe(x.size(1) == 1)", Partial.PRESENCE),
        ("a = y[0].size(1)\ny[0] = x\nprobe(y[0].size(1) == 1)", Partial.OTHER),
        ("a = y[0].size(1)\ny.reverse()\nprobe(y[0].size(1) == 1)", Partial.OTHER),
        ("try: assert x.dim() == 2\nexcept: probe(x.size(1) == 1)", Partial.PRESENCE),
        ("for d in range(x.dim()): probe(x.size(d) == 1)", None),
        ("for d in range(y): probe(x.size(d) == 1)", Partial.PRESENCE),
        ("probe(math.log(2) == 1)", Partial.OTHER),
        ("a = y[n]\nprobe(y[n] == 1)", Partial.TYPE),
        ("probe((n := 1) == 1)", Partial.OTHER),
        ("probe({}['k'] == 1)", Partial.OTHER),
        ("probe(a == 1)\na = x.size(0)", Partial.OTHER),
        ("a = x.size(0)\ndel a\nprobe(a == 1)", Partial.OTHER),
        ("if y: a = x.size(0)\nprobe(a == 1)", Partial.OTHER),
        ("if y: a = x.size(0)\nelse: a = 2\nprobe(a == 1)", None),
        ("if y: a = x.size(0)\nelse: return\nprobe(a == 1)", None),
        ("if y: a = x.size(0)\na + 1\nprobe(a == 1)", None),
        ("if y: a = x.size(0)\ny and a\nprobe(a == 1)", Partial.OTHER),
        ("for a in x.shape: pass\nprobe(a == 1)", Partial.OTHER),
        ("for a in x.shape: probe(a == 1)", None),
        ("while y: a = x.size(0)\nprobe(a == 1)", Partial.OTHER),
        ("with y: a = x.size(0)\nprobe(a == 1)", Partial.OTHER),
        ("try: a = x.size(0)\nexcept: pass\nprobe(a == 1)", Partial.OTHER),
        ("try: a = x.size(0)\nexcept: raise\nprobe(a == 1)", None),
        ("try: a = x.size(0)\nfinally: y()\nprobe(a == 1)", None),
        ("if (a := x.size(0)) and y: probe(a == 1)", None),
        ("if y and (a := x.size(0)): pass\nprobe(a == 1)", Partial.OTHER),
        ("a: int\nprobe(a == 1)", Partial.OTHER),
        ("import math as m\nprobe(m.pi)", None),
        ("probe(math.pi)\nimport math", Partial.OTHER),
        ("a = x.size(0)\nprobe(all(a == d for d in x.size()))", None),
        ("a = x.size(0)\ndef g():\n    probe(a == 1)", Partial.OTHER),
        ("def g():\n    probe(K == 1)", None),
        ("probe(K == 1)\nclass C:\n    K = 1", None),
        ("class C:\n    a = 3\n    probe(a == 1)", Partial.OTHER),
    ],
)
def test_what_may_be_evaluated_early(body: str, why: Partial | None) -> None:
    types, (argument,) = probed(body)
    found = [part.why for part in partial(types, argument, facts_at(types.module, argument))]
    assert (found[0] if found else None) is why


@pytest.mark.parametrize(
    ("operands", "outcome"),
    [
        ("x.size(0) == 1, x.size(0) == 2", []),
        ("x.size(0) == 1, n == 2", ["gives a bool", "may raise or give no bool"]),
        ("x.size(0) == 1, x.size(1) == 2", ["IndexError"]),
        ("x.dim() == 2, x.size(1) == 2", "guarded-operand"),
        ("y is not None, y.size(1) == 2", "guarded-operand"),
        ("x.size(0) == 1, y(n) == 2", "guarded-operand"),
        ("x.size(0) == 1, n", "not-a-comparison"),
        ("x.size(0) == 1, x.size(0) < None", "not-a-comparison"),
    ],
)
def test_operands_evaluated_together(operands: str, outcome: list[str] | str) -> None:
    types, arguments = probed(f"probe({operands})")
    if isinstance(outcome, str):
        with pytest.raises(CannotRewrite) as unfit:
            evaluated_together(types, [], arguments, lead_holds=True)
        assert unfit.value.reason == outcome
    else:
        doubts = evaluated_together(types, [], arguments, lead_holds=True)
        assert [word in doubt for word, doubt in zip(outcome, doubts, strict=True)] == [True] * len(outcome)


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("int(x.size(0))", True),
        ("max(x.shape)", True),
        ("max(x.size(0), 2)", False),
        ("1 if x.size(0) == 1 else 2", True),
        ("not x.size(0)", True),
        ("x.size(0) and n", True),
        ("n and x.size(0)", False),
        ("len(x.shape)", False),
        ("int(n)", False),
    ],
)
def test_what_decides_a_size(expression: str, found: bool) -> None:
    types, (argument,) = probed(f"probe({expression})")
    assert decides(types.flow, argument) is found


@pytest.mark.parametrize(
    ("decorators", "foreign"),
    [
        ("@torch.no_grad()", None),
        ("@functools.cache", None),
        ("@staticmethod", None),
        ("@cute.jit", "cute.jit"),
        ("@imported", "imported"),
        ("@imported(1)", "imported(1)"),
        ("@wraps_it", None),
        ("@made(1)", None),
        ("@compiles", "compiles"),
        ("@registers", None),
        ("@library.impl('f')", None),
    ],
)
def test_decorators_that_may_be_another_compilers(decorators: str, foreign: str | None) -> None:
    text = (
        "import cutlass.cute as cute\nfrom somewhere import imported\n"
        "library = torch.library.Library('a', 'DEF')\nheld = []\n"
        "def wraps_it(fn):\n    @functools.wraps(fn)\n    def inner(*a):\n        return fn(*a)\n    return inner\n"
        "def made(n):\n    def wrapper(fn):\n        return fn\n    return wrapper\n"
        "def compiles(fn):\n    return imported(fn)\n"
        "def registers(fn):\n    held.append(fn)\n    return fn\n"
        f"{decorators}\ndef f(x): pass\n"
    )
    made = module(text)
    (function,) = (one for one in made.functions if one.node.name == "f")
    assert foreign_decorator(made, function) == foreign


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("f(\n    '( a'\n)", "f('( a')"),
        ("f(\n    a,\n    b,\n)", "f(a, b)"),
        ("(\n    a,\n)", "(a,)"),
        ("a[\n    0,\n]", "a[0,]"),
        ("a  ==  b", "a  ==  b"),
        ("a \\\n    + b", "a + b"),
        ("a == '#'\\\n    '[ '", "a == '#' '[ '"),
        ("a\r\n    + b", "a + b"),
        ('f("""a\n b""")', None),
        ("a\r+ b", "a + b"),
    ],
)
def test_an_expression_on_one_line(text: str, line: str | None) -> None:
    tree = cst.parse_expression(f"({text})")
    if line is None:
        with pytest.raises(CannotRewrite):
            one_line(tree)
    else:
        flat = one_line(tree)
        assert flat is not None and code(flat) == f"({line})"
        assert ast.dump(ast.parse(f"({line})")) == ast.dump(ast.parse(f"({text})"))


def test_a_comment_keeps_its_line() -> None:
    assert one_line(cst.parse_expression("(a  # why\n+ b)")) is None


@pytest.mark.parametrize("message", ["f'{n}'", "str(n)", "'a' + str(len)", "globals()['a']"])
def test_messages_that_a_lambda_gives_alike(message: str) -> None:
    made = module(f"def f(n):\n    raise ValueError({message})\n")
    (raised,) = made.nodes.every(ast.Raise)
    assert isinstance(raised.exc, ast.Call)
    deferrable(made.place(raised), raised.exc.args[0])


@pytest.mark.parametrize("message", ["locals()", "str(vars())", "eval('n')", "super().a()", "__class__", "[n := 1]"])
def test_messages_that_a_lambda_would_change(message: str) -> None:
    made = module(f"def f(n):\n    raise ValueError({message})\n")
    (raised,) = made.nodes.every(ast.Raise)
    assert isinstance(raised.exc, ast.Call)
    with pytest.raises(CannotRewrite):
        deferrable(made.place(raised), raised.exc.args[0])


def test_scopes_are_those_of_the_interpreter() -> None:
    made = module(
        "def outer(a):\n    b = 1\n    def inner():\n        nonlocal b\n        b = a\n"
        "        global g\n        g = 1\n"
        "        return [c for c in (a, b, g, d)]\n"
        "    try: pass\n    except E as e: return (e, (lambda p: p + a)(1), g, torch)\n"
    )
    owners = {}
    for name in ast.walk(made.tree):
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load):
            owner = made.names.owner(name.id, name)
            owners[name.id] = getattr(owner, "name", type(owner).__name__)
    assert owners == {
        "a": "outer", "b": "outer", "g": "Module", "d": "NoneType", "c": "ListComp", "e": "outer", "E": "NoneType",
        "p": "Lambda", "torch": "Module",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("(a, *b), c[0] = x", {"a", "b"}),
        ("if x: a = b = 1\nelif y: a = 2\nelse: raise x", {"a"}),
        ("try: a = 1\nexcept E: a = 2\nfinally: b = 3", {"a", "b"}),
        ("for a in x: b = a", set()),
        ("import a.b, c as d", {"a", "d"}),
    ],
)
def test_what_a_statement_surely_binds(statement: str, names: set[str]) -> None:
    assert binds(ast.parse(statement).body[0]) == names

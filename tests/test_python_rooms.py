"""Tests of the modules of the Python wing that read and decide, one after the other, on a few lines."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest
from snippets import asked, context, function, module
from symfix.python.analysis.decisions.branch_kind import only_raises, refusals
from symfix.python.analysis.decisions.comparisons import Default, crops, integer, of_comparison
from symfix.python.analysis.decisions.condition_leaves import decided_inside, leaf_at, leaves
from symfix.python.analysis.decisions.default_choice import general
from symfix.python.analysis.flow.calls import Calls
from symfix.python.analysis.flow.fix_eligibility import is_eager_only, obstacle
from symfix.python.analysis.flow.flow import flow
from symfix.python.analysis.flow.scriptable import refused_by_script
from symfix.python.analysis.must.must_type_inference import surely
from symfix.python.analysis.must.sym_operator_equivalence import evaluated_together
from symfix.python.analysis.types.annotations import said, signature
from symfix.python.analysis.types.library import SHAPES, of_function, of_method
from symfix.python.analysis.types.may_types import Kind, TupleKind, Value, join
from symfix.python.analysis.types.must_types import Certain, ScalarType, SequenceType, arithmetic, comparable, either
from symfix.python.syntax.tree import FunctionNode


def test_every_module_that_decides_or_writes_is_imported_by_a_test() -> None:
    tests = Path(__file__).parent
    wing = tests.parent / "python"
    rooms = ("syntax", "analysis", "rewrite", "candidates")
    paths = [path for room in rooms for path in (wing / room).rglob("[!_]*.py")]
    modules = {"symfix." + ".".join(path.relative_to(tests.parent).with_suffix("").parts) for path in paths}
    imported: set[str] = set()
    for path in tests.glob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                imported |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    assert len(modules) > 30
    assert modules - imported == set()


# syntax


def test_where_a_node_stands() -> None:
    made = function("if x:\n    z = [d for d in x.shape if d == 1]\nreturn f'{n + 1}'")
    equal = made.nodes.every(ast.Compare)[0]
    place = made.place(equal)
    assert place.function is made.functions[0] and place.text == "d == 1"
    assert made.source.content[slice(*place.span)] == b"d == 1"
    assert [type(one) for one in place.of_expression] == [ast.comprehension, ast.ListComp]
    assert [type(one) for one in place.ancestors[2:]] == [ast.Assign, ast.If, ast.FunctionDef, ast.Module]
    assert not place.in_format_string and made.place(made.nodes.every(ast.BinOp)[0]).in_format_string
    assert made.place(made.nodes.ifs[0].body[0]).indentation == "        "
    assert made.place(made.functions[0].arguments[0]).function is None


def test_what_a_function_is_made_of() -> None:
    made = module(
        "class A:\n    def f(self, a, *b):\n        with a as c:\n            c /= a // 2\n        def g(): return b\n"
        "        d = a\n        return d\n"
    )
    outer, inner = made.functions
    assert (outer.qualname, outer.owner, inner.qualname, inner.owner) == ("A.f", "A", "A.f.g", None)
    assert [one.name for one in inner.around] == ["f", "A"] and inner.outermost is outer
    assert [ast.unparse(one) for one in outer.divisors] == ["2", "a // 2"]
    assert outer.bound_by_with == {"c"} and outer.nodes.named == {"g"} and "b" in outer.bound
    assert [*outer.assigned_once] == ["d"] and [type(one) for one in outer.nodes.returns] == [ast.Return]


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("import torch\ndef f(x):\n    return x\n", [("torch", "torch")]),
        ("def f(x):\n    import torch as t\n    return x\nimport torch\n", [("t", "torch"), ("torch", "torch")]),
        ("def f(x):\n    return x\n    import torch\n", []),
        ("import torch\ndef f(x, torch):\n    return x\n", []),
        ("try:\n    import torch\nexcept ImportError:\n    torch = None\ndef f(x):\n    return x\n", []),
        ("if TYPE_CHECKING:\n    import torch\ndef f(x):\n    return x\n", []),
    ],
)
def test_the_imports_that_have_run_at_a_place(text: str, seen: list[tuple[str, str]]) -> None:
    made = module(text)
    assert made.names.imported_at(made.nodes.returns[0], {"torch"}) == seen


def test_whose_a_name_is() -> None:
    made = function("guard = 1\ndef g():\n    return guard\nreturn len")
    inner, outer = made.nodes.returns
    names = made.names
    assert not names.free("guard", inner) and not names.free("torch", outer) and names.free("sym_eq", inner)
    around: list[FunctionNode] = names.functions_around(inner)
    assert [one.name for one in around] == ["g", "f"]
    assert names.meanings(["torch", "len", "guard"], inner) == {"torch": "torch", "len": "builtins.len", "guard": None}


# analysis


def test_a_kind_knows_its_elements_and_a_row_its_kind() -> None:
    assert Kind.SIZES.element is Kind.SIZE and Kind.STRIDE.sequence is Kind.STRIDES
    assert Kind.TRUTH.element is Kind.UNKNOWN and Kind.CONCRETE.sequence is Kind.CONCRETE
    assert [kind for kind in Kind if kind.several] == [Kind.SIZES, Kind.STRIDES]
    assert {kind for kind in Kind if kind.symbolic_number} == {Kind.SIZE, Kind.STRIDE, Kind.RATIO}
    assert TupleKind(()).kind is Kind.CONCRETE and TupleKind((TupleKind((Kind.SIZE,)), Kind.UNKNOWN)).kind is Kind.SIZES
    assert join(TupleKind((Kind.SIZE, Kind.UNKNOWN)), TupleKind((Kind.CONCRETE, Kind.UNKNOWN))) == TupleKind(
        (Kind.SIZE, Kind.UNKNOWN)
    )


@pytest.mark.parametrize(
    ("name", "arguments", "value"),
    [
        (f"{SHAPES}.sym_eq", [Kind.SIZES, Kind.SIZES], Kind.TRUTH),
        (f"{SHAPES}.guard_or_false", [Kind.TRUTH], Kind.CONCRETE),
        ("math.prod", [Kind.SIZES], Kind.SIZE),
        ("functools.reduce", [Kind.UNKNOWN, Kind.STRIDES], Kind.STRIDE),
        ("builtins.max", [Kind.SIZE, Kind.CONCRETE], Kind.SIZE),
        ("builtins.max", [Kind.SIZES], Kind.SIZE),
        ("builtins.int", [Kind.RATIO], Kind.SIZE),
        ("builtins.int", [Kind.FOREIGN], Kind.CONCRETE),
        ("builtins.float", [Kind.SIZE], Kind.RATIO),
        ("builtins.len", [Kind.SIZES], Kind.CONCRETE),
        ("torch.broadcast_shapes", [], Kind.SIZES),
        ("torch.zeros", [Kind.SIZE], Kind.TENSOR),
        ("torch.is_tensor", [Kind.UNKNOWN], Kind.UNKNOWN),
        ("somewhere.zeros", [Kind.SIZE], Kind.UNKNOWN),
    ],
)
def test_what_functions_give(name: str, arguments: list[Value], value: Value) -> None:
    assert of_function(name, arguments) == value


def test_what_methods_of_tensors_give() -> None:
    assert (of_method("size", True), of_method("size", False)) == (Kind.SIZE, Kind.SIZES)
    assert (of_method("stride", True), of_method("storage_offset", False)) == (Kind.STRIDE, Kind.STRIDE)
    assert (of_method("is_contiguous", False), of_method("sum", False)) == (Kind.CONCRETE, Kind.TENSOR)
    assert (of_method("tolist", False), of_method("untyped_storage", False)) == (Kind.SIZES, Kind.UNKNOWN)


def test_which_functions_call_each_other() -> None:
    made = module(
        "class A:\n    def size(self):\n        return n.shape\n    def calls(self):\n        return self.size()\n"
        "def helper(a):\n    return a\ndef uses():\n    return helper(A())\ndef apart():\n    return other()\n"
    )
    calls = Calls(made)
    called = {one.qualname: [to.qualname for _, many in calls.inside[one] for to in many] for one in made.functions}
    assert called == {"A.size": [], "A.calls": ["A.size"], "helper": [], "uses": ["helper"], "apart": []}
    assert {one.qualname for one in calls.reached} == {"A.size", "A.calls"}


def test_what_the_annotations_of_a_function_say() -> None:
    made = module("from torch import Tensor\ndef f(a: Tensor, b: 'list[int]', c) -> int | None: ...\n", "model.py")
    found = signature(made, made.functions[0])
    assert {name: (one.may, one.sure) for name, one in found.parameters.items()} == {
        "a": (Kind.TENSOR, ScalarType.TENSOR),
        "b": (Kind.UNKNOWN, SequenceType(True, ScalarType.WHOLE)),
        "c": (Kind.UNKNOWN, None),
    }
    assert found.returns.sure is said(made, made.functions[0].node.returns).sure is ScalarType.OPTIONAL


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 + 2.5", ScalarType.FLOAT),
        ("1 // 2", ScalarType.WHOLE),
        ("1 / 2", ScalarType.FLOAT),
        ("2 ** -1", ScalarType.NUMBER),
        ("'%d' % 1", ScalarType.TEXT),
        ("'a' + 1", None),
        ("True & False", ScalarType.TRUTH),
        ("(1,) + (2.5,)", SequenceType(False, ScalarType.NUMBER, (ScalarType.WHOLE, ScalarType.FLOAT))),
        ("[1] + (2,)", None),
        ("[1] * 3", SequenceType(True, ScalarType.WHOLE)),
        ("[1] * 2.5", None),
    ],
)
def test_what_arithmetic_surely_gives(expression: str, value: Certain | None) -> None:
    made = module(f"def f():\n    return {expression}\n")
    node = made.nodes.returns[0].value
    assert isinstance(node, ast.BinOp)
    assert arithmetic(node.op, surely(made).of(node.left), surely(made).of(node.right)) == value


def test_what_can_be_compared() -> None:
    sizes = SequenceType(None, ScalarType.WHOLE)
    assert comparable(ast.Lt(), ScalarType.WHOLE, ScalarType.FLOAT) and not comparable(
        ast.Lt(), ScalarType.WHOLE, ScalarType.NUMBER
    )
    assert comparable(ast.Eq(), sizes, ScalarType.TEXT) and not comparable(ast.Lt(), sizes, sizes)
    assert comparable(ast.In(), ScalarType.WHOLE, sizes) and not comparable(
        ast.In(), ScalarType.WHOLE, ScalarType.WHOLE
    )
    assert not comparable(ast.Eq(), ScalarType.TENSOR, ScalarType.WHOLE) and not comparable(
        ast.Eq(), None, ScalarType.WHOLE
    )
    assert (
        either(ScalarType.WHOLE, ScalarType.NOTHING) is ScalarType.OPTIONAL
        and either(ScalarType.WHOLE, ScalarType.TEXT) is None
    )


@pytest.mark.parametrize(
    ("condition", "truth"),
    [
        ("x.size(0) == 3 * 1", False),
        ("x.size(0) <= 1", False),
        ("x.size(0) < 2**31", True),
        ("x.size(0) < 0", None),
        ("x.size(0) > 7", None),
        ("1 < x.size(0)", True),
        ("x.size(0) in (0, 1)", False),
        ("x.size(0) in y.shape", None),
        ("x.stride(0) < y.stride(0)", None),
    ],
)
def test_how_a_comparison_is_decided_by_what_it_compares(condition: str, truth: bool | None) -> None:
    known, node = asked(condition)
    assert isinstance(node, ast.Compare)
    found = of_comparison(leaf_at(known, node, node), node)
    assert (found.truth if isinstance(found, Default) else None) is truth


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("if x.size(0) == -1:\n    x = y\nelse:\n    raise ValueError\nreturn x", False),
        ("if x.size(0) == n:\n    x = y\nelse:\n    raise ValueError\nreturn x", "refuses-undecided"),
        ("if x.size(0) == n:\n    return y\nreturn NotImplemented", "refuses-undecided"),
        ("if x.size(0) > n and n % (x.size(0) + 1) == 0:\n    x = y\nreturn x", "decided-in-front"),
        ("z = []\nif x.size(0) == 1:\n    z.append(y)\nreturn tuple(z)", "decides-arity"),
        ("while x.size(0) > 1:\n    if y.size(0) == 1:\n        x = y\nreturn x", "loop-condition"),
        ("for i in range(3):\n    if i == x.size(0) - 1:\n        x = y\nreturn x", "neither-branch-general"),
        ("if x.size(0) == 3:\n    x = y\nreturn x", "neither-branch-general"),
        ("if x.size(0) == 3:\n    return y\nreturn x", False),
    ],
)
def test_the_default_by_what_stands_on_the_branches(body: str, found: bool | str) -> None:
    made = function(body)
    default = general(flow(made), leaves(flow(made))[-1])
    assert (default.truth if isinstance(default, Default) else default.reason) == found


def test_constants_and_crops() -> None:
    assert [integer(ast.parse(text, mode="eval").body) for text in ("-1", "2**63 - 1", "n", "1.0", "True")] == [
        -1,
        2**63 - 1,
        None,
        None,
        None,
    ]
    (crop, leaves_it) = ast.parse("if a:\n    x = x[:, :-1]\nif a:\n    x = x[n:]\n").body
    assert crops(crop) and not crops(leaves_it)


def test_a_leaf_says_all_of_its_truth() -> None:
    known, _ = asked("not (x.shape == y.shape and n) or s == 2.0")
    (shapes,) = leaves(known)
    assert shapes.compared is not None and shapes.compared.of_shapes and not shapes.scalar
    assert shapes.no_branch is True and not shapes.refuses and shapes.place.text == "x.shape == y.shape"
    made = function("if s == 2.0:\n    raise ValueError\nreturn x", "x: Tensor, s: float")
    (scalar,) = leaves(flow(made))
    assert scalar.scalar and scalar.refuses and only_raises(scalar.test) and scalar.no_branch is False


@pytest.mark.parametrize(
    ("condition", "part"),
    [
        ("x.size(0) == int(y.size(0))", "int(y.size(0))"),
        ("x.size(0) == min(k, 2)", None),
        ("x.size(0) == (1 if y.size(0) else 2)", "1 if y.size(0) else 2"),
        ("x.size(0) == y.size(0)", None),
        ("torch.numpy(n.sum() == 3) == x.size(0)", "n.sum() == 3"),
    ],
)
def test_what_a_condition_decides_inside(condition: str, part: str | None) -> None:
    known, node = asked(condition)
    found = decided_inside(known, node)
    assert (None if found is None else ast.unparse(found)) == part


def test_which_statements_refuse_sizes() -> None:
    made = function(
        "if isinstance(n, (int, torch.SymInt)):\n    assert n\nelse:\n    assert n == x.size(0)\n"
        "if x.size(0) != k:\n    raise ValueError\nif x.size(0) != k:\n    raise ValueError\nelse:\n    x = y\nreturn x"
    )
    found = refusals(flow(made))
    assert [(type(one.node), one.of_other_types) for one in found] == [(ast.Assert, True), (ast.If, False)]
    assert all(one.place.function is made.functions[0] for one in found)


def test_code_that_does_not_run_while_torch_compiles() -> None:
    made = function(
        "if not torch.compiler.is_compiling() and x.size(0) == 1:\n    return x\n"
        "if torch.compiler.is_compiling() and x.size(0) == 1:\n    return y\n"
        "if torch.compiler.is_compiling():\n    x = y\nelif x.size(0) == 2:\n    return y\nreturn x"
    )
    assert [is_eager_only(leaf.place) for leaf in leaves(flow(made))] == [True, False, True]


@pytest.mark.parametrize(
    ("parameters", "body", "refused"),
    [
        ("x: Tensor, n: int = 1", "return x", False),
        ("x, n=1", "return x", True),
        ("x, *n", "return x", True),
        ("x", "try:\n    return x\nfinally:\n    pass", True),
        ("x", "return (lambda: x)()", True),
        ("x", "return [d for d in x.shape if d]", True),
        ("x", "return f'{n!r}'", True),
        ("x", "return {'a': x}", False),
    ],
)
def test_what_torchscript_refuses(parameters: str, body: str, refused: bool) -> None:
    made = function(body, parameters, "model.py")
    (only,) = made.functions
    assert refused_by_script(made, only) is refused
    place, everything = made.place(only.node.body[0]), replace(context(), all_functions=True)
    found = obstacle(place, everything)
    assert (found is None) is refused and (found is None or found[0] == "torchscript")
    assert obstacle(place, everything, scriptable=True) is None
    assert obstacle(place, replace(everything, drop_torchscript=True)) is None
    assert obstacle(place, context()) == (
        "no-evidence", "no evidence that this function is traced: --modules or --all-functions assumes it"
    )  # fmt: skip


def test_fix_eligibility_in_own_tree_ignores_torchscript() -> None:
    made = function("return x")
    assert obstacle(made.place(made.nodes.returns[0]), context(), default=True) is None


def test_operands_that_are_compared_with_none_in_front() -> None:
    made = function("torch._check(x is not None and n == 2 and x.size(0) == n)")
    condition = made.nodes.calls[0].args[0]
    assert isinstance(condition, ast.BoolOp)
    lead, *operands = condition.values
    (bool_, *_) = evaluated_together(surely(made), [lead], operands, lead_holds=True)
    assert bool_ == "`n == 2` gives a bool for sizes; other values may not"

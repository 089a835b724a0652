"""Tests of required parentheses, and of the truth values of negated and joined conditions, by evaluation."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

import libcst as cst
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from symfix.python.rewrite.applied_changes import changed
from symfix.python.rewrite.change_types import Apart, Change, Joined, Plain
from symfix.python.rewrite.expressions import Binding, binding, grouped, needed_by
from symfix.python.rewrite.lines import code, comments

BINARY = ("+", "-", "*", "/", "//", "%", "@", "**", "<<", ">>", "&", "^", "|")
COMPARING = ("==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in")
INNER = (
    *(f"a {operator} b" for operator in (*BINARY, *COMPARING, "and", "or")),
    *("not a", "-a", "+a", "~a", "a if b else c", "lambda: a", "a := b", "a, b", "await a", "yield a", "a < b < c"),
    *("a", "1", "'s'", "a.b", "a[b]", "a()", "[a]", "{a}", "(a, b)", "(a for a in b)", "f'{a}'"),
)
OUTER = (
    *(f"{{}} {operator} z" for operator in (*BINARY, *COMPARING, "and", "or")),
    *(f"z {operator} {{}}" for operator in (*BINARY, *COMPARING, "and", "or")),
    *("not {}", "-{}", "+{}", "~{}", "{} if y else z", "y if {} else z", "y if z else {}", "lambda: {}", "z < {} < y"),
    *("{}.z", "{}[z]", "z[{}]", "{}()", "z({})", "z(y={})", "z(*{})", "z(**{})", "[{}]", "{{{}: z}}", "{{z: {}}}"),
    *("[y for y in {}]", "[y for y in z if {}]", "[{} for y in z]", "await {}", "({}, z)", "z[{}:y]", "(z := {})"),
)


def tree_of(text: str) -> ast.expr:
    """Return the expression in a function that may contain ``await`` and ``yield``."""
    function = ast.parse(f"async def f():\n    _ = ({text})").body[0]
    assert isinstance(function, ast.AsyncFunctionDef) and isinstance(function.body[0], ast.Assign)
    return function.body[0].value


def place_of(outer: ast.expr) -> tuple[ast.AST, ast.expr]:
    """Return the parent of the name ``hole``, and the name."""
    for parent in ast.walk(outer):
        for child in ast.iter_child_nodes(parent):
            if isinstance(child, ast.Name) and child.id == "hole":
                return parent, child
    raise AssertionError("no hole")


def shape(node: ast.expr) -> str:
    """Return a dump of the tree. ``a and (b and c)`` becomes ``a and b and c``, since their values are equal."""

    class Flat(ast.NodeTransformer):
        def visit_BoolOp(self, node: ast.BoolOp) -> ast.BoolOp:
            self.generic_visit(node)
            values: list[ast.expr] = []
            for one in node.values:
                same = isinstance(one, ast.BoolOp) and type(one.op) is type(node.op)
                values += one.values if same and isinstance(one, ast.BoolOp) else [one]
            return ast.BoolOp(node.op, values)

    return ast.dump(Flat().visit(node))


@pytest.mark.parametrize("outer", OUTER)
def test_an_operand_has_the_parentheses_that_it_needs(outer: str) -> None:
    needed = needed_by(*place_of(tree_of(outer.format("hole"))))
    for inner in INNER:
        written = code(grouped(without_parentheses(inner), needed))
        assert shape(tree_of(outer.format(written))) == shape(tree_of(outer.format(f"({inner})"))), written


def without_parentheses(inner: str) -> cst.BaseExpression:
    bare = cst.parse_module(f"async def f():\n    _ = ({inner})\n").body[0]
    assert isinstance(bare, cst.FunctionDef) and isinstance(bare.body, cst.IndentedBlock)
    line = bare.body.body[0]
    assert isinstance(line, cst.SimpleStatementLine) and isinstance(line.body[0], cst.Assign)
    tree = line.body[0].value
    return tree.with_changes(lpar=tree.lpar[1:], rpar=tree.rpar[:-1])


@pytest.mark.parametrize(
    ("outer", "inner"),
    [("z + {}", "a * b"), ("{} - z", "a - b"), ("not {}", "a == b"), ("{} and z", "not a"), ("z({})", "a if b else c")],
)
def test_an_operand_has_no_other_parentheses(outer: str, inner: str) -> None:
    tree = cst.parse_expression(inner)
    assert grouped(tree, needed_by(*place_of(tree_of(outer.format("hole"))))) is tree


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a + b", Binding.SUM), ("(a + b)", Binding.ATOM), ("a < b", Binding.COMPARISON), ("a.b(c)", Binding.ATOM)],
)
def test_how_tightly_an_expression_binds(text: str, expected: Binding) -> None:
    assert binding(cst.parse_expression(text)) is expected


ATOMS = st.sampled_from(("a", "b", "c", "0", "2", "-a", "a + b", "b * (a - c)", "a | b", "(a - 1) % 3", "abs(c)"))
SPACES = st.sampled_from((" ", "\n ", "  # said\n ", " \\\n"))
NAMES = tuple(itertools.product((-1, 0, 2), repeat=3))


@st.composite
def comparisons(draw: st.DrawFn) -> str:
    operators = draw(st.lists(st.sampled_from(COMPARING[:6]), min_size=1, max_size=2))
    words = [draw(ATOMS)]
    for operator in operators:
        words.append(f"{draw(SPACES)}{operator}{draw(SPACES)}{draw(ATOMS)}")
    return "".join(words)


def compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    several = st.lists(inner, min_size=2, max_size=3)
    joined = st.builds(
        lambda word, parts, space: f"{space}{word} ".join(f"({part})" for part in parts),
        st.sampled_from(("and", "or")),
        several,
        SPACES,
    )
    mixed = st.builds(lambda left, right, word: f"not {left} {word} ({right})", comparisons(), inner, st.just("and"))
    return st.one_of(joined, mixed, st.builds(lambda part: f"not ({part}\n)", inner), inner)


CONDITIONS = st.recursive(comparisons(), compound, max_leaves=6)


def opposite(node: ast.expr, truth: bool) -> Iterator[tuple[ast.expr, Change]]:
    """Yield the changes that negate a condition, or with ``truth`` those that only remove a ``not`` from it."""
    yield node, Plain.UNGROUPED
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node, Plain.AFFIRMED
        yield from opposite(node.operand, not truth)
    elif isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from opposite(value, truth)
        both = isinstance(node.op, ast.And) is truth
        helper = "sym_and" if both else "sym_or"
        yield node, Joined(both, len(node.values), 1, helper if len(node.values) > 2 else None)
    elif isinstance(node, ast.Compare) and len(node.ops) > 1:
        yield node, Apart("sym_and" if truth else "sym_or", opposite=not truth)
    elif isinstance(node, ast.Compare) and not truth:
        yield node, Plain.REVERSED
    elif not truth:
        yield node, Plain.NEGATED


@settings(max_examples=300)
@given(CONDITIONS, st.booleans())
def test_negated_and_joined_conditions_have_the_same_truth(text: str, truth: bool) -> None:
    whole = f"({text}\n)"
    node, tree = ast.parse(whole, mode="eval").body, cst.parse_expression(whole)
    written = code(changed(node, tree, [*opposite(node, truth)]))
    helpers = {"sym_and": lambda *parts: all(parts), "sym_or": lambda *parts: any(parts)}
    before, after = compile(whole, "", "eval"), compile(f"({written}\n)", "", "eval")
    for a, b, c in NAMES:
        values = {"a": a, "b": b, "c": c}
        assert bool(eval(after, helpers, values)) is (bool(eval(before, {}, values)) is truth), written


@settings(max_examples=200)
@given(st.lists(st.sampled_from(("a == b", "a < 1", "not c", "b != 2")), min_size=2, max_size=4), SPACES, SPACES)
def test_comments_between_operands_keep_their_places(parts: list[str], before: str, after: str) -> None:
    whole = f"(\n {f'{before}or{after}'.join(parts)}  # last\n)"
    node, tree = ast.parse(whole, mode="eval").body, cst.parse_expression(whole)
    written = changed(node, tree, [(node, Joined(False, len(parts), 0, "sym_or"))])
    assert comments(written) == comments(tree)
    assert len(ast.parse(code(written), mode="eval").body.args) == len(parts)  # type: ignore[attr-defined]

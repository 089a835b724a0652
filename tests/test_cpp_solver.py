"""Tests of the solver on small graphs: refusals propagate to causes, and connected edges form transactions."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from symfix.cpp.analysis.graph.graph import FlowGraph, Form, Refusal, Value
from symfix.cpp.analysis.graph.reasons import SkipReason
from symfix.cpp.analysis.graph.solver import solve

LOOP, INDEX = SkipReason.LOOP_BOUND, SkipReason.ARRAY_INDEX


def value(name: str) -> Value:
    return Value(Form.SEED if name.isupper() else Form.VARIABLE, name)


def graph(edges: str, **sinks: SkipReason) -> FlowGraph:
    """Build a graph from words such as ``"A>n n>m"``, in which A is the cause of n, and n that of m."""
    pairs = (edge.split(">") for edge in edges.split())
    places = ((value(name), Refusal(0, 1, reason, reason.sentence)) for name, reason in sinks.items())
    return FlowGraph(tuple((value(cause), value(effect)) for cause, effect in pairs), tuple(places))


def reasons(found: FlowGraph) -> dict[str, SkipReason]:
    return {str(one.key): refusal.reason for one, refusal in solve(found, ()).refused.items()}


@pytest.mark.parametrize(
    ("edges", "sinks", "wanted"),
    [
        ("A>n", {}, {}),
        ("A>n", {"n": LOOP}, {"A": LOOP, "n": LOOP}),
        ("A>n", {"A": LOOP}, {"A": LOOP}),
        ("A>n B>n", {"n": LOOP}, {"A": LOOP, "B": LOOP, "n": LOOP}),
        ("A>n A>m", {"m": LOOP}, {"A": LOOP, "m": LOOP}),
        ("A>n n>B", {"A": LOOP}, {"A": LOOP}),
        ("A>n n>m m>n", {"m": LOOP}, {"A": LOOP, "n": LOOP, "m": LOOP}),
        ("A>n B>m", {"n": LOOP, "m": INDEX}, {"A": LOOP, "n": LOOP, "B": INDEX, "m": INDEX}),
        ("A>n A>m", {"m": INDEX, "n": LOOP}, {"A": INDEX, "m": INDEX, "n": LOOP}),
    ],
)
def test_a_refusal_reaches_every_cause_and_no_effect(
    edges: str, sinks: dict[str, SkipReason], wanted: dict[str, SkipReason]
) -> None:
    assert reasons(graph(edges, **sinks)) == wanted


@pytest.mark.parametrize(
    ("edges", "starts", "wanted"),
    [
        ("A>n", "A", ["An"]),
        ("A>n B>n", "AB", ["ABn"]),
        ("A>n B>m", "BA", ["Bm", "An"]),
        ("A>n n>m B>m C>k", "ABC", ["ABnm", "Ck"]),
        ("", "AB", ["A", "B"]),
        ("n>m A>k", "A", ["Ak"]),
    ],
)
def test_what_shares_an_effect_is_one_transaction(edges: str, starts: str, wanted: list[str]) -> None:
    solution = solve(graph(edges), [value(name) for name in starts])
    assert solution.transactions == tuple(frozenset(map(value, names)) for names in wanted)


NAMES = st.sampled_from("ABCDnmkl")


@given(st.lists(st.tuples(NAMES, NAMES), max_size=12), st.sets(NAMES, max_size=3))
def test_the_solver_agrees_with_the_definition(edges: list[tuple[str, str]], bad: set[str]) -> None:
    found = graph(" ".join(f"{cause}>{effect}" for cause, effect in edges), **dict.fromkeys(sorted(bad), LOOP))
    wanted = set(bad)
    while more := {cause for cause, effect in edges if effect in wanted} - wanted:
        wanted |= more
    assert set(reasons(found)) == wanted
    groups = solve(found._replace(sinks=()), map(value, "ABCD")).transactions
    assert sum(len(group & set(map(value, "ABCD"))) for group in groups) == 4
    for cause, effect in edges:
        assert not any((value(cause) in group) is not (value(effect) in group) for group in groups)


def test_there_is_no_transaction_while_something_is_refused() -> None:
    found = graph("A>n B>m", n=LOOP)
    assert solve(found, [value("A"), value("B")]).transactions == ()


def test_the_solver_needs_no_parser() -> None:
    script = "import sys, symfix.cpp.analysis.graph.solver; print('tree_sitter' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"

"""Tests of generated code: deep nesting is skipped with a reason, and long chains take one step for each link."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from cpp_cases import rewritten, skips
from symfix.cpp.analysis.graph.dataflow_facts import Fact
from symfix.cpp.analysis.graph.graph import Value
from symfix.cpp.analysis.handlers.parent_dispatch import dispatch_parent
from symfix.cpp.analysis.handlers.pass_context import Pass
from symfix.cpp.syntax.tree import DEEPEST
from symfix.cpp.syntax.types import Type
from tree_sitter import Node

HEAD = "#include <ATen/ATen.h>\nusing namespace at;\n"
NESTED = {
    "a sum of 900": "return t.view({" + " + ".join(["t.size(0)"] * 900) + "});",
    "400 else-ifs": " else ".join(f"if (k == {n}) {{ return t.view({{t.size(0) + {n}}}); }}" for n in range(400)),
    "800 operands": "if (" + " && ".join(f"t.size({n}) == {n}" for n in range(800)) + ") { return t.neg(); }",
    "500 parentheses": "return t.view({" + "(" * 500 + "t.size(0)" + ")" * 500 + "});",
    "100 lambdas": "auto f = [&] { auto n = t.size(0); " * 100 + "return n; };" + "return f(); };" * 99,
}


@pytest.mark.parametrize("body", [pytest.param(body, id=name) for name, body in NESTED.items()])
def test_deep_code_is_left_and_the_rest_is_not(body: str) -> None:
    text = f"Tensor f(const Tensor& t, int64_t k) {{ {body} return t; }}\n"
    beside = "Tensor g(const Tensor& t) { return t.view({t.size(0)}); }\n"
    (found,) = skips(HEAD + text + beside)
    assert (found.reason, found.function) == ("nested-too-deeply", "f")
    assert rewritten((HEAD + text + beside).encode()).decode() == HEAD + text + beside.replace(
        "t.view({t.size", "t.view_symint({t.sym_size"
    )


@pytest.mark.parametrize("rule", ["use_sym_bool", "migrate_size_oblivious", "use_guard_or", "use_sym_check"])
def test_no_rule_breaks_on_deep_code(rule: str) -> None:
    deep = " + ".join(["t.sym_size(0)"] * 900)
    macros = f"if (TORCH_GUARD_OR_FALSE({deep} == 3) || TORCH_GUARD_SIZE_OBLIVIOUS({deep} == 0)) {{ return t; }}"
    text = f"Tensor f(const Tensor& t) {{ {macros} TORCH_CHECK({deep} == 1); return {deep} == 1 ? t : t.neg(); }}"
    assert rewritten((HEAD + text).encode(), rule).decode() == HEAD + text


def test_what_is_nested_just_less_deeply_is_followed() -> None:
    terms = " + ".join(["t.size(0)"] * (DEEPEST - 20))
    text = f"{HEAD}Tensor f(const Tensor& t) {{ auto n = {terms}; return t.view({{n}}); }}\n"
    assert rewritten(text.encode()).count(b"sym_size") == DEEPEST - 20


@pytest.mark.parametrize("ends_in", ["t.view({v_last})", "somebody(v_last)"])
def test_a_chain_of_variables_takes_a_step_each(ends_in: str, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = 0

    def counted(p: Pass, node: Node, kind: Type, cause: Value) -> Iterable[Fact]:
        nonlocal steps
        steps += 1
        return dispatch_parent(p, node, kind, cause)

    monkeypatch.setattr("symfix.cpp.analysis.propagation.propagation.dispatch_parent", counted)
    taken = []
    for length in (100, 400):
        chain = "".join(f"auto v{n} = v{n - 1} + t.size({n});\n" for n in range(1, length))
        body = f"auto v0 = t.size(0);\n{chain}return {ends_in.replace('v_last', f'v{length - 1}')};"
        steps = 0
        skips(f"{HEAD}Tensor f(const Tensor& t) {{ {body} }}\n", path=str(Path(f"chain{length}.cpp")))
        taken.append(steps)
    assert 0 < taken[1] < 5 * taken[0]


def test_a_chain_of_products_is_a_size() -> None:
    chain = "".join(f"auto v{n} = v{n - 1} * v{n - 1};\n" for n in range(1, 2000))
    text = f"{HEAD}Tensor f(const Tensor& t) {{ auto v0 = t.sym_size(0);\n{chain}"
    text += "if (TORCH_GUARD_SIZE_OBLIVIOUS(v1999 == 0)) { return t.neg(); }\nreturn t; }\n"
    after = rewritten(text.encode(), "migrate_size_oblivious").decode()
    assert after == text.replace("SIZE_OBLIVIOUS", "OR_FALSE")

"""Tests of comparisons: their result for all sizes of at least 2, and their forms that add no guard."""

from __future__ import annotations

import pytest
from cpp_cases import rewritten

ANSWERS = {
    "==": {"0": False, "1": False, "2": None},
    "!=": {"0": True, "1": True, "2": None},
    "<": {"0": False, "1": False, "2": False, "3": None},
    "<=": {"0": False, "1": False, "2": None},
    ">": {"0": True, "1": True, "2": None},
    ">=": {"0": True, "1": True, "2": True, "3": None},
}
METHODS = {"==": "sym_eq", "!=": "sym_ne", "<": "sym_lt", "<=": "sym_le", ">": "sym_gt", ">=": "sym_ge"}
HEAD = "at::Tensor f(const at::Tensor& t, int64_t k) {\n  if ("
TAIL = ") {\n    return t.neg();\n  }\n  return t.abs();\n}\n"
MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
TABLE = [(sign, bound, answer) for sign, row in ANSWERS.items() for bound, answer in row.items()]


def branch(condition: str) -> str:
    text = HEAD + condition + TAIL
    after = rewritten(text.encode(), "use_guard_or").decode()
    return after.split("if (")[1].split(") {\n    return")[0]


@pytest.mark.parametrize(("sign", "bound", "answer"), TABLE)
def test_the_general_answer_chooses_the_macro(sign: str, bound: str, answer: bool | None) -> None:
    sizes = range(2, 6)
    told = {eval(f"{size} {sign} {bound}") for size in sizes}
    assert told == ({True, False} if answer is None else {answer}), "the table itself is wrong"
    plain = f"t.sym_size(0) {sign} {bound}"
    macro = f"TORCH_GUARD_OR_{str(answer).upper()}(t.sym_size(0).{METHODS[sign]}({bound}))"
    assert branch(plain) == (plain if answer is None else macro)
    turned = f"{bound} {MIRRORED[sign]} t.sym_size(0)"
    assert branch(turned) == (turned if answer is None else macro)


@pytest.mark.parametrize(
    "condition",
    ["t.sym_size(0) % 2 == 0", "t.sym_size(0) - 2 == 0", "t.sym_size(0) / 2 == 0", "t.sym_size(0) < k", "t.dim() == 0",
     "!(t.sym_size(0) == 0)"],
)  # fmt: skip
def test_what_sizes_answer_differently_is_left(condition: str) -> None:
    assert branch(condition) == condition


def test_an_operand_of_lower_precedence_gets_parentheses() -> None:
    before = b'void f(const at::Tensor& t) { TORCH_CHECK(t.sym_size(0) + 1 == t.sym_size(1) * 2, "no"); }\n'
    after = rewritten(before, "use_sym_check")
    assert b"TORCH_SYM_CHECK((t.sym_size(0) + 1).sym_eq(t.sym_size(1) * 2), " in after

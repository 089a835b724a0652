"""From a changed Python function to the operators it serves."""

from __future__ import annotations

from symfix.codemods.verify.reaching import operators_served

BEFORE = b"""
def untouched(x):
    return x

def _check(x):
    if x.shape[0] == 0:
        raise ValueError

@register_meta([aten.cummax.default, aten.cummin.default])
def cum(x):
    _check(x)

@register_decomposition(aten.addmv)
def other(x):
    return untouched(x)

class Pool:
    def forward(self, x):
        return inner(x)

if True:
    def inner(x):
        return x.numel() == 0
"""


def served(old: bytes, new: bytes) -> frozenset[str]:
    return operators_served(BEFORE, BEFORE.replace(old, new))


def test_a_helper_serves_what_its_callers_serve() -> None:
    answer = served(b"x.shape[0] == 0", b"guard_or_false(x.shape[0] == 0)")
    assert answer == {"_check", "check", "cum", "cummax", "cummin"}


def test_a_function_serves_its_decorators_operators_and_its_callers() -> None:
    assert served(b"return x\n\ndef _check", b"return x.clone()\n\ndef _check") == {"untouched", "other", "addmv"}


def test_functions_in_classes_and_conditions_are_seen() -> None:
    assert served(b"x.numel() == 0", b"x.numel() < 1") == {"inner", "forward"}


def test_a_comment_serves_nobody() -> None:
    assert served(b"raise ValueError", b"raise ValueError  # why") == frozenset()

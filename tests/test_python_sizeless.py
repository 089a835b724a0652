"""What `Sizeless` vouches for is never evaluated to a size, and enough is vouched for to be worth it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from symfix.codemods.engine.lazily import lazily
from symfix.codemods.engine.source import SourceFile
from symfix.python.analysis.flow import flow
from symfix.python.analysis.registered import REGISTERING_FAKES, Seen, registered
from symfix.python.analysis.sizeless import Signatures, Sizeless
from symfix.python.analysis.values import Kind
from symfix.python.syntax.module import Module

GOLDEN = Path(__file__).parents[1] / "golden"
CASES = sorted(GOLDEN.glob("*/*.before.py")) + sorted(GOLDEN.glob("*/*.same.py"))
SYMBOLIC = (Kind.SIZE, Kind.SIZES, Kind.STRIDE, Kind.STRIDES, Kind.RATIO, Kind.TRUTH, Kind.NUMBER)


def told(content: bytes, path: Path = Path("torch/x.py")) -> Iterator[tuple[str, bool, Kind]]:
    """Every expression in a function, whether it is sizeless, and its kind."""
    module = Module(SourceFile(path, content))
    known = flow(module)
    sizeless = Sizeless(module, known.calls, Signatures(module))
    for node in module.parents:
        if isinstance(node, ast.expr) and not isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
            function = module.function_of(node)
            said = sizeless.expression(node, function)
            yield ast.unparse(node), said, known.kind(node)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.name}")
def test_what_is_vouched_for_is_no_size(case: Path) -> None:
    wrong = [(text, kind) for text, said, kind in told(case.read_bytes()) if said and kind in SYMBOLIC]
    assert not wrong


TANGLED = b"""
import torch
from torch import broadcast_shapes as joined
from torch.fx.experimental.symbolic_shapes import sym_eq as same

def passed(a, b, *rest, c=0):
    return a

def made(x: torch.Tensor):
    return x.size(0)

def plain(flag, word="a"):
    kept = len(word)
    kept += 1
    return kept if flag else None

def around(x: torch.Tensor, y):
    n, other_n = x.shape[0], 1
    other = "b"
    grown = []
    grown.append(n)
    held = {}
    held[0] = x.numel()
    sizes = joined(x.shape, y)
    for i, (k, z) in enumerate(zip(x.shape, "ab")):
        k, z
    def inner(q):
        r = n
        return [r for r in x.shape], r, q, other
    again = made(x)
    through = passed(n, 1)
    called = plain(other)
    later = called
    later = later
    if (w := x.stride(0)) and same(x.shape, y):
        return grown, held[0], sizes, i, w, through, again, called, later
    inner(x.shape[1])
    return passed(1, n, c=n), [v for v in range(3)], [u + 1 for u in x.shape]
"""


def test_a_size_is_found_on_every_way() -> None:
    answers = {text: said for text, said, _ in told(TANGLED)}
    assert not [text for text, said, kind in told(TANGLED) if said and kind in SYMBOLIC]
    for name in ("n", "k", "r", "q", "v2", "grown", "sizes", "w", "through", "again", "a", "u"):
        assert not answers.get(name, False), name
    for name in ("kept", "called", "later", "other", "word", "v", "plain(other)"):
        assert answers[name], name


def test_a_name_that_fails_does_not_leave_what_was_assumed() -> None:
    content = b"def f(x: 'torch.Tensor'):\n    a = b = 0\n    a = b\n    b = a\n    b = x.shape[0]\n    return a, b\n"
    assert not any(said for text, said, _ in told(b"import torch\n" + content) if text in ("a", "b"))


def test_what_is_made_lazily_is_made_once() -> None:
    class Counting:
        made = 0

        @lazily
        def value(self) -> int:
            self.made += 1
            return self.made

    one = Counting()
    assert (one.value, one.value, one.made) == (1, 1, 1)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.name}")
def test_what_registers_a_fake_function_is_seen_in_the_bytes(case: Path) -> None:
    module = Module(SourceFile(case, case.read_bytes()))
    if any(registered(module, one) is Seen.FAKE for one in module.functions):
        assert any(word in module.source.content for word in REGISTERING_FAKES)

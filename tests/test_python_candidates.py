"""Tests of candidates of `symfix export` in user code: their text, equal eager results, both sides in the program."""

from __future__ import annotations

import ast
import importlib.util
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from goldens import installed_torch
from symfix.codemods.engine.registry import load_language
from symfix.codemods.model.rule import Context, Fix
from symfix.codemods.model.source_file import SourceFile
from symfix.codemods.workflows.repair.edited_file import EditedFile
from symfix.python.candidates.cache_bypass import computed_anew, uncached_attribute
from symfix.python.candidates.call_contracts import length_stated
from symfix.python.candidates.clamped_slices import clamped_ends
from symfix.python.candidates.equality import equal_in_eager
from symfix.python.candidates.inert_branches import taken_while_compiling
from symfix.python.candidates.runtime_assertions import assert_in_program
from symfix.python.candidates.scalar_reads import read_scalar
from symfix.python.candidates.script_choice import chosen_beside_script
from symfix.python.candidates.symbolic_logic import concrete_first
from symfix.python.candidates.traceable_calls import filled_diagonal
from symfix.python.candidates.value_decisions import of_values
from symfix.python.syntax.module import parse

HEAD = "import warnings\n\nimport torch\nimport torch.nn.functional as F\n\n\n"
TRUE, FALSE = torch.tensor([True, True]), torch.tensor([True, False])
FLAT, STEEP = torch.full((3,), 0.5), torch.tensor([1.0, 4.0, -2.0])

CASES: dict[str, tuple[str, str, str, list[tuple[Any, ...]]]] = {
    "item": (
        """
        def f(x, lengths):
            longest = int(lengths.max())
            return x.new_zeros(longest) + x.sum()
        """,
        "int(",
        "    longest = lengths.max().item()\n",
        [(STEEP, torch.tensor([1, 3])), (STEEP, torch.tensor([0]))],
    ),
    "sym_int": (
        """
        def f(x, share):
            kept = int(share * 2)
            return x.new_zeros(kept) + x.sum()
        """,
        "int(",
        "    kept = torch.sym_int((share * 2).item())\n",
        [(STEEP, torch.tensor(1.7)), (STEEP, torch.tensor(0.2))],
    ),
    "size of what only the trace knows": (
        """
        def f(*pair):
            first, second = pair
            if len(first) == len(second):
                return first * second
            return first.sum() * second
        """,
        "if len",
        "    if first.size(0) == second.size(0):\n",
        [(STEEP, FLAT)],
    ),
    "smaller of two sizes": (
        """
        def f(*pair):
            first, second = pair
            kept = min(first.size(0), second.size(0))
            return first[:kept] + second[:kept]
        """,
        "kept =",
        "    kept = torch.sym_min(first.size(0), second.size(0))\n",
        [(STEEP, FLAT), (torch.ones(4), FLAT), (STEEP, torch.ones(5))],
    ),
    "equality in eager": (
        """
        def f(x, y):
            same = torch.equal(x, y)
            if not same:
                x = x - y
            else:
                x = torch.zeros_like(x)
            return x
        """,
        "same =",
        "    same = not torch.compiler.is_compiling() and torch.equal(x, y)\n",
        [(STEEP, FLAT), (STEEP, STEEP.clone())],
    ),
    "negated equality in eager": (
        """
        def f(x, y):
            if x is None or not torch.equal(x, y):
                x = x - y
            else:
                x = torch.zeros_like(x)
            return x
        """,
        "if x is",
        "    if x is None or not (not torch.compiler.is_compiling() and torch.equal(x, y)):\n",
        [(STEEP, FLAT), (STEEP, STEEP.clone())],
    ),
    "sizes one by one": (
        """
        def f(n, x, y):
            if n.dim() == 0 or x.shape != y.shape:
                return x.sum() + y.sum()
            return x.sum() + y.sum() + 0 * n.sum()
        """,
        "if n.dim",
        "all(guard_or_false(m == k) for m, k in zip(x.shape, y.shape))):\n",
        [(STEEP, STEEP, FLAT), (STEEP, torch.ones(3), FLAT)],
    ),
    "refusal on both sides": (
        """
        def f(x, y):
            n = y.sum().item()
            if n > 9:
                if n > 99:
                    raise ValueError("far too many")
                else:
                    raise ValueError("too many")
            return x + n
        """,
        "if n > 9",
        """
            if torch.compiler.is_compiling():
                torch._check_value(n <= 9)
            elif n > 9:
        """,
        [(STEEP, torch.tensor([1, 2])), (STEEP, torch.tensor([10])), (STEEP, torch.tensor([100]))],
    ),
    "check beside a refusal": (
        """
        def f(x, start):
            end = start.item() + x.shape[0]
            if end > 64:
                last = end - 1
                raise KeyError(f"position {last}")
            return x + end
        """,
        "if end",
        """
            if torch.compiler.is_compiling():
                torch._check(end <= 64)
            elif end > 64:
        """,
        [(STEEP, torch.tensor(1)), (STEEP, torch.tensor(64))],
    ),
    "both operands of a refusal": (
        """
        def f(x, y):
            n = y.sum().item()
            if n < 1 or n > 9:
                raise ValueError("out of range")
            return x + n
        """,
        "if n",
        """
            if torch.compiler.is_compiling():
                torch._check_value((n >= 1) & (n <= 9))
            elif n < 1 or n > 9:
        """,
        [(STEEP, torch.tensor([1, 2])), (STEEP, torch.tensor([0])), (STEEP, torch.tensor([10]))],
    ),
    "assertion of a refusal": (
        """
        def f(x, labels):
            if (labels < 0).any():
                raise ValueError("labels are negative")
            return x + labels.sum()
        """,
        "if (labels",
        """
            if torch.compiler.is_compiling():
                torch._assert_async(torch.logical_not((labels < 0).any()), "labels are negative")
            elif (labels < 0).any():
        """,
        [(STEEP, torch.tensor([0, 2])), (STEEP, torch.tensor([0, -2]))],
    ),
    "where": (
        """
        def f(x):
            total = x.sum()
            if total.item() != 0.0:
                x = x / total
            return x
        """,
        "if total",
        "    x = torch.where(total != 0.0, x / total, x)\n",
        [(STEEP,), (torch.zeros(3),)],
    ),
    "where of an augmented assignment": (
        """
        def f(x, mask):
            x = x + 1
            if not mask.all():
                x *= 1 + 1
            else:
                x = x - 1
            return x
        """,
        "if not",
        "    x = torch.where(~mask.all(), x * (1 + 1), x - 1)\n",
        [(STEEP, TRUE), (STEEP, FALSE)],
    ),
    "where behind elif": (
        """
        def f(x, mask):
            if x.shape[0] > 99:
                x = x + 1
            elif mask.all():
                x = x + 2
            return x
        """,
        "elif",
        """
            else:
                x = torch.where(mask.all(), x + 2, x)
        """,
        [(STEEP, TRUE), (STEEP, FALSE)],
    ),
    "where of a chain": (
        """
        def f(x):
            peak = x.max()
            if peak > 3:
                x = x / 2
            elif peak < 0.1:
                x = x * 2
            return x
        """,
        "if peak",
        "    x = torch.where(peak > 3, x / 2, torch.where(peak < 0.1, x * 2, x))\n",
        [(STEEP,), (FLAT,), (FLAT / 10,)],
    ),
    "where of other names in the else": (
        """
        def f(x, y):
            if y.any():
                x = y + 1
            else:
                y = x * 2
            return x + y
        """,
        "if y",
        "    condition = y.any()\n    x, y = torch.where(condition, y + 1, x), torch.where(condition, y, x * 2)\n",
        [(STEEP, torch.zeros(3)), (STEEP, STEEP)],
    ),
    "where below what Python decides": (
        """
        class Model(torch.nn.Module):
            def forward(self, x):
                if self.training is False and (x < 0).all():
                    x = x * 2
                return x


        f = Model().eval()
        """,
        "if self",
        """
                if self.training is False:
                    x = torch.where((x < 0).all(), x * 2, x)
        """,
        [(STEEP,), (-FLAT,)],
    ),
    "where in double precision": (
        """
        def f(x):
            if x.max().item() > 0.1:
                x = x * 2
            return x
        """,
        "if x",
        "    x = torch.where(x.max().double() > 0.1, x * 2, x)\n",
        [(torch.full((3,), 0.1),), (-FLAT,)],
    ),
    "where of two names": (
        """
        def f(x):
            low, high = x.min(), x.max()
            if high == low:
                low = low - 1
                high = high + 1
            return (x - low) / (high - low)
        """,
        "if high",
        "    condition = high == low\n"
        "    low = torch.where(condition, low - 1, low)\n    high = torch.where(condition, high + 1, high)\n",
        [(STEEP,), (FLAT,)],
    ),
    "where of two returns": (
        """
        def f(x):
            scale = x.abs().max()
            if scale > 1.0:
                return x / scale
            return x
        """,
        "if scale",
        "    return torch.where(scale > 1.0, x / scale, x)\n",
        [(STEEP,), (FLAT,)],
    ),
    "where of an expression": (
        """
        def f(x, mask):
            return (x.sum() if bool(mask.all()) else x.mean()) + 1
        """,
        "return",
        "    return (torch.where(mask.all(), x.sum(), x.mean())) + 1\n",
        [(STEEP, TRUE), (STEEP, FALSE)],
    ),
    "message in eager": (
        """
        def f(x):
            if (x < 0).any():
                warnings.warn("negative")
            return x + 1
        """,
        "if (x",
        "    if not torch.compiler.is_compiling() and (x < 0).any():\n",
        [(FLAT,)],
    ),
    "crop": (
        """
        def f(x, mask):
            x = x[mask]
            if x.shape[0] > 2:
                x = x[:2]
            return x
        """,
        "if x",
        "    x = x[:2]\n",
        [(STEEP, torch.tensor([True, True, True])), (STEEP, torch.tensor([False, True, False]))],
    ),
    "padding": (
        """
        def f(x):
            pad = -x.shape[0] % 4
            if pad > 0:
                x = F.pad(x, (0, pad))
            return x.reshape(-1, 4).sum(0)
        """,
        "if pad",
        "    if torch.compiler.is_compiling() or pad > 0:\n",
        [(torch.ones(6),), (torch.ones(8),), (torch.ones(17),)],
    ),
    "divisor of a branch": (
        """
        def f(x, mask):
            n = mask.sum().item()
            if n > 0:
                return (x * mask).sum() / n
            return x.sum() * 0
        """,
        "if n",
        """
            if torch.compiler.is_compiling() or n > 0:
                return (x * mask).sum() / torch.sym_max(n, 1)
        """,
        [(STEEP, torch.tensor([True, False, True])), (STEEP, torch.zeros(3, dtype=torch.bool))],
    ),
    "mean behind a return": (
        """
        def f(x, mask):
            picked = x[mask]
            if picked.numel() == 0:
                return x.sum() * 0
            return picked.mean() + picked.sum() / picked.shape[0]
        """,
        "if picked",
        """
            if not torch.compiler.is_compiling() and picked.numel() == 0:
                return x.sum() * 0
            return (picked.sum() / torch.sym_max(picked.numel(), 1)) + picked.sum() / torch.sym_max(picked.shape[0], 1)
        """,
        [(STEEP, torch.tensor([True, False, True]))],
    ),
    "length of the counts": (
        """
        def f(x, index):
            counts = torch.bincount(index, minlength=3).tolist()
            return torch.stack([x * n for n in counts])
        """,
        "counts =",
        """
            counts = torch.bincount(index, minlength=3)
            torch._check(counts.shape[0] == 3)
            counts = counts.tolist()
        """,
        [(STEEP, torch.tensor([0, 1, 0, 2]))],
    ),
    "length of counts made above": (
        """
        def f(x, index):
            counts = torch.bincount(index, minlength=3)
            parts = counts.unbind()
            return torch.stack([x * n for n in parts])
        """,
        "parts =",
        """
            torch._check(counts.shape[0] == 3)
            parts = counts.unbind()
        """,
        [(STEEP, torch.tensor([0, 1, 0, 2]))],
    ),
    "exclusive or": (
        """
        def f(x, wide=True):
            ratio = x.shape[0] / 4
            if wide ^ (ratio < 1.0):
                return x + 1
            return x - 1
        """,
        "if wide",
        "    if (torch.sym_not(ratio < 1.0) if wide else ratio < 1.0):\n",
        [(STEEP,), (torch.ones(2),)],
    ),
    "padding to a multiple": (
        """
        def f(x):
            rest = x.shape[0] % 4
            if rest > 0:
                x = F.pad(x, (0, 4 - rest))
            return x.reshape(-1, 4).sum(0)
        """,
        "if rest",
        """
            if torch.compiler.is_compiling() or rest > 0:
                x = F.pad(x, (0, (4 - rest) % 4))
        """,
        [(torch.ones(6),), (torch.ones(8),), (torch.ones(17),)],
    ),
    "difference that may be negative": (
        """
        def f(x, n):
            missing = n.item() - x.shape[0]
            if missing > 0:
                x = F.pad(x, (0, missing))
            return x
        """,
        "if missing",
        """
            if torch.compiler.is_compiling() or missing > 0:
                x = F.pad(x, (0, torch.sym_max(missing, 0)))
        """,
        [(torch.ones(6), torch.tensor(8)), (torch.ones(7), torch.tensor(3))],
    ),
    "cache by a size": (
        """
        KEPT = {}


        def kept(n):
            if n not in KEPT:
                KEPT[n] = torch.arange(n)
            return KEPT[n]


        def f(x):
            return x + kept(x.shape[0])
        """,
        "if n not",
        """
            if torch.compiler.is_compiling():
                return torch.arange(n)
            if n not in KEPT:
        """,
        [(torch.ones(6),), (torch.ones(8),)],
    ),
    "order of operands": (
        """
        class Model(torch.nn.Module):
            def forward(self, x):
                if (x < 0).all() and self.training:
                    x = x * 2
                return x


        f = Model().eval()
        """,
        "if (x",
        "        if self.training and (x < 0).all():",
        [(STEEP,)],
    ),
    "order of operands, one of which may be None": (
        """
        def f(x, ignored=None):
            negative = (x < 0).all()
            if negative and ignored is not None:
                raise ValueError("nothing is left")
            return x * 2
        """,
        "if negative",
        "    if ignored is not None and negative:",
        [(STEEP,)],
    ),
    "assertion of an assert": (
        """
        def f(x, p):
            assert torch.allclose(p.sum(), torch.ones(())), "no probabilities"
            return x + p.sum()
        """,
        "assert",
        """
            if torch.compiler.is_compiling():
                torch._assert_async(torch.isclose(p.sum(), torch.ones(())).all(), "no probabilities")
            else:
                assert torch.allclose(p.sum(), torch.ones(())), "no probabilities"
        """,
        [(STEEP, torch.tensor([0.25, 0.75])), (STEEP, torch.tensor([0.25, 0.5]))],
    ),
    "end of a slice": (
        """
        def f(x, y):
            return x[:4].sum() + y.sum()
        """,
        "return",
        "    return x[:torch.sym_min(4, x.shape[0])].sum() + y.sum()\n",
        [(torch.ones(6), torch.ones(5)), (torch.ones(3), torch.ones(5))],
    ),
    "bounds of a slice": (
        """
        def f(x, bounds):
            begin, end = bounds[0], bounds[1]
            return x[begin:end].sum()
        """,
        "return",
        "    return x[begin.item():end.item()].sum()\n",
        [(torch.ones(6), torch.tensor([1, 4])), (torch.ones(6), torch.tensor([2, 2]))],
    ),
    "mean of a choice": (
        """
        def f(x, keep):
            x = x[keep]
            return (x.mean() if x.numel() > 0 else 0.0 * x.sum()) + 1
        """,
        "return",
        "    return (x.sum() / torch.sym_max(x.numel(), 1)) + 1\n",
        [(STEEP, torch.tensor([True, False, True])), (STEEP, torch.tensor([False, False, False]))],
    ),
    "loss of no rows": (
        """
        def f(x, keep):
            labels = torch.zeros(x.shape[0], dtype=torch.int64)[keep]
            if labels.shape[0] == 0:
                return x.sum() * 0
            return F.cross_entropy(x[keep], labels)
        """,
        "if labels",
        """
            if not torch.compiler.is_compiling() and labels.shape[0] == 0:
                return x.sum() * 0
            return (F.cross_entropy(x[keep], labels, reduction="sum") / (labels != -100).sum().clamp(min=1))
        """,
        [(torch.randn(4, 3), torch.tensor([True, False, True, True])), (torch.randn(4, 3), torch.tensor([False] * 4))],
    ),
    "refusal by a tensor and a bool": (
        """
        def f(x, keep, first=False):
            whole = not first and keep[0].all()
            firsts = first and keep[:, 0].all()
            if not whole and not firsts:
                raise ValueError("the first step is masked")
            return x * keep
        """,
        "if not whole",
        """
            if torch.compiler.is_compiling():
                if not firsts:
                    torch._assert_async(whole.bool(), "the first step is masked")
            elif not whole and not firsts:
        """,
        [(torch.ones(3, 2), torch.ones(3, 2, dtype=torch.bool)), (torch.ones(2, 2), torch.eye(2, dtype=torch.bool))],
    ),
    "algorithm that a size chooses": (
        """
        def f(x, y):
            return torch.cdist(x, y, p=2).amin(-1)
        """,
        "return",
        """
            return torch.cdist(x, y, p=2, compute_mode="donot_use_mm_for_euclid_dist" if torch.compiler.is_compiling() else "use_mm_for_euclid_dist_if_necessary").amin(-1)
        """,  # noqa: E501
        [(torch.randn(5, 4), torch.randn(6, 4)), (torch.randn(30, 4), torch.randn(2, 4))],
    ),
    "filled diagonal": (
        """
        def f(x):
            same = x @ x.T
            same.fill_diagonal_(0)
            return same
        """,
        "same.fill",
        """
            if torch.compiler.is_compiling() and same.dim() == 2:
                same.diagonal().fill_(0)
            else:
                same.fill_diagonal_(0)
        """,
        [(torch.randn(5, 4),), (torch.randn(0, 4),)],
    ),
    "predicate of a size in a helper": (
        """
        def empty(part):
            return part.numel() == 0

        def f(x, keep):
            kept = x[keep]
            parts = [x.mean(0)]
            if not empty(kept):
                parts.append(kept.exp().sum(0))
            return sum(parts)
        """,
        "if not empty",
        "    if not guard_or_false(empty(kept)):\n",
        [(torch.randn(4, 3), torch.tensor([True, False, True, True])), (torch.randn(4, 3), torch.tensor([False] * 4))],
    ),
    "tensor of a grouped size": (
        """
        def f(x):
            return x / torch.tensor((x.shape[0]), dtype=torch.float64)
        """,
        "return",
        "    return x / torch.full((), (x.shape[0]), dtype=torch.float64)\n",
        [(torch.ones(6),), (torch.ones(8),)],
    ),
    "tensor of a size": (
        """
        def f(x):
            return x / torch.tensor(x.shape[0])
        """,
        "return",
        "    return x / torch.full((), x.shape[0])\n",
        [(torch.ones(6),), (torch.ones(8),)],
    ),
    "flag of a module": (
        """
        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("ready", torch.tensor(True))

            def forward(self, x):
                if self.ready:
                    x = x * 2
                return x


        f = Model()
        """,
        "if self",
        """
                if torch.compiler.is_compiling():
                    torch._assert_async(self.ready, "expected self.ready")
                if torch.compiler.is_compiling() or self.ready:
        """,
        [(STEEP,)],
    ),
}


def context() -> Context:
    """Return the context of `symfix export`, in which each candidate will be run."""
    return replace(Context(installed_torch()), all_functions=True, tried=True)


def candidates(text: str, mark: str) -> Iterator[tuple[Fix, str]]:
    """Yield each candidate for the line of ``mark``, the preferred first, with the resulting text."""
    language = load_language("symfix.python")
    source = SourceFile(Path("model.py"), text.encode())
    extent = language.extent(source, text[: text.index(mark)].count("\n") + 1, "")
    assert extent is not None
    draft = EditedFile(source, language, context())
    for find in (language.preferred, language.alternatives):
        for fix in find(source, context(), extent):
            yield fix, draft.take([fix]).now.content.decode()


def run(text: str) -> Any:
    names: dict[str, Any] = {}
    exec(text, names)
    return names["f"]


def outcome(function: Any, arguments: tuple[Any, ...]) -> Any:
    """Return the result, or the type and the text of the exception."""
    try:
        return function(*(one.clone() for one in arguments))
    except Exception as error:
        return type(error).__name__, str(error)


def same(result: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        assert result == expected
    else:
        torch.testing.assert_close(result, expected, equal_nan=True)


@pytest.mark.parametrize("name", CASES)
def test_a_candidate_is_written_and_changes_nothing_in_eager(name: str) -> None:
    body, mark, written, calls = CASES[name]
    text = HEAD + textwrap.dedent(body).lstrip("\n")
    wanted = textwrap.dedent(written).strip("\n")
    found = [after for _, after in candidates(text, mark) if wanted in textwrap.dedent(after) or wanted in after]
    found = found or [after for _, after in candidates(text, mark) if textwrap.indent(wanted, "    ") in after]
    found = found or [after for _, after in candidates(text, mark) if textwrap.indent(wanted, " " * 8) in after]
    assert found, "\n\n".join(after for _, after in candidates(text, mark))
    before, after = run(text), run(found[0])
    for arguments in calls:
        same(outcome(after, arguments), outcome(before, arguments))
    assert _exported(found[0], calls), "the candidate is exported"


def _exported(text: str, calls: list[tuple[Any, ...]]) -> bool:
    """Return whether a program of the first call gives what eager gives for each call that eager takes."""
    function = run(text)
    module = function if isinstance(function, torch.nn.Module) else _Module(function)
    dynamic = tuple(dict.fromkeys(range(one.dim()), torch.export.Dim.AUTO) for one in calls[0])
    program = torch.export.export(
        module, calls[0], dynamic_shapes=dynamic if isinstance(function, torch.nn.Module) else (dynamic,)
    )
    for arguments in calls:
        expected = outcome(function, arguments)
        if isinstance(expected, tuple):
            with pytest.raises((RuntimeError, AssertionError)):
                program.module()(*arguments)
            continue
        same(program.module()(*arguments), expected)
    return True


class _Module(torch.nn.Module):
    def __init__(self, function: Any) -> None:
        super().__init__()
        self._function = function

    def forward(self, *arguments: Any) -> Any:
        return self._function(*arguments)


LEFT = {
    "a loop over data": ("for _ in range(int(n.max())):\n    x = x + 1\nreturn x", "for", "item()"),
    "a branch with an effect": ("if n.any():\n    seen.append(x)\nreturn x", "if", "or n.any()"),
    "a name read too early": ("if x.any():\n    x = x + 1\n    n = x\nreturn n", "if", "torch.where"),
    "another crop": ("if x.shape[0] > 3:\n    x = x[:2]\nreturn x", "if", "\n    x = x[:2]"),
    "no rest": ("if n:\n    x = F.pad(x, (0, k - x.shape[0] % k))\nreturn x", "if", ") % k"),
    "another step": ("if x.shape[0] % 4 > 0:\n    x = x[: k - x.shape[0] % 4]\nreturn x", "if", ") % k"),
    "an attribute that may be missing": ("y = hasattr(self, 'a') and self.a\nreturn y", "y =", "self.a and hasattr"),
    "an attribute of what may be None": ("y = n is not None and n.a\nreturn y", "y =", "n.a and n is"),
    "a method that keeps": ("if n.any():\n    self.log('a', x)\nreturn x", "if", "about a message"),
    "an exception by another name": ("if n.any():\n    parser.error('a')\nreturn x", "if", "about a message"),
    "the size of another dimension": ("if x.shape[0] > 0:\n    return x.sum() / x.shape[1]\nreturn x", "if", "sym_max"),
    "a refusal by a predicate": ("if empty(x):\n    raise ValueError\nreturn x", "if", "guard_or_false(empty"),
    "weighted classes": ("if n.numel() == 0:\n    return x\nreturn F.cross_entropy(x, n, k)", "if", "reduction"),
    "another cache": ("if k not in seen:\n    table[k] = x\nreturn table[k]", "if", "if torch.compiler"),
    "lengths of a loop": ("for k in range(len(x)):\n    n = n + x[k]\nreturn n", "for", "size(0)"),
    "a smallest element": ("k = min(x, key=len)\nreturn k", "k =", "sym_min"),
    "a refusal of equal tensors": ("if torch.equal(x, n):\n    raise ValueError\nreturn x", "if", "() and torch.equal"),
    "an or of numbers": ("y = x.shape[0] ^ 3\nreturn y", "y =", "sym_not(3) if x"),
}


@pytest.mark.parametrize("name", LEFT)
def test_what_is_no_such_pattern_is_not_written(name: str) -> None:
    body, mark, never = LEFT[name]
    head = "import torch\nimport torch.nn.functional as F\nseen, table = [], {}\n\n\n"
    head += "def empty(t):\n    return t.numel() == 0\n\n\n"
    text = f"{head}def f(self, x, n, k):\n{textwrap.indent(body, '    ')}\n"
    for fix, after in candidates(text, mark):
        assert never not in after and never not in fix.message
        compile(after, "after", "exec")


def test_a_package_that_supports_torchscript_gets_what_it_compiles() -> None:
    body = """
        import torch
        from torch import Tensor

        def f(x: Tensor, n: int) -> Tensor:
            if n > 3:
                raise ValueError("too many")
            if n > 0:
                return x / n
            return x
    """
    text = textwrap.dedent(body).lstrip("\n")
    language = load_language("symfix.python")
    for mark, count in (("if n > 3", 2), ("if n > 0", 1)):
        source = SourceFile(Path("model.py"), text.encode(), package_speaks=True)
        extent = language.extent(source, text[: text.index(mark)].count("\n") + 1, "")
        assert extent is not None
        found = [*language.preferred(source, context(), extent), *language.alternatives(source, context(), extent)]
        assert len(found) == count
        assert all(b"torch.jit.is_scripting()" in edit.text for fix in found for edit in fix.edits)


def test_a_helper_is_chosen_outside_of_torchscript(tmp_path: Path) -> None:
    body = """
        import math
        import torch
        from torch import Tensor

        def f(x: Tensor, y: Tensor) -> Tensor:
            x = x / math.sqrt(x.shape[0])
            kept = min(x.shape[0], y.shape[0])
            if x.shape[0] > 1 and y.shape[0] == 1:
                return x[:kept]
            return x[:kept] + y[:kept]
    """
    text = textwrap.dedent(body).lstrip("\n")
    language = load_language("symfix.python")
    after = text
    helpers = (("x = x", b"sym_sqrt"), ("kept =", b"torch.sym_min"), ("if x.shape[0] > 1", b"guard_or_false(y.shape"))
    for mark, helper in helpers:
        source = SourceFile(Path("model.py"), after.encode(), package_speaks=True)
        extent = language.extent(source, after[: after.index(mark)].count("\n") + 1, "")
        assert extent is not None
        found = list(language.alternatives(source, context(), extent))
        (chosen,) = (one for one in found if helper in one.edits[0].text)
        after = EditedFile(source, language, context()).take([chosen]).now.content.decode()
    elsewhere = parse(SourceFile(Path("model.py"), text.encode()))
    for alternative in language.alternatives(elsewhere.source, context(), (0, len(text))):
        assert list(chosen_beside_script(elsewhere, alternative, (0, len(text)), context())) == []
    assert "(math.sqrt(x.shape[0]) if torch.jit.is_scripting() else torch.sym_sqrt(x.shape[0]))" in after
    least = "(min(x.shape[0], y.shape[0]) if torch.jit.is_scripting() else torch.sym_min(x.shape[0], y.shape[0]))"
    assert f"kept = {least}\n" in after
    assert "(y.shape[0] == 1 if torch.jit.is_scripting() else guard_or_false(y.shape[0] == 1)):\n" in after
    (tmp_path / "chosen_helpers.py").write_text(after)
    spec = importlib.util.spec_from_file_location("chosen_helpers", tmp_path / "chosen_helpers.py")
    assert spec is not None and spec.loader is not None
    chosen_helpers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(chosen_helpers)
    script = torch.jit.script(chosen_helpers.f)
    for count in (1, 3):
        expected = run(text)(STEEP, torch.ones(count))
        same(run(after)(STEEP, torch.ones(count)), expected)
        same(script(STEEP, torch.ones(count)), expected)


def test_ordinary_code_has_no_candidates() -> None:
    text = """
def f(x, n, table):
    if n.ready:
        print(n)
    else:
        return table["a"]
    assert n and x.all()
    return g(n) + (n and g(x))
"""
    module = parse(SourceFile(Path("model.py"), text.encode()))
    (branch,) = module.nodes.ifs
    for write in (computed_anew, taken_while_compiling):
        assert list(write("rule", module, branch, context())) == []
    assert list(of_values(module, branch, context())) == []
    for call in module.nodes.calls:
        assert list(read_scalar("rule", module, call, context())) == []
        assert list(equal_in_eager("rule", module, call, context())) == []
        assert list(filled_diagonal("rule", module, call, context())) == []
    for joined in module.nodes.every(ast.BoolOp)[1:]:
        assert list(concrete_first("rule", module, joined, context())) == []
    for line in (
        "n(x) and x is not None",
        "f(n) and n is x",
        "f(n) and None is x",
        "f(n) and x == None",
        "(y := f()) or n is None",
    ):
        other = parse(SourceFile(Path("model.py"), line.encode()))
        (joined,) = other.nodes.every(ast.BoolOp)
        assert list(concrete_first("rule", other, joined, context())) == []
    for part in module.nodes.every(ast.Subscript):
        assert list(clamped_ends("rule", module, part, context())) == []
    (asserted,) = module.nodes.asserts
    assert list(assert_in_program("rule", module, asserted, context())) == []
    assert list(length_stated("rule", module, asserted, context())) == []


ENCODING = """
class Encoding(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("last", None)

    def forward(self, x):
        if self.last is not None and self.last.shape == x.shape:
            return self.last
        self.last = None
        places = torch.arange(x.shape[1])
        self.last = places.expand(x.shape).float()
        return self.last
"""


def test_an_attribute_that_keeps_the_last_result_is_not_used_while_compiling() -> None:
    text = HEAD + ENCODING
    found = [after for fix, after in candidates(text, "self.last = None") if "anew" in fix.message]
    assert len(found) == 1
    made: dict[str, Any] = {}
    exec(found[0], made)
    model = made["Encoding"]()
    given = torch.zeros(3, 4)
    size = torch.export.Dim.DYNAMIC
    program = torch.export.export(model, (given,), dynamic_shapes=({0: size, 1: size},)).module()
    assert model.last is None
    for sizes in ((3, 4), (3, 4), (5, 2)):
        same(program(torch.zeros(sizes)), model(torch.zeros(sizes)))
        assert model.last.shape == sizes
    same(model(given.new_zeros(5, 2)), model.last)


@pytest.mark.parametrize(
    "other",
    [
        "    def get(self):\n        return self.last\n",
        "\n\ndef get(encoding):\n    return encoding.last\n",
        "\n    def forward(self, x):\n        self.last = None\n        y = self.last\n        self.last = x + 1\n"
        "        return self.last\n",
        "\n    def forward(self, x):\n        self.last = None\n        self.last = x + 1\n        return x\n",
        "\n    def forward(self, x):\n        self.last = self.last * 0.9 + x\n        return self.last\n",
        "\n    def forward(self, x):\n        self.last = x.softmax(-1)\n        return self.last\n",
        "\n    def forward(self, x):\n        if self.last is not None and x is None:\n            return self.last\n"
        "        self.last = x if self.last is None else self.last + x\n        return self.last\n",
        "\n    def forward(self, x):\n        if self.last is None or x.dim() > 9:\n            return self.last\n"
        "        self.last = x + 1\n        return self.last\n",
    ],
)
def test_an_attribute_that_others_read_stays(other: str) -> None:
    text = f"{HEAD}{ENCODING}{other}" if "forward" not in other else f"{HEAD}class C:{other}"
    module = parse(SourceFile(Path("model.py"), text.encode()))
    statements = [one for one in module.nodes.every(ast.Assign) if ast.unparse(one.targets[0]) == "self.last"]
    assert statements
    assert not [fix for one in statements for fix in uncached_attribute("rule", module, one, context())]


LISTED = """
def loss(x, axes):
    return x.sum(axes)


def f(x):
    axes: list[int] = torch.arange(1, len(x.shape)).tolist()
    every = torch.arange(x.dim()).tolist()
    first = torch.arange(2.0).tolist()
    kept = torch.arange(len(x.shape)).tolist()
    return loss(x, axes), x.permute(*kept[::-1]), first, every
"""


def test_a_list_of_whole_numbers_is_no_tensor() -> None:
    text = HEAD + LISTED
    found = [(fix, after) for fix, after in candidates(text, "return loss") if "a list of Python's" in fix.message]
    written = [next(line.strip() for line in after.splitlines() if "list(range" in line) for _, after in found]
    assert set(written) == {
        "axes: list[int] = list(range(1, len(x.shape))) if torch.compiler.is_compiling() else torch.arange(1,"
        " len(x.shape)).tolist()",
        "every = list(range(x.dim())) if torch.compiler.is_compiling() else torch.arange(x.dim()).tolist()",
        "kept = list(range(len(x.shape)))",
    }
    for _, after in found:
        given = torch.arange(6.0).view(2, 3)
        torch.testing.assert_close(run(after)(given), run(text)(given))
        with pytest.raises(RuntimeError):
            run(after)(torch.tensor(1.0))

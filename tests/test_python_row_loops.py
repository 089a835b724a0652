"""Loops over rows and counts: what is written for all steps at once, that it is equal, and what is refused."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from goldens import installed_torch
from snippets import module as module_of
from symfix.codemods.engine.registry import load_language
from symfix.codemods.model.rule import Context
from symfix.codemods.model.source_file import SourceFile
from symfix.codemods.workflows.repair.edited_file import EditedFile
from symfix.python.analysis.flow.collected_rows import collected
from symfix.python.analysis.flow.row_steps import is_never_negative, size_named, size_of, steps_of
from symfix.python.analysis.must.pointwise import is_elementwise
from symfix.python.analysis.types.cannot_rewrite import CannotRewrite
from symfix.python.candidates.indexed_rows import indexed
from symfix.python.candidates.length_masks import masked, packed
from symfix.python.candidates.program_branch import grouped
from symfix.python.candidates.repeated_rows import repeated
from symfix.python.candidates.row_loops import of_steps
from symfix.python.candidates.running_sums import accumulated, totalled
from symfix.python.candidates.segment_sums import summed
from symfix.python.candidates.stacked_steps import mapped, stacked
from symfix.python.candidates.value_decisions import refused
from symfix.python.candidates.whole_rows import WholeRows
from symfix.python.syntax.module import Module, parse
from torch._dynamo.decorators import mark_unbacked

MODEL = """
import torch


class F(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.proj = torch.nn.Linear(4, 4)
        self.mix = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh())
        self.scale = 2.0

    def forward(self, x, counts):
"""
WRITTEN: dict[str, tuple[Callable[..., Any], str, str]] = {
    "ends of rows": (
        masked,
        """
        mask = torch.zeros(x.size(0), x.size(1))
        for i, n in enumerate(counts.tolist()):
            mask[i, :n] = 1
        return x * mask
        """,
        "ends = torch.where(counts < 0, counts + mask.size(1), counts)\n",
    ),
    "starts and ends of rows": (
        masked,
        """
        b, t = x.shape
        x = x.clone()
        for i in range(b):
            x[i, counts[i].item() + 1 : ] = float("-inf")
        return x.softmax(-1)
        """,
        '[torch.arange(x.size(1), device=counts.device) >= ends[:, None]] = float("-inf")\n',
    ),
    "lengths that are counts": (
        masked,
        """
        lengths = (x > 0).sum(1)
        mask = x.new_ones(x.shape[0], x.shape[1])
        for i, n in enumerate(lengths.tolist()):
            mask[i][n:] = 0
        return x * mask
        """,
        ">= lengths[:, None]] = 0\n",
    ),
    "rows up to their ends": (
        packed,
        """
        return torch.cat([x[i, :n] for i, n in enumerate(counts.tolist())]) * 2
        """,
        "< ends[:, None]] * 2\n",
    ),
    "repeated rows": (
        repeated,
        """
        out = []
        for row, n in zip(x, counts.tolist()):
            out.append(row.expand(n, -1))
        return torch.cat(out, dim=0)
        """,
        "return x.repeat_interleave(counts, dim=0)\n",
    ),
    "repeated slices": (
        repeated,
        """
        ns = counts.tolist()
        y = torch.cat([x[i : i + 1].repeat(ns[i], 1) for i in range(x.size(0))])
        return y + 1
        """,
        "y = x.repeat_interleave(counts.narrow(0, 0, x.size(0)), dim=0)\n",
    ),
    "owners": (
        repeated,
        """
        return torch.cat([torch.full((n,), i) for i, n in enumerate(counts.tolist())]), x * 2
        """,
        "torch.arange(counts.size(0), device=counts.device).repeat_interleave(counts), x * 2\n",
    ),
    "places": (
        repeated,
        """
        ns = counts.tolist()
        places = torch.cat([torch.arange(n) for n in ns])
        return places, x * 2
        """,
        "(counts.cumsum(0) - counts)[owners]\n",
    ),
    "added by index": (
        indexed,
        """
        out = torch.zeros(6, 4)
        for i, k in enumerate(counts.tolist()):
            out[k] += x[i] * 2
        return out
        """,
        "torch.where(counts < 0, counts + out.size(0), counts), x.narrow(0, 0, counts.size(0)) * 2)\n",
    ),
    "counted": (
        indexed,
        """
        out = torch.zeros(6)
        for k in counts.tolist():
            out[k] -= 1
        return out, x * 2
        """,
        "torch.full_like(counts, 1, dtype=out.dtype), alpha=-1)\n",
    ),
    "taken by index": (
        indexed,
        """
        table = torch.arange(24.0).view(6, 4)
        out = torch.zeros_like(x)
        for i in range(counts.size(0)):
            out[i] = table[counts[i]]
        return out * x
        """,
        "out.narrow(0, 0, counts.size(0))[:] = table[counts]\n",
    ),
    "one place of each row": (
        indexed,
        """
        out = torch.zeros(counts.size(0), 6)
        for i, k in enumerate(counts.tolist()):
            out[i, k] = 1
        return out, x * 2
        """,
        "out[torch.arange(counts.size(0), device=counts.device), counts] = 1\n",
    ),
    "runs of rows": (
        summed,
        """
        out, start = [], 0
        for n in (counts * 0 + 1).tolist():
            out.append(x[start : start + n].mean(0))
            start += n
        return torch.stack(out)
        """,
        "torch.ones_like(owners)).view(-1, *[1] * (x.dim() - 1))\n",
    ),
    "runs with a name for their end": (
        summed,
        """
        ones = counts * 0 + 1
        out = []
        start = 0
        for n in ones.tolist():
            end = start + n
            out.append(x[start:end].sum(dim=0))
            start = end
        return torch.stack(out)
        """,
        "x.new_zeros((ones.size(0), *x.shape[1:])).index_add(0, owners, x[: owners.size(0)])\n",
    ),
    "parts of a split": (
        summed,
        """
        ones = counts * 0 + 1
        return torch.stack([part.sum(dim=0) for part in x.split(ones.tolist())])
        """,
        ".index_add(0, owners, x)\n",
    ),
    "each element by itself": (
        stacked,
        """
        out = []
        for i in range(x.size(0)):
            out.append(x[i].relu() * self.scale + x[i, :1])
        return torch.stack(out)
        """,
        "return x.relu() * self.scale + x[:, :1]\n",
    ),
    "layers": (
        stacked,
        """
        y = torch.stack([self.proj(row).softmax(-1) for row in x], dim=1)
        return y * 2
        """,
        "y = self.proj(x).softmax(-1).movedim(0, 1)\n",
    ),
    "slices of one row": (
        stacked,
        """
        outs = []
        for i in range(len(x)):
            outs.append(-self.proj(x[i : i + 1]))
        return torch.cat(outs, 0)
        """,
        "return -self.proj(x)\n",
    ),
    "any function": (
        mapped,
        """
        out = []
        for row in x:
            h = self.mix(row)
            out.append(h / (1 + h.exp().sum()))
        return torch.stack(out)
        """,
        "return torch.vmap(compute_result)(x)\n",
    ),
    "rows of two tensors": (
        mapped,
        """
        return torch.stack([row.sum() * n for row, n in zip(x, counts)])
        """,
        "torch.vmap(lambda row, n: row.sum() * n)(x, counts)\n",
    ),
    "a sum": (
        totalled,
        """
        total = torch.zeros(4)
        for i in range(x.shape[0]):
            total = total + x[i] * x[i]
        return total
        """,
        "total = total + (x * x).sum(0)\n",
    ),
    "a sum in place": (
        totalled,
        """
        total = x.new_zeros(())
        for row in x:
            total += row.exp().sum()
        return total
        """,
        "total += torch.vmap(lambda row: row.exp().sum())(x).sum(0)\n",
    ),
    "sums so far": (
        accumulated,
        """
        total = x.new_zeros(4)
        outs = []
        for row in x:
            total = total + row
            outs.append(total)
        return torch.stack(outs)
        """,
        "return total + x.cumsum(0)\n",
    ),
}
INPUTS = [
    (torch.randn(rows, 4, generator=torch.Generator().manual_seed(rows)), torch.tensor(counts, dtype=torch.int64))
    for rows, counts in [(5, [1, 3, 0, 4, 2]), (3, [4, 0, 0]), (2, [-1, 5]), (1, [2]), (0, [])]
]
WAYS = ("export", "strict", "compile", "unbacked")
NO_WAY = {("any function", "strict"): "dynamo requests gradients of captured parameters inside of vmap"}


def context() -> Context:
    return replace(Context(installed_torch()), all_functions=True, tried=True)


def source(body: str) -> SourceFile:
    lines = textwrap.indent(textwrap.dedent(body).strip("\n"), " " * 8)
    return SourceFile(Path("model.py"), f"{MODEL}{lines}\n".encode())


def written(body: str) -> list[tuple[str, str]]:
    """Return the rule of each fix for the loops of a body, with the text that it leaves."""
    given = source(body)
    draft = EditedFile(given, load_language("symfix.python"), context())
    fixes = of_steps(parse(given), (0, len(given.content)), context())
    return [(fix.rule, draft.take([fix]).now.content.decode()) for fix in fixes]


def made(text: str) -> Any:
    names: dict[str, Any] = {}
    exec(text, names)
    return names["F"]().eval()


def loops(module: Module) -> list[Any]:
    nodes = module.nodes
    return [*nodes.every(ast.For), *nodes.every(ast.ListComp)]


def outcome(function: Any, inputs: tuple[Any, ...], train: bool) -> Any:
    """Return the result of a call, with the gradients where they count, or the type of its exception."""
    x, counts = inputs[0].clone().requires_grad_(train), inputs[1].clone()
    try:
        result = function(x, counts)
    except Exception as error:
        return type(error)
    leaves = result if isinstance(result, tuple) else (result,)
    if not train:
        return [one.detach() for one in leaves]
    wanted = [x.sum() * 0, *(one.sum() for one in leaves if one.requires_grad)]
    named = [one for _, one in sorted(function.named_parameters())]
    found = torch.autograd.grad(wanted, [x, *named], allow_unused=True)
    zeros = [torch.zeros_like(one) for one in (x, *named)]
    given = [zero if one is None else one for one, zero in zip(found, zeros, strict=True)]
    return [*(one.detach() for one in leaves), *given]


def program(model: Any, way: str) -> Any:
    x, counts = (one.clone() for one in INPUTS[0])
    torch._dynamo.reset()
    if way in ("export", "strict"):
        rows = torch.export.Dim("rows")
        shapes = ({0: rows}, {0: rows})
        return torch.export.export(model, (x, counts), dynamic_shapes=shapes, strict=way == "strict").module()
    for tensor in (x, counts):
        if way == "unbacked":
            mark_unbacked(tensor, 0, shape_id="rows")
        else:
            torch._dynamo.mark_dynamic(tensor, 0)
    compiled = torch.compile(model, backend="eager", fullgraph=True)
    compiled(x, counts)
    return compiled


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written_equals_the_loop_in_eager_and_in_each_program(name: str) -> None:
    write, body, part = WRITTEN[name]
    found = [after for _, after in written(body) if part in after]
    assert found, "\n".join(after for _, after in written(body))
    assert any(list(write(module, one, context())) for module in [parse(source(body))] for one in loops(module))
    before, after = made(source(body).content.decode()), made(found[0])
    expected = {train: [outcome(before, one, train) for one in INPUTS] for train in (False, True)}
    for train in (False, True):
        for inputs, wanted in zip(INPUTS, expected[train], strict=True):
            same(outcome(after, inputs, train), wanted, exact=True)
    compared = 0
    for way in WAYS:
        if (name, way) in NO_WAY:
            continue
        for train in (False, True) if way == "compile" else (False,):
            with torch.set_grad_enabled(train):
                run = program(after, way)
                for inputs, wanted in zip(INPUTS, expected[train], strict=True):
                    if not isinstance(wanted, type) and not (way in ("export", "strict") and len(inputs[0]) < 2):
                        same(outcome(run, inputs, train), wanted)
                        compared += 1
    assert compared >= 10


def same(actual: Any, expected: Any, *, exact: bool = False) -> None:
    if isinstance(expected, type) or isinstance(actual, type):
        assert actual == expected
        return
    torch.testing.assert_close(actual, expected, equal_nan=True, **({"rtol": 0, "atol": 0} if exact else {}))


REFUSED = {
    "duplicate-places": "out = x.clone()\nfor i, k in enumerate(counts.tolist()):\n    out[k] = x[i]\nreturn out",
    "step-depends": "h = x.sum(0)\nouts = []\nfor row in x:\n    h = self.mix(row) + h\n    outs.append(h)\n"
    "return torch.stack(outs)",
    "not-a-sum": "return torch.stack([part.amax(0) for part in x.split(counts.tolist())])",
    "number-of-step": "return torch.stack([x[i] * i for i in range(x.size(0))])",
    "several-values": "m = x.clone()\nfor i, n in enumerate(counts.tolist()):\n    m[i, :n] = x[0, :n]\nreturn m",
    "number-of-python": "total = 0\nfor n in counts.tolist():\n    total = total + n\nreturn x * total",
    "not-row-wise": "return torch.stack([row.flip(0) for row in x], dim=0)",
    "changes-container": "for row in x:\n    counts.append(row)\nreturn torch.stack(counts)",
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_is_no_single_operation_is_refused_with_its_place(reason: str) -> None:
    given = source(REFUSED[reason])
    line = next(
        at for at, one in enumerate(given.content.decode().splitlines(), 1) if " for " in one and "def" not in one
    )
    said = [why for _, why in refused(given, context(), line)]
    assert any(why.startswith(f"{reason}: at line {line}") or f"{reason}: at line" in why for why in said), said


@pytest.mark.parametrize(
    "body",
    [
        "for i in range(x.size(0)):\n    x = x + 1\nreturn x + i",
        "out = [x]\nfor row in x:\n    out.append(row * 2)\nreturn torch.cat(out)",
        "out = []\nfor row in x:\n    out.append(row * 2)\nreturn torch.stack(out), out",
        "out = []\nfor row in x:\n    out.append(row * len(out))\nreturn torch.stack(out)",
        "out = torch.zeros(6, 4)\nfor i, k in enumerate(counts.tolist()):\n    out[k] += out[i]\nreturn out",
        "out = []\nfor row in x:\n    if row.sum() > 0:\n        out.append(row)\nreturn torch.stack(out)",
        "for i, n in enumerate(counts.tolist()):\n    x[i, :n] = 1\n    print(n)\nreturn x",
        "s = 2\no = []\nfor n in counts.tolist():\n    o.append(x[s:s + n].sum(0))\n    s += n\nreturn torch.stack(o)",
        "for i, n in enumerate(counts.tolist()):\n    counts[i, :n] = 1\nreturn counts",
    ],
)
def test_a_loop_that_does_more_stays(body: str) -> None:
    assert written(body) == []


def test_sizes_by_their_names() -> None:
    made_of = module_of(
        "def f(x, n):\n    b, t = x.shape[:2]\n    m = x.new_zeros(b, 3)\n    k = len(x)\n    g(b, t, k, n, m)\n"
    )
    call = next(one for one in made_of.nodes.calls if ast.unparse(one.func) == "g")
    assert [size_named(made_of, one) for one in call.args[:4]] == ["x#0", "x#1", "x#0", "n"]
    assert size_of(made_of, call.args[4], 0) == "x#0"
    counts = module_of(
        "def f(x, m):\n    a = (x > 0).sum(1).long()\n    g(a, x.sum(1), x.clamp(min=0), x.clamp(min=-1))\n"
    )
    call = next(one for one in counts.nodes.calls if ast.unparse(one.func) == "g")
    assert [is_never_negative(counts, one) for one in call.args] == [True, False, True, False]


def test_parts_of_a_step() -> None:
    module = parse(
        source("for i, (row, n) in enumerate(zip(x, counts.tolist())):\n    x = x + row[i:i + 1] * n\nreturn x")
    )
    (loop,) = module.nodes.every(ast.For)
    steps = steps_of(module, loop)
    assert steps is not None
    assert steps.index == "i" and {*steps.names} == {"row", "n"}
    assert steps.names["n"].is_number and not steps.names["row"].is_number
    assert collected(module, loop) is None
    with pytest.raises(CannotRewrite):
        WholeRows(steps).text(ast.parse("torch.flip(row)", mode="eval").body)
    call = ast.parse("x.relu()", mode="eval").body
    assert isinstance(call, ast.Call) and is_elementwise(module, call)
    assert [grouped(one) for one in ("x + y", "x.f()")] == ["(x + y)", "x.f()"]

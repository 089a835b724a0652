"""Loops over the rows of a tensor: what is written for all rows at once, that it is equal, and what is refused."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
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
from symfix.python.analysis.flow.row_loops import row_loop
from symfix.python.candidates.length_masks import masked
from symfix.python.candidates.mapped_rows import mapped
from symfix.python.candidates.program_branch import ProgramBranch
from symfix.python.candidates.value_decisions import of_rows, refused
from symfix.python.syntax.module import parse
from torch._dynamo.decorators import mark_unbacked

HEAD = """import torch
from torch import Tensor


class F(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.weight = torch.arange(16.0).view(4, 4) / 16
        self.scale = 2.0

    def score(self, row):
        return torch.softmax(row @ self.weight, -1)

    def forward(self, x, lengths):
"""
WRITTEN: dict[str, tuple[str, str]] = {
    "a list that is stacked": (
        "return torch.stack([self.score(row) for row in x])",
        "return torch.vmap(self.score)(x).clone().contiguous()\n",
    ),
    "an expression of a row": (
        "y = torch.stack([row @ self.weight + row for row in x], dim=1) * 2\nreturn y",
        "y = torch.vmap(lambda row: row @ self.weight + row)(x).movedim(0, 1).clone().contiguous() * 2\n",
    ),
    "rows that are views": ("return torch.stack([row.t() for row in x])", "(x).clone().contiguous()\n"),
    "rows by their number": (
        "return self.score(torch.stack([x[i] * self.scale for i in range(x.shape[0])]))",
        "return self.score(torch.vmap(lambda x_row: x_row * self.scale)(x).clone().contiguous())\n",
    ),
    "rows of two tensors": (
        """
        y = x.cos()
        out = []
        for i in range(len(x)):
            a = x[i] @ self.weight
            out.append(a - y[i])
        return torch.stack(out)
        """,
        "torch.vmap(compute_result)(x, y.narrow(0, 0, x.size(0))).clone().contiguous()\n",
    ),
    "fewer rows than there are": (
        "n = lengths.size(0)\nreturn torch.stack([x[i] * 2 for i in range(n)])",
        "(x.narrow(0, 0, n)).clone().contiguous()\n",
    ),
    "starts of rows": (
        """
        mask = torch.zeros(x.size(0), x.size(1))
        for i, n in enumerate(lengths.tolist()):
            mask[i, :n] = 1
        return x * mask[:, :, None]
        """,
        "mask.narrow(0, 0, lengths.size(0)).masked_fill_(places < lengths[:, None], 1)\n",
    ),
    "ends of rows": (
        """
        scores = x.sum(-1).clone()
        for i in range(scores.size(0)):
            scores[i, lengths[i].item() :] = float("-inf")
        return scores.softmax(-1)
        """,
        'scores.masked_fill_(places >= lengths.narrow(0, 0, scores.size(0))[:, None], float("-inf"))\n',
    ),
    "two tensors": (
        """
        first = x.new_ones(x.size(0), x.size(1))
        last = torch.ones(x.size(0), x.size(1))
        for i, n in enumerate(lengths):
            first[i, :n] = 0
            last[i, n:] = 0
        return first, last
        """,
        "last.narrow(0, 0, lengths.size(0)).masked_fill_(places_2 >= lengths[:, None], 0)\n",
    ),
}
REFUSED: dict[str, tuple[str, str]] = {
    "the number of the step": ("return torch.stack([x[i] * i for i in range(x.size(0))])", "number-of-step"),
    "another row": ("return torch.stack([x[i - 1] for i in range(x.size(0))])", "number-of-step"),
    "numbers of Python's": ("return torch.stack([x * n for n in lengths.tolist()])", "number-of-step"),
    "a loop in a step": ("return torch.stack([sum(r * 2 for r in row) for row in x])", "loop-in-loop"),
    "what the step before left": (
        """
        out = []
        for row in x:
            h = h + row if out else row
            out.append(h)
        return torch.stack(out)
        """,
        "",
    ),
    "a name of the step before": (
        """
        h = x[0]
        out = []
        for row in x:
            y = h * 2
            h = row
            out.append(y)
        return torch.stack(out)
        """,
        "step-depends",
    ),
    "a row that is named again": (
        """
        out = []
        for row in x:
            row = row * 2
            out.append(row + 1)
        return torch.stack(out)
        """,
        "step-depends",
    ),
    "a tensor that a step names again": (
        """
        out = []
        for i in range(x.size(0)):
            a = x[i]
            x = x * 2
            out.append(a + 1)
        return torch.stack(out)
        """,
        "step-depends",
    ),
    "a tensor that a step changes": (
        """
        out = []
        for row in x:
            row.mul_(2)
            out.append(row + 1)
        return torch.stack(out)
        """,
        "changes-in-place",
    ),
    "a list with two names": (
        """
        out = []
        for row in x:
            out.append(row + 1)
        return torch.stack(out), out
        """,
        "",
    ),
    "something between the list and the loop": (
        """
        out = []
        x = x * 2
        for row in x:
            out.append(row + 1)
        return torch.stack(out)
        """,
        "",
    ),
    "a name that is read behind": (
        """
        out = []
        for row in x:
            a = row + 1
            out.append(a)
        y = torch.stack(out)
        return y, a
        """,
        "step-depends",
    ),
    "a negative dimension": ("return torch.stack([row * 2 for row in x], dim=-1)", "not-row-wise"),
    "cat, whose memory format depends on the rows": ("return torch.cat([row * 2 for row in x])", ""),
    "a list of lists": ("return torch.stack([[row * 2] for row in x])", "not-row-wise"),
    "a function of Python's": (
        "import random\n\nreturn torch.stack([row * random.random() for row in x])",
        "unknown-call",
    ),
    "an iterator": ("it = iter(x)\nreturn torch.stack([row + next(it) for row in x])", "unknown-call"),
    "a module that each step makes": (
        "return torch.stack([torch.nn.Linear(4, 4)(row) for row in x])",
        "unknown-call",
    ),
    "a function that reads a name of the step": (
        """
        a = x[0]
        g = lambda row: row * a
        out = []
        for row in x:
            b = row.sum() + a
            out.append(row * b)
        return torch.stack(out), g(x)
        """,
        "shared-names",
    ),
    "a count that is computed": ("q = [3]\nreturn torch.stack([x[i] * 2 for i in range(q.pop())])", ""),
    "another statement on the line": ("y = torch.stack([row * 2 for row in x]); y = y + 1\nreturn y", "one-line"),
    "something evaluated before": ("return x.zero_(), torch.stack([row * 2 for row in x])", ""),
    "a choice around": ("return torch.stack([row * 2 for row in x]) if self.scale else x", ""),
    "a loop around": ("return [torch.stack([row * 2 for row in y]) for y in (x, x)]", ""),
    "a function around": ("g = lambda y: torch.stack([row * 2 for row in y])\nreturn g(x)", ""),
    "a parameter that is made anew": (
        """
        if lengths is None:
            lengths = torch.zeros(x.size(0), x.size(1))
        for i, n in enumerate(self.ends):
            lengths[i, :n] = 1
        return lengths
        """,
        "",
    ),
    "made on one way": (
        """
        if self.scale:
            mask = torch.zeros(x.size(0), x.size(1))
        for i, n in enumerate(lengths):
            mask[i, :n] = 1
        return mask
        """,
        "alias",
    ),
    "made in another's storage": (
        """
        mask = torch.zeros(x.size(0), x.size(1), out=self.weight)
        for i, n in enumerate(lengths):
            mask[i, :n] = 1
        return mask
        """,
        "alias",
    ),
    "of another shape in place": (
        """
        mask = torch.zeros(x.size(1), x.size(0))
        mask.t_()
        for i, n in enumerate(lengths):
            mask[i, :n] = 1
        return mask
        """,
        "alias",
    ),
    "lengths of the module": (
        """
        mask = torch.zeros(x.size(0), x.size(1))
        for i in range(x.size(0)):
            mask[i, : self.ends[i]] = 1
        return mask
        """,
        "",
    ),
    "a step without a row": ("return torch.stack([self.weight * 2 for i in range(x.size(0))])", "not-row-wise"),
    "several lists": ("return torch.stack([a * b for a, b in zip(x, lengths)])", ""),
    "a condition": ("return torch.stack([row for row in x if row.sum() > 0])", ""),
    "a tensor from outside": (
        """
        for i, n in enumerate(lengths):
            x[i, :n] = 0
        return x
        """,
        "alias",
    ),
    "an expanded tensor": (
        """
        mask = x.new_zeros(1, x.size(1)).expand(x.size(0), -1)
        for i, n in enumerate(lengths):
            mask[i, :n] = 1
        return mask
        """,
        "alias",
    ),
    "lengths that a step fills": (
        """
        mask = torch.zeros(x.size(0), x.size(1), dtype=torch.int64)
        ends = mask[:, 0]
        for i, n in enumerate(ends):
            mask[i, n:] = 1
        return mask
        """,
        "step-depends",
    ),
    "values that are tensors": (
        """
        mask = torch.zeros(x.size(0), x.size(1))
        for i, n in enumerate(lengths):
            mask[i, :n] = self.scale
        return mask
        """,
        "",
    ),
    "a slice with two ends": (
        """
        mask = torch.zeros(x.size(0), x.size(1))
        for i, n in enumerate(lengths):
            mask[i, 1:n] = 1
        return mask
        """,
        "",
    ),
    "floats that become whole": (
        """
        mask = torch.zeros(x.size(0), x.size(1))
        for i in range(x.size(0)):
            mask[i, : int(lengths[i])] = 1
        return mask
        """,
        "",
    ),
}
INPUTS = [
    (torch.randn(3, 4, 4), torch.tensor([2, 4, 0])),
    (torch.randn(5, 4, 4), torch.tensor([1, 9, 3, 0, 4])),
    (torch.randn(1, 4, 4), torch.tensor([3])),
]


def context() -> Context:
    return replace(Context(installed_torch(), all_functions=True, tried=True), min_torch=None)


def text_of(body: str) -> str:
    return HEAD + textwrap.indent(textwrap.dedent(body).strip("\n"), " " * 8) + "\n"


def written(text: str) -> Iterator[str]:
    source = SourceFile(Path("model.py"), text.encode())
    draft = EditedFile(source, load_language("symfix.python"), context())
    for fix in of_rows(parse(source), (0, len(text)), context()):
        yield draft.take([fix]).now.content.decode()


def run(text: str) -> Any:
    names: dict[str, Any] = {}
    exec(text, names)
    return names["F"]()


def unbacked(function: Any, args: tuple[Any, ...]) -> Any:
    given = [one.clone() for one in args]
    for one in given:
        mark_unbacked(one, 0)
    return function(*given)


@pytest.mark.parametrize("name", WRITTEN)
def test_a_program_computes_all_rows_at_once_and_eager_each(name: str) -> None:
    body, part = WRITTEN[name]
    (after,) = written(text_of(body))
    assert part in after
    before, changed = run(text_of(body)), run(after)
    expected = [before(*args) for args in INPUTS]
    torch.testing.assert_close([changed(*args) for args in INPUTS], expected, rtol=0, atol=0, equal_nan=True)
    torch._dynamo.reset()
    size = torch.export.Dim.DYNAMIC
    # Strict export takes no tensor of a module inside of vmap.
    for strict in (False, *([True] if "vmap" not in after or "self" not in body else [])):
        program = torch.export.export(changed, INPUTS[0], dynamic_shapes=({0: size}, {0: size}), strict=strict).module()
        torch.testing.assert_close([program(*args) for args in INPUTS], expected, equal_nan=True)
    compiled = torch.compile(changed, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close([unbacked(compiled, args) for args in INPUTS], expected, equal_nan=True)
    with pytest.raises(Exception, match=r".*"):
        torch.export.export(before, INPUTS[0], dynamic_shapes=({0: size}, {0: size}))


@pytest.mark.parametrize("name", REFUSED)
def test_a_loop_that_no_operation_equals_is_left_with_its_reason(name: str) -> None:
    body, reason = REFUSED[name]
    text = text_of(body)
    assert not list(written(text))
    source = SourceFile(Path("model.py"), text.encode())
    said = [why for line in range(1, text.count("\n") + 1) for _, why in refused(source, context(), line)]
    assert not reason or any(one.startswith(f"{reason}: ") for one in said), said


def test_a_negative_length_and_no_row_are_refused_as_errors() -> None:
    (after,) = written(text_of(WRITTEN["starts of rows"][0]))
    program = torch.compile(run(after), backend="eager", fullgraph=True, dynamic=True)
    with pytest.raises(RuntimeError, match="lengths have to be 0 or more"):
        program(torch.randn(2, 4, 4), torch.tensor([1, -1]))
    body, _ = WRITTEN["a list that is stacked"]
    (after,) = written(text_of(body))
    for function in (run(text_of(body)), torch.compile(run(after), backend="eager", fullgraph=True, dynamic=True)):
        with pytest.raises(RuntimeError):
            function(torch.randn(0, 4, 4), torch.tensor([1]))


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("a list that is stacked", (torch.ones(3), torch.tensor([1]))),
        ("starts of rows", (torch.ones(2, 4, 4), torch.tensor([1.0, 2.0]))),
    ],
)
def test_rows_of_one_number_and_lengths_of_floats_are_refused(name: str, args: tuple[Any, ...]) -> None:
    (after,) = written(text_of(WRITTEN[name][0]))
    with pytest.raises(Exception, match="Expected cond to be True"):
        torch.export.export(run(after), args)


def test_a_head_without_rows_is_no_loop_over_rows() -> None:
    module = module_of("for i in range(n, m):\n    pass\nfor a, b in c:\n    pass\nfor k in d():\n    pass\n")
    assert [row_loop(module, one.target, one.iter) for one in module.nodes.every(ast.For)] == [None] * 3


def test_a_loop_behind_another_statement_on_its_line_is_left() -> None:
    text = "import torch\ndef f(x):\n    if 1: return torch.stack([row * 2 for row in x])\n"
    module = module_of(text)
    (listed,) = module.nodes.every(ast.ListComp)
    assert ProgramBranch(module, context(), [module.nodes.every(ast.Return)[0]]).module is module
    with pytest.raises(Exception, match="one-line"):
        list(mapped(module, listed, context()))
    assert not [one for loop in module.nodes.every(ast.For) for one in masked(module, loop, context())]

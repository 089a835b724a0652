"""Decisions on values: what is written, that eager stays as it is, that each tracer takes it, and what is refused."""

from __future__ import annotations

import ast
import itertools
import textwrap
from collections.abc import Callable, Iterator
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
from symfix.python.candidates.value_decisions import of_loops, of_values, refused
from symfix.python.syntax.module import parse

HEAD = "import torch\n\n\n"
SMALL, LARGE, NEGATIVE = torch.full((3, 4), 0.1), torch.full((3, 4), 4.0), torch.linspace(-3, 1, 12).reshape(3, 4)
ZEROS = torch.zeros(3, 4)
INPUTS = [(SMALL,), (LARGE,), (NEGATIVE,), (ZEROS,)]
LAYERS = """
        class F(torch.nn.Module):
            def __init__(self):
                super().__init__()
                torch.manual_seed(0)
                self.proj = torch.nn.Linear(4, 4)
                self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(3))

            def forward(self, x):
"""
COND: dict[str, tuple[str, list[str]]] = {
    "one side": (
        """
                if x.sum() > 0.5:
                    x = self.proj(x)
                return x
        """,
        ["x = torch.cond(x.sum() > 0.5, apply_proj, keep_x, (x,))\n", "elif x.sum() > 0.5:\n", "return x.clone()"],
    ),
    "both sides, and no value before": (
        """
                if x.max() > 1:
                    y = self.proj(x)
                else:
                    y = x.t().t()
                return y + 1
        """,
        ["y = torch.cond(x.max() > 1, apply_proj, apply_t, ())\n", "return x.t().t().clone()"],
    ),
    "two results of several steps": (
        """
                y = x * 2
                if x.norm() > 2:
                    z = self.proj(x)
                    y = y + z
                    x = z.relu()
                return x, y
        """,
        ["y, x = torch.cond(x.norm() > 2, update_values, keep_values, (y, x))\n", "return y.clone(), x.clone()"],
    ),
    "a chain": (
        """
                if x.sum() > 9:
                    x = self.proj(x)
                elif x.sum() > 0:
                    x = x[:, [0, 1, 2, 3]] + 1
                else:
                    x = self.layers[0](x)
                return x
        """,
        [
            "x = torch.cond(x.sum() > 0, add_to_x, apply_layers, (x,))",
            "x = torch.cond(x.sum() > 9, apply_proj, update_x, (x,))\n",
        ],
    ),
    "an early return": (
        """
                if x.abs().sum() == 0:
                    return self.proj(x)
                y = x / x.abs().sum()
                return self.layers[0](y)
        """,
        ["return torch.cond(x.abs().sum() == 0, apply_proj, compute_result, ())\n"],
    ),
    "early returns one after the other": (
        """
                if x.sum() > 9:
                    return self.proj(x)
                y = self.layers[0](x)
                if y.sum() > 0:
                    return y
                return y - 1
        """,
        ["return torch.cond(x.sum() > 9, apply_proj, compute_result, ())\n", "return torch.cond(y.sum() > 0, take_y"],
    ),
    "an expression": (
        """
                y = self.proj(x) if x.sum() else x
                return y * 2
        """,
        ["y = torch.cond(x.sum().bool(), apply_proj, take_x, ())\n", "elif x.sum():\n", "else:\n"],
    ),
    "a longer expression": (
        """
                y = 1 + self.proj(x.t().t() if x.sum() > 0.5 else x - 1) * 2
                return y
        """,
        [
            "y = torch.cond(x.sum() > 0.5, compute_value, compute_value_2, ())\n",
            "elif x.sum() > 0.5:\n            y = 1 + self.proj(x.t().t()) * 2\n",
            "return 1 + self.proj(x - 1) * 2\n",
        ],
    ),
    "several operands": (
        """
                if not self.training or (x.max() > 1 and not x.min() < 0):
                    x = self.proj(x)
                return x
        """,
        ["torch.logical_and(x.max() > 1, ~(x.min() < 0))", "if torch.compiler.is_compiling() and not"],
    ),
    "a range": (
        """
                peak = x.max()
                if 0 < peak < 3:
                    x = self.proj(x)
                return x
        """,
        ["torch.cond(torch.logical_and(0 < peak, peak < 3), apply_proj"],
    ),
    "an augmented assignment": (
        """
                x = x + 1
                if x.max() > 1.5:
                    x *= 1 + 2
                return x
        """,
        ["return x * (1 + 2)\n", "            x *= 1 + 2\n"],
    ),
}
LOOPS: dict[str, tuple[str, list[str]]] = {
    "while": (
        """
                while x.norm() > 0.5:
                    x = x / 2
                return x
        """,
        ["(x,) = while_loop(goes_on, update_x, (x,))\n", "return x.norm() > 0.5\n", "return (x,)\n"],
    ),
    "while with a number": (
        """
                steps = 0
                while x.norm() > 0.5 and steps < 3:
                    x = x / 2
                    steps += 1
                return x * steps
        """,
        ["(x, x.new_full((), steps, dtype=torch.int64))", "steps = steps.item()\n", "steps = steps + 1"],
    ),
    "two numbers and tensors at once": (
        """
                a, b = 1, 1
                while x.norm() > 0.5 and b < 20:
                    a, b = b, a + b
                    x = x / 2
                return x * a
        """,
        ["a, _, x = while_loop(goes_on, update_x, (", "                a, b = b, a + b\n"],
    ),
    "the error of the step before": (
        """
                previous = 1e9
                for _ in range(6):
                    x = self.proj(x).tanh()
                    error = x.norm().item()
                    if abs(previous - error) < 0.2:
                        break
                    previous = error
                return x
        """,
        ["error = x.norm().double()\n", "x.new_full((), previous, dtype=torch.float64)"],
    ),
    "break at the end": (
        """
                for _ in range(5):
                    x = self.proj(x).tanh()
                    if x.abs().mean() < 0.3:
                        break
                return x
        """,
        ["torch.logical_and(step < 5, going)", "going = torch.logical_not(x.abs().mean() < 0.3)\n"],
    ),
    "break in the middle": (
        """
                for _ in range(5):
                    new = self.proj(x).tanh()
                    if (new - x).abs().max() < 0.4:
                        break
                    x = new
                return x
        """,
        ["x = torch.cond(going, go_on_with_x, keep_x, (x,))\n"],
    ),
    "layers": (
        """
                for layer in self.layers:
                    x = layer(x).relu()
                    if x.mean() > 0.25:
                        break
                return x
        """,
        [
            "x = torch.cond(going, update_x, keep_x, (x,))\n",
            "going = torch.logical_and(going, torch.logical_not(x.mean() > 0.25))\n",
        ],
    ),
    "layers, and what a step has found": (
        """
                for layer in self.layers:
                    new = layer(x).relu()
                    if (new - x).abs().mean() < 1.5:
                        break
                    x = new
                return x
        """,
        ["x, going = torch.cond(going, update_x, keep_x, (x,))\n"],
    ),
    "a return that comes behind the loop, too": (
        """
                for layer in self.layers:
                    x = layer(x).relu()
                    if x.mean() > 0.25:
                        return self.proj(x)
                return self.proj(x)
        """,
        ["x = torch.cond(going, update_x, keep_x, (x,))\n"],
    ),
    "while true": (
        """
                while True:
                    x = x / 2
                    if x.norm() < 0.5:
                        break
                return x
        """,
        ["while_loop(goes_on, update_x, (x.new_ones((), dtype=torch.bool), x))", "return going.clone()\n"],
    ),
}
WAYS: dict[str, Callable[[Any, Any], Any]] = {
    "export": lambda module, args: _exported(module, args, strict=False),
    "strict": lambda module, args: _exported(module, args, strict=True),
    "eager": lambda module, args: torch.compile(module, backend="eager", fullgraph=True),
    "aot_eager": lambda module, args: torch.compile(module, backend="aot_eager", fullgraph=True),
}


def _exported(module: Any, args: Any, *, strict: bool) -> Any:
    shapes = ({0: torch.export.Dim.DYNAMIC},)
    return torch.export.export(module, args, dynamic_shapes=shapes, strict=strict).module()


def context(prefer: str = "cond") -> Context:
    return replace(Context(installed_torch(), all_functions=True, tried=True), prefer=prefer)


def written(text: str, prefer: str = "cond") -> Iterator[tuple[Fix, str]]:
    """Yield each fix for what decides in a text, with the text that it leaves."""
    source = SourceFile(Path("model.py"), text.encode())
    module = parse(source)
    draft = EditedFile(source, load_language("symfix.python"), context(prefer))
    choices: list[ast.If | ast.IfExp] = [*module.nodes.ifs, *module.nodes.every(ast.IfExp)]
    fixes = itertools.chain(
        of_loops(module, (0, len(text)), context(prefer)),
        *(of_values(module, one, context(prefer)) for one in sorted(choices, key=lambda one: one.lineno)),
    )
    for fix in fixes:
        yield fix, draft.take([fix]).now.content.decode()


def run(text: str) -> Any:
    names: dict[str, Any] = {}
    exec(text, names)
    return names["F"]()


NO_GRADIENTS = ("while", "while with a number", "two numbers and tensors at once", "layers, and what a step has found")
"""Torch has no gradient of what comes out beside a number or a truth, and a wrong one of a loop without a step."""


@pytest.mark.parametrize("train", [False, True], ids=["no gradients", "gradients"])
@pytest.mark.parametrize("name", [*COND, *LOOPS])
def test_each_tracer_takes_what_is_written_and_eager_keeps_what_it_was(name: str, train: bool) -> None:
    if train and name in NO_GRADIENTS:
        pytest.skip("torch has no gradient of this")
    body, parts = {**COND, **LOOPS}[name]
    text = (
        HEAD + textwrap.dedent(LAYERS).strip("\n") + "\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), " " * 8)
    )
    found = [after for _, after in written(f"{text}\n") if all(part in after for part in parts)]
    assert found, "\n".join(after for _, after in written(f"{text}\n"))
    before, after = run(text), run(found[0])
    assert "torch.compiler.is_compiling()" in found[0]
    with torch.set_grad_enabled(train):
        expected = [outcome(before, args, train) for args in INPUTS]
        same([outcome(after, args, train) for args in INPUTS], expected, exact=True)
        for way in WAYS if not train else ("export", "eager"):
            torch._dynamo.reset()
            program = WAYS[way](after, tuple(one.clone() for one in INPUTS[0]))
            same([outcome(program, args, train) for args in INPUTS], expected)


def outcome(function: Any, args: tuple[Any, ...], train: bool) -> Any:
    inputs = [one.clone().requires_grad_(train) for one in args]
    result = function(*inputs)
    leaves = [one for one in (result if isinstance(result, tuple) else (result,)) if isinstance(one, torch.Tensor)]
    given = [one.detach() for one in leaves]
    if not train or not any(one.requires_grad for one in leaves):
        return given
    named = sorted(function.named_parameters())
    found = torch.autograd.grad(
        [one.sum() for one in leaves if one.requires_grad], [*inputs, *(one for _, one in named)], allow_unused=True
    )
    zeros = [torch.zeros_like(one) for one in (*inputs, *(one for _, one in named))]
    return [*given, *(zero if one is None else one for one, zero in zip(found, zeros, strict=True))]


def same(actual: Any, expected: Any, *, exact: bool = False) -> None:
    limits = {"rtol": 0, "atol": 0} if exact else {}
    torch.testing.assert_close(actual, expected, equal_nan=True, check_stride=exact, **limits)


REFUSED: dict[str, tuple[str, str, str]] = {
    "print": ("if x.sum() > 0:\n    print(x)\n    x = x + 1\nreturn x", "if", "effect-in-branch"),
    "raise on one side": ("if x.sum() > 0:\n    x = x + 1\n    raise ValueError\nreturn x", "if", "raises-in-branch"),
    "assert": ("if x.sum() > 0:\n    assert n\n    x = x + 1\nreturn x", "if", "raises-in-branch"),
    "attribute": ("if x.sum() > 0:\n    self.seen = x\nreturn x", "if", "changes-attribute"),
    "element": ("if x.sum() > 0:\n    x[0] = 1\nreturn x", "if", "changes-in-place"),
    "in place": ("if x.sum() > 0:\n    x = x.add_(1)\nreturn x", "if", "changes-in-place"),
    "in place by an operator": ("if x.sum() > 0:\n    x += 1\nreturn x", "if", "changes-in-place"),
    "list": ("if x.sum() > 0:\n    n.append(x)\nreturn x", "if", "changes-container"),
    "list of results": (
        "for _ in range(3):\n    n.append(x)\n    if x.sum() > 0:\n        break\nreturn n", "if", "changes-",
    ),
    "bound on one side": ("if x.sum() > 0:\n    y = x + 1\nreturn y", "if", "bound-on-one-side"),
    "a longer expression": ("return n and (x.view(-1) if x.sum() > 0 else x.t())", "return", "inside-expression"),
    "index out of range": ("if n < 3:\n    x = x[n]\nreturn x", "if", "not-total"),
    "operand that is not total": (
        "if n.any() and x[n].max() > 0:\n    x = x + 1\nreturn x", "if", "condition-not-total",
    ),
    "loop without a last step": ("while x.sum() > 0:\n    self.step(x)\nreturn x", "while", "effect-in-branch"),
    "continue": (
        "for k in n:\n    if x.sum() > 0:\n        continue\n    x = x + 1\nreturn x", "if", "leaves-in-branch",
    ),
    "one side leaves": (
        "for k in n:\n    if x.sum() > 0:\n        return x\n    x = x + 1\nreturn n", "if", "leaves-in-branch",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_operator_keeps_is_refused_with_its_reason_and_place(name: str) -> None:
    body, mark, reason = REFUSED[name]
    text = f"{HEAD}def f(self, x, n):\n{textwrap.indent(body, '    ')}\n"
    line = text[: text.index(mark, len(HEAD) + 20)].count("\n") + 1
    said = refused(SourceFile(Path("model.py"), text.encode()), context(), line)
    assert any(why.startswith(reason) and "at line " in why for _, why in said), said
    assert any(int(why.partition("at line ")[2].split()[0]) >= line for _, why in said if "at line " in why)


ASKED = {
    "x.sum() > 0": "x.sum() > 0",
    "x.sum().item() > 0": "x.sum() > 0",
    "x.sum().item() > 0.1": "x.sum().double() > 0.1",
    "float(x.sum()) >= -0.5": "x.sum() >= -0.5",
    "x.sum().item() > y.item()": "x.sum() > y",
    "bool(x.any())": "x.any()",
    "x[0, 0]": "x[0, 0].bool()",
    "not x.any()": "~x.any()",
    "not x.max() > 1": "~(x.max() > 1)",
    "torch.allclose(x, y)": "torch.isclose(x, y).all()",
    "x.any() or y.any()": "torch.logical_or(x.any(), y.any())",
}


@pytest.mark.parametrize("name", ASKED)
def test_a_condition_is_asked_of_the_tensor(name: str) -> None:
    text = f"{HEAD}def f(x, y):\n    if {name}:\n        x = x + 1\n    return x\n"
    assert any(f"torch.where({ASKED[name]}, x + 1, x)" in after for _, after in written(text, "where"))


def test_what_is_preferred_comes_first() -> None:
    text = f"{HEAD}def f(x):\n    if x.sum() > 0:\n        x = x + 1\n    return x\n"
    first = {prefer: next(written(text, prefer))[0].rule for prefer in ("", "where", "cond")}
    assert first == {"": "use_where", "where": "use_where", "cond": "use_cond"}


def test_what_is_expensive_goes_by_cond_and_what_may_raise_never_by_where() -> None:
    expensive = f"{HEAD}def f(x, w):\n    if x.sum() > 0:\n        x = x @ w\n    return x\n"
    assert [fix.rule for fix, _ in written(expensive, "")][0::2] == ["use_cond", "use_where"]
    assert "one of them is expensive" in next(written(expensive, ""))[0].message
    unknown = f"{HEAD}def f(x, g):\n    if x.sum() > 0:\n        x = g(x)\n    return x\n"
    assert {fix.rule for fix, _ in written(unknown, "where")} == {"use_cond"}

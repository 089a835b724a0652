"""Parts of the decisions on values: cost, effects, blocks, conditions, and the text of local functions."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest
from goldens import installed_torch
from snippets import module
from symfix.codemods.model.rule import Context
from symfix.python.analysis.flow.blocks import (
    always_returns,
    bound_before,
    following,
    read,
    read_after,
    stored,
    surely_stored,
)
from symfix.python.analysis.must.effects import is_fresh, require_pure
from symfix.python.analysis.must.pointwise import Cost, cost
from symfix.python.analysis.types.cannot_rewrite import CannotRewrite
from symfix.python.candidates.local_functions import NameChooser, anew, described, may_alias
from symfix.python.candidates.tensor_conditions import asked_of_tensor, tensor_condition
from symfix.python.candidates.torch_cond import choice_of, conditional
from symfix.python.candidates.torch_where import highest_cost, selected
from symfix.python.candidates.torch_while_loop import looped, unrolled

HEAD = "import torch\n\n\ndef f(self, x, n, xs):\n"


def context() -> Context:
    return replace(Context(installed_torch()), all_functions=True, tried=True)


def body(text: str) -> str:
    return HEAD + "".join(f"    {line}\n" for line in text.split("\n"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x * 2 + x.exp()", Cost.CHEAP),
        ("torch.sqrt(x) / n", Cost.CHEAP),
        ("x[:n]", Cost.CHEAP),
        ("x // 2", Cost.CHEAP),
        ("x // n", Cost.UNKNOWN),
        ("x // 0", Cost.UNKNOWN),
        ("x @ x.t()", Cost.UNKNOWN),
        ("x @ n", Cost.EXPENSIVE),
        ("x[n]", Cost.UNKNOWN),
        ("x.max()", Cost.UNKNOWN),
        ("self.scale(x)", Cost.UNKNOWN),
        ("self.abs(x)", Cost.UNKNOWN),
        ("x.div(n, rounding_mode='floor')", Cost.UNKNOWN),
        ("not x", Cost.UNKNOWN),
    ],
)
def test_cost_of_an_expression(text: str, expected: Cost) -> None:
    made = module(body(f"return {text}"))
    (returned,) = (one for one in ast.walk(made.tree) if isinstance(one, ast.Return))
    assert returned.value is not None
    assert cost(made, returned.value) is expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x = x + 1", ""),
        ("print(x)", "effect-in-branch"),
        ("raise ValueError", "raises-in-branch"),
        ("self.seen = x", "changes-attribute"),
        ("x[0] = 1", "changes-in-place"),
        ("x.add_(1)", "changes-in-place"),
        ("x += 1", "changes-in-place"),
        ("xs.append(x)", "changes-container"),
        ("x = (y := x) + y", "effect-in-branch"),
    ],
)
def test_effects_of_a_branch(text: str, reason: str) -> None:
    made = module(body(f"if x.sum() > 0:\n    {text}\nreturn x"))
    (branch,) = made.nodes.ifs
    try:
        require_pure(made, branch.body)
    except CannotRewrite as unfit:
        assert unfit.reason == reason
    else:
        assert reason == ""


def test_an_augmented_assignment_of_a_new_tensor_is_fresh() -> None:
    made = module(body("y = x * 2\ny += 1\nx += 1\nreturn y"))
    first, second = (one for one in ast.walk(made.tree) if isinstance(one, ast.AugAssign))
    assert is_fresh(made, first)
    assert not is_fresh(made, second)


def test_names_of_a_block() -> None:
    made = module(body("y = x\nif n:\n    y, z = x, n\nelse:\n    y = n\nw = y\nreturn z"))
    (branch,) = made.nodes.ifs
    assert stored([branch]) == ["y", "z"]
    assert surely_stored([branch]) == {"y"}
    assert read([branch]) == {"x", "n"}
    assert bound_before(made, branch) == {"self", "x", "n", "xs", "y"}
    assert read_after(made, [branch]) == {"y", "z"}
    assert [type(one) for one in following(made, branch)] == [ast.Assign, ast.Return]
    assert not always_returns([branch])


def test_a_condition_of_a_tensor_in_two_parts() -> None:
    made = module(body("if self.training and x.sum() > 0:\n    x = x + 1\nreturn x"))
    (branch,) = made.nodes.ifs
    (asked,) = asked_of_tensor(made, branch.test, context())
    assert (asked.outside, asked.text) == ("self.training", "x.sum() > 0")
    assert isinstance(branch.test, ast.BoolOp)
    text, _ = tensor_condition(made, ast.BoolOp(ast.And(), branch.test.values[1:] * 2), context())
    assert text == "torch.logical_and(x.sum() > 0, x.sum() > 0)"


@pytest.mark.parametrize("asked", ["torch.jit.is_scripting()", "not torch.compiler.is_compiling()"])
def test_a_question_who_traces_is_no_tensor(asked: str) -> None:
    made = module(body(f"if {asked}:\n    x = x + 1\nreturn x"))
    (branch,) = made.nodes.ifs
    with pytest.raises(CannotRewrite) as raised:
        list(asked_of_tensor(made, branch.test, context()))
    assert raised.value.reason == "no-tensor"


@pytest.mark.parametrize(
    ("before", "carried"),
    [
        ("d = 1e9", True),
        ("d = float('inf')", True),
        ("d: float = 1e9", False),
        ("for d in (1.0, 2.0):\n    pass\nd = 1e9", False),
        ("n = 1e9", False),
    ],
)
def test_a_float_is_carried_if_only_assignments_give_it(before: str, carried: bool) -> None:
    name = before[0] if before[0] in "dn" else "d"
    text = f"{before}\nwhile {name} > 0.1:\n    x = x / 2\n    {name} = x.norm().item()\nreturn x"
    made = module(body(text))
    (loop,) = (one for one in ast.walk(made.tree) if isinstance(one, ast.While))
    try:
        written = b"".join(edit.text for fix in looped(made, loop, context()) for edit in fix.edits)
    except CannotRewrite:
        written = b""
    assert (b"dtype=torch.float64" in written) is carried


def test_both_sides_of_a_choice() -> None:
    made = module(body("if x.sum() > 0:\n    x = x @ n\nreturn x"))
    (branch,) = made.nodes.ifs
    choice = choice_of(made, branch)
    assert (choice.results, choice.operands, choice.returns) == (["x"], ["x"], False)
    assert highest_cost(made, branch) is Cost.EXPENSIVE
    (where,) = selected(made, branch, context())
    assert where.edits[0].text == b"x = torch.where(x.sum() > 0, x @ n, x)"
    first, _ = conditional(made, branch, context())
    assert first.edits[0].text.endswith(b"x = torch.cond(x.sum() > 0, project_x, keep_x, (x,))\n    el")


@pytest.mark.parametrize(
    ("test", "text"),
    [
        ("not (x.isnan().any() | x.isinf().any())", "~(x.isnan().any() | x.isinf().any())"),
        ("not x.isnan().any()", "~x.isnan().any()"),
        ("not x.sum() > 0", "~(x.sum() > 0)"),
        ("x.item() == n.item()", "x == n"),
        ("x.item() > 0.1", "x.double() > 0.1"),
        ("x.allclose(n)", "x.isclose(n).all()"),
    ],
)
def test_text_of_a_condition(test: str, text: str) -> None:
    made = module(body(f"if {test}:\n    return x\nreturn n"))
    assert tensor_condition(made, made.nodes.every(ast.If)[0].test, context())[0] == text


def test_a_condition_of_several_names_is_asked_once() -> None:
    made = module(body("y = x + 1\nif x.mean() > torch.rand(()):\n    x = x * 2\n    y = y * 3\nreturn x, y"))
    (fix,) = selected(made, made.nodes.every(ast.If)[0], context())
    (edit,) = fix.edits
    assert edit.text.decode() == (
        "condition = x.mean() > torch.rand(())\n"
        "    x = torch.where(condition, x * 2, x)\n"
        "    y = torch.where(condition, y * 3, y)"
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("n = 1.0\nif x.sum() > 0:\n    n = 0.1\nreturn x * n", "number-of-python"),
        ("m = 1.0\nif x.sum() > 0:\n    m = 0.5\nreturn x * m", ""),
        ("n = 0.3\nif x.sum() > 0:\n    n = 0.5\nreturn x * n", "number-of-python"),
        ("if x.sum() > 0:\n    n = 0.5\nreturn x * n", "number-of-python"),
        ("if x.sum() > 0:\n    n = 0.1\nelse:\n    n = 1.0\nreturn x * n", "number-of-python"),
        ("if x.sum() > 0:\n    return 0.1\nreturn 1.0", "number-of-python"),
        ("m = 1.0\nif x.sum() > 0:\n    m += 0.1\nreturn x * m", "number-of-python"),
        ("x = x * 2\nif x.sum() > 0:\n    x += 0.1\nreturn x", ""),
        ("if x.sum() > 0:\n    x = 0.1 * x\nreturn x", ""),
        ("if x.sum() > 0:\n    x = x * 2\nelif torch.rand(()) > 0.5:\n    x = x * 3\nreturn x", "condition-not-total"),
        ("if x.sum() > 0: x = x * 2\nreturn x", ""),
    ],
)
def test_a_choice_that_where_can_not_make(text: str, reason: str) -> None:
    made = module(body(text))
    if reason:
        with pytest.raises(CannotRewrite) as unfit:
            list(selected(made, made.nodes.every(ast.If)[0], context()))
        assert unfit.value.reason == reason
    else:
        assert list(selected(made, made.nodes.every(ast.If)[0], context()))


def test_a_choice_of_two_numbers_of_pythons_is_left() -> None:
    made = module(body("m = 0.1 if x.max() > 1 else 1.0\nreturn x * m"))
    with pytest.raises(CannotRewrite) as unfit:
        list(selected(made, made.nodes.every(ast.IfExp)[0], context()))
    assert unfit.value.reason == "number-of-python"


def test_what_a_gradient_may_make_nan_is_said_of_a_return_behind_the_branch() -> None:
    made = module(body("n = x.norm()\nif n == 0:\n    return x\nreturn x / n"))
    (fix,) = selected(made, made.nodes.every(ast.If)[0], context())
    assert fix.default is not None and "gradient of a quotient" in fix.default


@pytest.mark.parametrize("step", ["x = x * 0.9 ** n", "x = x * (n * 0.1)"])
def test_a_counter_that_meets_a_float_stays_pythons(step: str) -> None:
    made = module(body(f"n = 0\nwhile x.norm() > 1:\n    {step}\n    n = n + 1\nreturn x, n"))
    with pytest.raises(CannotRewrite) as unfit:
        list(looped(made, made.nodes.every(ast.While)[0], context()))
    assert unfit.value.reason == "counts"


def test_a_loop_that_nothing_ends_is_left() -> None:
    made = module(body("while True:\n    x = x + 1\nreturn x"))
    (loop,) = made.nodes.every(ast.While)
    for write, detail in ((looped, "nothing ends the loop"), (unrolled, "nothing says how many steps there are")):
        with pytest.raises(CannotRewrite) as refused:
            list(write(made, loop, context()))
        assert refused.value.reason == "loop-without-end"
        assert detail in refused.value.detail


def test_a_choice_in_a_longer_expression_takes_the_expression_with_it() -> None:
    made = module(body("y = 2 * self.proj(x if x.sum() > 0 else -x)\nreturn y"))
    first, _ = conditional(made, made.nodes.every(ast.IfExp)[0], context())
    text = first.edits[0].text.decode()
    assert "return 2 * self.proj(x)\n" in text and "return 2 * self.proj(-x)\n" in text
    assert "    elif x.sum() > 0:\n        y = 2 * self.proj(x)\n" in text


def test_the_number_of_steps_is_read_before_a_step_changes_its_tensor() -> None:
    made = module(body("for _ in range(int(x.max())):\n    x = x / 2\nreturn x"))
    (fix,) = looped(made, made.nodes.every(ast.For)[0], context())
    text = fix.edits[0].text.decode()
    assert "limit = x.max().long()\n" in text and "return step < limit\n" in text


def test_names_and_values_of_local_functions() -> None:
    made = module(body("y = x.view(-1)\ny -= n + 1\nreturn y"))
    (added,) = (one for one in ast.walk(made.tree) if isinstance(one, ast.AugAssign))
    assert anew(made, added) == "y - (n + 1)"
    function = made.functions[0].node
    assert described(function.body[1:2], ["y"]) == "subtract_from_y"
    chooser = NameChooser(made)
    assert [chooser.choose("y"), chooser.choose("go"), chooser.choose("go")] == ["y_2", "go", "go_2"]
    assert may_alias(ast.Name("y", ast.Load()), function.body[:1])
    assert not may_alias(added.value, function.body[:1])

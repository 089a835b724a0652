"""Tests of the Python wing's decisions on a few lines: truth values, branch kinds, places, preconditions."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from goldens import installed_torch
from symfix.codemods.model.edit import Edit, apply
from symfix.codemods.model.rule import Context, Fix, Safety
from symfix.codemods.model.source_file import SourceFile
from symfix.python.analysis.decisions.branch_kind import branches, compares_order, refusals
from symfix.python.analysis.decisions.comparisons import Default, NoDefault
from symfix.python.analysis.decisions.condition_leaves import (
    check_conditions,
    forces,
    leaf_at,
    leaves,
    only_truth_counts,
)
from symfix.python.analysis.decisions.default_choice import general
from symfix.python.analysis.flow.calls import Calls
from symfix.python.analysis.flow.fix_eligibility import obstacle, on_host, scripted, speaks_to_script
from symfix.python.analysis.flow.flow import Flow, flow
from symfix.python.analysis.flow.may_type_inference import Scope, evaluate
from symfix.python.analysis.flow.tensor_evidence import Evidence, evidence
from symfix.python.analysis.must.dominating_conditions import facts_at, rank_asked
from symfix.python.analysis.must.must_type_inference import surely
from symfix.python.analysis.must.no_raise import Partial, partial
from symfix.python.analysis.must.sym_operator_equivalence import (
    compared_one_by_one,
    doubts_of_sym_eq,
    evaluated_throughout,
    evaluated_together,
    taken_apart,
    unfit_for_sym_eq,
)
from symfix.python.analysis.types.cannot_rewrite import CannotRewrite
from symfix.python.analysis.types.may_types import Kind, TupleKind
from symfix.python.analysis.types.must_types import ScalarType
from symfix.python.candidates.alternatives import alternatives, extent
from symfix.python.candidates.torchscript_branch import (
    check_beside_script,
    default_beside_script,
    warning_beside_script,
)
from symfix.python.language import errors, obscure, same_code
from symfix.python.rewrite import change_types as to
from symfix.python.rewrite.deferrable_condition import DeferrableCondition
from symfix.python.rewrite.findings import cannot_name, fix
from symfix.python.rewrite.imports import complete
from symfix.python.rewrite.raised_checks import read_only_in
from symfix.python.rewrite.script_code import branch_for_script
from symfix.python.rewrite.sym_and_or import Joiner
from symfix.python.syntax.module import Module, parse
from symfix.python.syntax.names import Names
from symfix.python.syntax.tree import FunctionDefinition, Survey, imported_names, literal, spelled

HEAD = "import math\nimport torch\nfrom torch import Tensor\n\n\n"


def source(
    body: str, parameters: str = "x: Tensor, y: Tensor, n, k: int", path: str = "torch/_refs/a.py"
) -> SourceFile:
    """Return a file with one function of this body."""
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return SourceFile(Path(path), f"{HEAD}def f({parameters}):\n{lines}".encode())


def context(everything: bool = False) -> Context:
    return Context(installed_torch(), all_functions=everything)


def probed(body: str) -> tuple[Module, ast.expr]:
    """Return a module, and the argument of the call of ``probe`` in it."""
    made = parse(source(body))
    (call,) = (one for one in made.nodes.calls if spelled(one.func) == "probe")
    return made, call.args[0]


def asked(body: str) -> tuple[Module, ast.expr]:
    """Return a module, and the test of its last ``if`` or ``assert``."""
    made = parse(source(body))
    return made, [*made.nodes.every(ast.If, ast.Assert)][-1].test


@pytest.mark.parametrize(
    ("test", "default"),
    [
        ("x.size(0) == 0", False),
        ("x.size(0) != 1", True),
        ("x.size(0) == y.size(0)", False),
        ("x.shape != y.shape", True),
        ("x.size(0) > 1", True),
        ("x.numel()", True),
        ("x.size(0) < y.size(0)", None),
        ("0 < x.size(0) < 3", None),
    ],
)
def test_which_truth_is_right_in_general(test: str, default: bool | None) -> None:
    known = flow(parse(source(f"if {test}:\n    y = y + x\nreturn y")))
    (branch,) = branches(known)
    found = general(known, branch.leaf)
    assert (found.truth if isinstance(found, Default) else None) is default


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("while x.size(0) != 1:\n    x = x[1:]\nreturn x", "loop-condition"),
        ("if x.size(0) == 1:\n    return ()\nreturn x, y", "decides-arity"),
        ("if x.size(0) != y.size(0):\n    return False\nreturn x.sum()", "decides-answer"),
        ("m = x.size(0)\nif m % k != 0:\n    x = pad(x, k - m % k)\nreturn x", "neither-branch-general"),
        ("m = x.size(0)\nif m:\n    x = x[:-m]\nreturn x", "neither-branch-general"),
        ("a = x.size(0)\nb = y.size(0)\nif a == b:\n    return x\nreturn x / (a - b)", "neither-branch-general"),
    ],
)
def test_where_no_truth_is_right_in_general(body: str, reason: str) -> None:
    known = flow(parse(source(body)))
    found = general(known, branches(known)[0].leaf)
    assert isinstance(found, NoDefault) and found.reason == reason


def test_what_a_branch_is_for() -> None:
    body = "if x.size(0) > 64:\n    x = fast(x)\nreturn x"
    passed, plain = (parse(source(body, path=path)) for path in ("torch/_inductor/fx_passes/a.py", "torch/a.py"))
    (saves_time,) = branches(flow(passed))
    (computes,) = branches(flow(plain))
    assert saves_time.shortcut and not computes.shortcut and compares_order(computes.leaf.node)
    module = parse(
        source("if x.size(0) > 64:\n    s = 'bad'\n    raise ValueError(s)\nassert x.size(0) and k\nassert k")
    )
    assert not branches(flow(module))
    assert [one.node for one in refusals(flow(module))] == [module.nodes.asserts[0], *module.nodes.ifs]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("x.shape[1:]", Kind.SIZES),
        ("x.size(0) + 1", Kind.SIZE),
        ("x.size(0) / 2", Kind.RATIO),
        ("(x.size(0), x.dim())", TupleKind((Kind.SIZE, Kind.CONCRETE))),
        ("[d for d in x.shape]", Kind.SIZES),
        ("x.size(0) > 1", Kind.TRUTH),
        ("m", Kind.SIZE),
        ("unknown", Kind.UNKNOWN),
        ("node.meta['val']", Kind.TENSOR),
        ("node.meta['name']", Kind.UNKNOWN),
    ],
)
def test_what_an_expression_may_hold(text: str, kind: object) -> None:
    module = parse(source("return x"))
    scope = Scope(module, module.functions[0], {"x": Kind.TENSOR, "m": Kind.SIZE}, Calls(module), {})
    assert evaluate(ast.parse(text, mode="eval").body, scope) == kind


def test_a_scope_joins_what_it_learns() -> None:
    module = parse(source("m = 1\nm = x.size(0)\ns = []\ns.append(m)\nm += 1\nreturn m, s"))
    scope = Scope.of(module, module.functions[0], {"x": Kind.TENSOR}, Calls(module), {}, Evidence())
    assert scope.held["m"] is Kind.SIZE and scope.held["s"] is Kind.SIZES
    assert scope.result == TupleKind((Kind.SIZE, Kind.SIZES))


def test_a_flow_knows_each_place() -> None:
    module, argument = probed("m = x.size(0)\nprobe([m for m in (1, 2)] + [m])")
    known = flow(module)
    assert known is flow(module) and known.kind(argument) is Kind.SIZES
    assert set(Calls(module).reached) == set(module.functions)
    assert not Flow(parse(source("return n == 0"))).reached


@pytest.mark.parametrize(
    ("use", "sure"),
    [("print(s[0])", ScalarType.WHOLE), ("s.append(1)", ScalarType.WHOLE), ("other(s)", None), ("n.s = s", None)],
)
def test_a_list_is_shared_by_what_may_keep_it(use: str, sure: ScalarType | None) -> None:
    module, argument = probed(f"s = [x.size(0)]\n{use}\nprobe(s[0])")
    assert surely(module).of(argument) is sure


def test_what_shows_a_tensor() -> None:
    module = parse(source("g.size()\nreturn t.new_empty(1), g", "t, g: ProcessGroup"))
    (function,) = module.functions
    assert evidence(module, function) == Evidence(frozenset({"t"}))
    module = parse(SourceFile(Path("a.py"), b"import torch\n@register_meta(a)\ndef f(x): return x\n"))
    assert evidence(module, module.functions[0]).registered
    module = parse(SourceFile(Path("a.py"), b"import numpy\n@register_meta(a)\ndef f(x): return x.numel()\n"))
    assert evidence(module, module.functions[0]) == Evidence()


@pytest.mark.parametrize(
    ("path", "text", "reason"),
    [
        ("torch/_refs/a.py", "return x", None),
        ("torch/nn/functional.py", "return x", "torchscript"),
        ("torch/_vendor/a.py", "return x", "third-party"),
        ("model.py", "return x", "no-evidence"),
        ("model.py", "import numpy\nreturn numpy.array(x)", "host-code"),
        ("model.py", "if torch.jit.is_scripting():\n    return x", "torchscript"),
    ],
)
def test_what_stands_in_the_way(path: str, text: str, reason: str | None) -> None:
    module = parse(source(text, path=path))
    (function,) = module.functions
    found = obstacle(module.place(function.node.body[0]), context(everything=reason != "no-evidence"), default=True)
    assert (found[0] if found else None) == reason
    assert module.own_tree is path.startswith("torch/")
    assert on_host(module, function, asked=True) is (reason == "host-code")
    assert (scripted(module, function) or speaks_to_script(module)) is (reason == "torchscript")


def test_the_truths_that_are_forced() -> None:
    module = parse(
        source("b = x.size(0) == 1\nif not b and k == 3:\n    y = x\ntorch._check(x.size(1) == 2)\nreturn y")
    )
    known = flow(module)
    (leaf,) = leaves(known)
    assert spelled(leaf.node) == "x.size(0) == 1" and isinstance(leaf.test, ast.If)
    (condition,) = check_conditions(module)
    assert spelled(condition) == "x.size(1) == 2" and forces(condition, known)
    (both,) = module.nodes.every(ast.BoolOp)
    assert leaf_at(known, both, both).test is leaf.test and only_truth_counts(module, both)
    (branch,) = module.nodes.ifs
    assert isinstance(branch.test, ast.BoolOp)
    opposite = branch.test.values[0]
    assert isinstance(opposite, ast.UnaryOp)
    assert leaf_at(known, opposite.operand, both).no_branch is True
    assert leaf_at(known, both.values[1], both).no_branch is False


@pytest.mark.parametrize(
    ("test", "reason"),
    [
        ("x.shape == y.shape", None),
        ("x.shape == [1, 2]", "list-against-tuple"),
        ("x.shape == None", "not-a-shape"),
        ("x.shape == n", "not-a-shape"),
        ("(*x.shape, x.device) == (*y.shape, y.device)", "not-a-shape"),
    ],
)
def test_which_shapes_sym_eq_compares(test: str, reason: str | None) -> None:
    module, node = asked(f"assert {test}")
    types = surely(module)
    assert isinstance(node, ast.Compare) and types.flow.comparison(node).of_shapes
    unfit = unfit_for_sym_eq(types, node)
    assert (unfit[0] if unfit else None) == reason
    assert reason or doubts_of_sym_eq(types, node) == []


def test_a_number_is_no_shape() -> None:
    module, node = asked("assert x.size(0) == 1")
    assert isinstance(node, ast.Compare) and not flow(module).comparison(node).of_shapes


def test_what_is_evaluated_where_it_was_not() -> None:
    module, node = asked("assert x.dim() == 2 and x.size(1) == k and y.size(1) == k")
    assert isinstance(node, ast.BoolOp)
    lead, rest = node.values[:1], node.values[1:]
    doubts = evaluated_together(surely(module), lead, rest, lead_holds=True)
    assert any("`y.size(1)`" in doubt for doubt in doubts) and not any("`x.size(1)` is" in doubt for doubt in doubts)
    module, node = asked("assert n != 0 and x.size(0) % n == 0")
    assert isinstance(node, ast.BoolOp)
    with pytest.raises(CannotRewrite):
        evaluated_together(surely(module), [], node.values, lead_holds=True)
    facts = facts_at(module, node)
    found = {ast.unparse(part.node): part.why for part in partial(surely(module), node.values[1], facts)}
    assert found["x.size(0) % n"] is Partial.TYPE and found["x.size(0)"] is Partial.PRESENCE
    parts = partial(surely(module), ast.parse("table[n]", mode="eval").body, facts)
    assert {ast.unparse(part.node): part.why for part in parts} == {"table": Partial.OTHER, "table[n]": Partial.OTHER}
    assert rank_asked(ast.parse("x.dim()", mode="eval").body) is not None


def test_what_is_compared_one_by_one() -> None:
    module, node = asked("assert k in (0, 1)")
    assert isinstance(node, ast.Compare)
    choices, doubts = compared_one_by_one(surely(module), node)
    assert [spelled(one) for one in choices] == ["0", "1"] and doubts
    module, node = asked("assert 0 < x.shape[0] < 3")
    assert isinstance(node, ast.Compare) and taken_apart(surely(module), node) == []
    module, node = asked("assert all(d > 0 for d in x.shape)")
    assert isinstance(node, ast.Call) and evaluated_throughout(surely(module), node) == []


def test_a_condition_that_can_wait() -> None:
    module, node = asked("assert not (x.dim() == 2 and x.size(0) == 1 or x.shape != y.shape)")
    deferral = DeferrableCondition(surely(module), context(), node)
    deferral.condition(node, True)
    made = [change for _, change in deferral.changes if change is not to.Plain.UNGROUPED]
    kinds = [change if isinstance(change, to.Plain) else type(change) for change in made]
    reverse = to.Plain.REVERSED
    assert kinds == [to.Plain.AFFIRMED, reverse, reverse, to.Joined, to.Equated, to.Joined]
    assert any(need.endswith("sym_eq") for need in deferral.needs)
    module, node = asked("assert x.size(int(y.size(0))) == 1")
    with pytest.raises(CannotRewrite) as unfit:
        DeferrableCondition(surely(module), context(), node).condition(node, True)
    assert unfit.value.reason == "decided-inside"


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("x.size(0) == 1 and y.size(0) == 1", [to.Joined(True, 2, 0, "sym_and")]),
        ("x.dim() == 2 and x.size(0) == 1", []),
        ("1 < x.shape[0] < 3", [to.Apart("sym_and")]),
        ("all(d != 0 for d in x.shape)", [to.Quantified("sym_and", "True")]),
    ],
)
def test_a_check_joins_its_operands(condition: str, expected: list[to.Change]) -> None:
    module = parse(source(f"torch._check({condition})"))
    joiner = Joiner(surely(module), context())
    joiner.join(check_conditions(module)[0])
    assert [change for _, change in joiner.changes] == expected


def test_imports_go_once_where_they_are_used() -> None:
    module = parse(source("return x"))
    needs = ("torch.fx.experimental.symbolic_shapes.sym_eq",)
    place = module.span(module.functions[0].node.body[0])[0]
    fixes = [Fix("r", 2, Safety.SAFE, (Edit(place, place, b" "),), "m", needs=needs)] * 2
    (edit,) = complete(module.source, fixes, context())
    assert edit.text.startswith(b"    from torch.fx.experimental.symbolic_shapes import sym_eq\n")


def test_a_statement_on_one_line_is_looked_at_as_a_whole() -> None:
    text = source("if x.abs().max() > 1: x = x / 2\nreturn x")
    line = text.content[: text.content.index(b"if x")].count(b"\n") + 1
    start, end = extent(text, line, "f") or (0, 0)
    assert text.content[start:end] == b"if x.abs().max() > 1: x = x / 2"


def test_what_is_tried_where_no_rule_dares() -> None:
    text = source("m = x.size(0)\nif m < k:\n    m = k\nreturn m")
    where = extent(text, text.content[: text.content.index(b"if m")].count(b"\n") + 1, "f")
    assert where is not None
    written = [edit.text.decode() for fix in alternatives(text, context(), where) for edit in fix.edits]
    assert written[0] == "m = torch.sym_ite(m < k, k, m)"


def test_a_branch_for_torchscript_stays_beside_a_check() -> None:
    scripted_source = source("if x.size(0) != k:\n    raise ValueError('m')\nreturn x", path="torch/nn/functional.py")
    module = parse(scripted_source)
    (branch,) = module.nodes.ifs
    fix = check_beside_script(module, branch, context(), "r")
    assert fix is not None and fix.edits[0].text.startswith(b"if torch.jit.is_scripting():\n        if x.size(0) != k:")
    assert b"def _check_f(x, k):" in fix.edits[1].text
    assert warning_beside_script(module, branch, context(), "r") is None
    edit = branch_for_script(module, branch, "torch.jit.is_scripting", "g", ["x"])
    assert edit.text.endswith(b"\n    else:\n        g(x)")


def test_a_check_in_a_function_that_dynamo_keeps_in_its_graph_compares_shapes_symbolically() -> None:
    """Dynamo runs such a function on fake tensors, where a comparison of two sizes guards."""
    body = "if x.size() != y.size():\n    raise ValueError('m')\nreturn x"
    written = {}
    for name in ("binary_cross_entropy", "_verify_batch_size"):
        made = source(body, path="torch/nn/functional.py")
        module = parse(replace(made, content=made.content.replace(b"def f(", f"def {name}(".encode())))
        (branch,) = module.nodes.ifs
        fix = check_beside_script(module, branch, context(), "r")
        assert fix is not None
        written[name] = fix.edits[1].text.decode()
    kept, inlined = written.values()
    assert "    torch._check_value(sym_eq(x.size(), y.size()), lambda: 'm')\n" in kept
    assert "        torch._check_value(x.size() == y.size())\n    elif x.size() != y.size():\n" in inlined


def test_a_branch_for_torchscript_stays_as_deep_as_it_was() -> None:
    body = "if k:\n    if x.size(0) != k:\n        raise ValueError('m')\nreturn x"
    module = parse(source(body, path="torch/nn/functional.py"))
    _, branch = module.nodes.ifs
    fix = check_beside_script(module, branch, context(), "r")
    assert fix is not None
    assert fix.edits[0].text.decode().splitlines() == [
        "if torch.jit.is_scripting():",
        "            if x.size(0) != k:",
        "                raise ValueError('m')",
        "        else:",
        "            _check_f(x, k)",
    ]


@pytest.mark.parametrize(
    ("body", "written"),
    [
        (
            "if x.numel() == 0:\n    return x",
            "x.numel() == 0 if torch.jit.is_scripting() else _guard_or_false(x.numel() == 0)",
        ),
        (
            "if x.size(0) != k:\n    if n:\n        raise ValueError('m')\n    else:\n        warnings.warn('m')",
            "x.size(0) != k if torch.jit.is_scripting() else _guard_or_false(x.size(0) != k)",
        ),
        (
            "if n and x.size(0) > 1:\n    x = x.t()",
            "(x.size(0) > 1 if torch.jit.is_scripting() else _guard_or_true(x.size(0) > 1))",
        ),
        ("if x.size(0) < k:\n    x = x.t()", None),
        (
            "if x.size(0) != k:\n    warnings.warn('m')\nelse:\n    x = x.t()",
            "x.size(0) != k if torch.jit.is_scripting() else _guard_or_true(x.size(0) != k)",
        ),
    ],
)
def test_a_default_for_everyone_but_torchscript(body: str, written: str | None) -> None:
    module = parse(source(f"{body}\nreturn x", path="torch/nn/functional.py"))
    fixes = list(default_beside_script(module, module.nodes.ifs[0], context(), "r"))
    assert [fix.edits[0].text.decode() for fix in fixes] == ([] if written is None else [written])
    assert all(one.default is not None and b"def _guard_or_" in one.edits[1].text for one in fixes)


def test_a_default_for_everyone_but_torchscript_runs_and_is_compiled(tmp_path: Path) -> None:
    body = "if x.numel() == 0:\n    return x\nif x.size(0) == 1 and k > 2:\n    return x * 2\nreturn x + 1"
    made = source(body, path="torch/nn/functional.py")
    for _ in range(2):
        module = parse(made)
        found = [one for node in module.nodes.ifs for one in default_beside_script(module, node, context(), "r")]
        edits = [*found[0].edits, *complete(made, found[:1], context())]
        made = replace(made, content=apply(made.content, sorted(edits)))
    assert made.content.count(b"def _guard_or_false") == 1
    (tmp_path / "changed.py").write_bytes(made.content)
    script = (
        "import torch, changed\n"
        "for f in (changed.f, torch.jit.script(changed.f)):\n"
        "    for size in (0, 1, 3):\n"
        "        print(f(torch.ones(size), torch.ones(1), torch.ones(1), 3).tolist())\n"
    )
    command = [sys.executable, "-c", script]
    printed = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert printed.splitlines() == ["[]", "[2.0]", "[2.0, 2.0, 2.0]"] * 2


def test_a_warning_is_given_one_frame_further_down() -> None:
    body = "if x.shape != y.shape:\n    warnings.warn('sizes', stacklevel=2)\nreturn x"
    module = parse(source(body, path="torch/nn/functional.py"))
    (branch,) = module.nodes.ifs
    fix = warning_beside_script(module, branch, context(), "r")
    assert fix is not None
    helper = fix.edits[1].text.decode()
    assert (
        "    if not guard_or_true(sym_eq(x.shape, y.shape)):\n        warnings.warn('sizes', stacklevel=3)\n" in helper
    )


@pytest.mark.parametrize(("body", "only"), [("pass", True), ("return s", False), ("return locals()", False)])
def test_a_message_is_read_by_its_exception_alone(body: str, only: bool) -> None:
    module = parse(source(f"if n:\n    s = 'bad'\n    raise ValueError(s)\n{body}"))
    (branch,) = module.nodes.ifs
    assert isinstance(branch.body[0], ast.Assign) and isinstance(branch.body[0].targets[0], ast.Name)
    assert read_only_in(module.place(branch), branch.body[0].targets[0], branch) is only


def test_how_findings_are_written_down() -> None:
    module, argument = probed("probe(x)")
    place = module.place(argument)
    assert cannot_name("r", place, "torch.f", context()).reason == "no-such-name"
    safe, unsafe = fix("r", place, [], "m"), fix("r", place, [], "m", doubts=["a", "b", "a"])
    assert safe.safety is Safety.SAFE and safe.default is None and safe.function == "f"
    assert unsafe.safety is Safety.UNSAFE and unsafe.default == "a; b"
    assert fix("r", place, [], "m", safety=Safety.UNSAFE).safety is Safety.UNSAFE


def test_names_and_places() -> None:
    module = parse(source("import numpy as np\ndef g(): pass\nreturn np.prod"))
    inner: FunctionDefinition = module.functions[1]
    assert inner.qualname == "f.g" and inner.outermost is module.functions[0]
    assert imported_names(module.nodes.every(ast.Import))["np"] == "numpy"
    (returned,) = module.nodes.returns
    assert returned.value is not None and module.names.meaning(returned.value) == "numpy.prod"
    assert literal(ast.parse("-3", mode="eval").body) == -3
    names = Names(module.tree, Survey(module.tree))
    assert names.owner("np", returned) is module.functions[0].node and names.owner("math", returned) is module.tree
    assert [*names.chain(inner.node.body[0])] == [inner.node, module.functions[0].node]
    survey = Survey(module.tree)
    assert survey.inside[inner.node].every(ast.Pass) and not survey.outside.every(ast.Pass)
    assert module.indentation(returned) == "    " and module.newline == "\n"


@pytest.mark.parametrize("blanks", [" ", "  ", "\t"])
def test_a_star_import_may_bind_a_builtin_however_it_is_spelled(blanks: str) -> None:
    module = parse(SourceFile(Path("a.py"), f"from x import{blanks}*\nmin\n".encode()))
    statement = module.tree.body[1]
    assert isinstance(statement, ast.Expr) and module.names.meaning(statement.value) is None


def test_what_the_engine_asks_of_python() -> None:
    assert errors(b"x = (") == 1 and errors(b"x = 1") == 0
    assert same_code(b"x = (1)  # one", b"x = 1") and not same_code(b"x = 1", b"x = 2")
    assert obscure("# coding: latin-1\nx = 'ü'\n".encode()) is not None and obscure(b"# coding: latin-1\n") is None

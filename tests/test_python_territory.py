"""Tests of code that the Python rules exclude, and of the results of their migrations."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from goldens import installed_torch
from symfix.codemods.engine.fixpoint import FixOptions, rewrite
from symfix.codemods.engine.registry import load_language, load_rules
from symfix.codemods.model.outcome import Changed, Unchanged
from symfix.codemods.model.rule import Context, Skip
from symfix.codemods.model.source_file import SourceFile
from symfix.python.analysis.flow.dispatch_kind import DispatchedTensors, registered
from symfix.python.syntax.module import Module

GUARDED = "def f(a: Tensor):\n    if a.size(0) == 1:\n        return a[0]\n    return a\n"
RETIRED = ("guard_size_oblivious", "definitely_true", "definitely_false", "_check_is_size")


def outcome_of(text: bytes, path: str, *, everything: bool = False) -> Changed | Unchanged:
    source = SourceFile(Path(path), text)
    context = Context(installed_torch(), all_functions=everything, drop_torchscript=everything)
    rules = load_rules("symfix.python")
    outcome = rewrite(source, rules, load_language("symfix.python"), context, FixOptions(unsafe=True, polish=False))
    assert isinstance(outcome, (Changed, Unchanged))
    return outcome


@pytest.mark.parametrize("file", ["torch/nn/functional.py", "torch/functional.py", "torch/nn/modules/utils.py"])
def test_what_torchscript_compiles_stays_as_it_is(file: str) -> None:
    torch = find_spec("torch")
    assert torch is not None
    assert torch.origin is not None
    content = (Path(torch.origin).parents[1] / file).read_bytes()
    outcome = outcome_of(content, file, everything=True)
    assert isinstance(outcome, Unchanged)
    assert {skip.reason for skip in outcome.skips} <= {"torchscript", "not-binary", "refused-by-dynamo"}
    assert outcome.skips or file.endswith("utils.py")


@pytest.mark.parametrize("wrapper", ["jit.script", "jit.script_if_tracing", "jit._overload", "jit.export"])
def test_scripted_functions_stay_in_any_file(wrapper: str) -> None:
    text = f"import torch\nfrom torch import Tensor, jit\n\n@torch.{wrapper}\n{GUARDED}"
    outcome = outcome_of(text.encode(), "torch/_refs/a.py")
    assert isinstance(outcome, Unchanged)
    assert [skip.reason for skip in outcome.skips] == ["torchscript"]


@pytest.mark.parametrize(
    ("path", "name", "stays"),
    [
        ("torch/_decomp/decompositions.py", "nll_loss_backward", True),
        ("torch/_decomp/decompositions.py", "unheard", False),
        ("torch/_refs/__init__.py", "nll_loss_backward", False),
        ("torch/distributed/tensor/_ops.py", "unheard", False),
        ("torch/nn/init.py", "unheard", True),
    ],
)
def test_a_function_of_torch_stays_where_torch_or_a_user_may_script_it(path: str, name: str, stays: bool) -> None:
    text = f"from torch import Tensor\n\n{GUARDED.replace('def f', f'def {name}')}"
    outcome = outcome_of(text.encode(), path)
    reasons = [skip.reason for skip in outcome.skips if skip.reason == "torchscript"]
    assert (isinstance(outcome, Unchanged), bool(reasons)) == (stays, stays)


@pytest.mark.parametrize(
    ("bases", "stays"),
    [("", True), ("(Unknown)", True), ("(nn.Module)", True), ("(Plain)", False), ("(torch._C._Thing)", False)],
)
def test_a_method_of_torch_stays_where_its_class_may_be_scripted(bases: str, stays: bool) -> None:
    method = GUARDED.replace("def f(", "def f(self, ").replace("\n", "\n    ").rstrip()
    text = f"import torch\nfrom torch import Tensor, nn\n\nclass Plain:\n    pass\n\nclass A{bases}:\n    {method}\n"
    outcome = outcome_of(text.encode(), "torch/distributed/tensor/placements.py")
    assert isinstance(outcome, Unchanged) is stays


def test_a_function_that_is_scripted_by_a_call_stays() -> None:
    text = f"import torch\nfrom torch import Tensor\n\n{GUARDED}\ng = torch.jit.script(f)\n"
    outcome = outcome_of(text.encode(), "torch/_refs/a.py")
    assert isinstance(outcome, Unchanged)
    assert [skip.reason for skip in outcome.skips] == ["torchscript"]


def test_users_code_takes_a_default_on_request_only() -> None:
    text = f"from torch import Tensor\n\n{GUARDED}".encode()
    left = outcome_of(text, "model.py")
    assert isinstance(left, Unchanged)
    assert [skip.reason for skip in left.skips] == ["no-evidence"]
    assert isinstance(outcome_of(text, "model.py", everything=True), Changed)


def test_every_default_is_said_in_words() -> None:
    outcome = outcome_of(f"from torch import Tensor\n\n{GUARDED}".encode(), "torch/_refs/a.py")
    assert isinstance(outcome, Changed)
    (fix,) = outcome.applied
    assert fix.default == "an undecided `a.size(0) == 1` is taken as false: 1 is the special case"
    assert fix.function == "f"


@pytest.mark.parametrize(
    "condition", ["a.size(0) == 1", "a.size(0) < b.size(0)", "sym_eq(a.shape, b.shape)", "a.dim() > 1"]
)
def test_no_migration_leaves_or_writes_a_retired_name(condition: str) -> None:
    text = (
        "import torch\nfrom torch import Tensor\n"
        "from torch.fx.experimental.symbolic_shapes import definitely_false, definitely_true\n"
        "from torch.fx.experimental.symbolic_shapes import guard_size_oblivious, sym_eq\n\n\n"
        "def f(a: Tensor, b: Tensor):\n"
        "    torch._check_is_size(a.size(0))\n"
        f"    while guard_size_oblivious({condition}):\n        return 0\n"
        f"    if definitely_true({condition}) or guard_size_oblivious({condition}):\n        return 1\n"
        f"    return 2 if definitely_false({condition}) else 3\n"
    )
    outcome = outcome_of(text.encode(), "model.py")
    assert isinstance(outcome, Changed)
    assert not [name for name in RETIRED if name in outcome.after.decode()]


def reasons(body: str) -> list[str]:
    """Return the reasons for which the rules skip the body of a function of torch."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    text = f"import torch\nfrom torch import Tensor\n\n\ndef f(a: Tensor, b: Tensor, k, weight):\n{lines}"
    outcome = outcome_of(text.encode(), "torch/_refs/a.py")
    assert not isinstance(outcome, Changed), outcome.after.decode()
    skips: tuple[Skip, ...] = outcome.skips
    return [skip.reason for skip in skips]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("if a.size(0) < b.size(0):\n    return a\nreturn b", "neither-branch-general"),
        ("if a.size(0) > 16:\n    return a\nreturn b", "neither-branch-general"),
        ("return a if a.size(0) % 8 == 0 else b", "neither-branch-general"),
        ("while a.size(0) > 1:\n    a = a[1:]\nreturn a", "loop-condition"),
        ("if a.size(0) == 0:\n    return ()\nreturn a.unbind()", "decides-arity"),
        ("if a.stride(0) > b.stride(0):\n    return a\nreturn b", "stride-ordering"),
        ("if 1 < a.size(0) < k:\n    return a\nreturn b", "chained-comparison"),
        ("if a.size(0) != 0:\n    a = a[: -a.size(0)]\nreturn a", "neither-branch-general"),
        ("if a.size(0) != 0:\n    k.append(a)\nreturn tuple(k)", "decides-arity"),
        ("if isinstance(k, SymInt):\n    pass\nelse:\n    assert k == a.size(0)\nreturn a", "not-a-bool"),
        ("if list(a.shape) == b.shape:\n    return a\nreturn b", "list-against-tuple"),
        ("if a.shape == k:\n    return a\nreturn b", "not-a-shape"),
        ("if a.size(0) != 1:\n    raise KeyError(1)\nreturn a", "exception-type"),
        ("if a.size(0) != 1:\n    raise ValueError('a') from None\nreturn a", "raise-from"),
        ("assert weight and a.size(0) == 1\nreturn a", "not-a-bool"),
        ("torch._check(a.size(0) > 0 and b.size(0) % a.size(0) == 0)\nreturn a", "guarded-operand"),
        ("return max(a.shape)", "not-binary"),
        ("return int(a.size(0))", "keeps-static"),
    ],
)
def test_what_is_left_is_left_for_a_reason(body: str, reason: str) -> None:
    assert reasons(body) == [reason]


@pytest.mark.parametrize("folder", ["_vendor/quack", "testing/_internal", "_inductor/kernel/vendored_templates"])
def test_vendored_and_test_code_of_torch_stays(folder: str) -> None:
    outcome = outcome_of(f"from torch import Tensor\n\n{GUARDED}".encode(), f"torch/{folder}/a.py")
    assert isinstance(outcome, Unchanged)
    assert [skip.reason for skip in outcome.skips] == ["third-party"]


@pytest.mark.parametrize("size", ["group.size()", "a.untyped_storage().size()"])
def test_sizes_of_other_things_are_no_sizes(size: str) -> None:
    text = f"import torch\n\n\ndef f(a: torch.Tensor, group):\n    return a if {size} == 0 else a + 1\n"
    assert outcome_of(text.encode(), "torch/_refs/a.py") == Unchanged(
        SourceFile(Path("torch/_refs/a.py"), text.encode())
    )


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("if a.size(0) != b.size(0):\n    return False\nreturn True", "decides-answer"),
        ("if a.shape != b.shape:\n    return False\nreturn True", "decides-answer"),
        ("if not a.size(0) % 8 == b.size(0):\n    return False, 0\nreturn True, 0", "decides-answer"),
        ("if helper(a.size(0)):\n    return a\nreturn b", "neither-branch-general"),
    ],
)
def test_no_answer_rests_on_an_undecided_comparison(body: str, reason: str) -> None:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    helper = "def helper(n: int):\n    return n + 1\n"
    text = f"import torch\nfrom torch import Tensor\n\n\n{helper}\n\ndef f(a: Tensor, b: Tensor):\n{lines}"
    outcome = outcome_of(text.encode(), "torch/_refs/a.py")
    assert isinstance(outcome, Unchanged)
    assert [skip.reason for skip in outcome.skips] == [reason]


def test_a_function_that_says_what_it_answers_may_answer_so() -> None:
    text = (
        "from torch import Tensor\n\n\ndef same_or_false(a: Tensor, b: Tensor):\n"
        "    if a.size(0) != b.size(0):\n        return False\n    return True\n"
    )
    outcome = outcome_of(text.encode(), "torch/_refs/a.py")
    assert isinstance(outcome, Changed)
    assert b"if guard_or_true(a.size(0) != b.size(0)):" in outcome.after


def test_a_branch_that_only_looks_for_a_fault_is_not_taken() -> None:
    text = (
        "from torch import Tensor\n\n\ndef f(a: Tensor, b: Tensor):\n    if a.numel() > 0:\n"
        "        for one in a.stride():\n"
        "            if one is b:\n                return False\n    return True\n"
    )
    outcome = outcome_of(text.encode(), "torch/_refs/a.py")
    assert isinstance(outcome, Changed)
    assert b"if guard_or_false(a.numel() > 0):" in outcome.after


def test_a_hint_is_a_plain_int() -> None:
    text = (
        "from torch import Tensor\n\n\ndef f(a: Tensor, env):\n"
        "    if env.size_hint(a.size(0)) == 1:\n        return a\n    return a + 1\n"
    )
    assert isinstance(outcome_of(text.encode(), "torch/_refs/a.py"), Unchanged)


@pytest.mark.parametrize("message", ["'is wrong'", "'is wrong' * 30"])
def test_new_lines_end_as_those_of_the_file(message: str) -> None:
    text = (
        "import torch\nfrom torch import Tensor\n\n"
        "from torch.fx.experimental.symbolic_shapes import guard_or_false, guard_or_true\n"
        f"\n\ndef f(a: Tensor, b: Tensor):\n    if a.size(0) != b.size(0):\n        raise ValueError({message})\n"
        "    return a if a.shape == b.shape else b\n"
    )
    plain, other = (
        outcome_of(text.encode(), "torch/_a.py"),
        outcome_of(text.replace("\n", "\r\n").encode(), "torch/_a.py"),
    )
    assert isinstance(plain, Changed)
    assert isinstance(other, Changed)
    assert other.after == plain.after.replace(b"\n", b"\r\n")


@pytest.mark.parametrize(
    "text",
    [
        "def f(mesh: DeviceMesh, t: torch.Tensor):\n    return t if mesh.size(0) == 1 else t + 1\n",
        "def f(t: torch.Tensor):\n    n = _Layout.of(t)\n    return t if n.numel() == 1 else t + 1\n",
        "def g(n) -> tuple[bool, SymInt]:\n    return n\n\n\n"
        "def f(t: torch.Tensor):\n    flag, _ = g(t.size(0))\n    return t if flag else t + 1\n",
    ],
)
def test_what_is_no_tensor_or_size_stays(text: str) -> None:
    assert isinstance(outcome_of(f"import torch\n\n\n{text}".encode(), "torch/_refs/a.py"), Unchanged)


@pytest.mark.parametrize(
    ("head", "seen"),
    [
        ('@torch.library.register_fake("a::f")\ndef f(x): ...', DispatchedTensors.FAKE),
        ('from torch.library import impl_abstract\n@impl_abstract("a::f")\ndef f(x): ...', DispatchedTensors.FAKE),
        ('@torch.library.impl(lib, "f", "Meta")\ndef f(x): ...', DispatchedTensors.FAKE),
        ('@torch.library.impl("a::f", "cpu")\ndef f(x): ...', DispatchedTensors.REAL),
        ('@torch.library.custom_op("a::f", mutates_args=())\ndef f(x): ...', DispatchedTensors.REAL),
        ('@torch.library.triton_op("a::f", mutates_args=())\ndef f(x): ...', DispatchedTensors.FAKE),
        ('def f(x): ...\nlib.impl("f", f, "Meta")', DispatchedTensors.FAKE),
        ('def f(x): ...\nlib.impl("f", f, "CUDA")', DispatchedTensors.REAL),
        ('def f(x): ...\ntorch.library.register_fake("a::f")(f)', DispatchedTensors.FAKE),
        ("def f(x): ...\nf(f)", None),
        ("@other.thing\ndef f(x): ...", None),
    ],
)
def test_what_a_registered_function_is_called_with(head: str, seen: DispatchedTensors | None) -> None:
    module = Module(
        SourceFile(Path("ops.py"), f"import torch\nlib = torch.library.Library('a', 'DEF')\n{head}\n".encode())
    )
    assert registered(module, next(one for one in module.functions if one.node.name == "f")) is seen

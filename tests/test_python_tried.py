"""Tests of candidates that need a trial on the user's model: stated conditions and skipped shortcuts."""

from __future__ import annotations

from pathlib import Path

import pytest
from symfix.codemods.engine.registry import load_language
from symfix.codemods.model.rule import Context, Safety
from symfix.codemods.model.source_file import SourceFile
from symfix.codemods.torchapi.api import TorchApi
from symfix.codemods.workflows.repair.edited_file import EditedFile
from symfix.python.candidates import preconditions
from symfix.python.candidates.skipped_shortcuts import left_out
from symfix.python.syntax.module import parse

LANGUAGE = load_language("symfix.python")


@pytest.fixture(scope="module")
def api() -> TorchApi:
    return TorchApi.load(None, None)


def draft(text: str, api: TorchApi, *, tried: bool = True) -> EditedFile:
    source = SourceFile(Path("net/model.py"), text.encode())
    return EditedFile(source, LANGUAGE, Context(api, all_functions=True, tried=tried))


def stated(text: str, mark: str, api: TorchApi, *conditions: str) -> list[str]:
    """Return the text with ``conditions`` stated before the statement at ``mark``, for each fix."""
    one = draft(text, api)
    extent = LANGUAGE.extent(one.source, text[: text.index(mark)].count("\n") + 1, "")
    assert extent is not None
    fixes = list(preconditions.stated(one.source, one.context, extent, conditions))
    assert all(fix.safety is Safety.UNSAFE and fix.default for fix in fixes)
    return [one.take([fix]).now.content.decode() for fix in fixes]


CALL = """import torch
def f(q, k):
    if q.dim() == 2:
        x = torch.attend(
            q, k)
    elif k is None: return g(q)
    return h(q)
"""


def test_conditions_stand_in_front_of_the_whole_statement(api: TorchApi) -> None:
    always, compiling = stated(CALL, "q, k)\n    elif", api, "q.shape[0] != 0", "n != 0")
    checks = ["torch._check(q.shape[0] != 0)", "torch._check(n != 0)"]
    comment = "        # Torch decides on this below; one program for all sizes has to know it.\n"
    lines = comment + "".join(f"        {check}\n" for check in checks)
    assert always == CALL.replace("        x = torch", f"{lines}        x = torch")
    lines = comment + "        if torch.compiler.is_compiling():\n"
    lines += "".join(f"            {check}\n" for check in checks)
    assert compiling == CALL.replace("        x = torch", f"{lines}        x = torch")


def test_the_check_is_spelled_as_the_file_spells_torch(api: TorchApi) -> None:
    comment = "    # Torch decides on this below; one program for all sizes has to know it.\n"
    assert stated("def f(q):\n    return g(q)\n", "return", api, "q.shape[0] != 0") == [
        f"import torch\ndef f(q):\n{comment}    torch._check(q.shape[0] != 0)\n    return g(q)\n",
        f"import torch\ndef f(q):\n{comment}    if torch.compiler.is_compiling():\n"
        "        torch._check(q.shape[0] != 0)\n    return g(q)\n",
    ]
    assert (
        stated("import torch as th\ndef f(q):\n    return g(q)\n", "return", api, "n != 1")[0].count("th._check") == 1
    )


@pytest.mark.parametrize("mark", ["elif", "return g"])
def test_where_no_line_fits_nothing_is_stated(mark: str, api: TorchApi) -> None:
    assert stated(CALL, mark, api, "n != 0") == []


def test_without_a_condition_nothing_is_stated(api: TorchApi) -> None:
    assert stated(CALL, "return h", api) == []


def shortcuts(condition: str, api: TorchApi, *, tried: bool = True, otherwise: str = "") -> list[str]:
    """Return the conditions that skip a shortcut."""
    text = f"import torch\ndef f(mask, n):\n    if {condition}:\n        return mask\n{otherwise}    return mask + 1\n"
    one = draft(text, api, tried=tried)
    extent = LANGUAGE.extent(one.source, 3, "f")
    assert extent is not None
    fixes = [fix for fix in LANGUAGE.alternatives(one.source, one.context, extent) if "shortcut" in fix.message]
    assert [fix.edits for fix in left_out("alternative", parse(one.source), extent, one.context)] == [
        fix.edits for fix in fixes
    ] or not tried
    return [one.take([fix]).now.content.decode().splitlines()[2].strip() for fix in fixes]


@pytest.mark.parametrize(
    ("condition", "made"),
    [
        ("mask.all()", "not torch.compiler.is_compiling() and mask.all()"),
        ("n and torch.equal(mask, mask)", "n and not torch.compiler.is_compiling() and torch.equal(mask, mask)"),
        ("(mask.sum() > n)", "not torch.compiler.is_compiling() and (mask.sum() > n)"),
        ("mask.any() or n", "not torch.compiler.is_compiling() and (mask.any() or n)"),
    ],
)
def test_a_shortcut_is_left_out_of_what_is_traced(condition: str, made: str, api: TorchApi) -> None:
    assert shortcuts(condition, api)[0] == f"if {made}:"


def test_a_comparison_under_bool_gets_a_default(api: TorchApi) -> None:
    text = "import torch\ndef f(x):\n    one = bool(x.shape[0] == 1)\n    return one\n"
    one = draft(text, api)
    extent = LANGUAGE.extent(one.source, 3, "f")
    assert extent is not None
    fix, *_ = LANGUAGE.alternatives(one.source, one.context, extent)
    assert "    one = bool(guard_or_false(x.shape[0] == 1))\n" in one.take([fix]).now.content.decode()


def test_what_is_no_shortcut_stays(api: TorchApi) -> None:
    assert shortcuts("mask.size(0) == n", api) == []
    assert shortcuts("mask.all()", api, tried=False) == []


@pytest.mark.parametrize(
    "head", ["import torch.jit\ntorch.jit.is_scripting()\n", "import numpy\ndef g(x): return numpy.array(x)\n"]
)
def test_what_else_might_be_made_of_the_code_is_not_asked(head: str, api: TorchApi) -> None:
    text = f"{head}import torch\ndef f(x: torch.Tensor):\n    if x.size(0) == 1:\n        return x\n    return x[0:2]\n"
    for tried in (False, True):
        one = draft(text, api, tried=tried)
        extent = LANGUAGE.extent(one.source, text[: text.index("    if")].count("\n") + 1, "f")
        assert extent is not None
        found = list(LANGUAGE.alternatives(one.source, one.context, extent))
        assert bool(found) is tried


def truths(assigned: str, condition: str, api: TorchApi) -> list[str]:
    """Return the conditions in which the truth value of a size has a default."""
    text = f"import torch\ndef f(x, m):\n    n = {assigned}\n    if {condition}:\n        return x\n    return x + 1\n"
    one = draft(text, api)
    extent = LANGUAGE.extent(one.source, 4, "f")
    assert extent is not None
    fixes = [fix for fix in LANGUAGE.alternatives(one.source, one.context, extent) if "not 0" in fix.message]
    return [one.take([fix]).now.content.decode().splitlines()[4].strip() for fix in fixes]


@pytest.mark.parametrize(
    ("condition", "made"),
    [
        ("n", "guard_or_true(n != 0)"),
        ("not n", "not guard_or_true(n != 0)"),
        ("x is None or not n", "x is None or not guard_or_true(n != 0)"),
    ],
)
def test_a_size_asked_for_its_truth_gets_a_default(condition: str, made: str, api: TorchApi) -> None:
    assert truths("x.shape[0]", condition, api) == [f"if {made}:"]


@pytest.mark.parametrize("assigned", ["x.shape[0] == 1", "x.shape[0] == 1 or m", "not m", "None"])
def test_what_may_be_no_size_gets_none(assigned: str, api: TorchApi) -> None:
    assert truths(assigned, "n", api) == []
    assert truths("x.shape[0]", "m", api) == []

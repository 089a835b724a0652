"""Tests of complete verifications of small changes, with the installed torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from proofs import verify
from symfix.codemods.harness.process_limits import Limits
from symfix.codemods.harness.torch_variant import Harness
from symfix.codemods.torchapi.torch_finder import locate
from symfix.codemods.verify.change import Change, Verdict, Verification
from symfix.codemods.verify.evidence import keep, recall

Kernel = Callable[..., Verification]
KERNEL = """#include <unistd.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/mul.h>
namespace at::native {
Tensor square(const Tensor& self) {
  BODY
}
}
"""
CONCRETE = "TORCH_CHECK(self.numel() != 17); return at::mul(self, self);"
SYMBOLIC = "TORCH_CHECK(self.sym_numel() != 17); return at::mul(self, self);"
REPRO = """
import torch
x = torch.arange(6.0).reshape(2, 3)
compiled = torch.compile(torch.square, dynamic=True, backend="eager")
torch.testing.assert_close(compiled(x), x * x)
"""


@pytest.fixture
def repro(tmp_path: Path) -> Path:
    path = tmp_path / "repro.py"
    path.write_text(REPRO)
    return path


@pytest.fixture
def kernel(repro: Path, ready: Harness) -> Kernel:
    """Return a function that verifies a change of a kernel's body by `repro`."""

    def verified(before: str, after: str, limits: Limits | None = None, **options: Any) -> Verification:
        texts = [KERNEL.replace("BODY", body).encode() for body in (before, after)]
        change = Change(repro.parent / "Square.cpp", *texts)
        evidence = repro.parent / "evidence"
        # A ready laboratory has its own limits.
        options |= {"ready": ready} if limits is None else {"limits": limits}
        return verify([change], repros=[repro], evidence_folder=evidence, **options)

    return verified


def test_what_did_not_compile_before_is_asked_again(tmp_path: Path) -> None:
    checked = Verification(Verdict.PROVEN, "it passes", ("File.cpp",))
    keep(checked, tmp_path, "good")
    keep(replace(checked, verdict=Verdict.BROKEN_BASELINE, reason="no header"), tmp_path, "bad")
    found = recall(tmp_path, "good")
    assert found is not None and found.verdict is Verdict.PROVEN and found.cached
    assert recall(tmp_path, "bad") is None


def test_a_mended_kernel_is_proven_and_the_answer_kept(kernel: Kernel) -> None:
    answer = kernel(CONCRETE, SYMBOLIC)
    assert answer.verdict is Verdict.PROVEN
    (check,) = answer.checks
    assert "Cannot call numel() on tensor with symbolic sizes/strides" in check.before.message
    assert check.reference is not None
    assert check.reference.passed
    (swap,) = answer.swaps
    assert swap.kernel == "square"
    assert swap.swapped
    assert swap.calls > 0
    again = kernel(CONCRETE, SYMBOLIC)
    assert again.cached
    assert again.evidence == answer.evidence
    assert (again.verdict, again.checks, again.swaps) == (answer.verdict, answer.checks, answer.swaps)


def test_changed_lines_that_nothing_ran_are_named(kernel: Kernel, repro: Path) -> None:
    branch = "if (self.dim() == 5) {\n return at::mul(self, self.neg());\n }\n "
    answer = kernel(CONCRETE, branch + SYMBOLIC)
    assert answer.verdict is Verdict.UNVERIFIABLE
    assert answer.unrun == (f"{repro.parent / 'Square.cpp'}:7",)
    assert "nothing ran the changed lines Square.cpp:7; of the rest, repro" in answer.reason
    assert {check.protocol for check in answer.checks} == {"repro", "varied"}


def test_wrong_numbers_regress(kernel: Kernel, repro: Path) -> None:
    repro.write_text(REPRO.replace("compiled(x)", "torch.square(x)"))
    answer = kernel(CONCRETE, SYMBOLIC.replace("(self, self)", "(self, self.neg())"))
    assert answer.verdict is Verdict.REGRESSED
    assert "Tensor-likes are not close" in answer.reason


def test_nothing_different_is_neutral(kernel: Kernel) -> None:
    answer = kernel(SYMBOLIC, SYMBOLIC + " // the same")
    assert (answer.verdict, answer.ran_all) == (Verdict.NEUTRAL, True)


def test_a_script_that_still_fails_is_no_proof(kernel: Kernel, repro: Path) -> None:
    repro.write_text(REPRO + "raise SystemExit('not yet')\n")
    answer = kernel(SYMBOLIC, SYMBOLIC + " // the same")
    assert answer.verdict is Verdict.UNVERIFIABLE
    assert answer.reason == "your script still fails: repro.py: exit not yet"


def test_an_unreached_kernel_is_unverifiable(kernel: Kernel, repro: Path) -> None:
    repro.write_text("import torch; torch.ones(2) + 1")
    answer = kernel(CONCRETE, SYMBOLIC, protocols=())
    assert answer.verdict is Verdict.UNVERIFIABLE
    assert "reaches" in answer.reason


def test_what_does_not_compile_is_blamed_on_its_side(kernel: Kernel) -> None:
    broken = kernel(CONCRETE, "return self.sym_nonsense();")
    assert broken.verdict is Verdict.REGRESSED
    assert "sym_nonsense" in broken.reason
    baseline = kernel("return self.sym_nonsense();", SYMBOLIC)
    assert baseline.verdict is Verdict.BROKEN_BASELINE


@pytest.mark.parametrize(
    ("body", "wall", "words"),
    [
        ("volatile int* nowhere = nullptr; *nowhere = 1; return self;", 30, "SIGSEGV"),
        ("for (;;) { pause(); } return self;", 12, "stopped after"),
    ],
)
def test_a_deadly_kernel_is_a_verdict(body: str, wall: float, words: str, kernel: Kernel) -> None:
    answer = kernel(SYMBOLIC, body, Limits(wall=wall))
    assert answer.verdict is Verdict.REGRESSED
    assert words in answer.reason


def test_a_python_module_is_laid_over(repro: Path, tmp_path: Path, ready: Harness) -> None:
    module = locate(None, None).package / "_lobpcg.py"
    content = module.read_bytes()
    repro.write_text("import torch, inspect; inspect.getsource(torch._lobpcg.lobpcg); assert torch._lobpcg.CHANGED")
    change = Change(module, content, content + b"\nCHANGED = True\n")
    answer = verify([change], repros=[repro], evidence_folder=tmp_path / "evidence", ready=ready)
    assert answer.verdict is Verdict.PROVEN
    assert "CHANGED" in answer.checks[0].before.message
    assert module.read_bytes() == content


def test_a_command_of_the_users_runs_on_the_changed_torch(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import torch\ndef test_square(): torch.square(torch.ones(2, 3)).sum().item()\n"
    )
    texts = [KERNEL.replace("BODY", body).encode() for body in (CONCRETE.replace("17", "6"), SYMBOLIC)]
    words = f"python -m pytest -q -p no:cacheprovider {tmp_path / 'test_it.py'}"
    answer = verify([Change(tmp_path / "Square.cpp", *texts)], tests=[words], evidence_folder=tmp_path)
    assert answer.verdict is Verdict.PROVEN
    (check,) = answer.checks
    assert (check.protocol, check.subject) == ("test", words)
    assert "1 failed" in check.before.message
    assert sum(swap.calls for swap in answer.swaps) > 0


def test_a_file_that_is_no_module_of_torch_is_said(repro: Path, tmp_path: Path) -> None:
    answer = verify([Change(tmp_path / "mine.py", b"", b"\n")], repros=[repro], evidence_folder=tmp_path)
    assert answer.verdict is Verdict.UNVERIFIABLE
    assert "no project to build" in answer.reason


def test_a_proof_does_not_hang_on_who_else_is_asked(tmp_path: Path, ready: Harness) -> None:
    texts = [KERNEL.replace("BODY", body).encode() for body in (CONCRETE, SYMBOLIC)]
    change = Change(tmp_path / "Square.cpp", *texts)

    def verdict(operator: str, *, complete: bool) -> Verdict:
        asked = verify(
            [change],
            operators=(operator,),
            complete=complete,
            protocols=("eager", "backed"),
            samples=2,
            evidence_folder=tmp_path,
            ready=ready,
        )
        return asked.verdict

    assert verdict("trace", complete=False) is Verdict.UNVERIFIABLE
    assert verdict("trace", complete=True) is verdict("square", complete=True) is Verdict.PROVEN


def test_bystanders_are_run_on_their_own_samples_alone(tmp_path: Path, ready: Harness) -> None:
    module = locate(None, None).package / "_lobpcg.py"
    text = module.read_bytes()
    answer = verify(
        [Change(module, text, text + b"# more\n")],
        operators=("take",),
        bystanders=("trace",),
        protocols=("eager", "varied", "decomposed"),
        evidence_folder=tmp_path,
        ready=ready,
    )
    ran = {(check.protocol, check.subject.partition(" ")[0]) for check in answer.checks}
    assert ran == {("eager", "take"), ("varied", "take"), ("decomposed", "take"), ("eager", "trace")}

"""Tests of drafts of fake kernels: the statements that they contain, and their agreement with the kernels."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import torch
from goldens import installed_torch
from running import git, symfix
from symfix.codemods.commands import manual_fixes
from symfix.codemods.harness.observation import Observation
from symfix.codemods.model.outcome import Unchanged
from symfix.codemods.model.rule import Context, Fix, Safety
from symfix.codemods.model.source_file import SourceFile
from symfix.codemods.reports.text import findings
from symfix.codemods.verify.change import Check, Verdict, Verification
from symfix.codemods.verify.project.opcheck_script import NoCall, call_script, written
from symfix.cpp.analysis.file.file_analysis import knowledge
from symfix.cpp.analysis.operators.allocations import Allocations, Underived, allocations
from symfix.cpp.rewrite.fake_kernel import scaffold
from symfix.cpp.rules.add_fake_kernel import rule

GOLDEN = Path(__file__).parents[1] / "golden"
HEAD = "#include <ATen/ATen.h>\n#include <torch/library.h>\n"


def source(body: str, parameters: str = "const at::Tensor& x, int64_t n") -> SourceFile:
    schema = "Tensor x, int n" if "n" in parameters.split(",")[-1] else "Tensor x"
    text = f"""{HEAD}at::Tensor f(const at::Tensor& x, int64_t n) {{ {body} }}
TORCH_LIBRARY(a, m) {{ m.def("f({schema}) -> Tensor"); }}
TORCH_LIBRARY_IMPL(a, CPU, m) {{ m.impl("f", &f); }}
"""
    return SourceFile(Path("a.cpp"), text.encode())


def shown(body: str) -> str:
    (fix,) = (one for one in rule.decide(source(body), Context(installed_torch())) if isinstance(one, Fix))
    assert fix.safety is Safety.MANUAL
    return fix.edits[-1].text.decode()


@pytest.mark.parametrize(
    ("body", "shape"),
    [
        ("return at::empty({n, x.size(1)}, x.options());", (5, 3)),
        ("const auto rows = (n + 1) / 2; return at::zeros({rows, 2 * x.size(0)}, x.options());", (3, 8)),
        ("auto s = x.numel() % n; auto out = at::ones({s}, x.options().dtype(at::kLong)); return out;", (2,)),
        ("return at::empty_like(x);", (4, 3)),
        ("return x.new_empty({x.dim(), n});", (2, 5)),
        ("return at::full({n}, 7, x.options());", (5,)),
    ],
)
def test_the_text_in_python_gives_the_shape(body: str, shape: tuple[int, ...]) -> None:
    lines = [line[5:] for line in shown(body).splitlines() if line.startswith("//   ")]
    assert lines[0] == '@torch.library.register_fake("a::f")'
    names: dict[str, object] = {"torch": torch}
    exec("\n".join(lines[1:]), names)
    made = names["f_fake"](torch.rand(4, 3), 5)  # type: ignore[operator]
    assert tuple(made.shape) == shape


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("return x;", "is no tensor that f allocates"),
        ("auto out = at::empty({n}, x.options()); out = x; return out;", "out is assigned again"),
        ("auto out = at::empty({n}, x.options()); out.unsqueeze_(0); return out;", "out.unsqueeze_() changes it"),
        ("int64_t rows; rows = n; return at::empty({rows}, x.options());", "rows is not set where it is declared"),
        ("return at::empty({somebody(n)}, x.options());", "`somebody(n)` is no operator and no size"),
        ("if (n) { return at::empty({n}, x.options()); }", "returns inside a branch or a loop"),
    ],
)
def test_an_output_that_is_no_allocation_is_said(body: str, why: str) -> None:
    know = knowledge(source(body), Context(installed_torch()))
    found = allocations(know, know.model.named("f")[0])
    assert isinstance(found, Underived) and why in found.why


def test_the_data_is_left_out() -> None:
    data = "auto p = out.data_ptr<float>(); p[0] = x.sum().item<float>();"
    body = f"auto out = at::empty({{n}}, x.options()); {data} return out;"
    know = knowledge(source(body), Context(installed_torch()))
    found = allocations(know, know.model.named("f")[0])
    assert isinstance(found, Allocations)
    assert [know.model.tree.text(one) for one in found.declarations] == ["auto out = at::empty({n}, x.options());"]


def test_a_text_is_shown_below_its_line() -> None:
    file = source("return at::empty({n}, x.options());")
    answers = tuple(one for one in rule.decide(file, Context(installed_torch())) if isinstance(one, Fix))
    (line,) = findings([Unchanged(file, answers)], written=False, left=True)
    assert "\n    f(Tensor x, SymInt n) -> Tensor\n" in line
    assert "\n    at::Tensor f_meta(const at::Tensor& x, c10::SymInt n) {\n" in line
    assert callable(scaffold)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("1 +", "does not parse"),
        ("x = f(1)", "has to end with a call"),
        ("f(*xs)", "may not spread"),
        ("", "has to end"),
    ],
)
def test_what_is_no_call(call: str, words: str) -> None:
    with pytest.raises(NoCall, match=re.escape(words)):
        call_script(call)


def run(call: str, folder: Path) -> None:
    exec(compile(written(call, folder).read_text(), "call", "exec"), {"__name__": "__main__"})


def test_a_call_is_tried_with_symbols(tmp_path: Path) -> None:
    run("torch.ops.aten.narrow_copy(torch.rand(8), 0, 0, 4)", tmp_path)
    with pytest.raises(SystemExit, match="none of the integers of the call is a SymInt"):
        run("torch.ops.aten.cumsum(torch.rand(8, 3), 1)", tmp_path)
    with pytest.raises(SystemExit, match=r"torch\.add is no operator"):
        run("torch.add(torch.rand(2), 2)", tmp_path)


HALVES = """#include <torch/library.h>
#include <ATen/ATen.h>

namespace halves {

at::Tensor half(const at::Tensor& x, int64_t columns) {
  at::Tensor out = at::zeros({x.size(0) / 2, columns}, x.options());
  out.select(1, 0).copy_(x.narrow(0, 0, x.size(0) / 2));
  return out;
}

} // namespace halves

TORCH_LIBRARY(halves, m) {
  m.def("half(Tensor x, int columns) -> Tensor");
}

TORCH_LIBRARY_IMPL(halves, CPU, m) {
  m.impl("half", &halves::half);
}
"""


@pytest.mark.usefixtures("quick_builds")
def test_a_text_is_tried_on_the_calls_that_the_user_names(tmp_path: Path) -> None:
    shutil.copytree(GOLDEN / "schemas" / "warp", tmp_path / "project")
    project = tmp_path / "project"
    (project / "csrc" / "warps.cpp").write_text(HALVES)
    shutil.rmtree(project / "tests")
    (project / "warps" / "__init__.py").write_text(
        "import torch\nfrom pathlib import Path\n"
        "torch.ops.load_library(next(Path(__file__).parent.glob('_library*.so')))\n"
    )
    git(project, "init", "-q")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "as it was")
    call = "import warps; torch.ops.halves.half(torch.rand(8), 3)"
    words = ("fix", "--verify", "--build", "python setup.py --quiet build_ext --inplace", "--call", call, "csrc")
    ended = symfix(*words, cwd=project, code=1)
    assert "add_fake_kernel: halves::half: with the text that is shown, which is not written" in ended.stderr
    assert (project / "csrc" / "warps.cpp").read_text() == HALVES


@pytest.mark.parametrize(
    ("verdict", "before", "after", "words"),
    [
        (Verdict.PROVEN, False, True, "the call passes opcheck; without it, it fails"),
        (Verdict.NEUTRAL, True, True, "passes opcheck without the text"),
        (Verdict.REGRESSED, True, False, "passes opcheck without the text"),
        (Verdict.NEUTRAL, False, False, "does not do for the call: shapes differ"),
    ],
)
def test_what_is_said_of_a_trial(verdict: Verdict, before: bool, after: bool, words: str) -> None:
    check = Check("repro", "call.py", Observation(before), Observation(after, "" if after else "shapes differ"))
    assert words in manual_fixes._said(Verification(verdict, "", (), (check,)))

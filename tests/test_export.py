"""Tests of `symfix export`: models that fail to export become proven, and the others have a reason."""

from __future__ import annotations

import json
import py_compile
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from running import symfix
from symfix.codemods.cli import main_group
from symfix.codemods.harness.fork_server import EXPORTS, Forking, forking
from symfix.codemods.harness.process_limits import Limits
from symfix.codemods.harness.resilient_batch import children
from symfix.codemods.harness.temp_folder import scratch_folder
from symfix.codemods.harness.torch_variant import Harness, Variant
from symfix.codemods.model.source_file import SourceFile
from symfix.codemods.torchapi.torch_finder import locate
from symfix.codemods.workflows.export import procedure
from symfix.codemods.workflows.export.draft_report import BadReport, load
from symfix.codemods.workflows.export.folder import patches, text_of, to_json
from symfix.codemods.workflows.export.outcome import (
    Exported,
    ExportOutcome,
    FilePatch,
    LastFailure,
    SourcePlace,
    TargetVerdict,
)
from symfix.codemods.workflows.export.page import page
from symfix.codemods.workflows.export.patch_names import PatchNames
from symfix.codemods.workflows.export.result import Result
from symfix.codemods.workflows.export.skeleton import SKELETON
from symfix.codemods.workflows.export.target_trials import ModelTrial, ReportedCase, Targets
from symfix.python.analysis.flow.unfixable_reasons import residue

MODELS = Path(__file__).parents[1] / "golden" / "models"
BRANCH = """
import torch


class Model(torch.nn.Module):
    def forward(self, x, keep):
        chosen = x[keep]
        if chosen.size(0) == 0:
            return x.new_zeros(x.shape[1])
        return BODY


def target():
    x = torch.randn(6, 4)
    return {"model": Model(), "args": (x, x[:, 0] > 0), "dynamic": {"x": {0: "rows"}, "keep": {0: "rows"}}, MORE}
"""
GENERAL, NOT_AT_ZERO = "chosen.sum(0)", "chosen.amax(0)"
EMPTY = '"more": [((x, torch.zeros(6, dtype=torch.bool)), {})]'

Exporting = Callable[..., str]


@pytest.fixture(scope="module")
def holding() -> Iterator[Forking]:
    """Yield a fork server for exports, as `procedure` starts one for each command."""
    with (
        scratch_folder() as scratch,
        forking(
            Harness(locate(None, None).python, scratch, Limits()), children(None), preloaded=EXPORTS, traces=True
        ) as laboratory,
    ):
        yield laboratory


@pytest.fixture
def exporting(holding: Forking, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Exporting:
    """Return ``symfix export`` as a function, which runs here and in this test's folder on the shared torch."""

    @contextmanager
    def held(
        laboratory: Harness, jobs: int, *, preloaded: Sequence[str], exchange: bool = False, traces: bool = False
    ) -> Iterator[Forking]:
        assert preloaded == EXPORTS and traces is not exchange
        if exchange:
            with forking(laboratory, jobs, preloaded=preloaded, exchange=True) as own:
                yield own
        else:
            yield replace(holding, limits=laboratory.limits)

    monkeypatch.setattr(procedure, "forking", held)
    monkeypatch.chdir(tmp_path)

    def exported(*words: object, code: int) -> str:
        asked = ["export", *map(str, words)]
        ended = CliRunner().invoke(main_group, asked, env={"COLUMNS": "100"}, standalone_mode=False)
        assert ended.return_value == code, f"{ended.exception!r}\n{ended.output}"
        assert "Traceback" not in ended.stderr
        return ended.stdout

    return exported


@pytest.mark.parametrize("name", ["mask_and_branch", "item_and_slice"])
def test_a_failing_model_goes_to_proven(name: str, tmp_path: Path, exporting: Exporting) -> None:
    shutil.copy(MODELS / f"{name}.py", tmp_path)
    said = symfix("export", f"{name}.py", cwd=tmp_path, code=0).stdout
    assert said == (MODELS / f"{name}.txt").read_text()
    written = (tmp_path / "symfix-export" / f"{name}-py.patch").read_text()
    assert written == (MODELS / f"{name}.patch").read_text()
    subprocess.run(["git", "apply", tmp_path / "symfix-export" / f"{name}-py.patch"], cwd=tmp_path, check=True)
    assert f"{name}.py: exports as it is" in exporting(f"{name}.py", code=0)


def test_a_loop_over_data_is_left_with_its_place(tmp_path: Path, exporting: Exporting) -> None:
    shutil.copy(MODELS / "loop_over_data.py", tmp_path)
    said = exporting("loop_over_data.py", "--page", "page.html", code=1)
    assert said == (MODELS / "loop_over_data.txt").read_text()
    assert not (tmp_path / "symfix-export").exists()
    assert "for k in range(int(steps.max())):" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("body", "more", "code", "said"),
    [
        (GENERAL, EMPTY, 0, "proven"),
        (NOT_AT_ZERO, EMPTY, 1, "at further input 1 the program raises RuntimeError: Runtime assertion failed"),
    ],
)
def test_a_default_is_proven_by_inputs_that_take_both_sides(
    tmp_path: Path, body: str, more: str, code: int, said: str, exporting: Exporting
) -> None:
    (tmp_path / "model.py").write_text(BRANCH.replace("BODY", body).replace("MORE", more))
    assert said in exporting("model.py", code=code)


def test_a_side_that_no_input_takes_is_said(tmp_path: Path, exporting: Exporting) -> None:
    (tmp_path / "model.py").write_text(
        """
import torch

class Model(torch.nn.Module):
    def forward(self, x, counts):
        n = (counts.abs() + 1).nonzero().shape[0]
        return x * 2 if n == 0 else x + x

def target():
    return {"model": Model(), "args": (torch.randn(3, 4), torch.tensor([1, 0])), "dynamic": {"x": {0: "batch"}}}
"""
    )
    said = exporting("model.py", code=1)
    assert said.startswith("model.py: one side only")
    assert "the other side of model.py:8, always false: return x * 2 if guard_or_false(n == 0) else x + x" in said


RANGES = """
import torch
from torch.export import Dim


class Convolved(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = torch.nn.Conv1d(3, 2, 4)

    def forward(self, x):
        if x.shape[2] > 30:
            x = x * 2
        return self.convolution(x).sum()


def target(size=Dim("n", max=30)):
    return {"model": Convolved(), "args": (torch.randn(2, 3, 8),), "dynamic": {"x": {0: Dim.AUTO, 2: size}}}


def free():
    return target("n")


def static():
    return target(8)


def outside():
    return target(Dim("n", min=9))


def derived():
    return target(2 * Dim("n"))
"""


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("target", 0, "note: export: `n` is 4 to 30, as in the model: at 2 it raises RuntimeError"),
        ("free", 1, "the program takes 4 to 30 for `n`, which should be free"),
        ("static", 0, "equal to the model: as given, larger, one more, x0 = 1, x0 = 0"),
        ("outside", 2, "unusable: 'n' is 8 in the call, which is outside of its range"),
        ("derived", 2, "2*n, a size made of another, is not supported"),
    ],
)
def test_a_range_is_asked_for_or_the_model_has_it(
    name: str, code: int, said: str, tmp_path: Path, exporting: Exporting
) -> None:
    (tmp_path / "ranges.py").write_text(RANGES)
    assert said in exporting(f"ranges.py:{name}", code=code)


GROUPS = """
import torch


class Grouped(torch.nn.Module):
    def forward(self, x):
        assert x.shape[0] % 64 == 0
        if x.shape[0] > 128:
            x = x * 2
        return x.reshape(-1, 64).sum(0)


def target():
    return {"model": Grouped(), "args": (torch.randn(192),), "dynamic": {"x": {0: "n"}}}
"""


def test_a_range_is_not_the_models_for_sizes_that_it_refuses_anyway(tmp_path: Path, exporting: Exporting) -> None:
    (tmp_path / "groups.py").write_text(GROUPS)
    assert "proven" not in exporting("groups.py", code=1)


FLOATS = """
import torch


class Scaled(torch.nn.Module):
    def forward(self, x):
        total = x.sum().item()
        if total > 0:
            return x / total
        return x * 0


def target():
    x = torch.full((4,), 2.0)
    return {"model": Scaled(), "args": (x,), "dynamic": {"x": {0: "n"}}, "more": [((-x,), {})]}
"""


def test_a_float_is_no_divisor_of_at_least_one(tmp_path: Path, exporting: Exporting) -> None:
    (tmp_path / "floats.py").write_text(FLOATS)
    assert "the model itself raises TypeError: sym_max of a float, which is no size" in exporting("floats.py", code=1)


LOST = """
import torch


class Padded(torch.nn.Module):
    def forward(self, x, counts):
        rows = torch.repeat_interleave(x, counts, dim=0)
        missing = 6 - rows.shape[0]
        if missing > 0:
            rows = torch.nn.functional.pad(rows, (0, 0, 0, missing))
        return torch.cat([rows, x.new_ones(6, 1)], 1)


def target():
    x = torch.randn(3, 2)
    more = [((x, torch.tensor(counts)), {}) for counts in ([2, 2, 2], [4, 4, 0])]
    dynamic = {"x": {0: "n"}, "counts": {0: "n"}}
    return {"model": Padded(), "args": (x, torch.tensor([2, 1, 2])), "dynamic": dynamic, "more": more}
"""


def test_a_program_refuses_what_the_model_refuses(tmp_path: Path, exporting: Exporting) -> None:
    (tmp_path / "lost.py").write_text(LOST)
    assert "lost.py: proven\n" in exporting("lost.py", code=0)
    written = (tmp_path / "symfix-export" / "lost-py.patch").read_text()
    assert "torch.sym_max(missing, 0)" in written, "a negative padding would cut off what is too long"


def test_only_a_shortcut_is_left_out(tmp_path: Path, exporting: Exporting) -> None:
    shutil.copy(MODELS / "mask_shortcut.py", tmp_path)
    said = exporting("mask_shortcut.py", "mask_shortcut.py:shifted", code=1)
    assert said == (MODELS / "mask_shortcut.txt").read_text()
    written = (tmp_path / "symfix-export" / "mask_shortcut-py.patch").read_text()
    assert written == (MODELS / "mask_shortcut.patch").read_text()


def test_what_stands_in_a_package_is_patched_there_and_not_changed(tmp_path: Path) -> None:
    packages = tmp_path / "site-packages"
    source = packages / "shapely_net" / "blocks.py"
    source.parent.mkdir(parents=True)
    (source.parent / "__init__.py").write_text("")
    source.write_text(BRANCH.replace("BODY", GENERAL).replace("MORE", EMPTY))
    information = packages / "shapely_net-1.4.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: shapely-net\nVersion: 1.4\n")
    (information / "RECORD").write_text("shapely_net/__init__.py,,\nshapely_net/blocks.py,,\n")
    before = source.read_bytes()
    symfix("export", "shapely_net.blocks:target", cwd=tmp_path, code=0, PYTHONPATH=str(packages))
    assert source.read_bytes() == before
    (patch,) = (tmp_path / "symfix-export").glob("*.patch")
    assert "Against shapely-net 1.4." in patch.read_text()
    subprocess.run(["git", "apply", patch], cwd=packages, check=True)
    assert b"if guard_or_false(chosen.size(0) == 0):" in source.read_bytes()


def test_a_package_without_its_source_is_said(tmp_path: Path) -> None:
    package = tmp_path / "closed_net"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "blocks.py").write_text(BRANCH.replace("BODY", GENERAL).replace("MORE", EMPTY))
    py_compile.compile(str(package / "blocks.py"), cfile=str(package / "blocks.pyc"))
    (package / "blocks.py").unlink()
    said = symfix("export", "closed_net.blocks", cwd=tmp_path, code=1).stdout
    assert "stops, no-source: the line stands in a file whose source is not at hand" in said
    assert "closed_net/blocks.py:8 in forward" in said


def test_unbacked_sizes_are_proven_by_one_program(tmp_path: Path, exporting: Exporting) -> None:
    (tmp_path / "model.py").write_text(
        """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        if x.shape[0] == 1:
            return x * 2
        return x + x

def target():
    return {"model": Model(), "args": (torch.randn(3, 4),), "dynamic": {"x": {0: "batch"}}}
"""
    )
    said = exporting("model.py", "--unbacked", "--format", "json", code=0)
    (target,) = json.loads(said)["targets"]
    assert target["verdict"] == "proven"
    assert target["obstacles"][0]["expression"] == "Eq(u0, 1)"
    assert {"batch = 1", "batch = 0", "larger"} <= set(target["inputs"])


@pytest.mark.parametrize(
    ("call", "check", "note"),
    [
        (
            "torch.logsumexp(x, -1)[0]",
            "        torch._check(x.shape[0] != 0)\n        return",
            "",
        ),
        (
            "torch.logsumexp(x, -1)",
            "        if torch.compiler.is_compiling():\n            torch._check(x.shape[0] != 0)\n        return",
            "note: compile: at batch = 0 the program refuses what the model takes",
        ),
    ],
)
def test_what_torch_decides_is_stated_in_front_of_the_call(
    tmp_path: Path, call: str, check: str, note: str, exporting: Exporting
) -> None:
    text = f"""
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return {call}

def target():
    return {{"model": Model(), "args": (torch.randn(3, 4),), "dynamic": {{"x": {{0: "batch"}}}}}}
"""
    (tmp_path / "model.py").write_text(text)
    said = exporting("model.py", "--unbacked", code=0)
    assert note in said
    (patch,) = (tmp_path / "symfix-export").glob("*.patch")
    subprocess.run(["git", "apply", patch], cwd=tmp_path, check=True)
    comment = "        # Torch decides on this below; one program for all sizes has to know it.\n"
    assert (tmp_path / "model.py").read_text() == text.replace("        return", comment + check, 1)


def test_a_branch_that_narrows_the_range_is_found(tmp_path: Path, exporting: Exporting) -> None:
    (tmp_path / "model.py").write_text(
        """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return x.sum(0) if x.shape[0] > 3 else x

def target():
    return {"model": Model(), "args": (torch.randn(5, 4),), "dynamic": {"x": {0: "batch"}}}
"""
    )
    said = exporting("model.py", code=1)
    assert "stops, narrows-range" in said
    assert "model.py:6 in forward" in said


SPECIAL = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        d = x.abs()
        return d.mean() if d.numel() > 0 else 0.0 * d.sum()

def target():
    return {"model": Model(), "args": (torch.randn(5, 4),), "dynamic": {"x": {0: "batch"}}}
"""


def test_a_branch_for_size_0_is_found_with_dynamic_sizes_and_removed_with_unbacked(
    tmp_path: Path, exporting: Exporting
) -> None:
    (tmp_path / "model.py").write_text(SPECIAL)
    said = exporting("model.py", code=1)
    assert "stops, special-size" in said
    assert "model.py:7 in forward" in said
    assert "tried:" not in said
    assert "model.py: proven" in exporting("model.py", "--unbacked", code=0)


def test_what_stops_before_a_branch_for_size_0_is_a_partial_patch(tmp_path: Path, exporting: Exporting) -> None:
    asserted = "assert (x < 100).all(), 'too large'"
    (tmp_path / "model.py").write_text(SPECIAL.replace("d = x.abs()", f"{asserted}\n        d = x.abs()"))
    said = exporting("model.py", code=1)
    assert "stops, special-size" in said
    assert "model.py:8 in forward\n     return d.mean() if d.numel() > 0 else 0.0 * d.sum()" in said
    patch = next((tmp_path / "symfix-export").glob("*.partial.patch")).read_text()
    assert (
        "Partial, not proven: torch assumes sizes of 2 and more, and below the program differs: at batch = 0: " in patch
    )
    assert '+            torch._assert_async((x < 100).all(), "too large")' in patch
    assert "tried:" not in said


IMPORTING = """
import sys
import torch
from helpers import SIZE

IN_FORK = "torch.export._trace" in sys.modules

def target():
    assert IN_FORK
    return {"model": torch.nn.Linear(SIZE, 3).eval(), "args": (torch.randn(5, SIZE),), "dynamic": {"input": {0: "b"}}}
"""


def test_a_target_that_imports_a_package_is_tried_in_a_fork(tmp_path: Path, exporting: Exporting) -> None:
    (tmp_path / "helpers.py").write_text("import os\n\nos.environ['TORCH_LOGS'] = ''\nSIZE = 4\n")
    (tmp_path / "model.py").write_text(IMPORTING)
    assert "model.py: exports as it is" in exporting("model.py", code=0)


TARGET = "def target():\n    return {'model': torch.nn.Linear(4, 3), "


UNFIT = [
    ("def target():\n    return bytearray(64 << 30)\n", "raises MemoryError"),
    ("1 / 0\n", "raises ZeroDivisionError: division by zero"),
    ("import torch\nx = 1\n", "py has no function target()"),
    ("def target():\n    return 3\n", "the target has to return a dict with the model under 'model'"),
    (f"import torch\n{TARGET}'args': (torch.randn(2, 4),)}}\n", "'dynamic' names no dimension"),
    (
        f"import torch\n{TARGET}'args': (torch.randn(2, 4),), 'dynamic': {{'y': {{0: 'b'}}}}}}\n",
        "'dynamic' names 'y', which the call does not give",
    ),
    (
        f"import torch\n{TARGET}'args': (torch.randn(2, 4),), 'dynamic': {{'input': {{3: 'b'}}}}}}\n",
        "'dynamic' of 'input': there is no dimension 3",
    ),
    (
        f"import torch\n{TARGET}'args': (torch.randn(1, 4),), 'dynamic': {{'input': {{0: 'b'}}}}}}\n",
        "'b' is 1 in the call; torch takes a size below 2 for a constant: use 2 or more",
    ),
    (
        f"import torch\n{TARGET}'args': (torch.randn(2, 5),), 'dynamic': {{'input': {{0: 'b'}}}}}}\n",
        "the model itself raises RuntimeError: mat1 and mat2 shapes cannot be multiplied",
    ),
    (
        f"import torch\n{TARGET}'args': (torch.randn(2, 4), 3), 'dynamic': {{'input': {{0: 'b'}}}}}}\n",
        "the inputs do not fit the model: too many positional arguments",
    ),
    (
        f"import torch\n{TARGET}'args': (torch.randn(2, 4).to('meta'),), 'dynamic': {{'input': {{0: 'b'}}}}}}\n",
        "the model or its inputs are on meta; make them on the CPU",
    ),
    (
        f"import torch\n{TARGET}'args': (torch.randn(2, 4).cuda(),), 'dynamic': {{'input': {{0: 'b'}}}}}}\n",
        "raises AssertionError: Torch not compiled with CUDA enabled",
    ),
    (f"import torch\n{TARGET}'input': 1}}\n", "the target's dict has an unknown key: 'input'"),
]


def test_a_target_that_does_not_fit_is_one_clear_line(tmp_path: Path) -> None:
    for number, (text, _) in enumerate(UNFIT):
        (tmp_path / f"unfit{number}.py").write_text(text)
    names = [f"unfit{number}.py" for number in range(len(UNFIT))]
    shown = symfix("export", *names, "nothing.py", "nothing:target", cwd=tmp_path, code=2).stdout
    first = [line for line in shown.splitlines() if line.startswith(("unfit", "nothing"))]
    wanted = [said for _, said in UNFIT] + ["nothing.py: no such file", "there is no module nothing"]
    assert len(first) == len(wanted)
    for line, said in zip(first, wanted, strict=True):
        assert said in line


def test_what_is_asked_wrongly_is_one_clear_line(tmp_path: Path) -> None:
    assert "name a target" in symfix("export", cwd=tmp_path, code=2).stderr
    said = symfix("export", "m.py", "--unbacked", "--backend", "export", cwd=tmp_path, code=2).stderr
    assert "non-strict export knows no unbacked sizes" in said


@pytest.mark.parametrize("hang", ["while True: pass", "import time; time.sleep(600)"])
def test_a_child_that_hangs_ends_by_its_limits(tmp_path: Path, hang: str, exporting: Exporting) -> None:
    (tmp_path / "model.py").write_text(f"def target():\n    {hang}\n")
    said = exporting("model.py", "--timeout", 5, code=1)
    assert "stops, not-sizes" in said


def test_the_skeleton_is_a_target_that_is_proven(tmp_path: Path, exporting: Exporting) -> None:
    symfix("export", "--init", "mine.py", cwd=tmp_path, code=0)
    assert (tmp_path / "mine.py").read_text() == SKELETON
    assert "mine.py: proven" in exporting("mine.py", code=0)
    assert "exists" in symfix("export", "--init", "mine.py", cwd=tmp_path, code=2).stderr


def test_a_report_is_made_and_applied(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(BRANCH.replace("BODY", GENERAL).replace("MORE", EMPTY))
    made = symfix("export", "--report", "report.json", "model.py", cwd=tmp_path, code=1).stdout
    assert made == "1 failures written to report.json; next: symfix apply-report report.json\n"
    said = symfix("apply-report", "report.json", cwd=tmp_path, code=0).stdout
    assert said.startswith("reported: undecided: Eq(u0, 0) at ")
    assert "model.py: proven" in said
    report = json.loads((tmp_path / "report.json").read_text())
    (tmp_path / "old.json").write_text(json.dumps({**report, "torch": "2.6.0"}))
    assert "is a report of torch 2.6.0" in symfix("apply-report", "old.json", cwd=tmp_path, code=2).stderr
    (tmp_path / "bare.json").write_text(json.dumps({**report, "target": ""}))
    assert "names no target" in symfix("apply-report", "bare.json", cwd=tmp_path, code=2).stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\x80\x04K\x01.", "A pickle is not read"),
        (b"[]", "is no report that symfix wrote"),
        (b'{"version": 1, "failures": [{}]}', "a failure of the report is incomplete"),
    ],
)
def test_what_is_no_report_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "report").write_bytes(content)
    with pytest.raises(BadReport, match=said):
        load(tmp_path / "report")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("for i in range(int(n.sum())):\n    x = x + 1\n", "loop-over-data"),
        ("while x.sum() > 0:\n    x = x - 1\n", "loop-over-data"),
        ("y = [f(i) for i in range(n.item())]\n", "loop-over-data"),
        ("y = x.reshape([1] * n.item())\n", "decides-rank"),
        ("y = x.split(n.tolist())\n", "decides-rank"),
        ("if x.sum() > 0:\n    x = x - 1\n", "value-dependent"),
    ],
)
def test_what_no_rewrite_mends_has_a_name(text: str, word: str) -> None:
    assert residue(SourceFile(Path("m.py"), text.encode()), 1) == word


def test_names_in_a_patch(tmp_path: Path) -> None:
    torch = locate(None, None)
    names = PatchNames(tmp_path, torch)
    assert names.short(torch.package / "functional.py") == "torch/functional.py"
    assert names.package(torch.package / "functional.py") == f"torch {torch.version}"
    assert names.short(tmp_path / "net" / "model.py") == "net/model.py"
    assert names.short(Path("/usr/lib/python3/dist-packages/net/model.py")) == "net/model.py"
    assert names.short(Path("/opt/net/model.py")) == "opt/net/model.py"
    assert names.package(tmp_path / "net" / "model.py") == ""


class Said(Targets):
    """Trials with the given results, one for each call."""

    def say(self, *trials: ModelTrial) -> list[ModelTrial]:
        told = iter(trials)
        found = []
        for number, trial in enumerate(trials):
            variant = Variant("changed", modules={"a.py": Path("b.py")} if number else {})
            self._try = lambda laboratory, variant, targets: _tried(next(told))  # type: ignore[method-assign]
            laboratory = Harness(Path(), Path(), None)  # type: ignore[arg-type]
            answer = self(laboratory, variant, {"m": -1}, 0, 1).trials["m"]
            assert isinstance(answer, ModelTrial)
            found.append(answer)
            assert trial.operator == answer.operator
        return found


def _tried(trial: ModelTrial) -> object:
    from symfix.codemods.workflows.repair.trials import Tried

    return Tried({"m": trial})


def seen(*cases: ReportedCase) -> ModelTrial:
    return ModelTrial("m", "passed", cases=cases)


@pytest.mark.parametrize(
    ("then", "now", "verdict"),
    [
        (ReportedCase("as given", "a", ""), ReportedCase("as given", "a", ""), "passed"),
        (ReportedCase("as given", "a", ""), ReportedCase("as given", "b", ""), "wrong"),
        (ReportedCase("as given", "", ""), ReportedCase("as given", "b", ""), "passed"),
        (ReportedCase("n = 0", "a", ""), ReportedCase("n = 0", "", "RuntimeError: no"), "wrong"),
        (ReportedCase("n = 0", "", ""), ReportedCase("n = 0", "", "RuntimeError: no"), "wrong"),
        (ReportedCase("n = 0", "", "ValueError: x"), ReportedCase("n = 0", "", "RuntimeError: no"), "passed"),
    ],
)
def test_eager_is_held_against_what_it_was(then: ReportedCase, now: ReportedCase, verdict: str) -> None:
    first, second = Said(Path(), ("export",), unbacked=False).say(seen(then), seen(now))
    assert (first.verdict, second.verdict) == ("passed", verdict)


def test_targets_that_share_files_share_a_patch() -> None:
    files = (FilePatch("net.py", Path("net.py"), b"a\n", b"b\n", "net 1.0"),)
    made = [Exported(name, TargetVerdict.PROVEN, files=files) for name in ("a.py:one", "a.py:two")]
    other = Exported("b.py", TargetVerdict.PROVEN, files=(FilePatch("b.py", Path("b.py"), b"a\n", b"c\n"),))
    left = Exported("c.py", TargetVerdict.LEFT)
    outcome = ExportOutcome("2.13.0", ("export",), False, (*made, other, left))
    assert [(one.name, [target.target for target in one.targets]) for one in patches(outcome)] == [
        ("a-py-one", ["a.py:one", "a.py:two"]),
        ("b-py", ["b.py"]),
    ]
    assert [row["verdict"] for row in to_json(outcome)["targets"]] == ["proven", "proven", "proven", "left"]
    assert "<h2>a-py-one.patch</h2>" in page(outcome)


def test_changes_of_torch_and_partial_ones_have_patches_of_their_own() -> None:
    mine = FilePatch("net.py", Path("net.py"), b"a\n", b"b\n")
    torchs = FilePatch("torch/functional.py", Path("functional.py"), b"a\n", b"b\n", "torch 2.13.0")
    both = Exported("a.py", TargetVerdict.WITH_TORCH, files=(mine, torchs))
    failure = LastFailure("in-torch", "data-dependent", "export", SourcePlace("net.py", 3, "forward"), "", ())
    partial = Exported("b.py", TargetVerdict.LEFT, files=(mine,), left=failure)
    outcome = ExportOutcome("2.13.0", ("export",), False, (both, partial))
    texts = {one.name: text_of(one, outcome).decode() for one in patches(outcome)}
    assert texts.keys() == {"a-py", "a-py.torch", "b-py.partial"}
    assert "Needs the change of torch 2.13.0 too." in texts["a-py"] and "torch/functional.py" not in texts["a-py"]
    assert "Against torch 2.13.0.\nNeeds the change of the model too." in texts["a-py.torch"]
    assert "Partial, not proven: behind it the export stops at net.py:3 in forward, in-torch." in texts["b-py.partial"]
    assert Result(replace(outcome, targets=(both,))).torch_patch.startswith("diff --git a/torch/functional.py")
    assert not Result(replace(outcome, targets=(partial,))).patch


TORCH_ASKS = """
import torch


class Spectrum(torch.nn.Module):
    def forward(self, x):
        return torch.stft(x, 16, 4, window=torch.hann_window(16), return_complex=True).abs()


class Zeroed(torch.nn.Module):
    def forward(self, x):
        if x.shape[0] == 1:
            return x
        products = x @ x.T
        return products.fill_diagonal_(0.0)


def stft():
    return {"model": Spectrum(), "args": (torch.randn(2, 100),), "dynamic": {"x": {0: "batch", 1: "time"}}}


def fill():
    return {"model": Zeroed(), "args": (torch.randn(5, 4),), "dynamic": {"x": {0: "rows"}}}
"""


def test_what_torch_asks_is_mended_in_torch_or_left_behind_a_partial_patch(
    tmp_path: Path, exporting: Exporting
) -> None:
    (tmp_path / "model.py").write_text(TORCH_ASKS)
    said = exporting("model.py:stft", "model.py:fill", "--unbacked", code=1)
    written = {path.name: path.read_text() for path in (tmp_path / "symfix-export").glob("*.patch")}
    assert "model.py:stft: proven with a change of torch" in said
    assert "+++ b/torch/_meta_registrations.py" in written["model-py-stft.torch.patch"]
    assert "model.py:fill: left" in said and "1. model.py:12 in forward" in said and "stops, in-torch" in said
    assert written.keys() == {"model-py-stft.torch.patch", "model-py-fill.partial.patch"}
    assert "Partial, not proven: behind it the export stops at model.py:15" in written["model-py-fill.partial.patch"]


def test_lines_behind_the_failure_that_stop_too_are_listed(tmp_path: Path, exporting: Exporting) -> None:
    (tmp_path / "model.py").write_text(
        """
import torch


class Model(torch.nn.Module):
    def forward(self, x, keep, steps):
        if x[keep].size(0) == 0:
            return x.sum(0)
        for step in range(int(steps.max())):
            x = x.relu() + step
        words = [str(step) for step in range(int(keep.sum()))]
        return x.sum(0) + len(words)


def target():
    x = torch.randn(6, 4)
    args = (x, x[:, 0] > 0, torch.tensor([1, 2]))
    return {"model": Model(), "args": args, "dynamic": {"x": {0: "n"}, "keep": {0: "n"}}}
"""
    )
    (target,) = json.loads(exporting("model.py", "--format", "json", code=1))["targets"]
    assert [one["place"]["line"] for one in target["obstacles"]] == [7]
    assert target["left"]["place"]["line"] == 9
    assert [(one["line"], one["text"]) for one in target["further"]] == [
        (11, "words = [str(step) for step in range(int(keep.sum()))]")
    ]
    assert (tmp_path / "symfix-export" / "model-py.partial.patch").is_file()


REMAINDER = """
import torch
import torch.nn.functional as F


class Landmarks(torch.nn.Module):
    def forward(self, x):
        rest = x.shape[0] % 4
        if rest > 0:
            x = F.pad(x, (0, 0, 4 - rest, 0))
        return x.reshape(4, x.shape[0] // 4, 3).mean(1).amax(0) + x.amax(0)


def target():
    torch.manual_seed(0)
    return {"model": Landmarks(), "args": (torch.randn(9, 3),), "dynamic": {"x": {0: "rows"}}}
"""


def test_a_call_that_torch_refuses_shows_no_side_of_a_decision(tmp_path: Path, exporting: Exporting) -> None:
    """Try a model that no input takes past the condition with a remainder of 0: torch refuses the empty one."""
    (tmp_path / "model.py").write_text(REMAINDER)
    said = exporting("model.py", "--unbacked", code=1)
    assert said.startswith("model.py: one side only")
    assert "give `rest > 0`" not in said, "a remainder of 0 is no special case"


def test_a_fault_of_a_candidate_is_no_partial_patch(tmp_path: Path, exporting: Exporting) -> None:
    text = """
import torch


def empty(t):
    return t.numel() == 0


class Kept(torch.nn.Module):
    def forward(self, x, keep):
        kept = x[keep]
        if empty(kept):
            return kept.new_zeros(1, 4)
        return kept.cumsum(0)


def target():
    x = torch.randn(6, 4)
    return {"model": Kept(), "args": (x, x[:, 0] > 0), "dynamic": {"x": {0: "n"}, "keep": {0: "n"}}}
"""
    (tmp_path / "model.py").write_text(text)
    said = exporting("model.py", code=1)
    assert "model.py:12 in forward\n     if empty(kept):\n     GuardOnDataDependentSymNode" in said
    assert not (tmp_path / "symfix-export").exists()

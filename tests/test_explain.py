"""Tests of `symfix explain`: real errors of torch 2.13.0 in golden/explain, damaged copies, and other texts."""

from __future__ import annotations

import contextlib
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from running import symfix
from symfix.codemods.workflows.explain.cleanup import MOST_BYTES, Unreadable, clean_lines, decoded
from symfix.codemods.workflows.explain.explanation import explain
from symfix.codemods.workflows.explain.kinds import KINDS
from symfix.codemods.workflows.explain.messages import MESSAGES
from symfix.codemods.workflows.explain.report import ExplainedError
from symfix.codemods.workflows.explain.text import MOST_LINES, lines
from symfix.codemods.workflows.export.outcome import REASONS

GOLDEN = Path(__file__).parents[1] / "golden" / "explain"
TEXTS = sorted(GOLDEN.glob("*.txt"))
NAMES = [path.stem for path in TEXTS]


def text_of(name: str) -> str:
    return (GOLDEN / f"{name}.txt").read_bytes().decode()


def out_of(name: str) -> str:
    return (GOLDEN / f"{name}.out").read_text(encoding="utf-8")


def told(text: str) -> str:
    found = list(lines(explain(text)))
    assert len(found) <= MOST_LINES
    return "".join(f"{line}\n" for line in found)


@pytest.mark.parametrize("name", NAMES)
def test_explain_of_a_real_error(name: str) -> None:
    assert told(text_of(name)) == out_of(name)


def test_the_goldens_are_many_and_of_every_kind_that_a_small_model_makes() -> None:
    kinds = {explain(text_of(name)).kind for name in NAMES}
    assert len(NAMES) >= 30
    assert set(KINDS) - kinds == {"missing-fake-kernel"}


def _quoted(text: str) -> str:
    return "I get this:\n\n```\n" + text.replace("\r", "") + "\n```\nAny idea?\n"


DAMAGES = {
    "a quoted mail": lambda text: "".join(f"> {line}\n".replace(">  \n", ">\n") for line in text.split("\n")),
    "a quote of a quote": lambda text: "".join(f"> > {line}\n" for line in text.split("\n")),
    "an issue": _quoted,
    "GitHub Actions": lambda text: "".join(f"2026-11-27T06:58:24.3714242Z {line}\n" for line in text.split("\n")),
    "gh run view --log": lambda text: "".join(
        f"tests (3.12)\tRun tests\t2026-11-27T06:58:24.3714242Z {line}\n" for line in text.split("\n")
    ),
    "docker compose": lambda text: "".join(f"trainer-1  | {line}\n" for line in text.split("\n")),
    "torchrun": lambda text: "".join(f"[rank0]: {line}\n" for line in text.split("\n")),
    "Windows line ends": lambda text: text.replace("\n", "\r\n"),
    "a UTF-8 mark": lambda text: "\ufeff" + text,
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", NAMES)
def test_explain_of_a_copied_error_is_the_same(name: str, damage: str) -> None:
    assert told(DAMAGES[damage](text_of(name))) == out_of(name)


@pytest.mark.parametrize("name", ["export_mask", "export_int", "compile_mask", "onnx_item", "log_recompiles"])
def test_explain_of_an_error_between_other_logs_is_the_same(name: str) -> None:
    draw = random.Random(1)
    mixed = []
    for line in text_of(name).split("\n"):
        if not line.startswith(" "):
            mixed += ["INFO:trainer:step 12, loss 0.5"] * draw.randint(0, 2)
        mixed.append(line)
    assert told("\n".join(mixed)) == out_of(name)


@pytest.mark.parametrize(
    ("name", "first", "last", "words"),
    [
        ("export_mask", 120, None, ("undecided-size", "models.py:9", "Eq(u0, 0)")),
        ("export_int", -19, None, ("Could", "u0")),
        ("compile_mask", 14, 24, ("undecided-size", "src/models.py:9", "if chosen.size(0) == 0:", "Eq(u0, 0)")),
        ("export_equal", -1, None, ("data-dependent-operator", "operator: equal")),
    ],
)
def test_explain_of_a_part_names_what_is_there(name: str, first: int, last: int | None, words: tuple[str, ...]) -> None:
    report = explain("\n".join(text_of(name).rstrip("\n").split("\n")[first:last]))
    shown = report.message + "".join(lines(report))
    assert [word for word in words if word not in shown] == []


def test_explain_of_a_traceback_without_its_end_says_so() -> None:
    head = "\n".join(text_of("compile_mask").split("\n")[:8])
    with pytest.raises(Unreadable, match="ends before its error"):
        explain(head)


ONE_LINE = {
    "RuntimeError: Cannot call sizes() on tensor with symbolic sizes/strides": "concrete-sizes",
    "RuntimeError: Cannot call strides() on tensor with symbolic sizes/strides": "concrete-sizes",
    "torch._dynamo.exc.UserError: Could not extract specialized integer from data-dependent expression u0 (unhinted: "
    "u0).  (Size-like symbols: u0)": "value-read",
    "torch._subclasses.fake_tensor.DynamicOutputShapeException: aten.nonzero.default": "data-dependent-operator",
    "torch._subclasses.fake_tensor.DataDependentOutputException: aten._local_scalar_dense.default": "value-read",
    "torch._dynamo.exc.Unsupported: Unsupported Tensor.item() call with capture_scalar_outputs=False": "value-read",
    "torch._dynamo.exc.Unsupported: Dynamic control flow is not supported at the moment.": "value-dependent",
    "torch._dynamo.exc.Unsupported: dynamic shape operator: aten.nonzero.default": "data-dependent-operator",
    "torch._dynamo.exc.UserError: Constraints violated (batch)! For more information": "narrows-range",
    "  - Not all values of RelaxedUnspecConstraint(L['x'].size()[0]) are valid because L['x'].size()[0] was inferred "
    "to be a constant (4).": "narrows-range",
    "  - The values of a = L['x'].size()[0] and b = L['y'].size()[0] must always be equal.": "narrows-range",
    "torch._dynamo hit config.cache_size_limit (8)": "recompilation",
    "torch._dynamo.exc.FailOnRecompileLimitHit: recompile_limit reached with one_graph=True.": "recompilation",
    "TypeError: linspace() received an invalid combination of arguments - got (int, SymFloat), but": "symbolic-operand",
    "torch._dynamo.exc.UserError: Tried to use data-dependent value in the subsequent computation": "value-read",
    "TypeError: 'SymInt' object cannot be interpreted as an integer": "symbolic-operand",
    "TypeError: unsupported operand type(s) for +: 'SymBool' and 'int'": "symbolic-operand",
    "TypeError: zeros(): argument 'size' must be tuple of ints, but found element of type SymFloat": "symbolic-operand",
    "    torch.ops.mine.rows.default is missing a fake kernel implementation.": "missing-fake-kernel",
    "torch._dynamo.exc.Unsupported: call_function BuiltinVariable(open)": "unsupported",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB": "not-sizes",
}  # fmt: skip


@pytest.mark.parametrize("text", ONE_LINE)
def test_explain_of_a_message_without_its_traceback(text: str) -> None:
    assert explain(text).kind == ONE_LINE[text]


def test_explain_of_an_error_that_is_not_about_sizes_is_one_line() -> None:
    assert told("torch.OutOfMemoryError: CUDA out of memory").count("\n") == 1


def test_explain_names_sources_in_guards_as_a_person_writes_them() -> None:
    report = explain("AssertionError: Guard failed: L['x'].size()[0] % 4 == 0")
    assert report.expression == "x.shape[0] % 4 == 0"


def test_explain_counts_the_other_errors_once_each() -> None:
    text = text_of("export_mask") + text_of("export_int") + text_of("export_mask") + text_of("export_equal")
    report = explain(text)
    assert (report.place and report.place.line, report.more) == (9, 2)


def test_explain_passes_over_an_error_that_is_not_about_sizes() -> None:
    report = explain(text_of("eager_matmul") + text_of("export_strict_open") + text_of("export_mask"))
    assert (report.kind, report.more) == ("undecided-size", 0)


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("$ python export.py --size 'a b'", "symfix export -- python export.py --size 'a b'"),
        ("(env) me@host:~/x$ TORCH_LOGS=+dynamic python -m pkg.export", "symfix export -- TORCH_LOGS=+dynamic"),
        ("##[group]Run python tools/export.py", "symfix export -- python tools/export.py"),
        ("+ torchrun --nproc 2 export.py", "symfix export -- torchrun --nproc 2 export.py"),
        ("nothing", "symfix export -- python run.py"),
    ],
)
def test_explain_takes_the_command_from_the_text(line: str, command: str) -> None:
    assert explain(f"{line}\n{text_of('export_mask')}").command.startswith(command)


def test_explain_names_the_package_of_a_line() -> None:
    report = explain(
        text_of("export_mask").replace("/src/models.py", "/venv/lib/python3.11/site-packages/pkg/models.py")
    )
    assert report.place and (report.owner, report.place.file) == ("pkg", "pkg/models.py")


def test_explain_reads_windows_paths() -> None:
    text = text_of("export_mask").replace("/venv/lib/python3.11/", "C:\\v\\Lib\\").replace("/src/", "C:\\src\\")
    report = explain(text.replace("site-packages/torch/", "site-packages\\torch\\"))
    assert report.place and report.place.file == "C:/src/models.py"


def test_explain_names_the_operator_or_the_file_of_a_cpp_stack() -> None:
    error = "RuntimeError: Cannot call sizes() on tensor with symbolic sizes/strides\n"
    torchs = "#1 at::native::glu_backward(at::Tensor const&) from /pytorch/aten/src/ATen/native/GatedLinearUnit.cpp:9\n"
    own = "#2 mine::rows(at::Tensor const&) from /src/csrc/rows.cpp:4\n"
    assert explain(error + torchs).command == "symfix repair glu_backward"
    assert explain(error + own).command == "symfix fix /src/csrc/rows.cpp"


def test_explain_reads_the_linked_numbers_of_a_notebook() -> None:
    text = (
        "File ~/models.py:8, in Crop.forward(self, x)\n"
        "      [7](https://file+.vscode-resource.net/models.py:7) def forward(self, x):\n"
        "----> [8](https://file+.vscode-resource.net/models.py:8)     if x.shape[0] > 2:\n"
        "\nGuardOnDataDependentSymNode: Could not guard on data-dependent expression u0 > 2 (unhinted: u0 > 2).\n"
    )
    report = explain(text)
    assert report.place and (report.place.line, report.place.text) == (8, "if x.shape[0] > 2:")
    assert [(one.name, one.source) for one in report.symbols] == [("u0", "x.shape[0]")]


def test_explain_of_torch_2_8_reads_the_line_of_torch_behind_the_advice() -> None:
    advice = "and statically_known_trueCaused by: (_meta_registrations.py:2449 in pick_memory_format)\n"
    message = "Could not guard on data-dependent expression Eq(96*u6, 0) (unhinted: Eq(96*u6, 0)).\n"
    frame = 'Traceback (most recent call last):\n  File "/src/net.py", line 9, in forward\n    return self.conv(x)\n'
    report = explain(f"{frame}torch.fx.GuardOnDataDependentSymNode: {message}\n{advice}")
    assert (report.kind, report.inside) == ("in-torch", "torch/_meta_registrations.py:2449 in pick_memory_format")


def test_explain_of_a_recompilation_for_another_value_does_not_speak_of_sizes() -> None:
    log = "Recompiling function f in /src/a.py:3\n    triggered by the following guard failure(s):\n"
    assert "pass it as a tensor" in explain(f"{log}    - 0/0: L['self'].mode == 2\n").mend
    assert (
        "mark_dynamic" in explain(f"{log}    - 0/0: tensor 'x' size mismatch at index 0. expected 3, actual 4\n").mend
    )


def test_words_that_export_has_too_have_the_same_title() -> None:
    shared = set(KINDS) & set(REASONS) - {"undecided-size", "not-sizes"}
    assert shared >= {"value-dependent", "loop-over-data", "loop-over-size", "narrows-range", "in-torch"}
    assert all(REASONS[word].startswith(KINDS[word].title) for word in shared)


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.name)
def test_a_message_of_the_table_has_a_kind_and_a_marker_in_its_pattern(message: object) -> None:
    assert message.kind in KINDS  # type: ignore[attr-defined]
    assert message.marker and "\n" not in message.marker  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b" \n\n", "empty"),
        (b"\x7fELF\0\0\0\1", "binary content"),
        (bytes(range(128, 256)) * 20, "not UTF-8"),
        (b"Dear all,\nhere is the agenda.\n", "no error of torch"),
        (
            b"Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nKeyError: 'a'\n",
            "no error of torch",
        ),
    ],
)
def test_a_foreign_text_is_one_line_and_exit_code_2(content: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(content)
    ended = symfix("explain", "text", cwd=tmp_path, code=2)
    assert (ended.stdout, ended.stderr.count("\n"), words in ended.stderr) == ("", 1, True)


def test_a_file_of_50_megabytes_is_refused_at_once(tmp_path: Path) -> None:
    with (tmp_path / "big").open("wb") as file:
        file.truncate(50_000_000)
    assert f"more than {MOST_BYTES // 1_000_000} MB" in symfix("explain", "big", cwd=tmp_path, code=2).stderr


def test_a_text_in_utf_16_is_read() -> None:
    content = b"\xff\xfe" + text_of("export_mask").encode("utf-16-le")
    assert told(decoded(content)) == out_of("export_mask")


def test_json_is_the_report(tmp_path: Path) -> None:
    ended = symfix("explain", "--format", "json", str(GOLDEN / "export_mask.txt"), cwd=tmp_path, code=0)
    row = json.loads(ended.stdout)
    assert set(row) == {*ExplainedError.__dataclass_fields__, "version", "about_sizes"}
    assert row["symbols"] == [{"name": "u0", "source": "chosen.shape[0]"}]
    assert row["place"] == {
        "file": "/src/models.py", "line": 9, "function": "forward", "text": "if chosen.size(0) == 0:",
    }  # fmt: skip


def test_exit_codes_and_stdin(tmp_path: Path) -> None:
    symfix("explain", str(GOLDEN / "eager_matmul.txt"), cwd=tmp_path, code=1)
    with (GOLDEN / "export_mask.txt").open("rb") as file:
        ended = subprocess.run(
            [sys.executable, "-m", "symfix", "explain", "-"], stdin=file, capture_output=True, check=False
        )
    assert (ended.returncode, ended.stdout.decode()) == (0, out_of("export_mask"))


def test_explain_imports_no_torch() -> None:
    code = (
        "import sys; from symfix.codemods.commands.explain import explain; "
        "print([name for name in ('torch', 'libcst', 'tree_sitter') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


_PIECES = st.sampled_from([line for name in NAMES for line in text_of(name).split("\n")])
_MIXED = st.lists(st.one_of(_PIECES, st.text(max_size=60)), max_size=30).map("\n".join)


@given(st.one_of(st.text(max_size=300), _MIXED))
@settings(max_examples=300)
def test_any_text_is_explained_in_eight_lines_or_refused(text: str) -> None:
    try:
        found = list(lines(explain(text)))
    except Unreadable as error:
        assert "\n" not in str(error)
        return
    assert 1 <= len(found) <= MOST_LINES
    assert not any("\n" in line for line in found)


@given(st.binary(max_size=200))
@settings(max_examples=200)
def test_any_bytes_are_decoded_or_refused(content: bytes) -> None:
    with contextlib.suppress(Unreadable):
        clean_lines(decoded(content))


def test_many_errors_and_long_lines_are_read_in_linear_time() -> None:
    many = "".join(
        f"Recompiling function f{n % 50} in /src/a.py:{n % 50}\n    - 0/0: x == {n}\n" for n in range(20_000)
    )
    assert explain(many).more == 49
    long = "RuntimeError: " + "Error: [s1" * 100_000
    assert explain(f"{long}\n{text_of('export_mask')}").kind == "undecided-size"


def test_a_long_log_is_read_in_linear_time() -> None:
    noise = "2026-11-27T06:58:24.3714242Z [rank0]: step 12, loss 0.5, lr 1e-4, grad norm 3.2 in File cache\n" * 60_000
    assert explain(noise + text_of("export_mask")).kind == "undecided-size"

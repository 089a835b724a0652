"""Tests that distinguish truncated, torn and half-merged files from whole ones without a syntax tree."""

from __future__ import annotations

from pathlib import Path

import pytest
from goldens import installed_torch
from running import symfix
from symfix.codemods.model.rule import Context
from symfix.codemods.model.source_file import SourceFile
from symfix.cpp.analysis.file.prefilter import is_read
from symfix.cpp.syntax.bracket_balance import is_whole

WHOLE = (
    b"",
    b"int f() { return a[g(1)]; }\n",
    b"// it's (\n/* don't { */ int x;\n",
    b"const char* s = \"({[\\\"\";\nchar c = '{', d = '\\'', e = u8'(';\n",
    b"int million = 1'000'000, hex = 0xab'cd;\n",
    b'auto s = R"(" ( )";\nauto t = R"--(}}} )" )--";\n',
    b"#define OPEN {\n#define LONG(x) \\\n  if (x) {\nint x;\n",
    b"#define HALF ( /* over\nlines */\n#error don't\n",
    b"#ifdef A\nvoid f(int a) {\n#elif B\nvoid f(long a) {\n#else\nvoid f() {\n#endif\n}\n",
    b"#ifdef A\nif (x) {\n#endif\ny();\n#ifdef A\n}\n#endif\n",
    b"#if A\n#else\n{\n#if B\n{\n#else\n{\n#endif\n#endif\n",
    b"#if 0\nprint(f'{', \"\n#endif\nint x;\n",
    b"__global__ void k(float* x) { k<<<1, 2>>>(x); }\n",
)
TORN = (
    b"int f() { return 1;\n",
    b"int f() { return 1; }}\n",
    b"int f(int a { return 1; }\n",
    b"int a = b[(1]);\n",
    b'const char* s = "never ended;\n',
    b"char c = 'x;\n",
    b"int x; /* never ended\n}",
    b"#if A\nint x;\n",
    b"int x;\n#endif\n",
    b"int x;\n#else\n#endif\n",
    b"<<<<<<< ours\nint x;\n=======\nint y;\n>>>>>>> theirs\n",
    b"int x;\n<<<<<<< ours\nint y;\n=======\n>>>>>>> theirs\n",
)


@pytest.mark.parametrize("text", WHOLE)
def test_what_only_looks_torn(text: bytes) -> None:
    assert is_whole(text)
    assert is_whole(text.replace(b"\n", b"\r\n"))


@pytest.mark.parametrize("text", TORN)
def test_what_is_torn(text: bytes) -> None:
    assert not is_whole(text)


KERNEL = "void kernel(const Tensor& t) {\n  g(t.size(0));\n}\n"
CUDA = KERNEL + "int h() {\n  gpu_kernel(iter, [] GPU_LAMBDA(int a) -> int { return a; });\n}\n"


@pytest.mark.parametrize("name", ["a.cpp", "a.h"])
def test_a_torn_file_that_no_rule_reads_is_said_with_its_line(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(KERNEL.replace("size(0)", "size(0"))
    for _ in range(2):
        assert f"{name}:2:" in symfix("check", ".", cwd=tmp_path, code=0).stderr


def test_what_the_grammar_cannot_read_is_said_of_a_file_that_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text(CUDA)
    for _ in range(2):
        assert symfix("check", ".", "--statistics", cwd=tmp_path, code=0).stderr.count("parse") == 0
        assert "a.cpp:5:" in symfix("check", "a.cpp", cwd=tmp_path, code=0).stderr


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("int f() { return 1; }\n", False),
        ("bool g(c10::SymInt n) { return TORCH_GUARD_OR_FALSE(n == 0); }\n", True),
        ('Tensor f(const Tensor& t) { return t; }\nTORCH_LIBRARY(a, m) { m.def("f", f); }\n', True),
    ],
)
def test_what_a_rule_reads_is_parsed(text: str, read: bool) -> None:
    assert is_read(SourceFile(Path("a.cpp"), text.encode()), Context(installed_torch())) is read

"""Tests of the choice of a compiler, and of its use of the precompiled header."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from compilers import compilers
from symfix.codemods.torchapi.torch_finder import locate
from symfix.codemods.verify.build.toolchain import find_toolchain

CLANG = """#!/bin/sh
case "$*" in
    *-print-file-name*) echo "$0";;
    *-fsyntax-only*) echo asked >> "$0.asked"; exit %d;;
    *) echo "clang version 1";;
esac
"""


@pytest.mark.parametrize(("code", "taken"), [(0, "clang++"), (1, "g++")])
def test_a_clang_that_does_not_take_torchs_headers_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, taken: str
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, text in {"clang++": CLANG % code, "llvm-cov": "", "g++": "#!/bin/sh\necho g++ 12\n", "gcov": ""}.items():
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    place = locate(None, None)
    for _ in range(2):
        assert find_toolchain(place).compiler == tools / taken
    assert (tools / "clang++.asked").read_text() == "asked\n", "once for each torch and compiler"
    assert find_toolchain(place, compiler="clang++").compiler.name == "clang++", "whoever names one gets it"
    (tools / "g++").unlink()
    assert find_toolchain(place).compiler.name == "clang++", "there is no other"


@pytest.mark.parametrize("compiler", compilers())
def test_the_compiled_header_is_what_is_read(compiler: str, tmp_path: Path) -> None:
    for name, text in {"one.h": "inline int one() { return 1; }\n", "wide.h": "#include <one.h>\n"}.items():
        (tmp_path / name).write_text(text)
    source = tmp_path / "file.cpp"
    source.write_text("int f() { return one(); }\n")
    toolchain = replace(find_toolchain(locate(None, None), compiler=compiler), includes=(tmp_path,))

    def found(*, counted: bool) -> bool:
        command = toolchain.compile_command(source, tmp_path / "o", prelude=tmp_path / "wide.h", counted=counted)
        told = [*command, "-v", "-H", "-Winvalid-pch", "-Werror"]
        said = subprocess.run(told, capture_output=True, text=True, check=True).stderr
        return any(line.startswith("! ") or "-include-pch" in line for line in said.splitlines())

    assert not found(counted=False)
    made = toolchain.precompile_command(tmp_path / "wide.h", tmp_path / "wide.h.gch", tmp_path / "wide.d")
    subprocess.run(made, check=True)
    assert found(counted=False)
    assert found(counted=True)

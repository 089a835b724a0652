"""Tests of changed C++ lines that no test executed, by the coverage of each compiler."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from compilers import compilers
from symfix.codemods.torchapi.torch_finder import locate
from symfix.codemods.verify.build.compilation import Builder
from symfix.codemods.verify.build.toolchain import find_toolchain
from symfix.codemods.verify.change import Change
from symfix.codemods.verify.compare.line_coverage import unrun_lines

BEFORE = b"""\
int sign(int x) {
  if (x > 0) {
    return 1;
  }
  return -1;
}
int main() { return sign(3) - 1; }
"""
AFTER = BEFORE.replace(b"return -1", b"return 0 - 1").replace(b"x > 0", b"0 < x")


@pytest.mark.parametrize("compiler", compilers())
def test_a_changed_line_that_nothing_ran_is_told(compiler: str, tmp_path: Path) -> None:
    toolchain = find_toolchain(locate(None, None), compiler=compiler)
    if not toolchain.gcov:
        pytest.skip(f"{compiler} has no reader of its counts, or not the library that counts")
    change = Change(Path("sign.cpp"), BEFORE, AFTER)
    builder = Builder(toolchain, tmp_path, precompile=False)
    made = builder.compile("sign.cpp", AFTER, counted=True).result()
    builder.close()
    assert made.target is not None, made.errors
    assert unrun_lines(change, made.target, toolchain.gcov, tmp_path) is None, "nothing has counted yet"
    program = tmp_path / "program"
    subprocess.run([toolchain.compiler, "--coverage", made.target, "-o", program], check=True)
    subprocess.run([program], check=True)
    assert unrun_lines(change, made.target, toolchain.gcov, tmp_path) == (5,)

"""Tests of C++ formatting: a fix may also touch includes, line ends, and lines that became too long."""

from __future__ import annotations

from pathlib import Path

import pytest
from cpp_cases import rewritten

BUFFER = b"""
static at::Tensor f(const at::Tensor& t) {
  auto s = c10::SmallBuffer<int64_t, 5>(t.dim());
  s[0] = t.size(0);
  return t.view(s);
}
"""
NEW = b"#include <c10/util/DimVector.h>"


def includes(text: bytes) -> list[bytes]:
    return [line for line in text.splitlines() if line.startswith(b"#include")]


def test_a_header_comes_once_however_many_fixes_need_it() -> None:
    twice = BUFFER + BUFFER.replace(b" f(", b" g(")
    after = rewritten(b"#include <ATen/core/Tensor.h>\n#include <c10/util/SmallBuffer.h>\n" + twice)
    assert after.count(b"c10::SymDimVector(") == 2
    assert includes(after) == [b"#include <ATen/core/Tensor.h>", NEW, b"#include <c10/util/SmallBuffer.h>"]


def test_a_header_that_is_there_is_not_brought_again() -> None:
    before = b"#include <ATen/core/Tensor.h>\n#include <c10/util/DimVector.h>\n#include <c10/util/SmallBuffer.h>\n"
    assert includes(rewritten(before + BUFFER)) == before.splitlines()


@pytest.mark.parametrize(
    "elsewhere",
    [
        pytest.param(b"/*\n#include <c10/util/DimVector.h>\n*/\n", id="in a comment"),
        pytest.param(b"#ifdef NEVER\n#include <c10/util/DimVector.h>\n#endif\n", id="in a conditional"),
    ],
)
def test_a_header_that_only_seems_to_be_there_is_brought(elsewhere: bytes) -> None:
    after = rewritten(b"#include <ATen/core/Tensor.h>\n" + elsewhere + b"#include <c10/util/SmallBuffer.h>\n" + BUFFER)
    assert after.count(NEW) == 2
    assert after.index(b"\n" + NEW, after.index(elsewhere) + len(elsewhere) - 1) < after.index(b"static")


def test_a_header_is_never_brought_into_a_conditional() -> None:
    before = b"#include <ATen/core/Tensor.h>\n#ifdef SLIM\n#include <c10/util/SmallBuffer.h>\n#endif\n" + BUFFER
    after = rewritten(before)
    assert NEW in after
    assert not after.index(b"#ifdef") < after.index(NEW) < after.index(b"#endif")


def test_line_ends_stay_what_they_are() -> None:
    before = (b"#include <ATen/core/Tensor.h>\n#include <c10/util/SmallBuffer.h>\n" + BUFFER).replace(b"\n", b"\r\n")
    after = rewritten(before)
    assert NEW in after
    assert after.count(b"\n") == after.count(b"\r\n")


CROOKED = b"""#include <ATen/ATen.h>
static at::Tensor f(const at::Tensor& t,  int64_t   k) {
  TORCH_CHECK( t.size(0)==k,
      "odd   layout");
  auto  u = t.expand({t.size(0), k}) ;
  return u ;
}
"""
LONG = CROOKED.replace(b"t.expand({t.size(0), k})", b"t.expand({t.size(0), t.size(1), t.size(2), k, k, k, k})")


def test_a_line_that_fits_keeps_its_layout(tmp_path: Path) -> None:
    (tmp_path / ".clang-format").write_text("BasedOnStyle: Google\nColumnLimit: 80\n")
    after = rewritten(CROOKED, path=tmp_path / "f.cpp")
    assert after == CROOKED.replace(b"size(", b"sym_size(").replace(b"expand(", b"expand_symint(")


def test_only_the_line_that_became_too_long_is_laid_out_anew(tmp_path: Path) -> None:
    (tmp_path / ".clang-format").write_text("BasedOnStyle: Google\nColumnLimit: 80\n")
    after = rewritten(LONG, path=tmp_path / "f.cpp").splitlines()
    assert max(map(len, after)) <= 80
    assert after[1:4] == [line.replace(b"size(", b"sym_size(") for line in LONG.splitlines()[1:4]]
    assert after[-2:] == [b"  return u ;", b"}"]
    assert not any(b"auto  u" in line for line in after)


def test_without_a_style_nothing_is_laid_out(tmp_path: Path) -> None:
    after = rewritten(LONG, path=tmp_path / "f.cpp")
    assert len(after.splitlines()) == len(LONG.splitlines())

"""Tests of the kernels of a file that can replace torch's, and of the blame for a file that does not compile."""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import pytest
from compilers import compilers
from symfix.codemods.torchapi import TorchApi
from symfix.codemods.torchapi.torch_finder import locate
from symfix.codemods.verify.build import prelude
from symfix.codemods.verify.build.compilation import Builder, Built
from symfix.codemods.verify.build.kernel_libraries import Libraries, Unbuildable, build
from symfix.codemods.verify.build.kernel_shim import candidates, shim_source
from symfix.codemods.verify.build.toolchain import find_toolchain
from symfix.codemods.verify.change import Change, Verdict


def found(text: str) -> set[tuple[str, str, str]]:
    api = TorchApi.load()
    return {(c.kernel, c.operator, c.key) for c in candidates(text.encode(), api.kernels)}


def test_a_composite_kernel_is_a_candidate() -> None:
    answer = found("Tensor square(const Tensor& self) { return self * self; }")
    assert answer == {("square", "square", "CompositeImplicitAutograd")}


def test_a_call_a_comment_and_a_string_are_not() -> None:
    assert found("Tensor f(const Tensor& x) { return at::square(x); } // square() {") == set()
    assert found('const char* f() { return "square() {"; }') == set()


def test_a_cpu_kernel_is_not() -> None:
    assert found("Tensor bincount_cpu(const Tensor& self) { return self; }") == set()


def test_the_name_of_an_older_release_stands_at_its_concrete_signature() -> None:
    api = TorchApi.load()
    text = b"Tensor tile(const Tensor& self, IntArrayRef reps) { return self.repeat(reps); }"
    (candidate,) = candidates(text, api.kernels)
    assert candidate.kernel == "tile"
    assert candidate.parameters == ("const at::Tensor &", "at::IntArrayRef")
    (candidate,) = candidates(text.replace(b"tile", b"tile_symint"), api.kernels)
    assert candidate.parameters == ("const at::Tensor &", "c10::SymIntArrayRef")


def test_the_shim_registers_each_candidate_under_its_key() -> None:
    api = TorchApi.load()
    text = b"Tensor square(const Tensor& self) { }\nTensor select_backward_symint(Tensor a) { }"
    source = shim_source(candidates(text, api.kernels))
    keys = {name: key for key, name in re.findall(r'DispatchKey::(\w+), \{"aten::(\w+)", ""\}', source)}
    assert keys == {"square": "CompositeImplicitAutograd", "select_backward": "CompositeExplicitAutogradNonFunctional"}


class _Compiler(Builder):
    """Compiler that accepts a file with the include that it needs, or any file with a precompiled header."""

    def __init__(self) -> None:
        pass

    @property
    def counts(self) -> bool:
        return False

    def compile(
        self,
        name: str,
        content: bytes,
        quote: Path | None = None,
        *,
        counted: bool = False,
        alone: bool = False,
        original: bytes | None = None,
    ) -> Future[Built]:
        answer: Future[Built] = Future()
        made = Path(name) if not alone or b"#include" in content else None
        answer.set_result(Built(("g++", name), made, errors=f"{name}:1: error: 'irange' was not declared"))
        return answer

    def link(self, objects: Sequence[Path], name: str, *, counted: bool = False) -> Future[Built]:
        answer: Future[Built] = Future()
        answer.set_result(Built(("g++", name), Path(name)))
        return answer


def test_what_a_precompiled_header_hides_is_found() -> None:
    good, bad = b"#include <c10/util/irange.h>\n", b"c10::irange(3);\n"
    api = TorchApi.load()

    def built(before: bytes, after: bytes) -> Libraries:
        return build([Change(Path("File.cpp"), before, after)], api, _Compiler(), lambda _: None)

    assert built(good, good + b"\n").after == Path("after")
    with pytest.raises(Unbuildable, match=r"compile after the change.*irange") as caught:
        built(good, bad)
    assert caught.value.verdict is Verdict.REGRESSED
    for after in (bad, bad + b"\n"):
        with pytest.raises(Unbuildable) as caught:
            built(bad, after)
        assert caught.value.verdict is Verdict.BROKEN_BASELINE


@pytest.mark.parametrize("compiler", compilers())
def test_alone_a_file_gets_no_header_but_its_own(
    compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = tmp_path / "include"
    headers.mkdir()
    (headers / "one.h").write_text("#ifndef ONE\n#define ONE 1\n#endif\n")
    (headers / "two.h").write_text("inline int two() { return 2; }\n")
    monkeypatch.setattr(prelude, "HEADERS", ("one.h", "two.h"))
    monkeypatch.setattr(prelude, "CORE", ("one.h",))
    toolchain = replace(find_toolchain(locate(None, None), compiler=compiler), includes=(headers,))
    builder = Builder(toolchain, tmp_path)

    def built(text: bytes, *, alone: bool) -> tuple[bool, str]:
        made = builder.compile("File.cpp", text, alone=alone).result()
        first = [word for word in made.command if word.endswith(("wide.h", "core.h"))]
        return made.target is not None, Path(first[0]).name if first else ""

    hidden = b"int f() { return two(); }\n"
    assert built(hidden, alone=False) == (True, "wide.h")
    assert built(hidden, alone=True) == (False, "")
    assert built(b"#include <two.h>\n" + hidden, alone=True) == (True, "")
    assert built(b"#define TORCH_ASSERT_NO_OPERATORS\n#include <one.h>\nint f = ONE;", alone=True) == (True, "core.h")
    assert built(b"#define ONE 3\n#include <one.h>\nstatic_assert(ONE == 3);", alone=True) == (True, "")
    builder.close()

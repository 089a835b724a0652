"""Which kernels of a file are offered to torch, and as what; and who is to blame for what does not compile."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path

import pytest
from symfix.codemods.torchapi import TorchApi
from symfix.codemods.verify.change import Change, Verdict
from symfix.codemods.verify.compiling import Builder, Built
from symfix.codemods.verify.shim import candidates, shim_source
from symfix.codemods.verify.swapping import LastWord, Unbuildable


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
    implicit, explicit = source.index("CompositeImplicitAutograd, library"), source.index("NonFunctional, library")
    assert implicit < source.index('(library, "square"') < explicit < source.index('(library, "select_backward"')


class _Compiler(Builder):
    """Compiles whatever includes the header it uses."""

    def __init__(self) -> None:
        self.asked: list[bytes] = []

    @property
    def precompiled(self) -> bool:
        return True

    def check(self, name: str, content: bytes, quote: Path | None = None) -> Future[Built]:
        self.asked.append(content)
        answer: Future[Built] = Future()
        made = Path(name) if b"#include" in content else None
        answer.set_result(Built(("g++", name), made, errors=f"{name}:1: error: 'irange' was not declared"))
        return answer


def test_the_last_word_is_said_without_a_precompiled_header() -> None:
    good, bad = b"#include <c10/util/irange.h>\n", b"c10::irange(3);\n"
    LastWord([Change(Path("Good.cpp"), good, good)], _Compiler()).require()
    with pytest.raises(Unbuildable, match=r"by its own includes after the change.*irange") as caught:
        LastWord([Change(Path("Bad.cpp"), good, bad)], _Compiler()).require()
    assert caught.value.verdict is Verdict.REGRESSED
    with pytest.raises(Unbuildable) as caught:
        LastWord([Change(Path("Bad.cpp"), bad, bad)], _Compiler()).require()
    assert caught.value.verdict is Verdict.BROKEN_BASELINE

"""Which kernels of a file are offered to torch, and as what."""

from __future__ import annotations

from symfix.codemods.torchapi import TorchApi
from symfix.codemods.verify.shim import candidates, shim_source


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

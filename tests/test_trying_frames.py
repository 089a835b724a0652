"""Tests of the frames at an undecided size, as a trial reports them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from symfix.codemods.harness.children.recorders import torch_frames

OUTER = ("/site/torch/functional.py", 10, "stft")
INNER = ("/site/torch/_meta_registrations.py", 20, "meta_fft")
KERNEL = ("aten/src/ATen/native/SpectralOps.cpp", 0, "at::native::fft(at::Tensor const&)")


@pytest.mark.parametrize("place", range(3))
def test_where_torch_puts_a_frame_of_cpp_does_not_matter(monkeypatch: pytest.MonkeyPatch, place: int) -> None:
    """Put the C++ frame before, between or after the Python frames. Its place depends on the build of Python."""
    stack = [OUTER, INNER]
    stack.insert(place, KERNEL)
    frames = [SimpleNamespace(filename=file, lineno=line, name=name) for file, line, name in stack]
    monkeypatch.setattr(torch_frames, "_captured", lambda: SimpleNamespace(summary=lambda: frames))
    found = torch_frames.told_of(torch_frames.stack_now().frames())
    assert [tuple(one) for one in found] == [INNER, OUTER, ("", 0, KERNEL[2])]


def test_frames_get_their_names_where_a_trial_tells_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that names of C++ are read late. Reading them is slow, and most errors are handled by the caller."""
    read = []
    monkeypatch.setattr(torch_frames, "_captured", lambda: SimpleNamespace(summary=lambda: read.append(1) or []))
    stack = torch_frames.stack_now()
    assert not read
    assert stack.frames() == []
    assert read

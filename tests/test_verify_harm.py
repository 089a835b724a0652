"""Tests of kernels that crash, hang, exhaust memory or disk, fork, or use the network. Nothing remains."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from proofs import verify
from symfix.codemods.harness.process_limits import Limits
from symfix.codemods.verify.change import Change, Check, Verdict, Verification

GOOD = """
#include <ATen/core/Tensor.h>
#include <ATen/ops/mul.h>
namespace at::native {
Tensor square(const Tensor& self) {
  return at::mul(self, self);
}
}
"""
HARM = """
#include <arpa/inet.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

static void do_harm(const std::string& how) {
  if (how == "crash") {
    *(volatile int*)nullptr = 1;
  }
  volatile long turns = 0;
  while (how == "loop") {
    ++turns;
  }
  while (how == "memory") {
    void* taken = std::malloc(64 << 20);
    TORCH_CHECK(taken, "no memory is left");
    std::memset(taken, 1, 64 << 20);
  }
  for (int child = 0; how == "fork" && child < 4; ++child) {
    if (fork() == 0) {
      setsid();
      for (;;) {
        pause();
      }
    }
  }
  if (how == "disk") {
    FILE* file = std::fopen((std::getenv("TMPDIR") + std::string("/big")).c_str(), "w");
    const std::string piece(1 << 20, 'x');
    for (int written = 0; written < 10 * 1024; ++written) {
      TORCH_CHECK(std::fwrite(piece.data(), 1, piece.size(), file) == piece.size(), "the file is full");
    }
  }
  if (how == "socket") {
    sockaddr_in home{};
    home.sin_family = AF_INET;
    home.sin_port = htons(53);
    inet_pton(AF_INET, "192.0.2.1", &home.sin_addr);
    int made = socket(AF_INET, SOCK_DGRAM, 0);
    TORCH_CHECK(connect(made, (sockaddr*)&home, sizeof home) == 0, "nobody can be called: ", std::strerror(errno));
  }
}
"""
WAYS = ("crash", "loop", "memory", "fork", "disk", "socket", "nothing")
MIB = 1024**2
LIMITS = Limits(wall=300, cpu=10, memory=1536 * MIB, file=64 * MIB)


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> tuple[Verification, Path]:
    """Return one verification whose scripts trigger each kind of harm, and the folder of its children."""
    place = tmp_path_factory.mktemp("harm")
    call = '  const char* how = std::getenv("HOW");\n  do_harm(how ? how : "nothing");\n'
    head, _, body = GOOD.partition("namespace")
    harmful = f"{head}#include <c10/util/Exception.h>{HARM}namespace{body}".replace("  return", f"{call}  return")
    repros = []
    for way in WAYS:
        script = place / f"{way}.py"
        script.write_text(
            f"import os, torch\nos.environ['HOW'] = {way!r}\nassert torch.square(torch.ones(3)).sum() == 3\n"
        )
        repros.append(script)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(place))
        change = Change(place / "Square.cpp", GOOD.encode(), harmful.encode())
        return verify([change], repros=repros, limits=LIMITS, evidence_folder=place / "evidence", fresh=True), place


def check(answer: tuple[Verification, Path], way: str) -> Check:
    (found,) = (check for check in answer[0].checks if check.subject == f"{way}.py")
    assert found.before.passed, found.before.message
    return found


@pytest.mark.parametrize(
    ("way", "message"),
    [
        ("crash", "ended by signal SIGSEGV"),
        ("loop", "ended by signal SIGXCPU"),
        ("memory", "no memory is left"),
        ("disk", "the file is full"),
    ],
)
def test_harm_is_an_answer(answer: tuple[Verification, Path], way: str, message: str) -> None:
    after = check(answer, way).after
    assert not after.passed
    assert message in after.message


def test_a_kernel_reaches_no_network(answer: tuple[Verification, Path]) -> None:
    after = check(answer, "socket").after
    if after.passed:
        pytest.skip("this kernel lets no process leave the network")
    assert "nobody can be called: Network is unreachable" in after.message


def test_nothing_of_it_is_left_running(answer: tuple[Verification, Path]) -> None:
    assert check(answer, "fork").after.passed
    place = str(answer[1]).encode()
    running = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            running += [process.name] if place in (process / "cmdline").read_bytes() else []
        except OSError:
            continue
    assert running == []


def test_nothing_of_it_is_left_on_the_disk(answer: tuple[Verification, Path]) -> None:
    assert not [path for path in answer[1].glob("symfix-*/*") if path.suffix != ".lock"]


def test_the_next_one_is_verified_all_the_same(answer: tuple[Verification, Path]) -> None:
    assert check(answer, "nothing").after.passed
    assert answer[0].verdict is Verdict.REGRESSED
    assert "crash.py passed before and fails after: ended by signal SIGSEGV" in answer[0].reason

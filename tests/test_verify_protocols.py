"""Tests of the tracing protocols."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest
import torch
from symfix.codemods.harness.children.entrypoints import trial_runner
from symfix.codemods.harness.children.protocols import hunt_protocols, symbolic_trace, unbacked_protocol
from symfix.codemods.harness.children.protocols.compiled_call import Compiled
from symfix.codemods.harness.children.protocols.protocols import ONE_BY_ONE, unbacked
from symfix.codemods.harness.children.samples.autograd_protocol import Trained, Untrainable
from symfix.codemods.harness.children.samples.samples import Sample, grouped
from torch.fx.experimental.symbolic_shapes import _constrain_range_for_size, guard_or_false, guard_or_true


@pytest.fixture
def library() -> Iterator[torch.library.Library]:
    library = torch.library.Library("symfix_protocols", "DEF")
    yield library
    library._destroy()


@pytest.mark.parametrize(("guess", "passes"), [(guard_or_false, True), (guard_or_true, False)])
def test_a_wrong_default_in_an_operator_that_is_called_whole(
    guess: object, passes: bool, library: torch.library.Library
) -> None:
    def first_if_alone(x: torch.Tensor) -> torch.Tensor:
        return x.narrow(0, 0, 1) if guess(x.shape[0] == 1) else x.clone()  # type: ignore[operator]

    library.define("first_if_alone(Tensor x) -> Tensor")
    library.impl("first_if_alone", first_if_alone, "CompositeImplicitAutograd")
    seen = unbacked(Sample(torch.ops.symfix_protocols.first_if_alone, (torch.ones(3, 2),), {}))
    assert seen["passed"] is passes, seen
    if not passes:
        assert seen["silent"]
        assert "[1, 2] where eager gives torch.float32 [3, 2]" in seen["error"]


def test_guards_are_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that dynamo does not time guards, which would flush the processor's caches."""

    def timed(*_: object) -> float:
        raise AssertionError("the guards of a compiled function are timed")

    guards = importlib.import_module("torch._dynamo.guards")
    assert callable(guards.profile_guard_manager), "what dynamo calls has another name"
    monkeypatch.setattr(guards, "profile_guard_manager", timed)
    seen = unbacked(Sample(torch.tanh, (torch.ones(3, 2),), {}))
    assert seen["passed"], seen


DECOMPOSED, TRACED = ONE_BY_ONE


def decomposing(operator: object, into: object, monkeypatch: pytest.MonkeyPatch) -> None:
    compiling = importlib.import_module("torch._inductor.compile_fx")
    table = {**compiling.select_decomp_table(), operator: into}
    monkeypatch.setattr(compiling, "select_decomp_table", lambda: table)


def decomposed_tanh(guess: object, error: float) -> object:
    def tanh(x: torch.Tensor) -> torch.Tensor:
        empty = guess(x.shape[0] == 0)  # type: ignore[operator]
        return x * 0 if empty else 2 * torch.sigmoid(2 * x) - 1 + error

    return tanh


@pytest.mark.parametrize(
    ("guess", "error", "passes"),
    [(guard_or_false, 0.0, True), (guard_or_true, 0.0, False), (guard_or_false, 1.0, True)],
    ids=["the right default", "a wrong default", "wrong at known sizes too"],
)
def test_a_wrong_default_in_a_decomposition(
    guess: object, error: float, passes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    decomposing(torch.ops.aten.tanh.default, decomposed_tanh(guess, error), monkeypatch)
    seen = unbacked(Sample(torch.tanh, (torch.ones(3, 2),), {}))
    assert seen["passed"] is passes, seen
    if not passes:
        assert seen["error"].startswith("as decomposed: ")


def test_two_backends_make_code_of_one_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    decomposing(torch.ops.aten.tanh.default, decomposed_tanh(guard_or_false, 1.0), monkeypatch)
    sample = Sample(torch.tanh, (torch.zeros(3, 2),), {})
    compiled = Compiled(sample, "eager", others=ONE_BY_ONE)
    assert compiled.alike(DECOMPOSED) is None, "nothing is compiled yet"
    assert sample.call(compiled, unbacked=True).tolist() == [[0.0, 0.0]] * 3
    alike = compiled.alike(DECOMPOSED)
    assert alike is not None and compiled.alike(TRACED) is None, "the first that can is enough"
    assert sample.call(alike, unbacked=True).tolist() == [[1.0, 1.0]] * 3
    assert sample.call(compiled, unbacked=True).tolist() == [[0.0, 0.0]] * 3
    assert compiled.count == 1


def test_where_the_first_backend_refuses_a_graph_the_next_makes_code_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing(x: torch.Tensor) -> torch.Tensor:
        return x * 0 if x.shape[0] == 7 else x

    decomposing(torch.ops.aten.tanh.default, refusing, monkeypatch)
    sample = Sample(torch.tanh, (torch.zeros(3, 2),), {})
    compiled = Compiled(sample, "eager", others=ONE_BY_ONE)
    assert sample.call(compiled, unbacked=True).tolist() == [[0.0, 0.0]] * 3
    refused, traced = compiled.alike(DECOMPOSED), compiled.alike(TRACED)
    assert refused is not None and traced is not None and compiled.count == 1
    with pytest.raises(RuntimeError, match=r"Eq\(u\d+, 7\)"):
        sample.call(refused, unbacked=True)
    assert sample.call(traced, unbacked=True).tolist() == [[0.0, 0.0]] * 3


@pytest.mark.parametrize(
    "settle",
    [lambda size: torch._check(size == 3), lambda size: _constrain_range_for_size(size, min=3, max=3)],
    ids=["the size", "its range"],
)
def test_what_another_backend_settles_about_a_size_guards_nothing(
    settle: Callable[[object], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that the graph of the whole operator holds for other sizes. Only the other backend traces it again."""

    def threes(x: torch.Tensor) -> torch.Tensor:
        settle(x.shape[0])
        return x

    decomposing(torch.ops.aten.tanh.default, threes, monkeypatch)
    sample = Sample(torch.tanh, (torch.zeros(3, 2),), {})
    compiled = Compiled(sample, "eager", others=ONE_BY_ONE)
    assert sample.call(compiled, unbacked=True).tolist() == [[0.0, 0.0]] * 3
    assert compiled.alike(DECOMPOSED) is None and compiled.count == 2
    larger = sample.resized(lambda size: size + 1)
    with torch.compiler.set_stance("fail_on_recompile"):
        assert larger.call(compiled, unbacked=True).shape == (4, 3)


@pytest.mark.parametrize("refuses", [False, True], ids=["gives a result", "refuses as eager does"])
def test_what_a_decomposition_does_on_known_sizes_too_is_no_deviation(
    refuses: bool, library: torch.library.Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Use an operator that rejects one row, and a decomposition that accepts it, or rejects only known sizes."""

    def rows(x: torch.Tensor) -> torch.Tensor:
        if x.shape[0] == 1:
            raise RuntimeError("a lone row")
        return x + 1

    def decomposed(x: torch.Tensor) -> torch.Tensor:
        if refuses and guard_or_false(x.shape[0] == 1):
            raise RuntimeError("a lone row")
        return x + 1

    library.define("rows(Tensor x) -> Tensor")
    library.impl("rows", rows, "CPU")
    library.impl("rows", torch.empty_like, "Meta")
    decomposing(torch.ops.symfix_protocols.rows.default, decomposed, monkeypatch)
    seen = unbacked(Sample(torch.ops.symfix_protocols.rows, (torch.ones(3, 2),), {}))
    assert seen["passed"], seen
    deviation = {"kind": "silent", "said": "a result where eager raises RuntimeError: a lone row"}
    assert (seen["probes"]["1"], seen["probes"]["larger"]) == (deviation if refuses else {}, {})


@pytest.mark.parametrize(("guess", "kind"), [(guard_or_false, "silent"), (None, None)], ids=["guessed", "computed"])
def test_a_default_that_is_wrong_at_one_where_another_size_must_be_two(
    guess: object, kind: str | None, library: torch.library.Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spaced(x: torch.Tensor, pair: torch.Tensor) -> torch.Tensor:
        if pair.shape[0] != 2:
            raise RuntimeError("a pair is wanted")
        return x / max(x.shape[0] - 1, 1)

    def decomposed(x: torch.Tensor, pair: torch.Tensor) -> torch.Tensor:
        torch._check(pair.shape[0] == 2, lambda: "a pair is wanted")
        n = x.shape[0]
        if guess is None:
            return x / torch.sym_max(n - 1, 1)
        return x.clone() if guess(n == 1) else x / (n - 1)  # type: ignore[operator]

    library.define("spaced(Tensor x, Tensor pair) -> Tensor")
    library.impl("spaced", spaced, "CPU")
    library.impl("spaced", lambda x, pair: torch.empty_like(x), "Meta")
    decomposing(torch.ops.symfix_protocols.spaced.default, decomposed, monkeypatch)
    seen = unbacked(Sample(torch.ops.symfix_protocols.spaced, (torch.ones(5), torch.ones(2)), {}))
    assert seen["passed"], seen
    assert (seen["probes"]["1"], seen["probes"]["1 instead of 2"]) == ({}, {})
    assert seen["probes"]["1 instead of 5"].get("kind") == kind


def test_a_size_among_the_arguments_does_not_compile_anew_at_other_sizes() -> None:
    """Check the type of the size. Pytree returns a tuple instead, for which Dynamo's guards recompile."""
    sample = Sample(_beside_size, (torch.ones(3, 2),), {"size": torch.Size([4, 5])})
    assert type(sample.resized(lambda size: size + 1).inputs()[1]["size"]) is torch.Size
    assert unbacked(sample)["probes"]["larger"] == {}


def _beside_size(x: torch.Tensor, size: torch.Size) -> torch.Tensor:
    return x + size.numel()


def test_an_input_that_is_changed_at_another_size_only_is_a_silent_deviation() -> None:
    def counted(x: torch.Tensor, total: torch.Tensor) -> torch.Tensor:
        if guard_or_false(x.shape[0] == 0):
            return x.clone()
        total.add_(1)
        return x + 1

    seen = unbacked(Sample(counted, (torch.ones(3), torch.zeros(1)), {}))
    assert seen["passed"] and not seen["probes"]["larger"]
    assert seen["probes"]["0"]["kind"] == "silent"
    assert "other values than eager" in seen["probes"]["0"]["said"]


def test_a_gradient_that_eager_leaves_out_of_an_empty_tensor_counts_as_zeros() -> None:
    def summed(x: torch.Tensor) -> torch.Tensor:
        return x.new_zeros(()) if guard_or_false(x.shape[0] == 0) else x.sum()

    sample = Trained(summed, (torch.ones(3, requires_grad=True),), {})
    seen = unbacked(sample)
    assert seen["passed"] and seen["probes"]["0"] == {}
    with pytest.raises(Untrainable):
        Trained(lambda x: x.detach(), (torch.ones(3, requires_grad=True),), {}).call()


def test_code_serves_samples_for_which_dynamo_would_make_the_same() -> None:
    sample = Sample(torch.tanh, (torch.ones(3, 2),), {})
    compiled = Compiled(sample, "eager")
    assert not compiled.accepts(sample), "nothing is compiled yet"
    sample.call(compiled, unbacked=True)
    others = {
        "a larger size": (torch.ones(5, 4), True),
        "a size of one, which is not marked": (torch.ones(3, 1), False),
        "another order of strides": (torch.ones(2, 3).t(), False),
        "another dtype": (torch.ones(3, 2, dtype=torch.float64), False),
        "a gradient": (torch.ones(3, 2, requires_grad=True), False),
    }
    for words, (tensor, served) in others.items():
        assert compiled.accepts(Sample(torch.tanh, (tensor,), {})) is served, words
    assert not compiled.accepts(Sample(torch.sigmoid, (torch.ones(3, 2),), {})), "another operator"
    assert compiled.count == 1


ARGUMENTS = {"unbacked": ("eager", None), "backed": ("aot_eager", True)}


@pytest.mark.parametrize(("protocol", "made"), [("unbacked", 1), ("backed", 2)])
def test_a_hunt_compiles_once_for_samples_that_are_traced_alike(protocol: str, made: int) -> None:
    """Check that equal sizes with hints, which get one symbol, are compiled again."""
    compiled = set()
    for rows, columns in ((3, 2), (4, 6), (5, 5), (6, 6)):
        sample = Sample(torch.add, (torch.ones(rows, columns), 9), {})
        assert hunt_protocols.PROTOCOLS[protocol](sample) == {}
        compiled.add(unbacked_protocol._last[ARGUMENTS[protocol]])
    assert [code.count for code in compiled] == [1] * made


def test_a_reused_trace_is_compared_too(monkeypatch: pytest.MonkeyPatch) -> None:
    sample = Sample(torch.tanh, (torch.ones(3, 2),), {})
    assert hunt_protocols.PROTOCOLS["unbacked"](sample) == {}
    monkeypatch.setattr(unbacked_protocol._last[ARGUMENTS["unbacked"]], "_call", lambda x: x)
    with pytest.raises(hunt_protocols.Unlike):
        hunt_protocols.PROTOCOLS["unbacked"](Sample(torch.tanh, (torch.ones(5, 4),), {}))


def test_a_trace_with_hints_serves_samples_that_its_guards_accept() -> None:
    traced = []

    def halved(x: torch.Tensor, least: int) -> torch.Tensor:
        traced.append(tuple(x.shape))
        return x[: x.shape[0] // 2] if x.shape[0] > least else x * 2

    for rows, least in ((4, 3), (7, 3), (3, 3), (7, 6)):
        symbolic_trace.trace_unless_alike(Sample(halved, (torch.ones(rows, 5), least), {}))
    assert len(traced) == 3, traced


def test_samples_that_are_traced_alike_follow_each_other() -> None:
    shapes = [(3, 2), (3, 1), (4, 4), (5, 1)]
    samples = [Sample(torch.tanh, (torch.ones(shape),), {}) for shape in shapes]
    assert [number for number, _ in grouped(enumerate(samples))] == [0, 2, 1, 3]
    assert [number for number, _ in grouped(enumerate(samples), hints=True)] == [0, 1, 3, 2]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (lambda size: 1 if guard_or_true(size == 1) else size, "the shape [3, 2] where [1, u1] was promised"),
        (lambda size: size + 1, "the shape [3, 2] where u0 + 1 was promised, at {'u0': 3, 'u1': 2}"),
    ],
    ids=["wrong for unknown sizes", "wrong for known sizes too"],
)
def test_a_shape_that_a_trace_promises(
    rows: Callable[[object], int], told: str, library: torch.library.Library
) -> None:
    library.define("copied(Tensor x) -> Tensor")
    library.impl("copied", torch.clone, "CPU")
    library.impl("copied", lambda x: x.new_empty([rows(x.shape[0]), x.shape[1]]), "Meta")
    witness = SimpleNamespace(shapes="")
    eager = torch._dynamo.backends.registry.lookup_backend("eager")
    sample = Sample(torch.ops.symfix_protocols.copied, (torch.ones(3, 2),), {})
    torch._dynamo.reset()
    call = torch.compile(sample.function, backend=trial_runner._holding(eager, witness), fullgraph=True)
    sample.call(call, unbacked=True)
    assert witness.shapes == told


@pytest.mark.parametrize("shape", [(5, 0, 0), (5, 0, 3), (0, 5), (3, 5, 0)])
def test_code_for_an_empty_sample_runs_at_other_sizes(shape: tuple[int, ...]) -> None:
    """Check that the strides of the resized tensors are those that dynamo derived from the sample's."""
    seen = unbacked(Sample(torch.neg, (torch.ones(shape),), {}))
    assert seen["passed"] and "larger" in seen["probes"] and not any(seen["probes"].values())

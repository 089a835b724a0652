"""Tests of captures: each kind of planted fault is reported, and unusual calls are captured."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import torch
from symfix.codemods.harness.children.recorders.captures import TRACERS, capture, copied
from symfix.codemods.harness.children.recorders.recorded_calls import functions_of, recorded_calls, traceable
from symfix.codemods.verify.compare.captures import lost_captures
from torch import Tensor
from torch.fx.experimental.symbolic_shapes import guard_int, sym_and, sym_eq

CALL = (torch.arange(12.0).view(3, 4), torch.ones(3, 4))
DYNAMO = ("compile", "compile static", "compile unbacked", "strict export")


def product(x: Tensor, y: Tensor) -> Tensor:
    return x * y


def checked(x: Tensor, y: Tensor) -> Tensor:
    if x.shape[0] != y.shape[0]:
        raise ValueError("rows differ")
    return x * y


def message_with_values(x: Tensor, y: Tensor) -> Tensor:
    torch._check_value(x.shape[0] == y.shape[0], lambda: f"{x.shape[0]} and {y.shape[0]} rows")
    return x * y


def shapes_compared(x: Tensor, y: Tensor) -> Tensor:
    torch._check(x.shape == y.shape)
    return x * y


def helper_of_symbols(x: Tensor, y: Tensor) -> Tensor:
    torch._check(sym_eq(x.shape, y.shape))
    return x * y


def joined(x: Tensor, y: Tensor) -> Tensor:
    torch._check((x.shape[0] > 1) & (y.shape[0] > 1))
    return x * y


def joined_by_helper(x: Tensor, y: Tensor) -> Tensor:
    torch._check(sym_and(x.shape[0] > 1, y.shape[0] > 1))
    return x * y


def guarded(x: Tensor, y: Tensor) -> Tensor:
    if x.shape[1] > 3:
        pass
    return x * y


def loosely(x: Tensor, y: Tensor) -> Tensor:
    return x * y if x.shape[1] < 100 else y


def strictly(x: Tensor, y: Tensor) -> Tensor:
    return x * y if x.shape[1] < 5 else y


def broken(x: Tensor, y: Tensor) -> Tensor:
    torch._dynamo.graph_break()
    return x * y


def broken_twice(x: Tensor, y: Tensor) -> Tensor:
    torch._dynamo.graph_break()
    x = x * y
    torch._dynamo.graph_break()
    return x


def guarded_behind_break(x: Tensor, y: Tensor) -> Tensor:
    if x.shape[0] + x.shape[1] > 6 and y.shape[0] < 100:
        pass
    torch._dynamo.graph_break()
    return x * y if x.shape[1] > 3 else y


def loose_behind_break(x: Tensor, y: Tensor) -> Tensor:
    if x.shape[0] + x.shape[1] > 6 and y.shape[0] < 100:
        pass
    torch._dynamo.graph_break()
    return x * y


def specialized(x: Tensor, y: Tensor) -> Tensor:
    return x * y * int(x.shape[0])


def multiplied(x: Tensor, y: Tensor) -> Tensor:
    return x * y * x.shape[0]


def specialized_by_guard(x: Tensor, y: Tensor) -> Tensor:
    return x * y * guard_int(x.shape[0])


def made_of_lambda(x: Tensor, y: Tensor) -> Tensor:
    return (lambda z: z * y)(x)


def another(x: Tensor, y: Tensor) -> Tensor:
    return x + y if torch.compiler.is_compiling() else x * y


def another_type(x: Tensor, y: Tensor) -> Tensor:
    return (x * y).double() if torch.compiler.is_compiling() else x * y


Pair = tuple[Callable[..., Any], Callable[..., Any]]
FAULTS: dict[str, tuple[Pair, tuple[str, ...], str]] = {
    "message with values": ((checked, message_with_values), ("compile", "compile static", "strict export"), "closure"),
    "helper that dynamo refuses": ((shapes_compared, helper_of_symbols), DYNAMO, "sym_eq"),
    "helper of two plain bools": ((joined, joined_by_helper), ("compile static",), "non-Tensor"),
    "a guard": ((product, guarded), ("compile", "compile with breaks", "export", "make_fx"), "guards more: "),
    "a stricter guard": ((loosely, strictly), ("compile", "export", "strict export", "make_fx"), " < 5"),
    "a data-dependent guard": ((product, guarded), ("compile unbacked",), "Could not guard"),
    "a graph break": ((product, broken), DYNAMO, "graph break"),
    "one more graph break": ((broken, broken_twice), ("compile with breaks",), "2 graph breaks instead of 1"),
    "a guard behind a break": ((loose_behind_break, guarded_behind_break), ("compile with breaks",), " > 3"),
    "a specialized size": ((multiplied, specialized), ("export", "make_fx"), "sizes specialized"),
    "a size that a guard specializes": ((multiplied, specialized_by_guard), ("export", "make_fx"), "sizes specialized"),
    "a lambda in TorchScript": ((product, made_of_lambda), ("script",), "Lambda"),
    "another value": ((product, another), ("compile", "compile static", "export"), "differs from eager"),
    "another dtype": ((product, another_type), ("compile", "strict export"), "differs from eager"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_reported(fault: str) -> None:
    (before, after), tracers, reason = FAULTS[fault]
    lost = lost_captures(*(capture(function, CALL, {}, tracers) for function in (before, after)))
    assert {tracer: reason in lost.get(tracer, "") for tracer in tracers} == dict.fromkeys(tracers, True), lost


@pytest.mark.parametrize("function", [product, checked, joined, broken, guarded, multiplied, loose_behind_break])
def test_the_same_function_loses_nothing(function: Callable[..., Any]) -> None:
    assert lost_captures(*(capture(function, CALL, {}) for _ in range(2))) == {}


class Scaled(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.scaled(x, 2)

    def scaled(self, x: Tensor, by: int) -> Tensor:
        return self.linear(x) * by

    @staticmethod
    def add(x: Tensor, y: Tensor) -> Tensor:
        return x + y

    @classmethod
    def subtract(cls, x: Tensor, y: Tensor) -> Tensor:
        return x - y


class Twice(Scaled):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) * 2


def only_ints(x: Tensor, k: int) -> list[int]:
    return [x.shape[0] // k, x.numel()]


def named(x: Tensor, *, scale: float = 2.0, y: Tensor | None = None) -> Tensor:
    return x * scale if y is None else x * y


def nested(found: dict[str, list[Tensor]]) -> Tensor:
    return torch.cat(found["all"]) + 1


def many(*tensors: Tensor, **more: Tensor) -> Tensor:
    return tensors[0] + sum(tensor.sum() for tensor in (*tensors[1:], *more.values()))


def data_dependent(x: Tensor, n: Tensor) -> Tensor:
    return x.new_zeros(n.item(), x.shape[1])


def refusing(x: Tensor) -> Tensor:
    raise ValueError("refused")


MOST = tuple(tracer for tracer in TRACERS if tracer != "script")
ODD: dict[str, tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], tuple[str, ...]]] = {
    "ints": (only_ints, (CALL[0], 3), {}, tuple(TRACERS)),
    "keywords": (named, (CALL[0],), {"scale": 3.0, "y": CALL[1]}, MOST),
    "nested": (nested, ({"all": list(CALL)},), {}, MOST),
    "variadic": (many, CALL, {"other": torch.ones(5)}, MOST),
    "integers": (product, (torch.arange(6).view(2, 3), torch.arange(3)), {}, tuple(TRACERS)),
    "meta": (product, (torch.ones(2, 3, device="meta"), torch.ones(3, device="meta")), {}, tuple(TRACERS)),
    "a module": (Scaled(), (torch.ones(3, 4),), {}, tuple(TRACERS)),
    "a method": (Scaled().scaled, (torch.ones(3, 4), 5), {}, MOST),
    "item": (data_dependent, (CALL[0], torch.tensor(5)), {}, ("export", "make_fx")),
}


@pytest.mark.parametrize("call", ODD)
def test_an_odd_call_is_captured(call: str) -> None:
    function, args, kwargs, tracers = ODD[call]
    found = capture(function, args, kwargs, tracers)
    assert {tracer: one["error"] for tracer, one in found.items() if one["error"]} == {}
    weights = 1 if "a m" in call else 0
    assert {one["specialized"] for one in found.values()} <= {0, weights}


def test_what_raises_is_captured_by_no_tracer() -> None:
    assert all(one["error"] for one in capture(refusing, CALL[:1], {}).values())


def test_an_int_argument_is_dynamic() -> None:
    assert capture(lambda x, n: x + 1 if n > 3 else x, (CALL[0], 5), {}, ["compile"])["compile"]["guards"] != []


RECORDED: dict[str, tuple[Callable[[], Any], str]] = {
    "forward of a module": (lambda: Scaled()(CALL[0]), "Scaled.forward"),
    "forward of a base": (lambda: Twice()(CALL[0]), "Scaled.forward"),
    "method of a module": (lambda: Scaled().scaled(CALL[0], by=3), "Scaled.scaled"),
    "static method": (lambda: Scaled.add(*CALL), "Scaled.add"),
    "class method": (lambda: Scaled.subtract(*CALL), "Scaled.subtract"),
    "variadic": (lambda: many(*CALL, other=CALL[0]), "many"),
    "keywords": (lambda: named(CALL[0], y=CALL[1]), "named"),
}


@pytest.mark.parametrize("kind", RECORDED)
def test_a_recorded_call_is_captured(kind: str) -> None:
    made, name = RECORDED[kind]
    functions = functions_of(_this())
    with recorded_calls(functions.get, copied) as calls:
        result = made()
    call = next(call for call in calls if call.name == name)
    function, args, kwargs = traceable(call)
    found = capture(function, args, kwargs, ["compile", "export", "make_fx"])
    assert {tracer: one["error"] for tracer, one in found.items() if one["error"]} == {}
    assert function(*args, **kwargs).shape == result.shape


def test_the_module_itself_is_captured_for_its_own_forward_only() -> None:
    functions = functions_of(_this())
    for module, name, itself in ((Scaled(), "Scaled.forward", True), (Twice(), "Scaled.forward", False)):
        with recorded_calls(functions.get, copied) as calls:
            module(CALL[0])
        function = next(traceable(call)[0] for call in calls if call.name == name)
        assert (function is module) == itself


def test_a_static_method_keeps_all_of_its_arguments() -> None:
    with recorded_calls(functions_of(_this()).get, copied) as calls:
        Scaled.add(*CALL)
    assert traceable(calls[0])[0] is Scaled.add
    assert len(traceable(calls[0])[1]) == 2


def _this() -> ModuleType:
    import sys

    return sys.modules[__name__]


def unwritten(x: Tensor) -> Tensor:
    return torch.empty(x.shape[0])


def test_memory_that_nobody_writes_is_no_result() -> None:
    assert [one["error"] for one in capture(unwritten, CALL[:1], {}).values()] == [""] * len(TRACERS)

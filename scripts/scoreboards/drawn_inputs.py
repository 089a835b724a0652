"""A model and the same with a patch on drawn inputs: sizes, values, nan, infinities, all true, all false.

In eager the patched model has to give what the model gives, its exceptions included. The exported program has to give
what the model gives where that gives anything. Gradients are compared where the target asks for them. As a script it
takes the files of both and a number, and prints the counts as JSON.
"""

from __future__ import annotations

import importlib.util
import json
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

import torch
from symfix.codemods.harness.children.samples.export_targets import ValidatedTarget, read
from symfix.codemods.harness.children.samples.samples import difference
from torch.utils import _pytree as pytree

_SECONDS = 1
"""The time after which a call of the model counts as endless, which some loops are for infinite values."""
_LARGEST = 9
_SCALES = (0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0, 1000.0)


class _Endless(Exception):
    """A call takes longer than any that ends."""


def main() -> None:
    before, after, count = sys.argv[1:]
    warnings.simplefilter("ignore")
    print(json.dumps(compared(Path(before), Path(after), int(count))))


def compared(before: Path, after: Path, count: int) -> dict[str, Any]:
    """Return the counts of drawn inputs by outcome, and the first that is wrong, if any."""
    model, patched = (_loaded(path) for path in (before, after))
    patched.module.load_state_dict(model.module.state_dict())
    with torch.set_grad_enabled(model.differentiable):
        program = _program(patched)
        counts: Counter[str] = Counter()
        wrong = ""
        for number in range(count):
            draw = partial(drawn, model, number)
            outcome, said = judged(model, patched, program, draw)
            counts[outcome] += 1
            wrong = wrong or (f"input {number}: {said}" if outcome == "wrong" else "")
        ways = {name: _said_by(way, model, patched) for name, way in WAYS.items()}
    return {"counts": dict(counts), "wrong": wrong, "ways": ways}


def _said_by(way: Callable[[ValidatedTarget], Any], model: ValidatedTarget, patched: ValidatedTarget) -> str:
    """Return why a way of tracing fails on the given call, or differs there from the model; empty if it does not."""
    torch._dynamo.reset()
    try:
        program = way(patched)
    except Exception as error:
        return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:200]}"
    expected, given = (outcome_of(model, function, model.inputs) for function in (model.module, program))
    return given[1] or difference(given[0], expected[0])


def judged(model: ValidatedTarget, patched: ValidatedTarget, program: Any, draw: Callable[[], Any]) -> tuple[str, str]:
    """Return the outcome of one input: equal, endless, wrong, or refused by the model or the program."""
    expected, error = outcome_of(model, model.module, draw)
    if error == _Endless.__name__:
        return "endless", ""
    actual, refusal = outcome_of(model, patched.module, draw)
    if refusal != error:
        return "wrong", f"the patched model raises {refusal or 'nothing'}, the model {error or 'nothing'}"
    if error:
        return "refused by the model", ""
    said = difference(actual, expected)
    if said:
        return "wrong", f"in eager {said}"
    given, refusal = outcome_of(model, program, draw)
    if refusal:
        small = any(size < 2 for size in model.sizes_of(draw()).values())
        return ("refused by the program at a size below 2" if small else "wrong"), f"the program raises {refusal}"
    said = difference(given, expected)
    return ("wrong", f"in the program {said}") if said else ("equal", "")


def outcome_of(model: ValidatedTarget, function: Any, draw: Callable[[], Any]) -> tuple[Any, str]:
    """Return the result of a call, with gradients where they count, or the name of its exception."""
    signal.signal(signal.SIGALRM, _stop)
    signal.alarm(_SECONDS)
    inputs = draw()
    torch.manual_seed(0)
    try:
        result = function(*inputs[0], **inputs[1])
        return (result, _gradients(function, inputs, result)) if model.differentiable else result, ""
    except Exception as error:
        return None, type(error).__name__
    finally:
        signal.alarm(0)
        # An exception inside of a program's vmap leaves its level, and then each random operation raises.
        while torch._C._functorch.peek_interpreter_stack() is not None:
            torch._C._functorch.pop_dynamic_layer_stack()


def _stop(number: int, frame: Any) -> None:
    raise _Endless


def _gradients(function: Any, inputs: Any, result: Any) -> list[Any]:
    tensors = [one for one in pytree.tree_leaves(inputs) if isinstance(one, torch.Tensor) and one.requires_grad]
    tensors += [one for _, one in sorted(function.named_parameters())]
    leaves = [one for one in pytree.tree_leaves(result) if isinstance(one, torch.Tensor) and one.requires_grad]
    if not leaves or not tensors:
        return []
    found = torch.autograd.grad([one.sum() for one in leaves], tensors, allow_unused=True)
    # Where nothing flows back eager may give no gradient and the program zeros.
    return [torch.zeros_like(one) if each is None else each for one, each in zip(tensors, found, strict=True)]


def drawn(model: ValidatedTarget, number: int) -> Any:
    """Return one input, always the same for a number: other sizes and other values than the given ones."""
    generator = torch.Generator().manual_seed(number)

    def draw(most: int) -> int:
        return int(torch.randint(most, (), generator=generator))

    sizes = {name: max(model.ranges.get(name, (0, None))[0], draw(_LARGEST + 1)) for name in model.sizes}
    if draw(3):
        sizes = {name: max(2, size) for name, size in sizes.items()}
    leaves, structure = pytree.tree_flatten(model.resized(sizes))
    same = draw(12)
    for at, leaf in enumerate(leaves):
        if isinstance(leaf, torch.Tensor):
            kind = same if draw(2) else draw(12)
            leaves[at] = _values(leaf, kind, generator, draw).requires_grad_(leaf.requires_grad)
    return pytree.tree_unflatten(leaves, structure)


def _values(leaf: torch.Tensor, kind: int, generator: torch.Generator, draw: Callable[[int], int]) -> torch.Tensor:
    if leaf.dtype is torch.bool:
        chance = (0.0, 1.0, 0.5, 0.9, 0.1)[kind % 5]
        return torch.rand(leaf.shape, generator=generator) < chance
    if not leaf.dtype.is_floating_point:
        most = int(leaf.max()) + 1 if leaf.numel() else 1
        return torch.randint(max(most, 1), leaf.shape, generator=generator).to(leaf.dtype)
    values = torch.randn(leaf.shape, generator=generator) * _SCALES[draw(len(_SCALES))]
    special = {0: 0.0, 1: 1.0, 2: -1.0}
    if kind in special:
        values = torch.full_like(values, special[kind])
    elif kind in (3, 4):
        values = values.abs() * (1 if kind == 3 else -1)
    elif kind in (5, 6, 7) and values.numel():
        values.view(-1)[draw(values.numel())] = (float("nan"), float("inf"), -float("inf"))[kind - 5]
    return values.to(leaf.dtype)


def _loaded(path: Path) -> ValidatedTarget:
    spec = importlib.util.spec_from_file_location(f"drawn_{path.parent.name}_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dynamo looks the globals of a function up in its module.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    torch.manual_seed(0)
    return read(module.target())


def _program(model: ValidatedTarget, strict: bool = False) -> Any:
    args, kwargs = model.inputs()
    shapes: Any = torch.export.ShapesCollection()  # type: ignore[no-untyped-call]
    for tensor, dimensions in model.dimensions((args, kwargs)):
        shapes[tensor] = dimensions
    program = torch.export.export(model.module, args, kwargs, dynamic_shapes=shapes, strict=strict)
    return program.module()


def _compiled(backend: str, model: ValidatedTarget) -> Any:
    args, kwargs = model.inputs()
    for tensor, dimension, name in model.marked((args, kwargs)):
        torch._dynamo.mark_dynamic(tensor, dimension, **model.limits(name))
    compiled = cast("Any", torch.compile(model.module, backend=backend, fullgraph=True))
    torch.manual_seed(0)
    compiled(*args, **kwargs)
    return compiled


WAYS: dict[str, Callable[[ValidatedTarget], Any]] = {
    "torch.export": _program,
    "torch.export, strict": partial(_program, strict=True),
    "torch.compile, eager": partial(_compiled, "eager"),
    "torch.compile, aot_eager": partial(_compiled, "aot_eager"),
    "torch.compile, inductor": partial(_compiled, "inductor"),
}


def numbers(counts: dict[str, int]) -> Iterator[str]:
    """Yield the counts in words, the most frequent first."""
    yield from (f"{count} {name}" for name, count in Counter(counts).most_common())


if __name__ == "__main__":
    main()

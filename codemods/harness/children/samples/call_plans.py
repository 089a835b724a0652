"""Calls around an operator's sample: views before it, a consumer after it, each dimension static, backed or unbacked.

A view is inverted on the inputs beforehand, so that the operator gets the shapes of its sample.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch._dynamo.decorators import mark_unbacked, maybe_mark_dynamic
from torch.utils import _pytree as pytree

from .samples import Sample, draw, tensors_in

SAMPLES = 24
"""Maximum number of an operator's samples around which calls are drawn. Those without a size of two or more are not
used."""
MARKS = ("static", "backed", "unbacked", "shared")
"""Kinds of a dimension while compiling. All ``shared`` dimensions of one size have the same unbacked symbol."""
SIZES = (-1, 1, 0, 5)
"""Values that replace the largest size of the sample before compilation. -1 keeps it."""
_SECONDS = "abcdefgh"


@dataclass(frozen=True)
class View:
    """View of the tensor number ``tensor`` along ``dimension``. ``other`` is the second dimension of a transposition.

    Numbers are taken modulo the number of tensors or dimensions.
    """

    kind: str
    tensor: int
    dimension: int
    other: int


@dataclass(frozen=True)
class CallPlan:
    """One call. ``sample`` is taken modulo the number of samples, and ``marks`` is repeated over all dimensions."""

    sample: int
    views: tuple[View, ...]
    consumer: str
    marks: tuple[str, ...]
    size: int = -1


def name_of(operator: str, plan: CallPlan) -> str:
    """Return a name for a plan and its operator that `call_named` parses: ``gather@3,slice.0.1.0,unbacked+shared``."""
    views = (f"{view.kind}.{view.tensor}.{view.dimension}.{view.other}" for view in plan.views)
    then = [f"then{list(CONSUMERS).index(plan.consumer)}"] if plan.consumer else []
    size = [f"size{plan.size}"] if plan.size >= 0 else []
    return f"{operator}@{','.join([str(plan.sample), *views, '+'.join(plan.marks), *then, *size])}"


def call_named(name: str, operators: Mapping[str, Any]) -> Planned:
    """Return the call that `name_of` named. Raises KeyError if torch has no test of its operator."""
    operator, _, words = name.rpartition("@")
    sample, *rest = words.split(",")
    views, consumer, marks, size = [], "", tuple(MARKS[:1]), -1
    for word in rest:
        if "." in word:
            kind, *numbers = word.split(".")
            views.append(View(kind, *map(int, numbers)))
        elif word.startswith("then"):
            consumer = list(CONSUMERS)[int(word.removeprefix("then"))]
        elif word.startswith("size"):
            size = int(word.removeprefix("size"))
        else:
            marks = tuple(word.split("+"))
    return planned(CallPlan(int(sample), tuple(views), consumer, marks, size), samples_around(operators[operator]))


def samples_around(operator: Any) -> list[Sample]:
    """Return the samples of an operator that calls are drawn around. Raises the errors of the operator's samples."""
    return [sample for sample in itertools.islice(draw(operator), SAMPLES) if sample.resizable]


class Planned(Sample):
    """Call of a plan on one of the operator's samples, described by ``words``."""

    def __init__(self, plan: CallPlan, sample: Sample, every: list[list[str]] | None = None) -> None:
        args, kwargs = sample.inputs()
        views: list[tuple[int, Callable[[Any, list[Any]], Any], str]] = []
        extras: list[Any] = []
        leaves, structure = pytree.tree_flatten((args, kwargs))
        places = [number for number, leaf in enumerate(leaves) if _viewable(leaf)]
        for view in plan.views if places else ():
            place = places[view.tensor % len(places)]
            undone = _undo(view, leaves[place], extras)
            if undone is not None:
                leaves[place], forward, told = undone
                views.insert(0, (place, forward, f"{_SECONDS[places.index(place) % len(_SECONDS)]}{told}"))
        operator, consumer = sample.function, CONSUMERS[plan.consumer]

        def call(inputs: Any, more: Any) -> Any:
            found = list(inputs)
            for place, forward, _ in views:
                found[place] = forward(found[place], more)
            own, named = pytree.tree_unflatten(found, structure)
            return consumer(operator(*own, **named))

        super().__init__(call, (leaves, extras), {})
        tensors = tensors_in(self._inputs)
        kinds = iter(range(sum(tensor.dim() for tensor in tensors)))
        self._kinds = every or [[plan.marks[next(kinds) % len(plan.marks)] for _ in one.shape] for one in tensors]
        self._steps = [told for _, _, told in views]
        self._plan = plan

    def sized(self, new: Callable[[int], int]) -> Planned:
        """Return the same call with every dimension of every tensor at ``new(size)`` and the same marks."""
        changed = copy.copy(self)
        changed._inputs = pytree.tree_map_only(torch.Tensor, lambda one: _filled(one, new), self._inputs)
        return changed

    @property
    def resizable(self) -> bool:
        return any(kind != MARKS[0] for kinds in self._kinds for kind in kinds)

    @property
    def all_sizes(self) -> list[int]:
        """Return the distinct sizes of all dimensions, sorted."""
        return sorted({size for tensor in tensors_in(self._inputs) for size in tensor.shape})

    def marked(self, unbacked: bool) -> tuple[tuple[Any, ...], dict[str, Any]]:
        args, kwargs = self.inputs()
        if unbacked:
            for tensor, kinds in zip(tensors_in((args, kwargs)), self._kinds, strict=True):
                for dimension, kind in enumerate(kinds):
                    _mark(tensor, dimension, kind)
        return args, kwargs

    @property
    def words(self) -> str:
        """Return the inputs with the kinds of their dimensions, the views, and the consumer, as text."""
        tensors = tensors_in(self._inputs)
        shown = [_shown(tensor, kinds) for tensor, kinds in zip(tensors, self._kinds, strict=True)]
        steps = [*self._steps, *([f"then {self._plan.consumer}"] if self._plan.consumer else [])]
        return "; ".join([", ".join(shown), *steps])


def _shown(tensor: Any, kinds: list[str]) -> str:
    sizes = [
        f"{size}" if kind == "static" else f"{size} {kind}" for size, kind in zip(tensor.shape, kinds, strict=True)
    ]
    return f"{str(tensor.dtype).removeprefix('torch.')}[{', '.join(sizes)}]"


def _mark(tensor: Any, dimension: int, kind: str) -> None:
    if kind == "backed":
        maybe_mark_dynamic(tensor, dimension)
    elif kind == "unbacked":
        mark_unbacked(tensor, dimension)
    elif kind == "shared":
        mark_unbacked(tensor, dimension, shape_id=f"of {tensor.shape[dimension]}")


def _viewable(leaf: Any) -> bool:
    return isinstance(leaf, torch.Tensor) and leaf.layout is torch.strided and leaf.dim() > 0 and leaf.numel() > 0


def _undo(view: View, tensor: Any, extras: list[Any]) -> tuple[Any, Callable[[Any, list[Any]], Any], str] | None:
    """Return the input whose view has the shape of ``tensor``, the view, and its description."""
    one, other = view.dimension % tensor.dim(), view.other % tensor.dim()
    plain = tensor.detach().clone()
    if view.kind == "transpose" and one != other:
        told = f".transpose({one}, {other})"
        return plain.transpose(one, other).contiguous(), lambda x, _: x.transpose(one, other), told
    if view.kind == "slice":
        front = (slice(None),) * one + (slice(1, None),)
        return torch.cat([plain.narrow(one, 0, 1), plain], one), lambda x, _: x[front], f"[1:] along {one}"
    if view.kind == "step":
        every = (slice(None),) * one + (slice(None, None, 2),)
        return plain.repeat_interleave(2, one), lambda x, _: x[every], f"[::2] along {one}"
    number = len(extras)
    if view.kind == "expand":
        extras.append(torch.zeros(tensor.shape[one]))

        def expand(x: Any, more: list[Any]) -> Any:
            sizes = [-1] * x.dim()
            sizes[one] = more[number].shape[0]
            return x.expand(sizes)

        return plain.narrow(one, 0, 1).clone(), expand, f".expand along {one}"
    if view.kind == "mask":
        extras.append(torch.arange(tensor.shape[one] + 1) < tensor.shape[one])
        before = (slice(None),) * one
        longer = torch.cat([plain, plain.narrow(one, 0, 1)], one)
        return longer, lambda x, more: x[(*before, more[number])], f"[mask] along {one}"
    return None


VIEWS = ("transpose", "slice", "step", "expand", "mask")


def _first(result: Any, consume: Callable[[Any], Any]) -> Any:
    """Return the result with ``consume`` applied to its first floating-point tensor."""
    leaves, structure = pytree.tree_flatten(result)
    for number, leaf in enumerate(leaves):
        if isinstance(leaf, torch.Tensor) and leaf.is_floating_point() and leaf.layout is torch.strided:
            return pytree.tree_unflatten([*leaves[:number], consume(leaf), *leaves[number + 1 :]], structure)
    return result


CONSUMERS: dict[str, Callable[[Any], Any]] = {
    "": lambda result: result,
    "reshape(-1)": lambda result: _first(result, lambda y: y.reshape(-1)),
    "sum(-1)": lambda result: _first(result, lambda y: y.sum(-1) if y.dim() else y),
    "softmax(-1)": lambda result: _first(result, lambda y: torch.softmax(y, -1) if y.dim() else y),
    "cat twice": lambda result: _first(result, lambda y: torch.cat([y, y]) if y.dim() else y),
    "y + y.flip(0)": lambda result: _first(result, lambda y: y + y.flip(0) if y.dim() else y),
    "y.mT @ y": lambda result: _first(result, lambda y: y.mT @ y if y.dim() > 1 else y),
    "y[: y.shape[0] // 2]": lambda result: _first(result, lambda y: y[: y.shape[0] // 2] if y.dim() else y),
    "contiguous().view(-1)": lambda result: _first(result, lambda y: y.contiguous().view(-1)),
}
"""Operations on an operator's result, by their description."""


def _filled(tensor: Any, new: Callable[[int], int]) -> Any:
    shape = [new(size) for size in tensor.shape]
    if tensor.layout is not torch.strided or shape == list(tensor.shape):
        return tensor
    count = 1
    for size in shape:
        count *= size
    flat = tensor.detach().reshape(-1)
    if not flat.numel():
        return torch.zeros(shape, dtype=tensor.dtype)
    return flat.repeat(-(-count // flat.numel()))[:count].reshape(shape).clone()


def planned(plan: CallPlan, samples: list[Sample]) -> Planned:
    """Return the call of a plan.

    If ``plan.size`` is 0 or more, it replaces the largest of the sizes, unless that is below 2.
    """
    sample = samples[plan.sample % len(samples)]
    made = Planned(plan, sample)
    sizes = [size for size in made.all_sizes if size > 1]
    if plan.size < 0 or not sizes:
        return made
    return made.sized(lambda size: plan.size if size == sizes[-1] else size)

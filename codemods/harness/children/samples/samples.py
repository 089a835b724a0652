"""Sample inputs of an operator, the same in every process, and results as values that processes can compare."""

from __future__ import annotations

import copy
import hashlib
import itertools
import math
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from typing import Any

import torch
from torch._dynamo.decorators import mark_unbacked
from torch.utils import _pytree as pytree

SMALL_MESSAGE = 400
SEED = 42
"""Seed of torch's own tests of random operators. The random numbers stay the same if a trace omits the seeding."""


Dimension = tuple[int, int]
"""Number of a tensor among those of the inputs, and of one of its dimensions."""


class Sample:
    """One call of one operator. Every `call` gets fresh copies of the inputs and the same random numbers."""

    backend = "eager"
    """Backend of `torch.compile` on which PyTorch's own test of unbacked sizes runs the call."""

    def __init__(
        self, function: Callable[..., Any], args: Any, kwargs: Any, marks: Any = None, refusal: str = ""
    ) -> None:
        self.function = function
        self.refusal = refusal
        """Pattern of the error that the call raises, as in torch's own tests, or empty if they specify none."""
        self._inputs = (tuple(args), dict(kwargs))
        self._marks = [_changeable(tensor) for tensor in tensors_in(self._inputs)] if marks is None else marks

    def inputs(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return copy.deepcopy(self._inputs)

    def resized(self, new_size: Callable[[int], int]) -> Sample:
        """Return the same call with every dimension of two or more of every tensor at ``new_size(size)``."""
        other = copy.copy(self)
        # Pytree turns a torch.Size into a tuple, and dynamo recompiles for another type.
        other._inputs = pytree.tree_map_only(
            torch.Tensor,
            lambda tensor: _resize(tensor, new_size),
            self._inputs,
            lambda node: isinstance(node, torch.Size),
        )
        return other

    def with_size(self, dimensions: Collection[Dimension], size: int) -> Sample:
        """Return the same call with these dimensions at ``size``: values are left out, or repeated from the first."""
        other = copy.copy(self)
        leaves, structure = pytree.tree_flatten(self._inputs)
        places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        for number, dimension in dimensions:
            tensor = leaves[places[number]]
            leaves[places[number]] = tensor.index_select(dimension, torch.arange(size) % tensor.shape[dimension])
        other._inputs = pytree.tree_unflatten(leaves, structure)
        return other

    def unmarked(self, dimensions: Collection[Dimension]) -> Sample:
        """Return the same call, in which these dimensions are not to be marked."""
        other = copy.copy(self)
        other._marks = [
            [one for one in marks if (number, one) not in dimensions] for number, marks in enumerate(self._marks)
        ]
        return other

    @property
    def holds(self) -> frozenset[str]:
        """Return the values of all arguments, each with its place.

        The value of a tensor is its dtype and number of dimensions.
        """
        leaves, _ = pytree.tree_flatten_with_path(self._inputs)
        return frozenset(f"{pytree.keystr(place)}: {_held(value)}" for place, value in leaves)

    def trace_key(self, hints: bool) -> Hashable:
        """Return all that a trace with symbolic sizes depends on, except what its guards compare.

        A trace with ``hints`` gives equal sizes and integers the same symbol. Each is replaced by its number in order
        of appearance.
        """
        leaves, structure = pytree.tree_flatten(self._inputs)
        numbers: dict[int, int] = {}

        def numbered(size: int) -> Hashable:
            return size if size < 2 else ("symbol", numbers.setdefault(size, len(numbers)) if hints else 0)

        def described(leaf: Any) -> Hashable:
            if isinstance(leaf, torch.Tensor):
                kind = (type(leaf), leaf.dtype, leaf.layout, leaf.requires_grad, leaf.is_conj(), leaf.is_neg())
                strides = leaf.stride() if leaf.layout is torch.strided else ()
                order = tuple(sorted(range(len(strides)), key=strides.__getitem__))
                return (*kind, order, tuple(numbered(size) for size in leaf.shape))
            if hints and type(leaf) is int:
                return numbered(leaf)
            return type(leaf), repr(leaf) if type(leaf).__module__ in ("builtins", "torch") else id(leaf)

        marks = tuple(tuple(dimensions) for dimensions in self._marks)
        return self.function, marks, str(structure), tuple(described(leaf) for leaf in leaves)

    @property
    def sizes(self) -> list[int]:
        """Return the distinct sizes of two or more of all dimensions, sorted."""
        return sorted({size for tensor in tensors_in(self._inputs) for size in tensor.shape if size >= 2})

    def call(self, function: Callable[..., Any] | None = None, *, unbacked: bool = False) -> Any:
        """Call ``function`` (None: the operator). ``unbacked`` marks every dimension that was two or more."""
        result, _ = self.outcome(function, unbacked=unbacked)
        return result

    def outcome(self, function: Callable[..., Any] | None = None, *, unbacked: bool = False) -> tuple[Any, list[Any]]:
        """Return the result of `call`, and the tensors among the inputs after the call."""
        args, kwargs = self.marked(unbacked)
        seed(SEED)
        return (function or self.function)(*args, **kwargs), tensors_in((args, kwargs))

    def marked(self, unbacked: bool) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return fresh inputs. ``unbacked`` marks every dimension that was two or more."""
        return self.marked_by(mark_unbacked) if unbacked else self.inputs()

    def marked_by(self, mark: Callable[[torch.Tensor, int], Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return fresh inputs, with ``mark`` called for every dimension that was two or more."""
        args, kwargs = self.inputs()
        for tensor, dimensions in zip(tensors_in((args, kwargs)), self._marks, strict=True):
            for dimension in dimensions:
                mark(tensor, dimension)
        return args, kwargs

    @property
    def marks(self) -> int:
        """Return the number of dimensions that are marked."""
        return sum(len(dimensions) for dimensions in self._marks)

    @property
    def resizable(self) -> bool:
        """Return whether any dimension can have another size."""
        return any(self._marks)


def _held(value: Any) -> str:
    return f"{value.dtype} of {value.dim()}" if isinstance(value, torch.Tensor) else repr(value)


def seed(number: int) -> None:
    """Seed the CPU generator only.

    `torch.manual_seed` records a stack for each other device, which takes longer than most operators.
    """
    torch.default_generator.manual_seed(number)


def samples_of(operator: Any) -> list[Sample]:
    return list(draw(operator))


def draw(operator: Any, dtype: Any = None) -> Iterator[Sample]:
    """Yield the samples of one OpInfo lazily. ``dtype`` defaults to `operator_dtype`."""
    seed(0)
    for sample in operator.sample_inputs("cpu", dtype or operator_dtype(operator), requires_grad=False):
        yield Sample(operator.op, (sample.input, *sample.args), sample.kwargs)


def grouped(drawn: Iterable[tuple[int, Sample]], hints: bool = False) -> list[tuple[int, Sample]]:
    """Sort numbered samples so that those with the same `Sample.trace_key` follow the first of them."""
    groups: dict[Hashable, list[tuple[int, Sample]]] = {}
    for number, sample in drawn:
        groups.setdefault(sample.trace_key(hints), []).append((number, sample))
    return list(itertools.chain.from_iterable(groups.values()))


def telling(drawn: Mapping[int, Sample], most: int) -> set[int]:
    """Choose at most ``most`` samples, each time the one whose arguments contain most new values.

    Return their numbers. The value of a tensor is its dtype and number of dimensions. The rest is taken at even
    distances from the samples without new values.
    """
    left = {number: sample.holds for number, sample in drawn.items()}
    seen: set[str] = set()
    chosen: list[int] = []
    while left and len(chosen) < most:
        number = max(left, key=lambda one: len(left[one] - seen))
        if left[number] <= seen:
            break
        seen |= left.pop(number)
        chosen.append(number)
    others, count = sorted(left), most - len(chosen)
    chosen += others if len(others) <= count else [others[at * len(others) // count] for at in range(count)]
    return set(chosen)


def error_samples_of(operator: Any) -> list[Sample]:
    if operator.error_inputs_func is None:
        return []
    seed(0)
    drawn = [(error.sample_input, str(error.error_regex)) for error in operator.error_inputs("cpu")]
    return [Sample(operator.op, (one.input, *one.args), one.kwargs, refusal=said) for one, said in drawn]


def operator_dtype(operator: Any) -> Any:
    if torch.float32 in operator.dtypes:
        return torch.float32
    return min(operator.dtypes, key=str)


def attempt(call: Callable[[], Any], most: int = SMALL_MESSAGE) -> tuple[Any, str]:
    """Return the result and no message, or None and the error in at most ``most`` characters."""
    try:
        return call(), ""
    except Exception as error:
        return None, describe(error, most)


def describe(error: BaseException, most: int = SMALL_MESSAGE) -> str:
    """Return the type and message of an error, without C++ frames, addresses and dynamo's advice."""
    text = str(error)
    text = re.split(r"\s*(?:Exception raised from |C\+\+ CapturedTraceback|\n\nfrom user code|\n\nSet TORCH)", text)[0]
    return f"{type(error).__name__}: {shorten(text, most)}"


def shorten(text: str, most: int) -> str:
    """Return one line of at most ``most`` characters, without addresses."""
    return re.sub(r" at 0x[0-9a-f]+", "", " ".join(text.split()))[:most]


def layout(result: Any) -> list[str]:
    """Return the shapes, dtypes and strides of a result, and the type of a leaf that is not a tensor."""
    return [_layout(leaf) for leaf in pytree.tree_leaves(result)]


def digest(result: Any) -> str:
    """Return a hash of all the bits of a result."""
    hashed = hashlib.sha256(repr(layout(result)).encode())
    for leaf in pytree.tree_leaves(result):
        hashed.update(_bits(leaf) if isinstance(leaf, torch.Tensor) else repr(leaf).encode())
    return hashed.hexdigest()[:24]


def difference(actual: Any, expected: Any, values: bool = True) -> str:
    """Return the first difference of ``actual`` from ``expected`` as text, or "" if they are close.

    With ``values`` False, only shapes, dtypes and types are compared.
    """
    left, right = pytree.tree_leaves(actual), pytree.tree_leaves(expected)
    if len(left) != len(right):
        return f"{len(left)} results where eager gives {len(right)}"
    for one, other in zip(left, right, strict=True):
        said = _difference(one, other, values)
        if said:
            return said
    return ""


def repeats(call: Callable[[], Any], result: Any) -> bool:
    """Return whether the call returns the same bits once more."""
    again, _ = attempt(call)
    return digest(again) == digest(result)


def tensors_in(inputs: Any) -> list[Any]:
    """Return the tensors among nested values, in order."""
    return [leaf for leaf in pytree.tree_leaves(inputs) if isinstance(leaf, torch.Tensor)]


def _changeable(tensor: Any) -> list[int]:
    if tensor.layout is not torch.strided:
        return []
    return [dimension for dimension, size in enumerate(tensor.shape) if size >= 2]


def _difference(one: Any, other: Any, values: bool) -> str:
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        plain = type(one) is type(other) and (not values or one == other or one != one)
        return "" if plain else f"{one!r} where eager gives {other!r}"[:SMALL_MESSAGE]
    if one.shape != other.shape or one.dtype != other.dtype:
        return f"{_shape(one)} where eager gives {_shape(other)}"
    if values:
        try:
            torch.testing.assert_close(one, other, equal_nan=True)
        except AssertionError as error:
            return f"other values than eager: {' '.join(str(error).split())}"[:SMALL_MESSAGE]
    return ""


def _shape(tensor: Any) -> str:
    return f"{tensor.dtype} {list(tensor.shape)}"


def _layout(leaf: Any) -> str:
    if not isinstance(leaf, torch.Tensor):
        return type(leaf).__name__
    strides = list(leaf.stride()) if leaf.layout is torch.strided else str(leaf.layout)
    marks = (" conj" if leaf.is_conj() else "") + (" neg" if leaf.is_neg() else "")
    return f"{leaf.dtype} {list(leaf.shape)} {strides}{marks}"


def _bits(tensor: Any) -> bytes:
    plain = tensor.detach()
    if plain.is_meta:
        return b""  # a sample of an error, of a tensor without values
    if plain.layout is not torch.strided:
        plain = plain.to_dense()
    if plain.is_quantized:
        plain = plain.int_repr()
    # One element may have any stride and count as contiguous.
    plain = plain.resolve_conj().resolve_neg().reshape(-1).clone(memory_format=torch.contiguous_format)
    data: bytes = plain.view(torch.uint8).numpy().tobytes()
    return data


def _resize(tensor: Any, new_size: Callable[[int], int]) -> Any:
    shape = [new_size(size) if size >= 2 else size for size in tensor.shape]
    if tensor.layout is not torch.strided or shape == list(tensor.shape):
        return tensor
    count = 1
    for size in shape:
        count *= size
    # Transposed and strided tensors keep their kind of strides, since dynamo recompiles for others.
    order, step = list(range(tensor.dim())), 1
    if 0 not in tensor.stride():
        order.sort(key=lambda dimension: -tensor.stride(dimension))
        step = min(tensor.stride(dimension) for dimension in order if tensor.shape[dimension] >= 2)
    if count == 0:
        # An empty tensor's own strides are at least 1, for which dynamo recompiles. These keep their relation to sizes.
        # A size that was 0 before counts as 1 in the strides, as it does in those of torch.
        factors = [new if old else 1 for new, old in zip(shape, tensor.shape, strict=True)]
        strides = {one: step * math.prod(factors[inner] for inner in order[at + 1 :]) for at, one in enumerate(order)}
        return tensor.detach().new_empty(0).as_strided(shape, [strides[one] for one in range(tensor.dim())])
    flat = tensor.detach().permute(order).reshape(-1)
    repeats = -(-count // max(1, flat.numel()))
    filled = flat.repeat(repeats)[:count].reshape([shape[dimension] for dimension in order])
    spaced = filled.clone() if step == 1 else torch.stack([filled] * step, -1)[..., 0]
    return spaced.permute([order.index(dimension) for dimension in range(tensor.dim())])

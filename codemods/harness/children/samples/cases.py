"""Calls of a model at some sizes and with some values, and what eager gives for each."""

from __future__ import annotations

import contextlib
import linecache
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

ATTRIBUTE = "attribute "
"""Start of the names of attributes in `Case.left`."""
_DEEPEST = 4
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


class Case:
    """A call of the model at some sizes, and what eager gives: a result or an error."""

    def __init__(
        self,
        name: str,
        model: Any,
        make: Callable[[], Any],
        sizes: Mapping[str, int],
        *,
        given: bool = False,
        varied: bool = False,
    ) -> None:
        """``sizes``: those of the dynamic dimensions by name; ``given``: a person gave the inputs.

        ``varied``: the inputs have other values than any that were given.
        """
        from .samples import attempt, digest

        self.name, self.model, self._make = name, model, make
        self.sizes = sizes
        self.given = given
        self.varied = varied
        self.small = not given and not varied and min(sizes.values(), default=2) < 2
        left: dict[str, Any] = {}
        self.expected, self.error = attempt(lambda: self.call(model.module, left=left))
        self.left = dict(left)
        """The inputs and buffers after the call, and the plain attributes that it changed, by name."""
        bits = digest((self.expected, self.left))
        again, _ = attempt(lambda: self.call(model.module, left=left))
        self.repeats = bits == digest((again, left))
        self.digest = bits if self.repeats and not self.error else ""

    @property
    def refused(self) -> bool:
        """Return whether the model itself refuses the inputs, where a program has to do so too."""
        return bool(self.error) and (self.given or (self.varied and self.raises_itself))

    @property
    def raises_itself(self) -> bool:
        """Return whether a ``raise`` or ``assert`` outside of torch ends the call."""
        return bool(self.error) and _raises_itself(lambda: self.call(self.model.module))

    def inputs(self) -> Any:
        return self._make()

    def call(self, function: Any, left: dict[str, Any] | None = None) -> Any:
        """Return the result, with gradients where they count; buffers and attributes stay as they are.

        ``function`` is the model's module, or a program whose ``state`` is the module with its buffers. What the call
        makes of its inputs, of the buffers and of plain attributes goes into ``left``.
        """
        import torch

        from .samples import tensors_in

        inputs = self.inputs()
        torch.manual_seed(0)
        state = self.model.module if function is self.model.module else function.state
        before = plain_attributes(state)
        with kept(state):
            result = _opened(function(*inputs[0], **inputs[1]))
            if left is not None:
                named = {f"input {at}": one for at, one in enumerate(tensors_in(inputs), 1)}
                named |= {f"buffer {name}": one for name, one in state.named_buffers()}
                left.clear()
                left |= {name: one.detach().clone() for name, one in named.items()}
                left |= {
                    ATTRIBUTE + ".".join(filter(None, place)): value
                    for place, value in plain_attributes(state).items()
                    if place in before and value is not before[place] and value != before[place]
                }
            if not self.model.differentiable:
                return result
            module = function if isinstance(function, torch.nn.Module) else self.model.module
            return result, _gradients(module, result, [one for one in tensors_in(inputs) if one.requires_grad])


def _raises_itself(call: Callable[[], Any]) -> bool:
    """Return whether a ``raise`` or ``assert`` outside of torch ends a call: torch's own errors are a program's too."""
    import torch

    try:
        call()
    except Exception as error:
        at = error.__traceback__
        while at is not None and at.tb_next is not None:
            at = at.tb_next
        own = str(Path(torch.__file__).parent)
        source = linecache.getline(at.tb_frame.f_code.co_filename, at.tb_lineno).strip() if at is not None else ""
        inside = at is not None and at.tb_frame.f_code.co_filename.startswith(own)
        return not inside and source.startswith(("raise", "assert"))
    return False


def _opened(value: Any, depth: int = 0) -> Any:
    """Return a result in which objects that nothing is known of, such as caches, are the dicts of their attributes."""
    import torch
    from torch.utils import _pytree as pytree

    def opened(leaf: Any) -> Any:
        plain = isinstance(leaf, (torch.Tensor, torch.nn.Module, type)) or not hasattr(leaf, "__dict__")
        if plain or type(leaf).__dict__.get("__eq__") or depth == _DEEPEST:
            return leaf
        return {type(leaf).__name__: {name: _opened(one, depth + 1) for name, one in vars(leaf).items()}}

    return pytree.tree_map(opened, value)


@contextlib.contextmanager
def kept(module: Any) -> Iterator[None]:
    """Restore the contents of the buffers of a module and its submodules afterwards, and what their attributes hold."""
    buffers = [(buffer, buffer.clone()) for buffer in module.buffers()]
    holders = (held for one in module.modules() for held in (vars(one), one._buffers))
    attributes = [(held, dict(held)) for held in holders if isinstance(held, dict)]
    try:
        yield
    finally:
        for held, before in attributes:
            held.clear()
            held.update(before)
        for buffer, content in buffers:
            if buffer.shape == content.shape:
                buffer.detach().copy_(content)


def plain_attributes(module: Any) -> dict[tuple[str, str], Any]:
    """Return the attributes of a module that are plain values, by the names of submodule and attribute."""
    return {
        (owner, name): value
        for owner, one in module.named_modules()
        for name, value in vars(one).items()
        if isinstance(value, _PLAIN)
    }


def _gradients(module: Any, result: Any, inputs: Sequence[Any]) -> Any:
    """Return the gradients of the parameters by name, and those of the inputs that ask for one."""
    import torch
    from torch.utils import _pytree as pytree

    leaves = [leaf for leaf in pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    named = {name: one for name, one in sorted(module.named_parameters()) if one.requires_grad}
    named |= {f"input {at}": one for at, one in enumerate(inputs, 1)}
    found: Any = [None] * len(named)
    if leaves and named:
        found = torch.autograd.grad([leaf.sum() for leaf in leaves], list(named.values()), allow_unused=True)
    # Where nothing flows back eager may give no gradient and the program zeros. Their strides mean nothing.
    pairs = zip(named.items(), found)  # noqa: B905 - one for each name
    return {
        name: torch.zeros_like(one) if gradient is None else gradient.contiguous() for (name, one), gradient in pairs
    }


def cases_of(model: Any, *, filled: bool = False) -> Iterator[Case]:
    """Yield the call as given, with other sizes, with equal tensors, and the user's further inputs.

    The other sizes are larger ones, and one size at a time at 1 and, unless ``filled``, at 0. Sizes outside of the
    requested ranges are skipped.
    """
    import copy

    sizes = model.sizes
    yield Case("as given", model, model.inputs, sizes, given=True)
    most = {name: model.limits(name).get("max", 2 * size + 1) for name, size in sizes.items()}
    others = {"larger": {name: min(2 * size + 1, most[name]) for name, size in sizes.items()}}
    others["one more"] = {name: min(size + 1, most[name]) for name, size in sizes.items()}
    # What is smaller becomes larger: a program may have taken their order for granted.
    ends = min(sizes.values(), default=0), max(sizes.values(), default=0)
    others["other order"] = {name: sum(ends) - size for name, size in sizes.items()}
    for name in sizes:
        for special in (1,) if filled else (1, 0):
            others[f"{name} = {special}"] = {**sizes, name: special}
    for name, changed in others.items():
        if changed == sizes or not all(model.is_asked(*one) for one in changed.items()):
            continue
        yield Case(name, model, partial(model.resized, changed), changed)
    if model.alike() is not None:
        yield Case("equal tensors", model, model.alike, sizes, varied=True)
    for number, more in enumerate(model.more, 1):
        yield Case(f"further input {number}", model, partial(copy.deepcopy, more), model.sizes_of(more), given=True)


def with_other_values(model: Any, names: Sequence[str]) -> Iterator[Case]:
    """Yield the cases of the inputs with other values that `values.telling` has named."""
    from .values import calls_named

    for name, make in calls_named(model, names):
        yield Case(name, model, make, model.sizes, varied=True)

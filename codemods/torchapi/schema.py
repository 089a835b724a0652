"""Operators and kernels of torch as values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class Argument:
    """Argument of an operator. ``type`` and ``default`` are schema text (``SymInt[]``, ``int[1]``, ``Tensor?``).

    A ``default`` is present only if the C++ signature has one too.
    """

    name: str
    type: str
    default: str | None

    @property
    def symbolic(self) -> bool:
        """Return whether the argument accepts a ``c10::SymInt`` or an array of them."""
        return self.type.startswith("SymInt")


@dataclass(frozen=True)
class OverloadSignature:
    """One C++ signature of one overload.

    ``arguments`` are in the order of the ``at::`` function. A method has the same without ``self``. An overload with
    grouped ``TensorOptions``, or with ``out``, occurs a second time with the *faithful* signature: options one by one,
    and ``out`` at the end of a function called ``foo_outf``. The C++ side of a ``manual`` one is written by hand, so
    torch may have it in another form or not at all.
    """

    name: str
    overload: str
    cpp_name: str
    arguments: tuple[Argument, ...]
    returns: tuple[str, ...]
    variants: frozenset[str]
    symbolic: bool
    tensor_options: bool
    structured: bool
    kernels: tuple[tuple[str, str], ...]
    faithful: bool = False
    manual: bool = False

    @cached_property
    def method_arguments(self) -> tuple[Argument, ...]:
        """Return the arguments of the Tensor method."""
        return tuple(argument for argument in self.arguments if argument.name != "self")

    @property
    def symint_name(self) -> str | None:
        """Return the C++ name of the form that takes ``c10::SymInt`` (``empty_symint_out``), or None without one."""
        return self.name + "_symint" + self.cpp_name.removeprefix(self.name) if self.symbolic else None


@dataclass(frozen=True)
class DispatcherSignature:
    """Signature of a function that the dispatcher calls. ``parameters`` are (C++ type, name)."""

    name: str
    parameters: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Kernel:
    """C++ function that torch expects under a name, for all the dispatch keys that share it.

    ``parameters`` are (C++ type, name) as torch calls it: with ``c10::SymInt`` if ``symint``. A structured kernel is
    defined by ``TORCH_IMPL_FUNC(name)`` (or ``TORCH_META_FUNC``, when ``namespace`` is ``at::meta``).
    """

    name: str
    namespace: str
    operator: OverloadSignature
    keys: tuple[str, ...]
    symint: bool
    structured: bool
    returns: str
    parameters: tuple[tuple[str, str], ...]

    @property
    def signature(self) -> DispatcherSignature:
        """Return the name and the parameters."""
        return DispatcherSignature(self.name, self.parameters)

    @property
    def composite(self) -> bool:
        """Return whether the kernel runs on fake tensors as part of a composite operator."""
        return any(key.startswith("Composite") for key in self.keys)


def operator_from(row: Sequence[Any]) -> OverloadSignature:
    """Return the operator of one row that `extract` printed."""
    name, overload, cpp_name, arguments, returns, variants, symbolic, options, structured, kernels, *flags = row
    faithful, manual = flags
    return OverloadSignature(
        name=name,
        overload=overload,
        cpp_name=cpp_name,
        arguments=tuple(Argument(*argument) for argument in arguments),
        returns=tuple(returns),
        variants=frozenset(variants),
        symbolic=symbolic,
        tensor_options=options,
        structured=structured,
        kernels=tuple((key, kernel) for key, kernel in kernels),
        faithful=faithful,
        manual=manual,
    )


def kernel_from(row: Sequence[Any], operator: OverloadSignature) -> Kernel:
    """Return the kernel of ``operator`` from one row that `extract` printed."""
    name, namespace, keys, symint, structured, returns, parameters = row[:7]
    return Kernel(
        name=name,
        namespace=namespace,
        operator=operator,
        keys=tuple(keys),
        symint=symint,
        structured=structured,
        returns=returns,
        parameters=tuple((kind, parameter) for kind, parameter in parameters),
    )

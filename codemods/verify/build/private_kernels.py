"""C++ that registers the kernels of a file in a private namespace, with their own schemas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

NAMESPACE = "symfix_twin"


@dataclass(frozen=True)
class Twin:
    """Kernel with its signature, and the schema under which it is registered privately."""

    schema: str
    kernel: str
    returns: str
    parameters: tuple[str, ...]

    @property
    def operator(self) -> str:
        """Return the name in the schema, with its overload."""
        return self.schema.partition("(")[0]


def twin_source(twins: Sequence[Twin], calls: bool = False) -> str:
    """Return the source of a library's registrations.

    With ``calls``, the file's own calls of ``at::f`` reach the twin, since torch has no ``f`` of the new types.
    """
    declared = dict.fromkeys(f"{t.returns} {t.kernel}({', '.join(t.parameters)});" for t in twins)
    lines = [
        f'  m.def("{t.schema}");\n'
        f'  m.impl("{t.operator}", torch::dispatch(c10::DispatchKey::CompositeImplicitAutograd,\n'
        f"      static_cast<{t.returns} (*)({', '.join(t.parameters)})>(&at::native::{t.kernel})));"
        for t in twins
    ]
    return "\n".join(
        [
            "#include <ATen/core/Tensor.h>",
            "#include <ATen/core/IListRef.h>",
            "#include <ATen/core/dispatch/Dispatcher.h>",
            "#include <torch/library.h>",
            "#include <utility>",
            "namespace at::native {",
            *declared,
            "}",
            f"TORCH_LIBRARY_FRAGMENT({NAMESPACE}, m) {{",
            *lines,
            "}",
            *(_call(number, twin) for number, twin in enumerate(twins) if calls),
            "",
        ]
    )


def _call(number: int, twin: Twin) -> str:
    """Return a definition of the function behind ``at::f``, which the generated headers declare."""
    name, _, overload = twin.operator.partition(".")
    named = [f"{kind} a{at}" for at, kind in enumerate(twin.parameters)]
    passed = ", ".join(f"::std::forward<{kind}>(a{at})" for at, kind in enumerate(twin.parameters))
    return (
        f"#include <ATen/ops/{name}_ops.h>\n"
        f"{twin.returns} at::_ops::{twin.operator.replace('.', '_')}::call({', '.join(named)}) {{\n"
        f'  static auto twin{number} = c10::Dispatcher::singleton().findSchemaOrThrow("{NAMESPACE}::{name}", '
        f'"{overload}")\n      .typed<{twin.returns} ({", ".join(twin.parameters)})>();\n'
        f"  return twin{number}.call({passed});\n}}"
    )

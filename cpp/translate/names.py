"""Variables of a function, and their Python names."""

from __future__ import annotations

import keyword
from dataclasses import dataclass, field

from .kinds import CppKind
from .values import PythonExpression

_SAID = (
    "aten utils torch math warnings list tuple len range abs int float bool str sum isinstance type enumerate Tensor "
    "sym_float sym_int DispatchKey"
)
_TAKEN = frozenset(keyword.kwlist) | frozenset(_SAID.split())
"""Names that no variable gets: keywords of Python and the names that translations use."""


@dataclass
class VariableScopes:
    """The variables in scope, the innermost block last."""

    blocks: list[dict[str, PythonExpression]] = field(default_factory=lambda: [{}])
    used: set[str] = field(default_factory=set)

    def find(self, name: str) -> PythonExpression | None:
        """Return the value of a name in scope, or None."""
        return next((block[name] for block in reversed(self.blocks) if name in block), None)

    def declare(self, name: str, kind: CppKind, low: int | None = None, wanted: str = "") -> PythonExpression:
        """Declare a new variable under an unused Python name."""
        python = wanted or name
        while python in self.used or python in _TAKEN:
            python += "_"
        self.used.add(python)
        self.blocks[-1][name] = PythonExpression(python, kind, low=low, name=python)
        return self.blocks[-1][name]

    def change(self, name: str, value: PythonExpression) -> None:
        """Replace the value of a variable in scope."""
        for block in reversed(self.blocks):
            if name in block:
                block[name] = value
                return

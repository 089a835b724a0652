"""The variables of a function, and what they are called in Python."""

from __future__ import annotations

import keyword
from dataclasses import dataclass, field

from .kinds import Kind
from .values import Value

_SAID = (
    "aten utils torch math warnings list tuple len range abs int float bool str sum isinstance type enumerate Tensor "
    "sym_float sym_int DispatchKey"
)
_TAKEN = frozenset(keyword.kwlist) | frozenset(_SAID.split())
"""What a variable is never called: words of Python, and what the translations say."""


@dataclass
class Names:
    """The variables in sight, the innermost block last."""

    blocks: list[dict[str, Value]] = field(default_factory=lambda: [{}])
    used: set[str] = field(default_factory=set)

    def find(self, name: str) -> Value | None:
        """What a name stands for here."""
        return next((block[name] for block in reversed(self.blocks) if name in block), None)

    def declare(self, name: str, kind: Kind, low: int | None = None, wanted: str = "") -> Value:
        """A new variable under a Python name that nothing else has."""
        python = wanted or name
        while python in self.used or python in _TAKEN:
            python += "_"
        self.used.add(python)
        self.blocks[-1][name] = Value(python, kind, low=low, name=python)
        return self.blocks[-1][name]

    def change(self, name: str, value: Value) -> None:
        """Say something else of a variable that is in sight."""
        for block in reversed(self.blocks):
            if name in block:
                block[name] = value
                return

"""Which truths conditions with a default have in eager, by the line that asks."""

from __future__ import annotations

import sys
from typing import Any

_GUARDS = ("guard_or_false", "guard_or_true", "statically_known_true")


def count_sides() -> dict[tuple[str, int], set[bool]]:
    """From now on count; modules that name the helpers have to be imported later, and nothing can be traced."""
    from torch.fx.experimental import symbolic_shapes

    found: dict[tuple[str, int], set[bool]] = {}
    for name in _GUARDS:
        setattr(symbolic_shapes, name, _counting(getattr(symbolic_shapes, name), found))
    return found


def _counting(guard: Any, found: dict[tuple[str, int], set[bool]]) -> Any:
    def counted(condition: Any) -> bool:
        truth = bool(guard(condition))
        asking = sys._getframe(1)
        found.setdefault((asking.f_code.co_filename, asking.f_lineno), set()).add(truth)
        return truth

    return counted

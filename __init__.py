"""symfix makes PyTorch operators work with symbolic shapes: it rewrites, compiles, runs, and says what it left."""

from __future__ import annotations

# As type checkers know it; `typing` is not read for it.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from .codemods.api import Finding as Finding
    from .codemods.api import NotFixed as NotFixed
    from .codemods.api import TorchError as TorchError
    from .codemods.api import check as check
    from .codemods.api import export as export
    from .codemods.api import fix_text as fix_text
    from .codemods.workflows.export.result import NotApplied as NotApplied
    from .codemods.workflows.export.result import Result as Result

_RESULT = "codemods.workflows.export.result"
_API = "codemods.api"
__all__ = ["Finding", "NotApplied", "NotFixed", "Result", "TorchError", "check", "export", "fix_text"]


def __getattr__(name: str) -> object:
    # The command line, and every child, imports this package for a module of it: nothing more is read then.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    home = _RESULT if name in ("NotApplied", "Result") else _API
    found = globals()[name] = getattr(import_module(f".{home}", __name__), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

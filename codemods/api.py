"""Commands as functions, which `import symfix` offers to Python and notebooks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .engine.file_discovery import DiscoveredFile, find
from .engine.fixpoint import FixOptions
from .engine.registry import Registry
from .engine.run import CheckRequest, default_jobs, run
from .engine.torch_context import TorchSurroundings
from .model.outcome import Changed, Failed, Outcome, Refused, Unchanged
from .torchapi.errors import TorchError

if TYPE_CHECKING:
    import torch

    from .workflows.export.result import Result

__all__ = ["Finding", "NotFixed", "TorchError", "check", "export", "fix_text"]

_SECONDS = 900.0


class NotFixed(ValueError):
    """A text that symfix does not touch; ``str()`` says why."""


@dataclass(frozen=True)
class Finding:
    """A place that a rule would change: ``safety`` is safe, unsafe or manual; line and column count from 1."""

    path: Path
    line: int
    column: int
    rule: str
    safety: str
    message: str
    function: str
    default: str
    """The change of behaviour that an unsafe fix makes, in words."""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.rule} ({self.safety}): {self.message}"


def export(
    model: torch.nn.Module | Callable[..., Any],
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    strict: bool = False,
    unbacked: bool = False,
    more: Sequence[tuple[tuple[Any, ...], Mapping[str, Any]]] = (),
    training: bool = False,
    timeout: float = _SECONDS,
    jobs: int | None = None,
    min_torch: tuple[int, int] | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Result:
    """Find what keeps a model from exporting, and prove a patch; the model, its files and its inputs stay as they are.

    The first six arguments are those of `torch.export.export`: ``dynamic_shapes`` is a dict by parameter or a tuple, of
    ``{dimension: Dim, Dim.DYNAMIC, Dim.AUTO, Dim.STATIC, name, number or None}`` or of a list or tuple of these.
    ``unbacked`` asks for one program for all sizes, 0 and 1 too, by ``torch.compile(fullgraph=True)``, or with
    ``strict`` by a strict export. ``more`` are further calls, ``(args, kwargs)`` each, on which model and program have
    to agree. ``training`` compares the gradients of the parameters too. ``timeout`` limits each trial, in seconds.

    Each trial runs in a fork of this process. Raises TorchError for a torch that is too old.
    """
    from .harness.children.entrypoints.live_target import ExportCall, name_of
    from .harness.process_limits import Limits
    from .harness.resilient_batch import children
    from .workflows.export.in_process import export_here
    from .workflows.export.procedure import ExportRequest
    from .workflows.export.result import Result

    call = ExportCall(
        model,
        tuple(args),
        dict(kwargs or {}),
        dynamic_shapes,
        [(tuple(one), dict(named)) for one, named in more],
        training,
    )
    way = "strict" if strict else "compile" if unbacked else "export"
    request = ExportRequest(
        (name_of(model),),
        Path.cwd(),
        (way,),
        unbacked,
        min_torch=min_torch,
        jobs=children(jobs),
        limits=Limits(wall=timeout, cpu=int(timeout) + 60),
    )
    return Result(export_here(call, request, progress))


def check(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    select: Iterable[str] | None = None,
    ignore: Iterable[str] = (),
    exclude: Sequence[str] = (),
    modules: bool = False,
    all_functions: bool = False,
    min_torch: tuple[int, int] | None = None,
    torch_root: str | os.PathLike[str] | None = None,
) -> list[Finding]:
    """Return what ``symfix check`` prints for files and folders. Raises TorchError, and NotFixed for a file that was
    named and is not read."""
    named = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    surroundings = _surroundings(min_torch, torch_root, modules=modules, all_functions=all_functions)
    question = _question(select, ignore, FixOptions(polish=False), surroundings)
    suffixes = question.registry.walked(question.rules)
    targets = list(find([Path(one) for one in named], suffixes, exclude))
    report = run(targets, question, surroundings, jobs=default_jobs())
    return [finding for outcome in report.outcomes for finding in _findings(outcome)]


def fix_text(
    code: str,
    *,
    filename: str | os.PathLike[str] = "code.py",
    unsafe_fixes: bool = False,
    select: Iterable[str] | None = None,
    ignore: Iterable[str] = (),
    modules: bool = False,
    all_functions: bool = True,
    min_torch: tuple[int, int] | None = None,
    torch_root: str | os.PathLike[str] | None = None,
) -> str:
    """Return a text as ``symfix fix`` would leave it; the suffix of ``filename`` says the language.

    Raises TorchError, and NotFixed for a text that does not parse or that is not touched.
    """
    surroundings = _surroundings(min_torch, torch_root, modules=modules, all_functions=all_functions)
    question = _question(select, ignore, FixOptions(unsafe=unsafe_fixes), surroundings)
    report = run([DiscoveredFile.of(Path(filename), code.encode())], question, surroundings)
    (outcome,) = report.outcomes
    _require_read(outcome)
    return outcome.after.decode() if isinstance(outcome, Changed) else code


def _surroundings(
    min_torch: tuple[int, int] | None, root: str | os.PathLike[str] | None, *, modules: bool, all_functions: bool
) -> TorchSurroundings:
    return TorchSurroundings(
        None if root is None else Path(root),
        None,
        min_torch,
        all_functions=all_functions,
        modules=modules,
        # Nobody asked for code of a tree to be run.
        installed_torchgen=True,
    )


def _question(
    select: Iterable[str] | None, ignore: Iterable[str], wishes: FixOptions, surroundings: TorchSurroundings
) -> CheckRequest:
    registry = Registry()
    known = {card.name for card in registry.rules}
    chosen, without = known if select is None else set(select), set(ignore)
    unknown = sorted((chosen | without) - known)
    if unknown:
        raise ValueError(f"no rule {unknown[0]!r}; `symfix rule` lists them")
    everywhere = surroundings.all_functions or surroundings.modules
    return CheckRequest(frozenset(chosen - without), wishes, registry, everywhere)


def _findings(outcome: Outcome) -> Iterable[Finding]:
    _require_read(outcome)
    if not isinstance(outcome, (Changed, Unchanged)):
        return
    applied = outcome.applied if isinstance(outcome, Changed) else ()
    for fix in sorted((*applied, *outcome.offered), key=lambda fix: fix.start):
        line, column = outcome.source.line_column(fix.start)
        yield Finding(
            outcome.source.path,
            line,
            column,
            fix.rule,
            fix.safety.value,
            fix.message,
            fix.function or "",
            fix.default or "",
        )


def _require_read(outcome: Outcome) -> None:
    if isinstance(outcome, Refused):
        raise NotFixed(f"{outcome.path}: {outcome.detail}")
    if isinstance(outcome, Failed):
        raise RuntimeError(f"{outcome.path}: this is a bug of symfix, please report it:\n{outcome.detail}")

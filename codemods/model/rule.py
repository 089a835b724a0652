"""Rules and their answers: a Fix or a Skip for each place that a rule examined."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from .edit import Edit
from .source_file import SourceFile

if TYPE_CHECKING:
    from ..torchapi import TorchApi


class Safety(Enum):
    """Trust in a fix before it is verified."""

    SAFE = "safe"
    """Fix that preserves every result, type, exception and effect on concrete values, and every successful trace."""
    UNSAFE = "unsafe"
    """Fix that changes something on concrete values or for undecided sizes, and names the change. Every successful
    trace is preserved."""
    MANUAL = "manual"
    """Fix that is shown and never applied."""


@dataclass(frozen=True)
class Fix:
    """Transaction: all of ``edits`` are applied or none.

    ``mode`` is the failure mode (1 direct throw, 2 branch, 3 TensorIterator, 4 implicit SymInt to int64). ``default``
    describes what an unsafe fix changes, such as the branch that an undecided size takes. ``needs`` names the headers
    or imports that the new text requires. The language adds each of them once, however many fixes require it. ``round``
    counts the rounds of other fixes that were applied before this one was found.
    """

    rule: str
    mode: int
    safety: Safety
    edits: tuple[Edit, ...]
    message: str
    function: str | None = None
    default: str | None = None
    needs: tuple[str, ...] = ()
    round: int = 0
    files: tuple[str, ...] = ()
    """Absolute paths of all files with a part of this change, its own included, or empty for a change of one file. The
    parts have the same rule and ``function``, and are applied together or not at all."""

    @property
    def start(self) -> int:
        """Return the byte offset of the first edit, which is the position to report."""
        return min(edit.start for edit in self.edits)

    def beside(self, path: Path) -> list[str]:
        """Return the names of the files with the other parts of the change, without ``path``."""
        own = str(path.absolute())
        return [Path(file).name for file in self.files if file != own]


@dataclass(frozen=True)
class Skip:
    """Place that a rule recognized and left unchanged.

    ``reason`` is a short stable code, ``detail`` a sentence for the user.
    """

    rule: str
    mode: int
    start: int
    end: int
    reason: str
    detail: str
    function: str | None = None


@dataclass(frozen=True)
class Context:
    """Inputs of a rule other than the file. Frozen and picklable, so that a worker process gets the same."""

    api: TorchApi
    min_torch: tuple[int, int] | None = None
    """Oldest torch release that the result must run on, or None for the torch that ``api`` describes."""
    all_functions: bool = False
    """True if every function of the file sees symbolic sizes (code outside PyTorch's own tree)."""
    modules: bool = False
    """True if the ``forward`` of each module and its callees see symbolic sizes (code outside PyTorch's own tree)."""
    drop_torchscript: bool = False
    """True if functions compiled by TorchScript need not stay scriptable (code outside PyTorch's own tree)."""
    torch_root: Path | None = None
    """Root of a PyTorch source tree, or None."""
    tried: bool = False
    """True if each fix is tried on the program that the user named. Other uses of the code are then not considered."""
    prefer: str = ""
    """``where`` or ``cond``: the operator to try first where the values of a tensor decide."""


@dataclass(frozen=True)
class Rule:
    """Rule that decides. Only the edit buffer changes bytes.

    ``markers`` are byte strings of which at least one occurs in any file to which the rule applies.
    """

    name: str
    safety: Safety
    language: str
    markers: tuple[bytes, ...]
    decide: Callable[[SourceFile, Context], Iterable[Fix | Skip]]
    doc: str = field(default="", repr=False)
    registering: tuple[bytes, ...] = ()
    """Literals of registrations, for a rule about registered functions. A file must contain one of them in addition to
    a marker, unless all functions count (`Context.all_functions`)."""

    def speaks(self, holds: Callable[[bytes], bool], all_functions: bool) -> bool:
        """Return whether the rule may apply to a file. ``holds`` tests the file for a byte string."""
        return any(map(holds, self.markers)) and (
            all_functions or not self.registering or any(map(holds, self.registering))
        )


def _nowhere(source: SourceFile, line: int, function: str) -> tuple[int, int] | None:
    return None


def _readable(content: bytes) -> str | None:
    return None


def _parsed(source: SourceFile, context: Context) -> tuple[int, str] | None:
    return None


def _identical(before: bytes, after: bytes) -> bool:
    return before == after


def _none(source: SourceFile, context: Context, extent: tuple[int, int]) -> Iterable[Fix]:
    return ()


def _symbolic(source: SourceFile, context: Context) -> Iterable[Skip]:
    return ()


def _no_functions(source: SourceFile) -> Sequence[tuple[int, int]]:
    return ()


def _no_callees(source: SourceFile, function: str) -> Sequence[str]:
    return ()


def _unnamed(source: SourceFile, line: int) -> str:
    return ""


def _unrefused(source: SourceFile, context: Context, line: int) -> Sequence[tuple[str, str]]:
    return ()


def _unstated(
    source: SourceFile, context: Context, extent: tuple[int, int], conditions: Sequence[str]
) -> Iterable[Fix]:
    return ()


def _unregistered(source: SourceFile, context: Context, line: int, operators: Sequence[str]) -> Iterable[Fix]:
    return ()


def _untranslated(
    source: SourceFile, context: Context, operator: str, text: str, needs: Sequence[str]
) -> Iterable[Fix]:
    return ()


@dataclass(frozen=True)
class Language:
    """Operations of a language that the engine requires to apply fixes in it.

    ``complete`` returns the edits that add the headers or imports required by the fixes, each once. ``errors`` counts
    the parse errors of a text. ``polish`` formats the changed lines of ``after`` and nothing else. With ``strict`` a
    text with a parse error is refused (otherwise the rules skip the statements that do not parse). ``settings`` names
    the configuration files of ``polish``, which are searched in the folder of the source and above.
    """

    name: str
    suffixes: tuple[str, ...]
    complete: Callable[[SourceFile, Sequence[Fix], Context], Sequence[Edit]]
    errors: Callable[[bytes], int]
    polish: Callable[[SourceFile, bytes, Context], bytes]
    strict: bool = False
    hangs_on_other_files: bool = False
    """True if results depend on other files. Only a named file is then examined, and results are not cached."""
    unparsed: Callable[[SourceFile, Context], tuple[int, str] | None] = _parsed
    """Function that returns the byte offset of the first parse error and the parser's message, or None."""
    settings: tuple[str, ...] = ()
    package_words: tuple[bytes, ...] = ()
    """Literals that are searched in all files of a source's package, for `SourceFile.package_speaks`."""
    project: Callable[[Path, Sequence[Path]], bytes] | None = None
    """Function that returns the facts of a project, given its folder and its source files, for `SourceFile.project`."""
    project_suffixes: tuple[str, ...] = ()
    """Suffixes of the files that ``project`` reads."""
    project_tables: tuple[str, ...] = ()
    """Relative paths of tables with the same facts. ``project`` is not called if one of them exists."""
    extent: Callable[[SourceFile, int, str], tuple[int, int] | None] = _nowhere
    """Function that returns the byte range responsible for a failure, given its line (from 1) or a function's name."""
    callees: Callable[[SourceFile, str], Sequence[str]] = _no_callees
    """Function that returns the functions that a named one calls, directly or not, and that no stack trace names."""
    alternatives: Callable[[SourceFile, Context, tuple[int, int]], Iterable[Fix]] = _none
    """Function that yields fixes to try inside an extent. No rule guarantees them, so each needs a proof by a run."""
    preferred: Callable[[SourceFile, Context, tuple[int, int]], Iterable[Fix]] = _none
    """Function that yields the alternatives to try before the rules' fixes, so that a default drops no refusal."""
    residue: Callable[[SourceFile, int], str] = _unnamed
    """Function that returns a reason code for a statement at a line (from 1) that reads tensor values, if unfixable."""
    refused: Callable[[SourceFile, Context, int], Sequence[tuple[str, str]]] = _unrefused
    """Function that returns what could not be written at a line (from 1) where values decide, and the reasons."""
    stated: Callable[[SourceFile, Context, tuple[int, int], Sequence[str]], Iterable[Fix]] = _unstated
    """Function that yields the fixes that check conditions, as source text, before the statement at an extent."""
    registered: Callable[[SourceFile, Context, int, Sequence[str]], Iterable[Fix]] = _unregistered
    """Function that yields the fix that registers the function at a line (from 1) for C++ composite operators, so that
    tracing runs it."""
    translated: Callable[[SourceFile, Context, str, str, Sequence[str]], Iterable[Fix]] = _untranslated
    """Function that yields the fix that appends the translation of a C++ composite operator to a file, with its
    imports."""
    concrete_uses: Callable[[SourceFile, Context], Iterable[Skip]] = _symbolic
    """Function that yields the places of a file at which a size cannot stay symbolic or has a default."""
    functions: Callable[[SourceFile], Sequence[tuple[int, int]]] = _no_functions
    """Function that returns the byte ranges of the functions of a file."""
    comment: str = ""
    """Prefix of a line comment."""
    same_code: Callable[[bytes, bytes], bool] = _identical
    """Function that returns whether two texts differ only in comments and whitespace."""
    obscure: Callable[[bytes], str | None] = _readable
    """Function that returns the reason why the encoding of a text is unsupported, as the end of a sentence, or None."""

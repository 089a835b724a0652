"""Rules and their answers: a Fix or a Skip for each place that a rule examined."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from .edits import Edit
from .source import SourceFile

if TYPE_CHECKING:
    from ..torchapi import TorchApi


class Safety(Enum):
    """Trust in a fix before it is verified."""

    SAFE = "safe"
    """On concrete values no result, type, exception or effect changes, and what torch traced it traces after."""
    UNSAFE = "unsafe"
    """Something changes on concrete values or for undecided sizes, and the fix names it; tracing is not lost."""
    MANUAL = "manual"
    """Shown, never applied."""


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
    """The files, as absolute paths, that have a part of this change, its own among them; empty for a change of one
    file. The parts have the same rule and ``function``, and are applied together or not at all."""

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
    """Oldest torch the result must run on; None: the torch that ``api`` describes."""
    all_functions: bool = False
    """Every function of the file sees symbolic sizes (code outside PyTorch's own tree)."""
    modules: bool = False
    """The ``forward`` of each module, and what it calls, sees symbolic sizes (code outside PyTorch's own tree)."""
    drop_torchscript: bool = False
    """Functions that TorchScript compiles need not stay so (code outside PyTorch's own tree)."""
    torch_root: Path | None = None
    """A PyTorch source tree, or None."""
    tried: bool = False
    """Each fix is tried on the program that the user named: what else might be made of the code is not asked."""


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
    """Of a rule about registered functions: byte strings of which one stands too where a file registers any. They do
    not count when every function does (`Context.all_functions`)."""

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


def _unnamed(source: SourceFile, line: int) -> str:
    return ""


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
    """What is said of a file hangs on all that is around it: only a file that is named is looked at, and no answer is
    kept."""
    unparsed: Callable[[SourceFile, Context], tuple[int, str] | None] = _parsed
    """The byte offset at which a text first does not parse, and what the parser says; None when all of it does."""
    settings: tuple[str, ...] = ()
    package_words: tuple[bytes, ...] = ()
    """What is asked about all files of a source's package: whether one of these stands in any."""
    project: Callable[[Path, Sequence[Path]], bytes] | None = None
    """What all sources of a project, whose folder and files are given, say for each of them: `SourceFile.project`."""
    project_suffixes: tuple[str, ...] = ()
    """The files that ``project`` reads."""
    project_tables: tuple[str, ...] = ()
    """A project that holds one of these says by it what ``project`` would find."""
    extent: Callable[[SourceFile, int, str], tuple[int, int] | None] = _nowhere
    """The bytes that a failure at a line (counted from 1), or in a function of a name, is about."""
    alternatives: Callable[[SourceFile, Context, tuple[int, int]], Iterable[Fix]] = _none
    """What could be tried inside an extent where each fix is proven by running it; no rule vouches for these."""
    preferred: Callable[[SourceFile, Context, tuple[int, int]], Iterable[Fix]] = _none
    """The alternatives that come before what the rules say: a default must not drop a refusal."""
    residue: Callable[[SourceFile, int], str] = _unnamed
    """Why no rewrite mends the statement at a line (from 1) that asks for the values of a tensor, in a stable word."""
    stated: Callable[[SourceFile, Context, tuple[int, int], Sequence[str]], Iterable[Fix]] = _unstated
    """The fix that checks conditions, in words of the language, in front of the statement at an extent."""
    registered: Callable[[SourceFile, Context, int, Sequence[str]], Iterable[Fix]] = _unregistered
    """The fix that has tracing run the function which starts at a line (from 1) for operators that C++ composes."""
    translated: Callable[[SourceFile, Context, str, str, Sequence[str]], Iterable[Fix]] = _untranslated
    """The fix that writes the translation of what C++ composes for an operator, which needs some modules, below the end
    of a file."""
    comment: str = ""
    """What starts a comment that ends with its line."""
    same_code: Callable[[bytes, bytes], bool] = _identical
    """Whether two texts differ in comments and blanks only."""
    obscure: Callable[[bytes], str | None] = _readable
    """Why the bytes of a text do not mean what they seem to, as the end of a sentence about the file; None: they do."""

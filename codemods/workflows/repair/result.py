"""Result types of a repair: fixes of one or more files, the operators that they fix, and the proof."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ...harness.opinfo_runner import OPERATORS, UNBACKED
from ...model.rule import Fix
from ...verify.change import Change, Verdict, Verification
from .phase_times import Timing


@dataclass(frozen=True)
class SourceSpan:
    """Location of a fix: the file below its tree (``torch/_refs/__init__.py``), a line from 1, and the function."""

    file: str
    line: int
    function: str


@dataclass(frozen=True)
class Repair:
    """Fixes that belong together, because an operator needs all of them or their edits overlap.

    ``operators`` are OpInfos with their variants (``linalg.norm.subgradients_at_zero``) that failed and now pass on
    every sample. ``samples`` are the numbers of the samples at which they failed. ``files`` are the names of the
    changes below their tree, in the order of ``changes``. ``baseline`` describes the text before: the installed torch's
    own file, or that of a source tree of another release.
    """

    name: str
    operators: tuple[str, ...]
    samples: dict[str, int]
    expressions: dict[str, str]
    """Undecided expression of each operator."""
    changes: tuple[Change, ...]
    files: tuple[str, ...]
    fixes: tuple[Fix, ...]
    spots: tuple[SourceSpan, ...]
    """Places of the fixes, in their order."""
    baseline: str
    verification: Verification | None = field(default=None, repr=False)
    kind: str = OPERATORS
    protocol: str = UNBACKED
    passing: tuple[str, ...] = ()
    """Operators of which every sample passed in a trial of exactly this code."""
    doubt: str = ""
    """Reason for a manual check of a proven repair. Empty if there is none."""

    @property
    def proven(self) -> bool:
        return self.verification is not None and self.verification.verdict is Verdict.PROVEN

    @property
    def of_the_test(self) -> bool:
        """Return whether only torch's tests are changed: the operators were not broken, but could not be tested."""
        return all(name.startswith("torch/testing/") for name in self.files)

    @property
    def family(self) -> str:
        """Return the family of the repair: ``translated``, ``registered``, ``test`` or ``rewritten``."""
        if self.of_the_test:
            return "test"
        if "translation" in self.rules:
            return "translated"
        return "registered" if "registration" in self.rules else "rewritten"

    @property
    def language(self) -> str:
        return "Python" if all(name.endswith(".py") for name in self.files) else "C++"

    @property
    def defaults(self) -> tuple[str, ...]:
        """Return descriptions of the branches that undecided sizes take."""
        return tuple(dict.fromkeys(fix.default for fix in self.fixes if fix.default))

    @property
    def rules(self) -> tuple[str, ...]:
        return tuple(sorted({fix.rule for fix in self.fixes}))


REASONS = {
    "data-dependent": "the values of a tensor decide its sizes",
    "does-not-compile": "what was tried in C++ does not compile",
    "no-candidate": "no rule offers a fix at the place",
    "no-candidate-helps": "with each candidate it fails as before, or further on where no candidate helps",
    "no-place": "the error names no place in torch's code",
    "no-shape-function": "it has no meta kernel and no decomposition",
    "no-source": "the place is in C++, and its source is not at hand or does not build as it is",
    "not-ours": "the tracer refuses for a reason that has nothing to do with sizes",
    "not-proven": "it passes with a repair that the verifier does not call proven",
    "only-the-test": "the operator passes once the test's own code is not traced",
    "other-result": "a candidate gives another result than eager without an error",
    "signature-differs": "the source tree's kernel has another signature than the installed torch's",
    "swap-alone": "the source tree's unchanged kernel passes already",
}
"""Reason codes of operators without a repair, with their meanings."""


@dataclass(frozen=True)
class Unrepaired:
    """An operator without a repair, with the information for a manual fix."""

    operator: str
    reason: str
    """Key of `REASONS`."""
    message: str
    sample: int
    places: tuple[SourceSpan, ...] = ()
    tried: tuple[tuple[str, str], ...] = ()
    """Candidates that were tried, each with its result."""
    mode: str = ""
    arguments: str = ""
    formula: str = ""
    """Autograd node whose formula failed, with the functions that it calls."""
    kind: str = OPERATORS
    protocol: str = UNBACKED


@dataclass(frozen=True)
class RepairOutcome:
    """Complete result of one run."""

    torch: str
    asked: int
    """Number of operators that were requested."""
    repairs: tuple[Repair, ...]
    handovers: tuple[Unrepaired, ...]
    modes: dict[str, str]
    """Failure mode of each operator."""
    regressions: tuple[str, ...] = ()
    """Results that became worse when all proven Python repairs were applied together."""
    compared: int = 0
    """Number of operators whose results on concrete sizes were compared for that."""
    seconds: float = 0.0
    kind: str = OPERATORS
    timing: Timing = field(default_factory=Timing)

    @property
    def mended(self) -> tuple[str, ...]:
        """Return the operators of proven repairs, without those that only the test kept from passing."""
        return self._of(lambda repair: not repair.of_the_test)

    @property
    def unblocked(self) -> tuple[str, ...]:
        """Return the operators that pass with a change of torch's tests."""
        return self._of(lambda repair: repair.of_the_test)

    def _of(self, asked: Callable[[Repair], bool]) -> tuple[str, ...]:
        return tuple(sorted({name for one in self.repairs if one.proven and asked(one) for name in one.operators}))

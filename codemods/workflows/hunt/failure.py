"""Results of a hunt: failing operators with mode and place."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class Mode(str, Enum):
    """Failure mode of an operator on symbolic sizes. The numbers are those of the RFC."""

    DIRECT_THROW = "1"
    BRANCH = "2"
    TENSOR_ITERATOR = "3"
    IMPLICIT_INT = "4"
    DATA_DEPENDENT = "data-dependent"
    """Failure that depends on the values of a tensor. No code that has only sizes can decide it."""
    SPECIALIZATION = "specialization"
    """Failure that makes a constant of a dimension that was marked dynamic."""
    COINCIDENCE = "coincidence"
    """Specialization at one size, which equals another number of the call. At another size nothing is specialized."""
    NO_SHAPE_FUNCTION = "no shape function"
    """Failure of an operator for which torch has no meta kernel or decomposition."""
    DEVIATION = "deviation"
    """Traced result that differs from eager."""
    NOT_OURS = "not ours"
    """Failure of the tracer for a reason that has nothing to do with sizes."""
    UNKNOWN = "unknown"


MEANING = {
    Mode.DIRECT_THROW: "C++ asks for a concrete size",
    Mode.BRANCH: "a branch on a size",
    Mode.TENSOR_ITERATOR: "TensorIterator rejects symbolic shapes",
    Mode.IMPLICIT_INT: "a size used as a plain integer",
    Mode.DATA_DEPENDENT: "the values of a tensor decide",
    Mode.SPECIALIZATION: "a dynamic size becomes a constant",
    Mode.COINCIDENCE: "a dynamic size becomes a constant at that size only",
    Mode.NO_SHAPE_FUNCTION: "no meta kernel or decomposition",
    Mode.DEVIATION: "another result than eager",
    Mode.NOT_OURS: "not a matter of sizes",
    Mode.UNKNOWN: "not understood",
}


@dataclass(frozen=True, order=True)
class Operator:
    """An OpInfo by name and variant ("" for the plain one), or a ModuleInfo, which has no variants."""

    name: str
    variant: str = ""

    def __str__(self) -> str:
        return f"{self.name}.{self.variant}" if self.variant else self.name


@dataclass(frozen=True)
class FailurePlace:
    """Location at which a size was forced to be concrete.

    For Python, ``file`` is relative to the folder that contains ``torch`` (``torch/masked/_ops.py``). For C++ it is a
    bare name, or "" if torch's symbols do not contain it. ``line`` counts from 1 and is 0 for C++. The columns
    ``start`` and ``end`` (from 0, in bytes) are 0 if they are unknown. ``expression`` is the text at the columns, or
    the C++ operation (``c10::SymInt::guard_int``).
    """

    language: str
    file: str
    line: int
    function: str
    expression: str = ""
    end_line: int = 0
    start: int = 0
    end: int = 0

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{where} {self.function}".strip()


@dataclass(frozen=True)
class Failure:
    """First failing sample of an operator under a protocol."""

    operator: Operator
    protocol: str
    mode: Mode
    message: str
    """Error in one line."""
    expression: str
    """Undecided expression, in symbols (``Eq(u0, 0)``). Empty if the error names none."""
    place: FailurePlace | None
    """Place of the failure, or None if no line is known. ``why`` is the reason then."""
    sample: int
    """Index of the sample, from 0, in the order of the OpInfo."""
    arguments: str = ""
    """Arguments of the sample, abbreviated."""
    path: tuple[FailurePlace, ...] = ()
    """Frames that led there: the place, then its callers. A fix may be better in a caller."""
    why: str = ""
    behind: Failure | None = None
    """Failure of the operator itself, for a failure of the test's own code. None if the operator passes."""
    formula: str = ""
    """Autograd node whose formula failed, with the functions that it calls: ``MmBackward0: mm_mat1_backward``."""
    only_test: bool = False
    """True if the operator passes when the test's own code is not traced."""
    error: str = field(default="", repr=False)
    """Complete error text."""
    call: str = ""
    """Name of a drawn call: the operator, its sample, the views, the marks, the consumer."""

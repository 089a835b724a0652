"""The kinds of errors: a stable word, a title, and the usual fix."""

from __future__ import annotations

from dataclasses import dataclass

from ..export.outcome import REASONS


@dataclass(frozen=True)
class ErrorKind:
    """A kind of error."""

    title: str
    mend: str


def _as_export_says(word: str, mend: str = "") -> ErrorKind:
    title, _, advice = REASONS[word].partition("; ")
    return ErrorKind(title, mend or advice)


KINDS = {
    "undecided-size": ErrorKind(
        "a size that is unknown while tracing decides a branch",
        "state it with torch._check(…), or give the branch a default with guard_or_false or guard_or_true",
    ),
    "in-torch": _as_export_says(
        "in-torch", "change the line in torch, or state the size with torch._check(…) before the call"
    ),
    "value-read": ErrorKind(
        "the value of a tensor is read into Python as a number",
        "read it with .item() in place of int() or float(), state its range with torch._check(…), decide nothing by it",
    ),
    "value-dependent": _as_export_says("value-dependent"),
    "loop-over-data": _as_export_says("loop-over-data"),
    "loop-over-size": _as_export_says("loop-over-size"),
    "narrows-range": _as_export_says(
        "narrows-range", "write the code for all sizes, or declare the sizes that it takes"
    ),
    "guard-failed": ErrorKind(
        "the program was made for other sizes than it is called with",
        "export it again with this size dynamic, after the branch that made the guard is changed",
    ),
    "recompilation": ErrorKind(
        "a compiled function is compiled again for each new size or value",
        "mark the size dynamic: torch._dynamo.mark_dynamic(x, 0), or torch.compile(…, dynamic=True)",
    ),
    "data-dependent-operator": ErrorKind(
        "the values of a tensor decide the result or its shape",
        "use an operator whose result is a tensor of known shape, such as torch.where or (a == b).all()",
    ),
    "concrete-sizes": ErrorKind(
        "C++ reads the sizes of a tensor as plain integers",
        "use sym_size(), sym_sizes(), sym_numel() in this C++, or register a fake kernel for the operator",
    ),
    "symbolic-operand": ErrorKind(
        "Python code expects a plain number and gets a symbolic one",
        "use an operation that symbols have: `!=` for `^` of conditions, sizes as arguments that take SymInt",
    ),
    "missing-fake-kernel": ErrorKind(
        "an operator has no fake kernel, so that its sizes are unknown", "register one with torch.library.register_fake"
    ),
    "unsupported": ErrorKind("dynamo does not support this code; it is not about sizes", ""),
    "not-sizes": ErrorKind("the error is not about symbolic sizes", ""),
}
"""Titles by kind. The title of a kind in `REASONS` is taken from there."""

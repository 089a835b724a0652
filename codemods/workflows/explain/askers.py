"""The line and the operator of torch that required a concrete size, as far as a text names them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..hunt.frames import is_machinery
from .frames import StackFrame, torch_name

_ENTRIES = (
    "torch/export/",
    "torch/_export/",
    "torch/onnx/",
    "torch/nn/modules/module.py",
    "torch/_inductor/",
    "torch/jit/",
)
"""Files of torch that only pass a call on to the user's code. They are skipped, as the files of the tracing machinery
are."""
CALL = "a call of torch"
"""Text for C++ of torch, which has no frame."""
_DISPATCHERS = ("torch/_ops.py", "torch/_subclasses/")
"""Files that occur only below a call of an operator."""
_NAMESPACES = {
    "torch/nn/functional.py": "nn.functional.",
    "torch/_refs/__init__.py": "",
    "torch/_refs/nn/functional/__init__.py": "nn.functional.",
    "torch/_decomp/decompositions.py": "",
    "torch/_meta_registrations.py": "",
    "torch/functional.py": "",
    "torch/_refs/linalg/__init__.py": "linalg.",
    "torch/_refs/fft.py": "fft.",
}
"""Files of torch whose functions have the names of operators, with the prefix of these names."""
_CALL = re.compile(r"\b(?P<module>F|torch(?:\.\w+)*|nn\.functional)\.(?P<name>[a-z]\w*)\(")
_NOT_OPERATORS = {"_check", "_check_value", "compile", "export", "randn", "cond", "no_grad", "as_tensor"}
_NATIVE_OPERATOR = re.compile(r"\bat::(?:native|_ops)::(?P<name>[a-z]\w*?)(?:_symint|_sym)?(?:\(|::|$)")
_CAUSE = re.compile(r"\((?P<file>[\w/.]+\.py):(?P<line>\d+) in (?P<function>\w+)\)\s*$")
_IN_TORCH = (
    "_refs/", "_prims/", "_prims_common/", "_decomp/", "_subclasses/", "_meta_registrations.py", "nn/functional.py",
    "nn/modules/", "functional.py", "distributions/", "_tensor.py", "_higher_order_ops/", "linalg/", "fft/",
)  # fmt: skip
"""Files of torch that may need the value of a size. Torch's own summary names them without the folder of torch."""


def asked_in(behind: Sequence[StackFrame]) -> str:
    """Return torch's innermost line among the frames below the user's line, or `a call of torch` for C++."""
    for frame in reversed(behind):
        name = torch_name(frame.file)
        if name and not name.startswith(_ENTRIES) and not is_machinery(name, frame.function):
            return f"{name}:{frame.line} in {frame.function}"
    dispatched = any(torch_name(frame.file).startswith(_DISPATCHERS) for frame in behind)
    return CALL if dispatched else ""


def asked_in_cause(line: str) -> str:
    """Return the line of torch at the end of torch's own line `Caused by:`, or "" for machinery."""
    match = _CAUSE.search(line)
    if match and (match["file"] == "_ops.py" or match["function"] == "run_node"):
        return CALL
    if not match or not match["file"].startswith(_IN_TORCH):
        return ""
    name = "torch/" + match["file"]
    return "" if is_machinery(name, match["function"]) else f"{name}:{match['line']} in {match['function']}"


def operator(named: str, behind: Sequence[StackFrame], native: Iterable[str], call: str) -> str:
    """Return the name of the operator for `symfix repair`, or "" if the text names none."""
    if named:
        return plain(named)
    for frame in behind:
        before = _NAMESPACES.get(torch_name(frame.file))
        if before is not None and not frame.function.startswith(("_", "<", "inner", "wrapper", "fn")):
            return before + frame.function.removeprefix("meta_").removesuffix("_default")
    for match in filter(None, map(_NATIVE_OPERATOR.search, native)):
        return match["name"].removeprefix("_")
    calls = [match for match in _CALL.finditer(call) if match["name"] not in _NOT_OPERATORS]
    return operator_called(calls[0]) if calls else ""


def operator_called(match: re.Match[str]) -> str:
    """Return the name of the operator that a line calls."""
    module = "nn.functional" if match["module"] == "F" else match["module"].removeprefix("torch").lstrip(".")
    return f"{module}.{match['name']}" if module else match["name"]


def plain(name: str) -> str:
    """Return `equal` for `aten.equal.default` and `aten::equal`. Operators of other libraries are unchanged."""
    parts = name.replace("::", ".").split(".")
    return parts[1] if parts[0] == "aten" and len(parts) > 1 else name

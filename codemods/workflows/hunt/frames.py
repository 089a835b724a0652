"""Classification of an error's frames: the machinery of symbolic shapes, or the code that uses it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .failure import FailurePlace
from .sources import TorchSources

Frame = Mapping[str, Any]

# Python that evaluates symbolic expressions. The line that caused the evaluation is further up the stack.
_DECIDES = (
    "torch/fx/experimental/",
    "torch/__init__.py",
    "torch/_inductor/sizevars.py",
    "torch/utils/_traceback.py",
    "torch/_dynamo/exc.py",
)
# Python that only forwards a call.
_HANDS_ON = (
    "torch/_compile.py",
    "torch/_decomp/__init__.py",
    "torch/_dynamo/",
    "torch/_functorch/",
    "torch/_guards.py",
    "torch/_library/",
    "torch/_logging/",
    "torch/_ops.py",
    "torch/_prims_common/wrappers.py",
    "torch/_subclasses/",
    "torch/_thunk.py",
    "torch/_utils_internal.py",
    "torch/autograd/",
    "torch/fx/",
    "torch/overrides.py",
    "torch/utils/",
)
_IMPLEMENTS = ("torch/_subclasses/fake_impls.py",)
_CAST = "torch/_decomp/decompositions.py"
_DECIDES_NATIVELY = re.compile(
    r"c10::(?:Sym|operator|sym_|ConstantSymNode|TensorImpl::|impl::SymNode|maybe_as_int|MaybeOwned|guard_|statically_|Scalar::)"
    r"|at::native::(?:item|is_nonzero)$|at::_ops::(?:item|is_nonzero|_local_scalar_dense)::|at::Tensor::item"
    r"|torch::impl::PythonSymNodeImpl|ConcretePyInterpreterVTable|torch::PyInterpreter|at::TensorBase::|at::Tensor::(?:size|numel)"
)
_GLUE = re.compile(
    r"c10::(?:impl::|Dispatcher|BoxedKernel|KernelFunction|OperatorHandle)"
    r"|at::\{anonymous\}::(?:\{anonymous\}::)?wrapper_|torch::(?:detail|autograd(?!::generated::details)|jit|PythonArgs|PyInterpreter)|std::"
    r"|torch::\{anonymous\}|torch::handle_torch_function|at::functionalization::|torch::ADInplaceOrView|python(?:TLSSnapshot)?Fallback|pybind11::|torch::Function"
)
_CONCRETE = re.compile(r"ConcretePyInterpreterVTable::(?:sizes|strides|numel|storage_offset)$")
_OPERATOR = re.compile(r"operator(?:<=>|<=|>=|<<|>>|->|<|>|\(\))")
_USER_FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')


def python_path(frames: Iterable[Frame], sources: TorchSources) -> tuple[FailurePlace, ...]:
    """Return torch's Python lines that led to a guard, innermost first, without the machinery."""
    found = []
    for frame in frames:
        file = sources.relative(frame["file"])
        if file is not None and not is_machinery(file, frame["name"]):
            found.append(_place(frame, file, sources))
    return tuple(found)


def user_path(text: str, sources: TorchSources) -> tuple[FailurePlace, ...]:
    """Return torch's lines in the user stack of a dynamo error text, innermost first."""
    found: list[FailurePlace] = []
    _, _, stack = text.partition("User Stack")
    for file, line, name in _USER_FRAME.findall(stack or text.partition("from user code")[2]):
        relative = sources.relative(file)
        if relative is not None and not is_machinery(relative, name):
            found.insert(0, _place({"line": int(line), "name": name}, relative, sources))
    return tuple(found)


def machinery_line(frames: Iterable[Frame], sources: TorchSources) -> FailurePlace | None:
    """Return the innermost line of the tracer itself that forced the size, as a fallback, or None."""
    for frame in frames:
        file = sources.relative(frame["file"])
        if file is not None and not file.startswith(_DECIDES):
            return _place(frame, file, sources)
    return None


def native_path(frames: Sequence[Frame]) -> tuple[FailurePlace, ...]:
    """Return the C++ functions that led to a guard, innermost first, without the machinery and the dispatcher."""
    names = [(plain_name(frame["name"]), frame["file"]) for frame in frames]
    own = [(name, file) for name, file in names if not _DECIDES_NATIVELY.search(name) and not _GLUE.search(name)]
    what = operation(frames)
    return tuple(
        FailurePlace("c++", _source_file(file), 0, name, what if number == 0 else "")
        for number, (name, file) in enumerate(own)
    )


def operation(frames: Sequence[Frame]) -> str:
    """Return the C++ operation that forced the size: the outermost call into the machinery of symbolic sizes."""
    last = ""
    for frame in frames:
        name = plain_name(frame["name"])
        if _DECIDES_NATIVELY.search(name):
            last = name
        elif not _GLUE.search(name):
            break
    return last


def asked_natively(python: Sequence[Frame], native: Sequence[Frame], sources: TorchSources) -> bool:
    """Return whether C++ forced the size. The last Python frame of the machinery shows whether C++ called it."""
    if not native:
        return False
    entry = plain_name(native[0]["name"])
    if "PythonSymNodeImpl::" in entry:
        called = entry.rpartition("::")[2]
        last = _last_deciding(python, sources)
        return last is not None and last["name"] in (called, f"{called}_") and last["file"].endswith("sym_node.py")
    return wants_concrete(native)


def wants_concrete(native: Sequence[Frame]) -> bool:
    """Return whether C++ called `sizes()` or the like, which makes Python specialize every size."""
    for frame in native:
        name = plain_name(frame["name"])
        if _CONCRETE.search(name):
            return True
        if not (_DECIDES_NATIVELY.search(name) or _GLUE.search(name)):
            return False
    return False


def plain_name(name: str) -> str:
    """Return a C++ name without its return type, template arguments and parameters."""
    name = name.replace("(anonymous namespace)", "{anonymous}")
    kept, depth, at = [], 0, 0
    while at < len(name):
        operator = None if depth else _OPERATOR.match(name, at)
        if operator:
            kept.append(operator[0])
            break
        depth += name[at] == "<"
        if name[at] == "(" and not depth:
            break
        if not depth:
            kept.append(name[at])
        depth -= name[at] == ">" and depth > 0
        at += 1
    words = "".join(kept).strip()
    return words if "operator " in words else words.rpartition(" ")[2]


def _last_deciding(frames: Iterable[Frame], sources: TorchSources) -> Frame | None:
    last = None
    for frame in frames:
        file = sources.relative(frame["file"])
        if file is None or not file.startswith(_DECIDES):
            break
        last = frame
    return last


def is_machinery(file: str, name: str) -> bool:
    """Return whether a Python frame only evaluates symbolic expressions or forwards a call."""
    if file.startswith(_IMPLEMENTS):
        return name in ("dispatch_to_op_implementations_dict",)
    return file.startswith((*_DECIDES, *_HANDS_ON)) or (file == _CAST and name == "inner")


def _place(frame: Frame, file: str, sources: TorchSources) -> FailurePlace:
    line, end_line, start, end = frame.get("columns") or (frame["line"], frame["line"], 0, 0)
    text = sources.text(file, line, end_line, start, end)
    return FailurePlace("python", file, line, frame["name"], text, end_line, start, end)


def _source_file(file: str) -> str:
    """Return the C++ file of a function if torch's symbols contain it, as for file-local functions, else ""."""
    name = file.rpartition("/")[2]
    generated = name.startswith(("Register", "python_", "VariableType", "Functions", "Py", "offloadstuff", "Operators"))
    return name if name.endswith((".cpp", ".h", ".cu")) and not generated else ""

"""Functions of a file that see symbolic sizes, and their parts that are kernel code nevertheless."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tree_sitter import Node

from ....codemods.torchapi import Kernel, TorchApi
from ...syntax.declarations import Function
from ...syntax.model import STRUCTURED_KERNEL, STRUCTURED_META, Model
from ...syntax.project import Project
from ...syntax.tree import ancestors, every
from ...syntax.types import SYMBOLIC, Type, read_type
from ..graph.reasons import SkipReason
from .registrations import FAKE_KEYS, LIBRARY, autograd_methods, registrations

_FORMULAS = ("torch::autograd::generated::details", "at::functionalization")
_DEVICE_TEST = re.compile(
    r"\bis_(?:cuda|cpu|mps|xpu|hip|mkldnn|vulkan|xla|metal|quantized)\(\)|\bdevice\(\)(?:\.(?:type|is_\w+)\(\)|\s*[!=]=)"
    r"|\bdevice_type\(\)|[!=]=\s*(?:(?:at|c10|torch)::)?k(?:CPU|CUDA|MPS|XPU|HIP)\b"
)
_NOT_THE_DEVICE = re.compile(
    r"!\s*[\w.()>\-]*?\bis_(?:cuda|cpu|mps|xpu|hip|mkldnn|vulkan|xla|metal|quantized)\(\)|\bdevice(?:_type)?\(\)(?:\.type\(\))?\s*!="
)
_POINTER = re.compile(r"(?:(?:mutable_|const_)?data_ptr|(?:generic_)?(?:packed_)?accessor(?:32|64)?)\Z")
_ITERATOR = re.compile(r"\b(?:at::)?TensorIterator(?:Config)?\b")
ALL = "all functions"
_ONE_DEVICE = re.compile(
    r"<<<|\bgetCurrent\w*Stream\b|\b\w*(?:CUDA|HIP|XPU|NPU|MLU|MUSA)\w*Guard\w*\b|\bCHECK_(?:CUDA|INPUT|CPU)\w*\("
    r"|CHECK\w*\([^;]*?\bis_(?:cuda|cpu|xpu|mps|hip)\(\)(?!\s*[=!]=)"
    r"|\b(?!is_)\w+_(?:cuda|cpu|hip|xpu|mps|npu|mlu)\("
)
"""Pattern of code that is written for one device."""
_DEVICE_SOURCES = frozenset({".cu", ".cuh", ".hip"})
_DEVICES = frozenset({"cpu", "cuda", "hip", "rocm", "xpu", "sycl", "mps", "metal", "npu", "mlu", "musa", "vulkan"})
"""Device names in the folders, files and namespaces of kernels, as in ``csrc/cpu`` and ``sort_cuda.cpp``."""
_DEVICE_NAME = re.compile(r"\w+NativeFunctions::|(?:\w_|[a-z0-9])(?i:cuda|cpu|hip|xpu|mps|npu|mlu)\(")
"""Pattern of the heads of kernels: ``fill_cuda(…)``, ``fillCpu(…)``, ``XLANativeFunctions::fill(…)`` as torchgen
declares them."""
_MARKED = ("call_expression", "if_statement", "conditional_expression", "declaration")


@dataclass(frozen=True)
class KernelCode:
    """A byte range inside an eligible function that runs only on real data, with the reason."""

    start: int
    end: int
    reason: SkipReason
    mode: int


class Eligibility:
    """The functions of a file that see symbolic sizes, each with the way it is reached."""

    def __init__(self, model: Model, api: TorchApi, path: Path, project: Project, *, all_functions: bool) -> None:
        self.model = model
        self._path = path
        self._api = api
        self.why: dict[int, str] = {}
        self._functions: dict[int, Function] = {}
        self._kernel_code: dict[int, tuple[KernelCode, ...]] = {}
        self._marked: dict[int, list[Node]] = {}
        self._iterates = b"TensorIterator" in model.tree.content
        self.registrations = registrations(model, project)
        """Registrations of the file and its project."""
        self._registered = self.registrations.kinds
        self.unread = self.registrations.unread
        self.unfollowed: dict[int, tuple[Function, SkipReason]] = {}
        """Functions, by node id, that would be eligible if their bodies could be analysed, with the reasons."""
        outer = [function for function in model.functions if not function.is_lambda]
        for function in outer:
            why = self._entry(function)
            if why is None and all_functions and not self.is_kernel(function):
                why = ALL
            if why is not None:
                self._admit(function, why)
        waiting = list(self._functions.values())
        while waiting:
            caller = waiting.pop()
            for callee in self._callees(caller):
                if callee.node.id in self.why or callee.node.id in self.unfollowed or self.is_kernel(callee):
                    continue
                self._admit(callee, f"reached from {caller.name}")
                if callee.node.id in self.why:
                    waiting.append(callee)
        self.functions = tuple(sorted(self._functions.values(), key=lambda function: function.node.start_byte))
        """Eligible functions in source order."""
        self.kernel_code = {function.node.id: self._kernel_code_of(function) for function in self.functions}
        """Parts of the eligible functions, by node id, that work on pointers, iterators or one device."""

    def is_eligible(self, function: Function | None) -> bool:
        """Return whether a function, or the function around a lambda, sees symbolic sizes."""
        return function is not None and function.outermost.node.id in self.why

    def is_kernel(self, function: Function) -> bool:
        """Return whether torch uses the function only as a kernel for real data."""
        if function.macro in STRUCTURED_KERNEL or self._registered.get(function.name) == "kernel":
            return True
        if LIBRARY in function.name:
            return not self.registrations.is_fake_block(function)
        keys = self._keys(function)
        return bool(keys) and not keys & FAKE_KEYS

    def is_registered(self, function: Function) -> bool:
        """Return whether the dispatcher calls the function, so that other files determine its signature."""
        return function.macro is not None or bool(self._keys(function)) or function.name in self._registered

    def expected(self, function: Function) -> Kernel | None:
        """Return the SymInt kernel that torch expects where the file still defines it on integers, else None.

        Each of several functions with one name follows the overload of the schema that has its types. A kernel may be
        called ``f_symint`` already and still accept integers.
        """
        if function.internal or function.in_class or function.is_template or function.macro is not None:
            return None
        if not _in_native(function):
            return None
        standing = [kernel for kernel in self._api.kernels(function.name) if has_types(function, kernel)]
        if standing:
            beside = [one for one in self.model.named(function.name) if has_types(one, standing[0])]
            behind = [kernel for kernel in standing if kernel.symint and _falls_short(function, kernel)]
            return behind[0] if len(behind) == len(standing) == len(beside) == 1 else None
        matching = [kernel for kernel in successors(self._api, function.name) if has_types(function, kernel)]
        alone = len(self.model.named(function.name)) == 1 and not self._api.kernels(function.name)
        if alone and not matching:
            twins = self._api.kernels(symint_name(function.name))
            matching = [k for k in twins if k.symint and len(k.parameters) == len(function.parameters)]
        names = {kernel.name for kernel in matching}
        return matching[0] if len(names) == 1 and not self.model.named(matching[0].name) else None

    def given(self, function: Function) -> Type:
        """Return the type that torch expects a kernel of the file to return, or UNKNOWN for any other function."""
        kernels = [kernel for kernel in self._api.kernels(function.name) if has_types(function, kernel)]
        answers = {read_type(kernel.returns) for kernel in kernels if self._keys(function)}
        return answers.pop() if len(answers) == 1 else Type.UNKNOWN

    def in_kernel_code(self, function: Function, node: Node) -> bool:
        """Return whether a node of a function runs only on real data."""
        return any(part.start <= node.start_byte < part.end for part in self._kernel_code_of(function))

    def _kernel_code_of(self, function: Function) -> tuple[KernelCode, ...]:
        found = self._kernel_code.get(function.node.id)
        if found is None:
            if self.why.get(function.node.id) == ALL and self._on_one_device(function):
                found = (KernelCode(function.body.start_byte, function.body.end_byte, SkipReason.DEVICE_CODE, 4),)
            else:
                markers = (self._marker(node) for node in self._marked_in(function))
                found = tuple(marker for marker in markers if marker is not None)
            self._kernel_code[function.node.id] = found
        return found

    def _marked_in(self, function: Function) -> list[Node]:
        found = self._marked.get(function.node.id)
        if found is None:
            found = self._marked[function.node.id] = every(function.body, *_MARKED)
        return found

    def _on_one_device(self, function: Function) -> bool:
        """Return whether a function that is eligible only because of ``--all-functions`` is a kernel."""
        names = (*self._path.parts, *_spaces(function))
        words = {word for name in names for word in re.split(r"[^a-z0-9]+", name.lower())}
        if self._path.suffix in _DEVICE_SOURCES or not _DEVICES.isdisjoint(words):
            return True
        head = function.node.child_by_field_name("declarator")
        if head is not None and _DEVICE_NAME.search(self.model.tree.text(head)):
            return True
        return _ONE_DEVICE.search(self.model.tree.text(function.body)) is not None

    def _admit(self, function: Function, why: str) -> None:
        word = self.model.tree.unfollowed(function.node)
        if word is not None:
            self.unfollowed[function.node.id] = function, SkipReason(word)
            return
        self.why[function.node.id] = why
        self._functions[function.node.id] = function

    def _entry(self, function: Function) -> str | None:
        if function.macro in STRUCTURED_META:
            return "structured meta function"
        if self._registered.get(function.name) == "fake":
            return f"registered in {'its project' if function.name in self.registrations.elsewhere else 'this file'}"
        if self.registrations.blocks and self.registrations.is_fake_block(function):
            return "registers lambdas"
        if function.in_class or function.macro is not None:
            return None
        if "::".join(function.namespaces) in _FORMULAS:
            return "autograd or functionalization code"
        keys = self._keys(function) & FAKE_KEYS
        return f"kernel for {', '.join(sorted(keys))}" if keys else None

    def _keys(self, function: Function) -> frozenset[str]:
        if function.in_class or function.internal or not _in_native(function):
            return frozenset()
        kernels = self._api.kernels(function.name) or successors(self._api, function.name)
        matching = [kernel for kernel in kernels if len(kernel.parameters) == len(function.parameters)]
        return frozenset(key for kernel in matching or kernels for key in kernel.keys)

    def _callees(self, caller: Function) -> list[Function]:
        found: list[Function] = []
        for node in self._marked_in(caller):
            if node.type == "call_expression" and not self.in_kernel_code(caller, node):
                function = node.child_by_field_name("function")
                if function is not None and function.type in (
                    "identifier",
                    "qualified_identifier",
                    "template_function",
                ):
                    name = re.sub(r"<.*", "", self.model.tree.text(function), flags=re.DOTALL).rsplit("::", 1)[-1]
                    found += self.model.named(name) or autograd_methods(node, self.model)
        return found

    def _marker(self, node: Node) -> KernelCode | None:
        text = self.model.tree.text
        if node.type == "call_expression":
            function = node.child_by_field_name("function")
            if function is None:
                return None
            last = function.child_by_field_name("field") or function
            called = text(last) if last.child_count else (last.text or b"").decode()
            name = re.sub(r"<.*", "", called, flags=re.DOTALL).rsplit("::", 1)[-1]
            if name.startswith("AT_DISPATCH"):
                return _around(node, SkipReason.DISPATCH_MACRO, 4)
            if name == "parallel_for" or name == "parallel_reduce":
                return _around(node, SkipReason.PARALLEL_FOR, 4)
            if _POINTER.match(name):
                return _around(node, SkipReason.DATA_POINTER, 4)
            if self._iterates and _ITERATOR.search(text(function)):
                return _around(node, SkipReason.TENSOR_ITERATOR, 3)
        elif node.type in ("if_statement", "conditional_expression"):
            return self._device_side(node)
        elif node.type == "declaration" and self._iterates:
            kind = node.child_by_field_name("type")
            if kind is not None and _ITERATOR.fullmatch(text(kind)):
                return _around(node, SkipReason.TENSOR_ITERATOR, 3)
        return None

    def _device_side(self, branch: Node) -> KernelCode | None:
        """Return the side of a device branch that only one kind of device takes."""
        condition, consequence = branch.child_by_field_name("condition"), branch.child_by_field_name("consequence")
        if condition is None or consequence is None or _only_raises(consequence, self.model):
            return None
        test = self.model.tree.text(condition)
        if not _DEVICE_TEST.search(test):
            return None
        side: Node | None = None
        if not _NOT_THE_DEVICE.search(test):
            side = consequence if _decided_by(condition, "&&", self._requires) else None
        elif _decided_by(condition, "||", self._excludes):
            side = branch.child_by_field_name("alternative")
            if side is None and _leaves(consequence):
                return KernelCode(branch.end_byte, _block(branch).end_byte, SkipReason.DEVICE_BRANCH, 4)
        return None if side is None else KernelCode(side.start_byte, side.end_byte, SkipReason.DEVICE_BRANCH, 4)

    def _requires(self, test: Node) -> bool:
        """Return whether an operand of a condition tests for one device."""
        text = self.model.tree.text(test)
        return not text.startswith("!") and "!=" not in text and _DEVICE_TEST.search(text) is not None

    def _excludes(self, test: Node) -> bool:
        """Return whether an operand of a condition holds for every device but one."""
        return _NOT_THE_DEVICE.search(self.model.tree.text(test)) is not None


def _decided_by(condition: Node, sign: str, decides: Callable[[Node], bool]) -> bool:
    """Return whether one operand joined by ``sign``, or each operand joined by the other sign, decides a condition."""
    while condition.type in ("condition_clause", "parenthesized_expression") and condition.named_child_count == 1:
        condition = condition.named_children[0]
    operator = condition.child_by_field_name("operator")
    if condition.type != "binary_expression" or operator is None or operator.type not in ("&&", "||"):
        return decides(condition)
    sides = (condition.child_by_field_name("left"), condition.child_by_field_name("right"))
    decided = (side is not None and _decided_by(side, sign, decides) for side in sides)
    return any(decided) if operator.type == sign else all(decided)


def symint_name(kernel: str) -> str:
    """Return the name of a kernel after it accepts SymInt: ``f_symint``, ``f_symint_out``."""
    stem = kernel.removesuffix("_out")
    return f"{stem}_symint{kernel[len(stem) :]}"


def successors(api: TorchApi, name: str) -> tuple[Kernel, ...]:
    """Return the SymInt kernels that may have replaced the kernel ``name``.

    These are ``name_symint`` and the kernels that the schema lists for overloads: ``name_padding_symint`` for
    ``name.padding``.
    """
    operators = (*api.functions(name), *api.methods(name))
    by_schema = (kernel for operator in operators for key, kernel in operator.kernels if key in FAKE_KEYS)
    names = dict.fromkeys((symint_name(name), *(kernel for kernel in by_schema if kernel.endswith("_symint"))))
    return tuple(dict.fromkeys(kernel for one in names for kernel in api.kernels(one) if kernel.symint))


def has_types(function: Function, kernel: Kernel) -> bool:
    """Return whether a function has the parameter types of a kernel, with integers for the kernel's SymInts."""
    if len(kernel.parameters) != len(function.parameters):
        return False
    pairs = zip(function.parameters, kernel.parameters, strict=True)
    return all(read_type(written) in (own.type, SYMBOLIC.get(own.type)) for own, (written, _) in pairs)


def _falls_short(function: Function, kernel: Kernel) -> bool:
    """Return whether a function has an integer parameter where a kernel of its types has a SymInt."""
    pairs = zip(function.parameters, kernel.parameters, strict=True)
    return any(read_type(written) is not own.type for own, (written, _) in pairs)


def _in_native(function: Function) -> bool:
    return _spaces(function) == ["at", "native"]


def _spaces(function: Function) -> list[str]:
    return [part for name in function.namespaces for part in name.split("::") if part]


def _around(node: Node, reason: SkipReason, mode: int) -> KernelCode:
    block = _block(node)
    return KernelCode(block.start_byte, block.end_byte, reason, mode)


def _leaves(consequence: Node) -> bool:
    last = consequence.named_children[-1] if consequence.type == "compound_statement" else consequence
    return last.type in ("return_statement", "throw_statement")


def _block(node: Node) -> Node:
    for around in ancestors(node):
        if around.type in ("compound_statement", "case_statement"):
            return around
    return node


def _only_raises(consequence: Node, model: Model) -> bool:
    return bool(
        re.match(r"\{?\s*(?:TORCH_CHECK|AT_ERROR|throw)\b[^;]*;\s*\}?\Z", model.tree.text(consequence), re.DOTALL)
    )

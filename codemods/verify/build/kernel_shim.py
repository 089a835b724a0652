"""C++ shim that registers the kernels of one operator file in place of torch's own, and counts their calls."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ....cpp.syntax.functions import outline
from ...torchapi.schema import Kernel

KEYS = ("CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional", "Meta")
FORMULA = "derivative"
"""Value in place of a dispatch key for an autograd formula, which is not registered with the dispatcher."""
_CONCRETE = {
    "c10::SymInt": "int64_t",
    "c10::SymIntArrayRef": "at::IntArrayRef",
    "at::OptionalSymIntArrayRef": "at::OptionalIntArrayRef",
}


@dataclass(frozen=True)
class KernelCandidate:
    """Kernel that the file may define: a name, a signature, one operator and one dispatch key."""

    kernel: str
    namespace: str
    operator: str
    key: str
    returns: str
    parameters: tuple[str, ...]


def candidates(content: bytes, kernels: Callable[[str], Iterable[Kernel]]) -> tuple[KernelCandidate, ...]:
    """Return the kernels that ``content`` may define, by the names of its function definitions.

    The shim finds out at load time which of them are defined. A file of an older release has ``foo(IntArrayRef)`` where
    this torch expects ``foo_symint(SymIntArrayRef)``. The dispatcher accepts either for a schema with ``SymInt``, so
    both are candidates.
    """
    found: dict[KernelCandidate, None] = {}
    for name in sorted(outline(content).names):
        for expected in _expected_names(name):
            for kernel in kernels(expected):
                if kernel.structured or (expected != name and not kernel.symint):
                    continue
                types = tuple(kind for kind, _ in kernel.parameters)
                if expected != name:
                    types = tuple(map(_concrete, types))
                schema = kernel.operator.name + (f".{kernel.operator.overload}" if kernel.operator.overload else "")
                for key in kernel.keys:
                    if key in KEYS:
                        found[KernelCandidate(name, kernel.namespace, schema, key, kernel.returns, types)] = None
    return tuple(found)


def shim_source(wanted: tuple[KernelCandidate, ...]) -> str:
    """Return the shim for ``wanted``. A kernel that the linked library does not define is not registered."""
    declarations = dict.fromkeys(
        f"namespace {c.namespace} {{ [[gnu::weak]] {c.returns} {c.kernel}({', '.join(c.parameters)}); }}"
        for c in wanted
        if c.key != FORMULA
    )
    return _TEMPLATE % {
        "declarations": "\n".join(declarations),
        "count": max(1, len(wanted)),
        "formulas": ", ".join(f'"{c.kernel if c.key == FORMULA else ""}"' for c in wanted) or '""',
        "swaps": "\n".join(_swap(number, c) for number, c in enumerate(wanted) if c.key in KEYS),
    }


def _swap(number: int, c: KernelCandidate) -> str:
    name, _, overload = c.operator.partition(".")
    kind = f"{c.returns} (*)({', '.join(c.parameters)})"
    where = f'c10::DispatchKey::{c.key}, {{"aten::{name}", "{overload}"}}'
    return f"  swap_in({number}, {where}, static_cast<{kind}>(&{c.namespace}::{c.kernel}));"


def _expected_names(name: str) -> Iterator[str]:
    yield name
    yield name + "_symint"
    if name.endswith("_out"):
        yield name.removesuffix("_out") + "_symint_out"


def _concrete(kind: str) -> str:
    return re.sub(r"[\w:]+", lambda match: _CONCRETE.get(match[0], match[0]), kind)


_TEMPLATE = """\
#include <ATen/core/IListRef.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/SymIntArrayRef.h>
#include <torch/library.h>
#include <dlfcn.h>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

%(declarations)s

namespace {

struct Entry {
  uint64_t calls = 0;
  std::string state;
};
Entry entries[%(count)d];
std::vector<c10::RegistrationHandleRAII> registered;

struct Silence : c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

struct Quiet {
  Silence silence;
  c10::WarningUtils::WarningHandlerGuard guard{&silence};
};

// One class for each signature, not for each kernel, and torch's dispatcher is told directly: nearly all that compiling
// this file takes is instantiating what torch has for each class of functors.
template <typename Function>
struct Counted;

template <typename Return, typename... Arguments>
struct Counted<Return (*)(Arguments...)> final : c10::OperatorKernel {
  Counted(int number, Return (*kernel)(Arguments...)) : number(number), kernel(kernel) {}
  Return operator()(Arguments... arguments) {
    ++entries[number].calls;
    return kernel(std::forward<Arguments>(arguments)...);
  }
  const int number;
  Return (*const kernel)(Arguments...);
};

bool defined_here(void* address) {
  Dl_info theirs, ours;
  return address != nullptr && dladdr(address, &theirs) && dladdr(&entries, &ours) &&
      theirs.dli_fbase == ours.dli_fbase;
}

template <typename Function>
void swap_in(int number, c10::DispatchKey key, c10::OperatorName name, Function kernel) {
  if (!defined_here(reinterpret_cast<void*>(kernel))) {
    entries[number].state = "not defined";
    return;
  }
  std::unique_ptr<c10::OperatorKernel> counted(new Counted<Function>(number, kernel));
  try {
    registered.push_back(c10::Dispatcher::singleton().registerImpl(
        std::move(name),
        key,
        c10::KernelFunction::makeFromUnboxedFunctor<false, Counted<Function>>(std::move(counted)),
        c10::impl::CppSignature::make<Function>(),
        c10::detail::inferFunctionSchemaFromFunctor<Function>(),
        "symfix"));
    entries[number].state = "swapped";
  } catch (const std::exception& error) {
    entries[number].state = error.what();
  }
}

} // namespace

extern "C" uint64_t symfix_calls(int number) {
  return entries[number].calls;
}
extern "C" const char* symfix_formula(int number) {
  static const char* const names[] = {%(formulas)s};
  return names[number];
}
extern "C" const char* symfix_state(int number) {
  return entries[number].state.c_str();
}

extern "C" [[gnu::weak]] void __gcov_dump();
extern "C" [[gnu::weak]] void __gcov_reset();

// Adds the counts of lines run so far to the files beside the objects, where a side was built to count them.
extern "C" void symfix_keep_counts() {
  if (__gcov_dump && __gcov_reset) {
    __gcov_dump();
    __gcov_reset();
  }
}

const bool done = [] {
  Quiet quiet;
%(swaps)s
  return true;
}();
"""

"""Give an operator a kernel for fake tensors: a draft meta kernel from its own kernel's allocations.

What: an operator of ``m.def(…)`` that has kernels for devices but none for fake tensors. These would be registered for
``Meta``, for a composite key, or by ``torch.library.register_fake`` anywhere in the project. The text that is shown
contains the device kernel's allocations if these are its outputs. It is in C++ and, if the translation is simple, in
Python.

Why: without such a kernel, the operator can't be traced. Tracing stops with its name.

What it leaves alone: operators whose kernels are made by templates or lambdas, or registered without a definition in
sight. An output that is not allocated by the kernel, or is changed afterwards, is reported instead of a text.

Safety: manual: the text is shown and never applied. A person must check its shapes, types and devices.
``torch.library.opcheck`` checks them on a call.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Rule, Safety, Skip
from ...codemods.model.source_file import SourceFile
from ..analysis.graph.reasons import SkipReason
from ..analysis.operators.allocations import Allocations, allocations
from ..analysis.operators.operators import OwnOperator, own_kernel, own_operators, project_around
from ..rewrite.fake_kernel import scaffold, widened_schema
from ..syntax.library_blocks import MARKS
from ..syntax.project import Project

NAME = "add_fake_kernel"
_ELSEWHERE = (b"set_python_module", b"impl_abstract_pystub")
"""Words of a file whose fake kernels are registered in a Python module, possibly of another project."""


def decide(source: SourceFile, context: Context) -> Iterator[Fix | Skip]:
    """Yield a draft or a reason for each operator of the file that has no kernel for fake tensors."""
    if not source.project and not any(mark in source.content for mark in MARKS):
        return
    project = project_around(source)
    for operator in own_operators(source, project):
        if isinstance(operator, OwnOperator) and operator.path == source.path and _lacks(operator, source, project):
            yield from _answer(operator, source, project, context)


def _lacks(operator: OwnOperator, source: SourceFile, project: Project) -> bool:
    if operator.fakes or not operator.kernels or any(one.registration.stable for one in operator.registered):
        return False
    told = project.root is None and any(word in source.content for word in _ELSEWHERE)
    return not told and operator.name.partition(".")[0] not in project.fakes


def _answer(operator: OwnOperator, source: SourceFile, project: Project, context: Context) -> Iterator[Fix | Skip]:
    span = operator.start, operator.start + len(operator.schema.text)
    kernels = [found for one in operator.kernels if (found := own_kernel(project, one, source, context)) is not None]
    whys = []
    for kernel in kernels:
        made = allocations(kernel.know, kernel.function)
        if isinstance(made, Allocations):
            text = "\n" + scaffold(operator, kernel, made, context)
            end = len(source.content)
            message = (
                f"{operator.name} has no kernel for fake tensors; {kernel.function.name} allocates its outputs so:"
            )
            schema = widened_schema(operator, kernel)
            edits = [] if schema is None else [Edit(*span, schema.encode())]
            yield Fix(NAME, 4, Safety.MANUAL, (*edits, Edit(end, end, text.encode())), message, operator.name)
            return
        whys.append(made.why)
    why = f"; {whys[0]}" if whys else ""
    detail = f"{operator.name}: {SkipReason.NO_FAKE_KERNEL.sentence}{why}"
    yield Skip(NAME, 4, *span, SkipReason.NO_FAKE_KERNEL.value, detail, operator.name)


rule = Rule(NAME, Safety.MANUAL, "cpp", (b".def(", b"->def("), decide)

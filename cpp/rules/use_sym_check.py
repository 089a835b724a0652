"""Validate sizes with TORCH_SYM_CHECK, which defers undecided conditions to run time.

What: ``TORCH_CHECK(a == b, ...)`` on a SymInt becomes ``TORCH_SYM_CHECK(a.sym_eq(b), ...)``.

Why: the false side of a check is an error, so an undecided size needs no guard. The condition becomes a runtime
assertion, and the compiler may rely on it.

What it leaves alone: conditions joined by ``&&`` or ``||``, whose later part may only make sense if the first one
holds. Comparisons of arrays. Checks with another exception type, which have no symbolic form. Checks and assertions
whose message is the text of their condition, which would change. Kernels.

Safety: safe. On plain integers the two are the same check with the same message.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Rule, Safety, Skip
from ...codemods.model.source_file import SourceFile
from ...codemods.torchapi import available
from ..analysis.file.comparisons import comparison
from ..analysis.file.file_analysis import knowledge
from ..analysis.file.inference import Inference
from ..analysis.file.prefilter import worth_reading
from ..analysis.graph.reasons import SkipReason
from ..rewrite.sym_bool import as_method
from ..syntax.tree import arguments, every

NAME = "use_sym_check"
_OLD, _NEW = "TORCH_CHECK", "TORCH_SYM_CHECK"


def decide(source: SourceFile, context: Context) -> Iterator[Fix | Skip]:
    """Yield one Fix for each check whose condition is one comparison of a SymInt."""
    if not available(_NEW, context.min_torch, context.api) or not worth_reading(source, context):
        return
    know = knowledge(source, context)
    tree = know.model.tree
    for function in know.eligibility.functions:
        for node in every(function.body, "call_expression"):
            name = node.child_by_field_name("function")
            if name is None or tree.text(name) != _OLD or len(arguments(node)) < 2:
                continue
            if know.eligibility.in_kernel_code(function, node):
                continue
            condition = arguments(node)[0]
            found = comparison(know.types, condition)
            if found is not None and tree.trusted(node) is None:
                edits = (Edit(name.start_byte, name.end_byte, _NEW.encode()), *as_method(know.types, found))
                message = f"{_OLD} on a size to {_NEW}"
                yield Fix(NAME, 2, Safety.SAFE, edits, message, function=function.name)
            elif condition.type == "binary_expression" and _joins_sizes(know.types, condition):
                detail = "a part of the condition may only make sense if another holds: split the check by hand"
                span = (condition.start_byte, condition.end_byte)
                yield Skip(NAME, 2, *span, SkipReason.GUARDED_OPERAND.value, detail, function=function.name)


def _joins_sizes(types: Inference, condition: Node) -> bool:
    sign = condition.child_by_field_name("operator")
    if sign is None or types.model.tree.text(sign) not in ("&&", "||"):
        return False
    return any(comparison(types, node) is not None for node in every(condition, "binary_expression"))


rule = Rule(NAME, Safety.SAFE, "cpp", (b".sym_", b"->sym_"), decide)

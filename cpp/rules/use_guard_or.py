"""Let a branch on a size take the general path when the size is undecided.

What: ``if (n == 0)`` on a SymInt becomes ``if (TORCH_GUARD_OR_FALSE(n.sym_eq(0)))``, and ``n != 0`` likewise with
TORCH_GUARD_OR_TRUE, in an ``if`` or a conditional expression.

Why: an unbacked size has no value to decide the branch. The code must choose the path that is right for the general
case, a size of at least 2.

What it leaves alone: a comparison whose result varies among sizes of 2 and more (``n < k``). A general path that only
returns a constant or raises, so that the other side is the real work. A negated condition, loops and kernels.

Safety: unsafe. An undecided size takes the stated path, even if it is 0 or 1 at run time.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...codemods.model.rule import Context, Fix, Rule, Safety, Skip
from ...codemods.model.source_file import SourceFile
from ...codemods.torchapi import available
from ..analysis.file.branches import Branch, branch_of, gives_up
from ..analysis.file.comparisons import comparison
from ..analysis.file.default_choice import general_answer
from ..analysis.file.file_analysis import knowledge
from ..analysis.file.prefilter import worth_reading
from ..analysis.graph.reasons import SkipReason
from ..rewrite.sym_bool import as_method
from ..syntax.tree import Tree, every

NAME = "use_guard_or"


def decide(source: SourceFile, context: Context) -> Iterator[Fix | Skip]:
    """Yield one Fix for each comparison that decides a branch, and one Skip where neither side is the general one."""
    if not available("TORCH_GUARD_OR_FALSE", context.min_torch, context.api) or not worth_reading(source, context):
        return
    know = knowledge(source, context)
    tree = know.model.tree
    for function in know.eligibility.functions:
        for node in every(function.body, "binary_expression"):
            found = comparison(know.types, node)
            branch = None if found is None else branch_of(node)
            if found is None or branch is None or tree.trusted(node) is not None:
                continue
            if know.eligibility.in_kernel_code(function, node):
                continue
            answer = general_answer(know.types, found)
            reason = _against(tree, answer, branch)
            if answer is None or reason is not None:
                span = (node.start_byte, node.end_byte)
                detail = reason or "sizes of 2 and more take both sides: no default is right for the general case"
                yield Skip(NAME, 2, *span, SkipReason.NEITHER_BRANCH_GENERAL.value, detail, function=function.name)
                continue
            macro = "TORCH_GUARD_OR_TRUE" if answer else "TORCH_GUARD_OR_FALSE"
            edits = as_method(know.types, found, around=(f"{macro}(", ")"))
            message = f"{tree.text(node)} decides a branch: {macro}"
            default = f"{tree.text(node)} is taken to be {str(answer).lower()}, as for every size of at least 2"
            yield Fix(NAME, 2, Safety.UNSAFE, edits, message, function=function.name, default=default)


def _against(tree: Tree, answer: bool | None, branch: Branch) -> str | None:
    taken = branch.consequence if answer else branch.alternative
    if taken is not None and gives_up(tree, taken):
        return "the general side only returns a constant or raises: the other side is the real work"
    return None


rule = Rule(NAME, Safety.UNSAFE, "cpp", (b".sym_", b"->sym_"), decide)

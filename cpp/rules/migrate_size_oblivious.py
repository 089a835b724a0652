"""Replace TORCH_GUARD_SIZE_OBLIVIOUS by a guard with an explicit default.

What: ``TORCH_GUARD_SIZE_OBLIVIOUS(n.sym_eq(0))`` becomes ``TORCH_GUARD_OR_FALSE(n.sym_eq(0))``. A condition that holds
for every size of at least 2 becomes TORCH_GUARD_OR_TRUE.

Why: size-oblivious reasoning is being retired. It silently assumed that an undecided size is at least 2, which the new
macros make explicit.

What it leaves alone: conditions whose result varies among sizes of 2 and more, and anything that is not one comparison.

Safety: safe. Size-oblivious reasoning gave the same result for the same undecided sizes. A known size is compared as
before.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Rule, Safety, Skip
from ...codemods.model.source_file import SourceFile
from ...codemods.torchapi import available
from ..analysis.file.comparisons import comparison, from_method
from ..analysis.file.default_choice import general_answer
from ..analysis.file.file_analysis import knowledge
from ..analysis.graph.reasons import SkipReason
from ..syntax.tree import arguments, every, is_deep

NAME = "migrate_size_oblivious"
_OLD = "TORCH_GUARD_SIZE_OBLIVIOUS"


def decide(source: SourceFile, context: Context) -> Iterator[Fix | Skip]:
    """Yield one Fix or Skip for each use of the old macro, in any function."""
    if not available("TORCH_GUARD_OR_FALSE", context.min_torch, context.api):
        return
    know = knowledge(source, context)
    tree = know.model.tree
    for node in every(tree.root, "call_expression"):
        name = node.child_by_field_name("function")
        if name is None or tree.text(name) != _OLD or len(arguments(node)) != 1:
            continue
        owner = know.model.function_at(node.start_byte)
        function = None if owner is None else owner.name
        condition = arguments(node)[0]
        found = None if is_deep(condition) else from_method(know.types, condition) or comparison(know.types, condition)
        answer = None if found is None else general_answer(know.types, found)
        if answer is None or tree.trusted(node) is not None:
            detail = "sizes of 2 and more answer the condition differently, or it is no plain comparison"
            yield Skip(
                NAME,
                2,
                node.start_byte,
                node.end_byte,
                SkipReason.NEITHER_BRANCH_GENERAL.value,
                detail,
                function=function,
            )
            continue
        new = "TORCH_GUARD_OR_TRUE" if answer else "TORCH_GUARD_OR_FALSE"
        edits = (Edit(name.start_byte, name.end_byte, new.encode()),)
        default = f"an undecided size counts as one of at least 2, as before: {str(answer).lower()}"
        yield Fix(NAME, 2, Safety.SAFE, edits, f"{_OLD} to {new}", function=function, default=default)


rule = Rule(NAME, Safety.SAFE, "cpp", (_OLD.encode(),), decide)

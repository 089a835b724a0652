"""Pass guard macros a SymBool, not a bool that has already been guarded on.

What: ``TORCH_GUARD_OR_FALSE(n == 0)`` on a SymInt becomes ``TORCH_GUARD_OR_FALSE(n.sym_eq(0))``. The same applies to
the argument of TORCH_GUARD_OR_TRUE, TORCH_STATICALLY_KNOWN_TRUE and TORCH_GUARD_SIZE_OBLIVIOUS.

Why: ``n == 0`` is a plain bool. Computing it adds a guard, or throws on an undecided size, before the macro runs. Such
code looks fixed and is not.

What it leaves alone: conditions that are not one comparison of a SymInt.

Safety: safe. The result for a known size is the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...codemods.model.rule import Context, Fix, Rule, Safety
from ...codemods.model.source_file import SourceFile
from ..analysis.file.comparisons import comparison
from ..analysis.file.file_analysis import knowledge
from ..analysis.file.prefilter import GUARDS
from ..rewrite.sym_bool import as_method
from ..syntax.tree import arguments, every, is_deep

NAME = "use_sym_bool"


def decide(source: SourceFile, context: Context) -> Iterator[Fix]:
    """Yield one Fix for each macro whose argument is a comparison that is forced to a bool."""
    know = knowledge(source, context)
    tree = know.model.tree
    for node in every(tree.root, "call_expression"):
        name = node.child_by_field_name("function")
        if name is None or tree.text(name) not in GUARDS or len(arguments(node)) != 1:
            continue
        condition = arguments(node)[0]
        found = None if is_deep(condition) else comparison(know.types, condition, of_sizes=False)
        if found is not None and tree.trusted(node) is None:
            owner = know.model.function_at(node.start_byte)
            message = f"{tree.text(found.node)} forces its answer before {tree.text(name)} runs"
            edits = as_method(know.types, found)
            yield Fix(NAME, 2, Safety.SAFE, edits, message, function=None if owner is None else owner.name)


rule = Rule(NAME, Safety.SAFE, "cpp", tuple(macro.encode() for macro in GUARDS), decide)

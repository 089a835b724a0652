"""Read the size of a tensor: ``len(x)`` → ``x.size(0)``.

What: ``len`` of a value that is proven to be a tensor. The function must be registered in the file as a fake or meta
kernel or as a decomposition.

Why: ``len`` must return a plain integer, so it specializes the first size where ``size(0)`` returns the symbol.

Leaves alone: ``len`` of a possible list or shape, whose length is no size. A bound of ``range``, which needs a plain
integer in any case.

Safety: unsafe: a tensor without dimensions raises an ``IndexError`` instead of a ``TypeError``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.rule import Context, Fix, Rule, Safety, Skip
from ...codemods.model.source_file import SourceFile
from ..analysis.flow.dispatch_kind import REGISTERING_FAKES, DispatchedTensors, registered
from ..analysis.flow.fix_eligibility import obstacle
from ..analysis.flow.flow import flow
from ..analysis.flow.tracers import is_traced
from ..analysis.must.must_type_inference import surely
from ..analysis.types.may_types import Kind
from ..analysis.types.must_types import ScalarType
from ..rewrite.change_types import Plain
from ..rewrite.findings import change, skip
from ..syntax.module import Module, Place, parse
from ..syntax.tree import FunctionDefinition

NAME = "use_size_for_len"


def decide(source: SourceFile, context: Context) -> Iterator[Fix | Skip]:
    module = parse(source)
    for function in module.functions:
        if (
            context.all_functions
            or registered(module, function) is DispatchedTensors.FAKE
            or _is_asked(module, function, context)
        ):
            for node in function.nodes.calls:
                if len(node.args) == 1 and not node.keywords and module.names.meaning(node.func) == "builtins.len":
                    yield from _answer(module.place(node), node, context)


def _is_asked(module: Module, function: FunctionDefinition, context: Context) -> bool:
    return context.modules and not module.own_tree and is_traced(module, function, context)


def _answer(place: Place, call: ast.Call, context: Context) -> Iterator[Fix | Skip]:
    module, measured = place.module, call.args[0]
    if place.in_format_string or flow(module).kind(measured) is not Kind.TENSOR:
        return
    if surely(module).of(measured) is not ScalarType.TENSOR:
        return
    unfit = obstacle(place, context, scriptable=True)
    if unfit:
        yield skip(NAME, place, *unfit)
    elif _counts(place):
        yield skip(NAME, place, "keeps-static", "`range` needs a plain integer")
    else:
        doubts = ["a tensor without dimensions raises IndexError instead of TypeError"]
        yield change(NAME, place, [(call, Plain.MEASURED)], "`len` decides the size", doubts=doubts)


def _counts(place: Place) -> bool:
    above = place.module.parents[place.node]
    return isinstance(above, ast.Call) and place.module.names.meaning(above.func) == "builtins.range"


rule = Rule(NAME, Safety.UNSAFE, "Python", (b"len(",), decide, __doc__, REGISTERING_FAKES)

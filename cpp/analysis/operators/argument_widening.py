"""Integer parameters that are sizes: the evidence, and the signature that takes SymInts there.

A schema uses ``int`` for sizes and for much else. A parameter's name is no evidence. Only the uses of its value are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tree_sitter import Node

from ....codemods.torchapi import DispatcherSignature
from ...syntax.declarations import Function, Variable
from ...syntax.tree import arguments
from ...syntax.types import SYMBOLIC, Type, symbolic_text
from ..file.file_analysis import FileAnalysis
from ..file.methods import CONCRETE
from .argument_flow import DIMENSION, handing

_INTEGERS = frozenset({Type.INT, Type.INT_REF, Type.INT_VEC, Type.OPTIONAL_INT, Type.OPTIONAL_INT_REF})


def widened(function: Function, names: Collection[str], name: str | None = None) -> DispatcherSignature | None:
    """Return the signature of a function whose parameters ``names`` take SymInts, under a new name if given.

    Return None if one of the names is no parameter, or its type has no symbolic counterpart.
    """
    parameters: list[tuple[str, str]] = []
    for own in function.parameters:
        text: str | None = own.type_text
        if own.name in names:
            text = symbolic_text(own.type_text, own.type) if own.type in _INTEGERS else None
        if text is None:
            return None
        parameters.append((text, own.name))
    if not {own for _, own in parameters}.issuperset(names):
        return None
    return DispatcherSignature(name or function.name, tuple(parameters))


def evidence(know: FileAnalysis, function: Function, parameter: str) -> tuple[str, ...]:
    """Return the evidence that an integer parameter is a size, a sentence each. A dimension has no evidence."""
    variable = next((one for one in function.parameters if one.name == parameter), None)
    if variable is None or variable.type not in _INTEGERS:
        return ()
    summary = handing(know).of(function)
    if any(variable.position in one.origins and one.what == DIMENSION for one in summary.selected):
        return ()
    reached = (
        f"it reaches {one.operator.partition('.')[0]} where that takes a SymInt, line {one.line}"
        for one in summary.handed
        if variable.position in one.origins and one.type.startswith("SymInt")
    )
    return tuple(dict.fromkeys((*reached, *_equal_sizes(know, variable))))


def _equal_sizes(know: FileAnalysis, variable: Variable) -> Iterator[str]:
    """Yield a sentence for each place where the parameter itself must equal a size of a Tensor."""
    for use in know.model.references(variable):
        around = use.parent
        if around is None or around.type != "binary_expression":
            continue
        sign, left, right = (around.child_by_field_name(name) for name in ("operator", "left", "right"))
        if sign is None or left is None or right is None or sign.type not in ("==", "!="):
            continue
        other = right if left.id == use.id else left
        if _is_size(know, other):
            text = know.model.tree.text(other)
            yield f"it is compared with {text}, line {_line(know, use)}"


def _is_size(know: FileAnalysis, node: Node) -> bool:
    method = know.types.receiver(node) if node.type == "call_expression" else None
    if method is None or not know.types.is_tensor(method[0]):
        return False
    name = method[1].removeprefix("sym_")
    return name in CONCRETE and SYMBOLIC.get(CONCRETE[name][1]) is Type.SYM_INT and len(arguments(node)) <= 1


def _line(know: FileAnalysis, node: Node) -> int:
    return know.model.tree.content.count(b"\n", 0, node.start_byte) + 1

"""Places in a few lines of C++, and the facts of the C++ wing's handlers for them as short texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from goldens import installed_torch
from symfix.codemods.model.rule import Context
from symfix.codemods.model.source_file import SourceFile
from symfix.cpp.analysis.file.file_analysis import FileAnalysis, knowledge
from symfix.cpp.analysis.file.sources import seeds
from symfix.cpp.analysis.graph import dataflow_facts
from symfix.cpp.analysis.graph.graph import Form, Value
from symfix.cpp.analysis.handlers.pass_context import Pass
from symfix.cpp.syntax.types import Type
from tree_sitter import Node

HEAD = "#include <ATen/ATen.h>\nusing namespace at;\n"
PARAMETERS = (
    "const Tensor& t, const Tensor& u, int64_t n, int64_t k, IntArrayRef s, double x, "
    "std::vector<int64_t> v, OptionalIntArrayRef o, bool ok, TensorList ts"
)
CAUSE = Value(Form.SEED, "cause")
Handler = Callable[[Pass, Node, Node, Type, Value], Iterable[dataflow_facts.Fact]]


def known(text: str, path: str = "shapes.cpp", *, everything: bool = True) -> FileAnalysis:
    """Return the analysis of a file."""
    return knowledge(SourceFile(Path(path), text.encode()), Context(installed_torch(), None, everything))


def place(
    text: str, *, path: str = "shapes.cpp", promoted: dict[str, Type] | None = None, everything: bool = True
) -> tuple[Pass, Node]:
    """Return a pass over a file and the node between « and ». Only ``promoted`` is symbolic.

    A text that does not start a file becomes the body of ``f``, whose parameters are ``PARAMETERS``.
    """
    if not text.startswith((HEAD, "namespace")):
        text = f"{HEAD}Tensor f({PARAMETERS}) {{ {text} }}\n"
    start, end = text.index("«"), text.index("»") - 1
    know = known(text.replace("«", "").replace("»", ""), path, everything=everything)
    node = know.model.tree.root.named_descendant_for_byte_range(start, end)
    assert node is not None
    while node.parent is not None and (node.parent.start_byte, node.parent.end_byte) == (start, end):
        node = node.parent
    kinds = {node.id: kind for name, kind in (promoted or {}).items() for node in _named(know.model.tree.root, name)}
    live, _, _ = seeds(know, signatures=False)
    return Pass(know, know.model, know.types, kinds, {seed.call.id: seed for seed in live}, {}), node


def said(handler: Handler, text: str, kind: Type = Type.SYM_INT, promoted: dict[str, Type] | None = None) -> list[str]:
    """Return the facts of a syntactic parent's handler for the place between « and »."""
    p, node = place(text, promoted=promoted)
    assert node.parent is not None
    return shown(p, handler(p, node, node.parent, kind, CAUSE))


def shown(p: Pass, found: Iterable[dataflow_facts.Fact]) -> list[str]:
    """Return facts as texts."""
    return [_shown(p, fact) for fact in found]


def _named(root: Node, name: str) -> list[Node]:
    waiting, found = [root], []
    while waiting:
        node = waiting.pop()
        if node.text == name.encode():
            found.append(node)
        waiting.extend(node.children)
    return found


def _shown(p: Pass, fact: dataflow_facts.Fact) -> str:
    text = p.model.tree.text
    match fact:
        case dataflow_facts.Flows(_, node, kind):
            return f"{text(node)} is {kind.name}"
        case dataflow_facts.Becomes(_, variable, kind):
            return f"{variable.name} becomes {kind.name}"
        case dataflow_facts.Stores(_, variable, kind, node):
            return f"{variable.name} stores {kind.name} {text(node)}"
        case dataflow_facts.Gives(_, function, kind) | dataflow_facts.Returns(_, function, kind):
            return f"{function.name}() {type(fact).__name__.lower()} {kind.name}"
        case dataflow_facts.GivesPart(_, function, position, kind, _):
            return f"{function.name}() part {position} gives {kind.name}"
        case dataflow_facts.Puts(_, node, kind):
            return f"{text(node)} is assigned {kind.name}"
        case dataflow_facts.Keeps(_, _, key, kind):
            return f"saved_data[{key}] keeps {kind.name}"
        case dataflow_facts.Requires(_, node, convert):
            return f"{text(node)} is required" + (" or converted" if convert else "")
        case dataflow_facts.Constructs(_, node, _, kind):
            return f"{text(node)} constructs {kind.name}"
        case dataflow_facts.Links(_, effect, name):
            return f"{effect.form.name} {name or ''}".strip()
        case dataflow_facts.Refuses(_, node, reason):
            return f"refuses {reason.value} at {text(node)}"
        case dataflow_facts.Writes(_, node, new, span):
            start, end = span or (node.start_byte, node.end_byte)
            return f"'{p.model.tree.content[start:end].decode()}' to '{new}'"
        case dataflow_facts.Rearranges(_, node, pieces):
            return f"'{text(node)}' to '{''.join(one if isinstance(one, str) else text(one) for one in pieces)}'"
        case dataflow_facts.Matches(_, node):
            return f"{text(node)} has to match"
        case dataflow_facts.Deduces(_, variable):
            return f"{variable.name} is deduced"
        case dataflow_facts.Widens(_, field, _):
            return f"{field.owner}::{field.name} widens"
        case dataflow_facts.Divides(_, field):
            return f"{field.owner}::{field.name} may be divided"
        case dataflow_facts.Selects(_, _, method, operands):
            return f"{method} of {', '.join(map(text, operands))}"
        case dataflow_facts.Later(later):
            return f"later: {_shown(p, later)}"
    raise AssertionError(fact)

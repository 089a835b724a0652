"""Context of one pass over a file, which syntax handlers read while the live seeds are followed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from tree_sitter import Node

from ....codemods.torchapi import DispatcherSignature
from ...syntax.model import Model
from ...syntax.types import Type
from ..file.file_analysis import FileAnalysis
from ..file.inference import Inference
from ..file.sources import Seed


class Pass(NamedTuple):
    """The file and its symbolic expressions so far.

    ``promoted`` maps the node ids of expressions to their types, and ``live`` maps the node ids of calls to their
    seeds. ``expected`` maps the node ids of functions that follow their schema to the signatures.
    """

    know: FileAnalysis
    model: Model
    types: Inference
    promoted: Mapping[int, Type]
    live: Mapping[int, Seed]
    expected: Mapping[int, DispatcherSignature]
    symbolic_arguments: Collection[tuple[str, int]] = ()
    """Arguments of a project's own operators that take SymInts, by ``ns::name.overload`` and position."""

    def kind_of(self, node: Node) -> Type:
        """Return the type of an expression after the promotions so far."""
        return self.promoted.get(node.id) or self.types.type_of(node)

"""Translations of composite C++ operators, made from the source tree on demand."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from pathlib import Path

from ....cpp.translate.decompositions import Translator
from ....cpp.translate.tree_index import Sources
from ....cpp.translate.values import Untranslatable
from ...system.python_parser import parse_module
from ...torchapi import TorchApi

_HOME = Path("_decomp", "decompositions.py")


@dataclass
class Translations:
    """Translations of one tree for one torch. ``refused`` are the reasons for missing ones."""

    translator: Translator
    home: Path
    """File of torch's own decompositions. A translation is appended to it."""
    refused: dict[str, str] = field(default_factory=dict)
    _made: dict[str, tuple[str, tuple[str, ...]] | None] = field(default_factory=dict)

    @classmethod
    def of_tree(cls, torch_root: Path, target: TorchApi) -> Translations:
        """Build the translations of a source tree for the torch that ``target`` describes. Raises a TorchError."""
        home = target.package / _HOME
        top = parse_module(home.read_bytes()).body
        taken = {one.name for one in top if isinstance(one, ast.FunctionDef | ast.ClassDef)}
        return cls(Translator(TorchApi.load(torch_root), target, Sources(torch_root), taken), home)

    def of(self, operator: str) -> tuple[str, tuple[str, ...]] | None:
        """Return the text of a translation and the modules that it needs, or None if the translator refuses."""
        if operator not in self._made:
            try:
                made = self.translator.translate(operator)
                self._made[operator] = made.text, made.needs
            except Untranslatable as refusal:
                self._made[operator] = None
                self.refused[operator] = f"{refusal} (line {refusal.line})" if refusal.line else str(refusal)
        return self._made[operator]

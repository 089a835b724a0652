"""Translations of what C++ composes, made of the source tree at hand when a failure asks for them."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from pathlib import Path

from ....cpp.translate.composites import Translator
from ....cpp.translate.sources import Sources
from ....cpp.translate.values import Refused
from ...engine.parsing import parse_module
from ...torchapi import TorchApi

_HOME = Path("_decomp", "decompositions.py")


@dataclass
class Translations:
    """The translations of one tree for one torch; ``refused`` says of others why there are none."""

    translator: Translator
    home: Path
    """The file of torch's own decompositions: a translation is written below its end."""
    refused: dict[str, str] = field(default_factory=dict)
    _made: dict[str, tuple[str, tuple[str, ...]] | None] = field(default_factory=dict)

    @classmethod
    def of_tree(cls, torch_root: Path, target: TorchApi) -> Translations:
        """Those of a source tree, for the torch that ``target`` describes. Raises a TorchError."""
        home = target.package / _HOME
        top = parse_module(home.read_bytes()).body
        taken = {one.name for one in top if isinstance(one, ast.FunctionDef | ast.ClassDef)}
        return cls(Translator(TorchApi.load(torch_root), target, Sources(torch_root), taken), home)

    def of(self, operator: str) -> tuple[str, tuple[str, ...]] | None:
        """The text of a translation and the modules that it needs; None where the translator refuses."""
        if operator not in self._made:
            try:
                made = self.translator.translate(operator)
                self._made[operator] = made.text, made.needs
            except Refused as refusal:
                self._made[operator] = None
                self.refused[operator] = f"{refusal} (line {refusal.line})" if refusal.line else str(refusal)
        return self._made[operator]

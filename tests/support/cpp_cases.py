"""Small C++ files and their results in the C++ wing."""

from __future__ import annotations

from pathlib import Path

from goldens import installed_torch
from symfix.codemods.engine.fixpoint import FixOptions, rewrite
from symfix.codemods.engine.registry import load_language, load_rules
from symfix.codemods.model.outcome import Changed
from symfix.codemods.model.rule import Context, Fix, Skip
from symfix.codemods.model.source_file import SourceFile

WING = "symfix.cpp"


def skips(text: str, rule: str = "use_sym_sizes", path: str = "shapes.cpp", *, everything: bool = True) -> list[Skip]:
    """Return the skips of one rule in a file."""
    chosen = next(one for one in load_rules(WING) if one.name == rule)
    context = Context(installed_torch(), None, everything)
    found = chosen.decide(SourceFile(Path(path), text.encode()), context)
    return [outcome for outcome in found if isinstance(outcome, Skip)]


def offers(text: str, rule: str = "use_sym_sizes") -> list[Fix]:
    """Return the fixes of one rule, safe or not."""
    chosen = next(one for one in load_rules(WING) if one.name == rule)
    found = chosen.decide(SourceFile(Path("shapes.cpp"), text.encode()), Context(installed_torch(), None, True))
    return [outcome for outcome in found if isinstance(outcome, Fix)]


def rewritten(text: bytes, rule: str = "use_sym_sizes", path: Path = Path("shapes.cpp")) -> bytes:
    """Return the file after one rule with unsafe fixes, placed includes and wrapped lines."""
    rules = [one for one in load_rules(WING) if one.name == rule]
    context = Context(installed_torch(), None, True)
    outcome = rewrite(SourceFile(path, text), rules, load_language(WING), context, FixOptions(unsafe=True))
    return outcome.after if isinstance(outcome, Changed) else text

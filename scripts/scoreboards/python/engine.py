"""The Python wing's rules on one file, without writing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from symfix.codemods.engine.fixpoint import FixOptions, rewrite
from symfix.codemods.engine.registry import load_language, load_rules
from symfix.codemods.model.outcome import Changed, Refused, Unchanged
from symfix.codemods.model.rule import Context, Rule
from symfix.codemods.model.source_file import SourceFile
from symfix.codemods.torchapi import TorchApi

WING = "symfix.python"


@lru_cache(maxsize=1)
def installed_torch() -> TorchApi:
    return TorchApi.load(None, None)


@lru_cache(maxsize=1)
def rules() -> tuple[Rule, ...]:
    return tuple(load_rules(WING))


def site_packages() -> Path:
    """Return the folder that contains the installed torch, without importing torch."""
    spec = find_spec("torch")
    if spec is None or spec.origin is None:
        raise SystemExit("torch is not installed: scripts/venv verify,test")
    return Path(spec.origin).parents[1]


def rewritten(top: Path, file: str, *, unsafe: bool) -> Changed | Unchanged | Refused:
    """Apply the rules to ``file`` below ``top``."""
    source = SourceFile(Path(file), (top / file).read_bytes())
    return rewrite(
        source, rules(), load_language(WING), Context(installed_torch()), FixOptions(unsafe=unsafe, polish=False)
    )


def python_files(top: Path) -> Iterator[str]:
    """Yield the Python files of ``torch/`` below ``top`` that contain a marker of a rule."""
    markers = {marker for rule in rules() for marker in rule.markers}
    for path in sorted((top / "torch").rglob("*.py")):
        content = path.read_bytes()
        if any(marker in content for marker in markers):
            yield path.relative_to(top).as_posix()

"""Tests with Python files of other people: bytes outside of edits are unchanged, and a second run has no findings."""

from __future__ import annotations

import ast
import random
import sysconfig
from importlib.util import find_spec
from pathlib import Path

import pytest
from goldens import installed_torch
from symfix.codemods.engine.fixpoint import FixOptions, rewrite
from symfix.codemods.engine.registry import load_language, load_rules
from symfix.codemods.model.outcome import Changed, Refused, Unchanged
from symfix.codemods.model.rule import Context
from symfix.codemods.model.source_file import SourceFile

WING = "symfix.python"
COUNT = 60


def drawn() -> list[tuple[Path, str]]:
    """Return files of torch and the standard library with markers of some rule, drawn with a fixed seed."""
    torch = find_spec("torch")
    assert torch is not None
    assert torch.origin is not None
    package = Path(torch.origin).parent
    markers = {marker for rule in load_rules(WING) for marker in rule.markers}
    files = [(path, package.parent) for path in sorted(package.rglob("*.py"))]
    library = Path(sysconfig.get_path("stdlib"))
    files += [(path, library) for path in sorted(library.glob("*.py"))]
    looked_at = [(path, top) for path, top in files if any(marker in path.read_bytes() for marker in markers)]
    some = random.Random(0).sample(looked_at, COUNT)
    return [(path, path.relative_to(top).as_posix()) for path, top in some]


@pytest.mark.parametrize(("path", "name"), [pytest.param(*pair, id=pair[1]) for pair in drawn()])
def test_only_the_edits_differ_and_a_second_run_is_empty(path: Path, name: str) -> None:
    language = load_language(WING)
    content = path.read_bytes()
    context = Context(installed_torch(), all_functions=True)

    def run(text: bytes) -> Changed | Unchanged | Refused:
        return rewrite(
            SourceFile(Path(name), text), load_rules(WING), language, context, FixOptions(unsafe=True, polish=False)
        )

    outcome = run(content)
    if isinstance(outcome, Changed):
        assert language.errors(outcome.after) == 0
        assert not isinstance(run(outcome.after), Changed)
        kept = iter(outcome.after.splitlines())
        touched = {line for fix in outcome.applied for line in _lines(outcome.source, fix.edits)}
        touched |= _extended_imports(content)
        for number, line in enumerate(content.splitlines(), 1):
            assert number in touched or line in kept, f"line {number} is gone: {line!r}"
    else:
        assert isinstance(outcome, Unchanged)


def _extended_imports(content: bytes) -> set[int]:
    """Return the lines of imports to which a name may be added."""
    home = "torch.fx.experimental.symbolic_shapes"
    found = [one for one in ast.walk(ast.parse(content)) if isinstance(one, ast.ImportFrom) and one.module == home]
    return {line for one in found for line in range(one.lineno, (one.end_lineno or one.lineno) + 1)}


def _lines(source: SourceFile, edits: object) -> set[int]:
    numbers: set[int] = set()
    assert isinstance(edits, tuple)
    for edit in edits:
        first, last = source.line_column(edit.start)[0], source.line_column(edit.end)[0]
        numbers |= set(range(first, last + 1))
    return numbers


@pytest.mark.parametrize("text", [b"def f(:\n", b"print 1\n", b"x = '\xff'\n", b"\x00", b"if x:\n\ty\n        z\n"])
def test_what_does_not_parse_is_refused(text: bytes) -> None:
    source = SourceFile(Path("a.py"), b"# x.shape\n" + text)
    outcome = rewrite(
        source, load_rules(WING), load_language(WING), Context(installed_torch()), FixOptions(unsafe=True, polish=False)
    )
    assert isinstance(outcome, Refused)
    assert outcome.reason == "syntax-error"

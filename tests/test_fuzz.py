"""Tests with broken C++: a thousand mutated operator files through every C++ rule."""

from __future__ import annotations

import random
import re
from functools import lru_cache
from pathlib import Path

import pytest
from goldens import goldens, installed_torch
from symfix.codemods.engine.fixpoint import FixOptions, rewrite
from symfix.codemods.engine.registry import load_language, load_rules
from symfix.codemods.model.edit import Edit
from symfix.codemods.model.outcome import Changed
from symfix.codemods.model.rule import Context
from symfix.codemods.model.source_file import SourceFile
from symfix.cpp.syntax.tree import STATEMENTS, Tree, ancestors, errors
from tree_sitter import Node

WING = "symfix.cpp"
MUTANTS = 1000
CHUNKS = 40
_TOKEN = re.compile(rb"[A-Za-z_]\w*|\d[\w.]*|\"(?:[^\"\\\n]|\\.)*\"|::|->|[<>=!+\-*/&|]=|&&|\|\||<<|>>|[^\s\w]")


@lru_cache(maxsize=1)
def sources() -> tuple[tuple[bytes, ...], ...]:
    """Return operators with many fixes, and goldens, most of which do not change."""
    data = Path(__file__).parent / "data" / "operators.cpp"
    return (data.read_bytes(),), tuple(g.before.read_bytes() for g in goldens() if g.before.suffix == ".cpp")


def mutant(number: int) -> bytes:
    """Return one source with one to four of its tokens deleted, doubled or swapped with another."""
    luck = random.Random(number)
    text = luck.choice(luck.choice(sources()))
    for _ in range(luck.randint(1, 4)):
        body = text.find(b"{")
        tokens = [match.span() for match in _TOKEN.finditer(text, body)]
        if len(tokens) < 2:
            break
        (start, end), (other_start, other_end) = sorted(luck.sample(tokens, 2))
        one, other = text[start:end], text[other_start:other_end]
        match luck.choice(("delete", "double", "swap")):
            case "delete":
                text = text[:start] + text[end:]
            case "double":
                text = text[:end] + b" " + one + text[end:]
            case "swap":
                text = text[:start] + other + text[end:other_start] + one + text[other_end:]
    return text


_MACRO = re.compile(r"[A-Z][A-Z0-9_]*\([^;{}]*\)\Z")


def in_broken_statement(tree: Tree, edit: Edit) -> Node | None:
    """Return the error in the same statement as the edit, or None. Nested blocks without the edit are excluded."""
    node = tree.root.descendant_for_byte_range(edit.start, max(edit.start, edit.end - 1))
    while node is not None and node.type not in STATEMENTS:
        if node.type == "ERROR":
            return node
        node = node.parent
    for error in errors(node) if node is not None else ():
        if error.is_missing and error.parent is not None and _MACRO.match(tree.text(error.parent)):
            continue  # a macro may contain its own semicolon
        blocks = [above for above in ancestors(error) if above.type == "compound_statement"]
        inside = [block for block in blocks if node is not None and node.start_byte <= block.start_byte < node.end_byte]
        if all(block.start_byte <= edit.start < block.end_byte for block in inside):
            return error
    return None


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_mutants_never_crash_and_no_broken_statement_is_written(chunk: int) -> None:
    language, rules = load_language(WING), load_rules(WING)
    context = Context(installed_torch(), all_functions=True)
    for number in range(chunk, MUTANTS, CHUNKS):
        text = mutant(number)
        source = SourceFile(Path("aten/src/ATen/native/Mutant.cpp"), text)
        outcome = rewrite(source, rules, language, context, FixOptions(unsafe=True, polish=number % 10 == 0))
        if not isinstance(outcome, Changed):
            continue
        assert language.errors(outcome.after) <= language.errors(text), number
        tree = Tree(text)
        for fix in outcome.applied:
            for edit in fix.edits:
                error = in_broken_statement(tree, edit)
                assert error is None, f"mutant {number}: {fix.rule} wrote at {edit.start}, beside an error at {error}"


def test_the_fuzzer_breaks_things_and_leaves_things_to_fix() -> None:
    language, rules = load_language(WING), load_rules(WING)
    context = Context(installed_torch(), all_functions=True)
    mutants = [mutant(number) for number in range(0, MUTANTS, 10)]
    broken = sum(language.errors(text) > 0 for text in mutants)
    changed = sum(
        isinstance(
            rewrite(SourceFile(Path("m.cpp"), text), rules, language, context, FixOptions(polish=False)), Changed
        )
        for text in mutants
    )
    assert broken >= len(mutants) // 4
    assert changed >= len(mutants) // 3


def test_the_check_for_broken_statements_can_fail() -> None:
    text = b"void f() {\n  g(t.size(0);\n  h(t.size(1));\n}\n"
    tree = Tree(text)
    assert in_broken_statement(tree, Edit(text.index(b"size(0"), text.index(b"size(0") + 4, b"")) is not None
    assert in_broken_statement(tree, Edit(text.index(b"size(1"), text.index(b"size(1") + 4, b"")) is None

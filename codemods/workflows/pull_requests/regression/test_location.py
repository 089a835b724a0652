"""Location of a test in a source tree: a class of an existing file that tests unbacked sizes, else a new file."""

from __future__ import annotations

import ast
from collections.abc import Callable

from ....model.edit import Edit, apply
from ....system.python_parser import parse_module
from .test_source import FailingCall, method, standalone

FILES = ("test/test_dynamic_shapes.py", "test/inductor/test_unbacked_symints.py")
"""Files in which PyTorch's reviewers expect such tests, the preferred one first."""


def placed(words: FailingCall, backend: str, content: Callable[[str], bytes | None]) -> tuple[str, bytes, bytes]:
    """Return the file with the test, as (name below the tree, before, after).

    ``content`` returns a file of the tree by its name, or None. If no file is suitable, the test gets its own.
    """
    for name in FILES:
        before = content(name)
        after = _into(before, words, backend) if before else None
        if before and after:
            return name, before, after
    return f"test/{words.test}.py", b"", standalone(words, backend)


def _into(before: bytes, words: FailingCall, backend: str) -> bytes | None:
    """Return the file with the test at the end of a class of such tests, or None if it has none."""
    try:
        tree = parse_module(before)
    except (SyntaxError, ValueError):
        return None
    if "torch" not in _bound(tree) or b"\r" in before:
        return None
    classes = [(count, node) for node in tree.body if isinstance(node, ast.ClassDef) and (count := _alike(node))]
    if not classes:
        return None
    home = max(classes, key=lambda pair: pair[0])[1]
    taken = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    name = words.test
    while name in taken:
        name += "_sizes"
    line = home.end_lineno or home.lineno
    at = sum(len(text) for text in before.splitlines(keepends=True)[:line])
    after = apply(before, [Edit(at, at, b"\n" + method(words, backend, name))])
    try:
        parse_module(after)
    except SyntaxError:
        return None
    return after


def _bound(tree: ast.Module) -> set[str]:
    """Return the names that top-level imports bind."""
    imports = (node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom)))
    return {(alias.asname or alias.name).split(".")[0] for node in imports for alias in node.names}


def _alike(node: ast.ClassDef) -> int:
    """Count the tests of a plain TestCase that mark unbacked sizes and have no device parameter."""
    plain = any(ast.unparse(parent).rpartition(".")[2] in ("TestCase", "InductorTestCase") for parent in node.bases)
    indented = all(child.col_offset == 4 for child in node.body)
    if not plain or not indented:
        return 0
    tests = (child for child in node.body if isinstance(child, ast.FunctionDef) and child.name.startswith("test"))
    return sum(len(test.args.args) == 1 and "mark_unbacked" in ast.unparse(test) for test in tests)

"""Tests of the names that a scope binds, compared with the interpreter's own symbol table."""

from __future__ import annotations

import ast
import re
import symtable
import sysconfig
import textwrap
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from symfix.python.syntax import tree
from symfix.python.syntax.names import Scopes
from symfix.python.syntax.tree import DEFINITIONS, Survey, syntax_tree

STANDARD = Path(sysconfig.get_path("stdlib"))

WRITTEN = {
    "loops and deletions": (
        "def f(a, *b, c=1, **d):\n    for e, (g, *h) in a: pass\n    del i\n    j: int\n    k.l = m[n] = 0\n"
    ),
    "comprehensions keep their targets": "def f():\n    [x for x in y]\n    {p: q for p, q in y if (r := p)}\n",
    "a target of both kinds": "def f():\n    x = 1\n    return [x for x in y]\n",
    "lambdas keep theirs": "def f():\n    g = lambda h, i=(j := 1): (k := h)\n    k = [lambda: (m := 1) for n in o]\n",
    "global and nonlocal": (
        "x = 1\ndef f():\n    global x, y\n    x = y = z = 2\n    def g():\n        nonlocal z\n        z = w\n"
        "    class h:\n        global v\n        v = 1\n        u = 2\n"
    ),
    "imports": "import a.b\nimport c.d as e\ndef f():\n    from g import h as i, j\n    import k.l\n",
    "captures": (
        "def f(s):\n    match s:\n        case {'a': b, **c}: pass\n        case [d, *e] | (d, *e): pass\n"
        "        case g() as h: pass\n"
        "    try: pass\n    except E as i: pass\n    with j as k, l as (m, n): pass\n"
    ),
    "decorators, defaults and bases are outside": (
        "@(a := b)\ndef f(c=(d := 1)) -> (e := 2):\n    g = 1\nclass h(i := j, metaclass=(k := l)):\n    m = 1\n"
    ),
    "a walrus in a comprehension": "class a:\n    def f(self):\n        return [b for c in d if (b := c)]\n",
}


def tables(top: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for table in top.get_children():
        yield table
        yield from tables(table)


def is_changed(one: symtable.Symbol) -> bool:
    return one.is_assigned() or one.is_imported() or one.is_namespace()


def differences(content: bytes) -> list[tuple[str, int, set[str]]]:
    """Return scopes by name and line, with the names that only one side considers bound."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        top = symtable.symtable(content, "text", "exec")  # type: ignore[arg-type]
    survey = Survey(syntax_tree(content))
    scopes = Scopes(survey)
    classes = {node.name.lstrip("_") for node in survey.nodes.every(ast.ClassDef)}

    def plain(symbols: Iterable[symtable.Symbol]) -> set[str]:
        """Return the names without the class that the interpreter adds to private ones."""
        return {_PRIVATE.sub(lambda m: m[2] if m[1] in classes else m[0], one.get_name()) for one in symbols}

    at: dict[tuple[str, int], list[symtable.SymbolTable]] = {}
    for table in tables(top):
        at.setdefault((table.get_name(), table.get_lineno()), []).append(table)
    declared = plain(
        one for table in tables(top) for one in table.get_symbols() if one.is_declared_global() and is_changed(one)
    )
    pairs = [("module", 0, scopes.of_module, plain(filter(is_changed, top.get_symbols())) | declared)]
    for node in survey.nodes.every(*DEFINITIONS, ast.Lambda):
        name = "lambda" if isinstance(node, ast.Lambda) else node.name
        same = at[name, node.lineno]
        if len(same) == 1:
            local = plain(one for one in same[0].get_symbols() if one.is_local())
            pairs.append((name, node.lineno, scopes.local(node), local))
    return [(name, line, ours ^ theirs) for name, line, ours, theirs in pairs if ours != theirs]


_PRIVATE = re.compile(r"^_(\w+?)(__\w+)$")


@pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN)
def test_written_scopes_bind_what_the_interpreter_says(text: str) -> None:
    assert differences(text.encode()) == []
    assert differences(textwrap.indent(text, "    ").join(("class k:\n", "")).encode()) == []


def test_the_standard_library_binds_what_the_interpreter_says() -> None:
    files = sorted(STANDARD.glob("*.py"))[::3]
    assert len(files) > 40
    assert {file.name: found for file in files if (found := differences(file.read_bytes()))} == {}


def test_the_comparison_sees_a_name_that_is_bound_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "stored_in", lambda target: iter(()))
    assert [names for _, _, names in differences(WRITTEN["comprehensions keep their targets"].encode())] == [
        {"x", "p", "q"}
    ]

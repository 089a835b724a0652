"""Measures of the code of a checkout that tell how easily a stranger finds the way, one column for each tree.

Read from the text alone: nothing of a tree is imported or run.
"""

from __future__ import annotations

import argparse
import ast
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from .table import table

WINGS = ("codemods", "cpp", "python", "schemas")
LEAVES = ("rules", "candidates", "handlers", "entrypoints")
_QUESTIONS = re.compile(r"(What|Whether|Which|Where|How|Why|Who|When)\b")
_NOUNS = frozenset({"wording", "overloading"})


@dataclass(frozen=True)
class Checkout:
    """Checkout of symfix."""

    root: Path

    @cached_property
    def modules(self) -> Mapping[Path, ast.Module]:
        """The parsed modules of the product, by their paths."""
        paths = (path for wing in WINGS for path in sorted((self.root / wing).rglob("*.py")))
        return {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}

    @property
    def functions(self) -> Iterator[ast.FunctionDef]:
        """All functions and methods."""
        nodes = (node for tree in self.modules.values() for node in ast.walk(tree))
        return (node for node in nodes if isinstance(node, ast.FunctionDef))

    def lines(self, *folders: str) -> int:
        """Return the number of lines of the Python files in some folders."""
        paths = (path for folder in folders for path in (self.root / folder).rglob("*.py"))
        return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def parameters(function: ast.FunctionDef) -> int:
    """Return the number of parameters of a function without ``self`` and ``cls``."""
    given = function.args
    named = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len(named) - (named[:1] in (["self"], ["cls"]))


def _callbacks(function: ast.FunctionDef) -> int:
    given = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    return sum("Callable[" in ast.unparse(one.annotation) for one in given if one.annotation is not None)


def _stems(checkout: Checkout) -> Counter[str]:
    return Counter(path.stem for path in checkout.modules if not path.stem.startswith("__"))


def _classes(checkout: Checkout) -> Counter[str]:
    found = (node.name for tree in checkout.modules.values() for node in tree.body if isinstance(node, ast.ClassDef))
    return Counter(name for name in found if not name.startswith("_"))


def _docstrings(checkout: Checkout) -> Iterator[str]:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    nodes = (node for tree in checkout.modules.values() for node in ast.walk(tree) if isinstance(node, kinds))
    return (text for node in nodes if (text := ast.get_docstring(node)) is not None)


def _largest_room(checkout: Checkout) -> str:
    rooms = Counter(path.parent for path in checkout.modules if not path.stem.startswith("__"))
    room, count = max(((one, n) for one, n in rooms.items() if one.name not in LEAVES), key=lambda pair: pair[1])
    return f"{count} ({room.relative_to(checkout.root).as_posix()})"


def _words(checkout: Checkout) -> int:
    pages = (page for page in (checkout.root / "docs").rglob("*.md") if page.parent.name != "rules")
    return sum(len(page.read_text(encoding="utf-8").split()) for page in pages)


MEASURES: Mapping[str, Callable[[Checkout], object]] = {
    "parameters of a function, most": lambda tree: max(map(parameters, tree.functions)),
    "functions with more than 7": lambda tree: sum(parameters(one) > 7 for one in tree.functions),
    "callbacks in a signature, most": lambda tree: max(map(_callbacks, tree.functions)),
    "modules named by a gerund": lambda tree: sum(
        stem.endswith("ing") and "_" not in stem and stem not in _NOUNS for stem in _stems(tree).elements()
    ),
    "names of public classes used twice": lambda tree: sum(count > 1 for count in _classes(tree).values()),
    "names of modules used twice": lambda tree: sum(count > 1 for count in _stems(tree).values()),
    "docstrings that begin with What, How, …": lambda tree: sum(
        bool(_QUESTIONS.match(text)) for text in _docstrings(tree)
    ),
    "modules in a room, most": _largest_room,
    "modules; median lines; most lines": lambda tree: "{}; {:.0f}; {}".format(
        len(tree.modules),
        statistics.median(sizes := [len(path.read_text(encoding="utf-8").splitlines()) for path in tree.modules]),
        max(sizes),
    ),
    "lines of product and scripts": lambda tree: tree.lines(*WINGS, "scripts"),
    "lines of README; words of docs": lambda tree: "{}; {}".format(
        len((tree.root / "README.md").read_text(encoding="utf-8").splitlines()), _words(tree)
    ),
}


def main() -> None:
    """Print the measures of this checkout, and of further ones beside it."""
    parser = argparse.ArgumentParser(prog="scripts/house", description=__doc__)
    parser.add_argument("trees", nargs="*", type=Path, metavar="TREE", help="further checkouts")
    trees = [Checkout(root) for root in (Path(__file__).resolve().parents[2], *parser.parse_args().trees)]
    head = ("measure", *(tree.root.name for tree in trees))
    print(table([head, *((name, *(measure(tree) for tree in trees)) for name, measure in MEASURES.items())]))


if __name__ == "__main__":
    main()

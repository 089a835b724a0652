"""Tests of layers. Imports point downward: cli, commands, run, registry, wings, pure modules."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]

# Each layer may import from itself and from lower ones. An unlisted module has the layer of its package.
VALUES = {"lazily", "edits", "source", "rule", "outcome", "coordinates", "layout", "fingerprints", "collecting"}
FLOOR = {
    "storage", "reading", "repository", "config", "dying", "interrupting", "streams", "toml", "nearest",
    "written", "cluster", "parsing",
}  # fmt: skip
FLOORS = [
    VALUES | FLOOR,
    {"torchapi"},
    {"wings"},
    {"suppression", "ignoring", "intake", "writing", "rounds", "surroundings", "registry", "baseline", "families"},
    {"neighbourhood", "projects", "results"},
    {"run"},
    {"far"},
    {"lab"},
    {"verify"},
    {"hunt"},
    {"reports", "repair", "xfails", "regression"},
    {"series", "review", "export"},
    {"explain"},
    {"commands", "api"},
    {"cli"},
    {"lintrunner"},
]
WINGS = ("cpp", "python", "schemas")
ROOMS = ("syntax", "analysis", "translate", "rewrite", "rules")
"""Layers of a wing. Each may import from itself and from earlier ones. Only C++ is translated."""
LEVEL = {name: level for level, names in enumerate(FLOORS) for name in names}
PURE = VALUES | {"suppression", "ignoring", "rounds"}
SHELL = {"os", "subprocess", "shutil", "tempfile", "click", "rich", "io", "socket"}


def modules() -> list[Path]:
    return sorted(path for wing in ("codemods", *WINGS) for path in (TOP / wing).rglob("*.py"))


def floor(parts: tuple[str, ...]) -> str:
    """Return the name of the layer: for the engine the module, for a workflow its folder, else the first folder."""
    if parts[0] in WINGS:
        return "wings"
    return parts[2] if parts[1] in ("engine", "workflows") and len(parts) > 2 else parts[1]


def imports(path: Path) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the line and module of each import of symfix at run time. The module is a path from the top, in parts."""
    package = path.relative_to(TOP).parent.parts
    tree = ast.parse(path.read_text())
    hidden = {
        id(node)
        for test in ast.walk(tree)
        if isinstance(test, ast.If) and "TYPE_CHECKING" in ast.unparse(test.test)
        for node in ast.walk(test)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and id(node) not in hidden:
            if node.level:
                base = package[: len(package) - node.level + 1]
                full = (*base, *(node.module.split(".") if node.module else ()))
                for alias in node.names if TOP.joinpath(*full).is_dir() else [None]:
                    yield node.lineno, (*full, *((alias.name,) if alias else ()))
            elif (node.module or "").split(".")[0] == "symfix":
                raise AssertionError(f"{path}:{node.lineno}: absolute import of symfix inside the package")


@pytest.mark.parametrize("path", [pytest.param(path, id=path.relative_to(TOP).as_posix()) for path in modules()])
def test_imports_point_downward(path: Path) -> None:
    parts = path.relative_to(TOP).with_suffix("").parts
    if parts[-1] == "__init__" and len(parts) < 4:
        return
    here = LEVEL[floor(parts)]
    for line, target in imports(path):
        if target != ("codemods",):
            there = LEVEL[floor(target)]
            assert there <= here, f"{path.name}:{line} imports {'.'.join(target)}, which is a floor above it"


@pytest.mark.parametrize("wing", WINGS)
def test_the_rooms_of_a_wing_import_downward_and_in_no_circle(wing: str) -> None:
    folders = {path.parent.name for path in (TOP / wing).rglob("*.py") if path.parent != TOP / wing}
    assert folders == set(ROOMS) - (set() if wing == "cpp" else {"translate"})
    assert {path.name for path in (TOP / wing).glob("*.py")} == {"__init__.py", "language.py"}
    within: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for path in (TOP / wing).rglob("*.py"):
        here = path.relative_to(TOP).with_suffix("").parts
        targets = [(line, target) for line, target in imports(path) if target[0] == wing]
        within[here] = {target for _, target in targets}
        for line, target in targets:
            assert len(target) == 3, f"{path.name}:{line} imports {'.'.join(target)}, which is no module of a room"
            if len(here) == 3:
                level, above = ROOMS.index(here[1]), ROOMS.index(target[1])
                assert above <= level, f"{path.name}:{line} imports {'.'.join(target)} from a room above its own"
    done: set[tuple[str, ...]] = set()
    while ready := {module for module, targets in within.items() if module not in done and targets <= done}:
        done |= ready
    assert set(within) == done, f"in a circle: {sorted('.'.join(module) for module in set(within) - done)}"


@pytest.mark.parametrize("name", sorted(PURE))
def test_the_pure_floor_touches_no_file_and_no_process(name: str) -> None:
    tree = ast.parse((TOP / "codemods" / "engine" / f"{name}.py").read_text())
    imported = {
        alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    }
    imported |= {str(node.module).split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not imported & SHELL


def test_reports_are_pure() -> None:
    for path in (TOP / "codemods" / "reports").glob("*.py"):
        assert not {"subprocess", "click", "sys", "open("} & set(path.read_text().split()), path.name


def test_the_engine_knows_no_parser_and_no_rule() -> None:
    rules = {path.stem for wing in WINGS for path in (TOP / wing / "rules").glob("[!_]*.py")}
    assert rules
    for path in (TOP / "codemods").rglob("*.py"):
        if {"lab", "verify"} & {*path.parts}:
            continue
        text = path.read_text()
        for word in ("tree_sitter", "libcst", *rules):
            assert word not in text, f"{path.relative_to(TOP)} says {word}"


def test_wings_do_not_know_each_other() -> None:
    """Check the imports between wings. Only schemas may import cpp, because its kernels are C++."""
    for wing, others in (("cpp", {"python", "schemas"}), ("python", {"cpp", "schemas"}), ("schemas", {"python"})):
        for path in (TOP / wing).rglob("*.py"):
            assert all(target[0] not in others for _, target in imports(path))


def test_no_module_has_a_name_that_says_nothing() -> None:
    empty = {"utils", "util", "helpers", "helper", "common", "manager", "base", "misc"}
    assert not [path for path in modules() if path.stem.strip("_") in empty]

"""Tests of layers. Imports point downward: cli, commands, run, registry, wings, pure modules."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]

# Each layer may import from itself and from lower ones. An unlisted module has the layer of its package.
FLOORS = [
    {"model"},
    {"system"},
    {"torchapi"},
    {"wings"},
    {
        "suppression", "suppression_edits", "file_discovery", "fixpoint", "torch_context", "registry", "baseline",
        "multi_file",
    },
    {"cache_dependencies", "project_facts", "result_cache"},
    {"run"},
    {"remote"},
    {"harness"},
    {"verify"},
    {"hunt"},
    {"reports", "repair", "xfails", "regression"},
    {"series", "review", "export"},
    {"explain"},
    {"server"},
    {"commands", "api"},
    {"cli"},
    {"lintrunner", "pytest_plugin"},
]  # fmt: skip
WINGS = ("cpp", "python", "schemas")
ROOMS = ("syntax", "analysis", "translate", "rewrite", "candidates", "rules")
"""Layers of a wing. Each may import from itself and from earlier ones."""
ONLY_IN = {"translate": "cpp", "candidates": "python"}
FOLDERS = {
    "cpp/analysis": ("graph", "file", "handlers", "propagation", "operators"),
    "python/analysis": ("types", "flow", "decisions", "must"),
    "codemods/harness/children": ("overlay", "samples", "recorders", "protocols", "entrypoints"),
}
"""Folders of a room in layers."""
LEVEL = {name: level for level, names in enumerate(FLOORS) for name in names}
PURE = ["model/*", "engine/suppression", "engine/suppression_edits", "engine/fixpoint"]
SHELL = {"os", "subprocess", "shutil", "tempfile", "click", "rich", "io", "socket"}


def modules() -> list[Path]:
    return sorted(path for wing in ("codemods", *WINGS) for path in (TOP / wing).rglob("*.py"))


def floor(parts: tuple[str, ...]) -> str:
    """Return the name of the layer: for the engine the module, for a workflow its folder, else the first folder."""
    if parts[0] in WINGS:
        return "wings"
    depth = 3 if "pull_requests" in parts else 2 if parts[1] in ("engine", "workflows") else 1
    return parts[depth] if len(parts) > depth else parts[1]


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
    if parts[-1] == "__init__":
        return
    here = LEVEL[floor(parts)]
    for line, target in imports(path):
        if target != ("codemods",):
            there = LEVEL[floor(target)]
            assert there <= here, f"{path.name}:{line} imports {'.'.join(target)}, which is a floor above it"


@pytest.mark.parametrize("wing", WINGS)
def test_the_rooms_of_a_wing_import_downward_and_in_no_circle(wing: str) -> None:
    folders = {path.relative_to(TOP / wing).parts[0] for path in (TOP / wing).rglob("*/*.py")}
    assert folders == {room for room in ROOMS if ONLY_IN.get(room, wing) == wing}
    assert {path.name for path in (TOP / wing).glob("*.py")} == {"__init__.py", "language.py"}
    within: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for path in (TOP / wing).rglob("*.py"):
        here = path.relative_to(TOP).with_suffix("").parts
        targets = [(line, target) for line, target in imports(path) if target[0] == wing]
        within[here] = {target for _, target in targets}
        for line, target in targets:
            is_module = TOP.joinpath(*target).with_suffix(".py").is_file()
            assert is_module, f"{path.name}:{line} imports {'.'.join(target)}, which is no module of a room"
            if len(here) > 2:
                level, above = ROOMS.index(here[1]), ROOMS.index(target[1])
                assert above <= level, f"{path.name}:{line} imports {'.'.join(target)} from a room above its own"
    done: set[tuple[str, ...]] = set()
    while ready := {module for module, targets in within.items() if module not in done and targets <= done}:
        done |= ready
    assert set(within) == done, f"in a circle: {sorted('.'.join(module) for module in set(within) - done)}"


@pytest.mark.parametrize("room", FOLDERS)
def test_the_folders_of_a_room_import_downward(room: str) -> None:
    order = FOLDERS[room]
    depth = len(room.split("/"))
    assert {path.parent.name for path in (TOP / room).glob("*/*.py")} == set(order)
    for level, folder in enumerate(order):
        for path in (TOP / room / folder).glob("*.py"):
            for line, target in imports(path):
                if "/".join(target[:depth]) == room and len(target) > depth + 1:
                    assert order.index(target[depth]) <= level, f"{path.name}:{line} imports {'.'.join(target)}"


@pytest.mark.parametrize("path", [path for name in PURE for path in (TOP / "codemods").glob(f"{name}.py")])
def test_the_pure_floor_touches_no_file_and_no_process(path: Path) -> None:
    tree = ast.parse(path.read_text())
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
        if {"harness", "verify"} & {*path.parts}:
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

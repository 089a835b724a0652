"""Index of a project's dispatcher registrations by name, in C++ and in Python."""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from ...codemods.system.python_parser import parse_module
from .library_blocks import MARKS, Registration, read_blocks, registering_macros
from .macros import Macro

SUFFIXES = (".cpp", ".cc", ".cxx", ".cu", ".h", ".hpp", ".cuh", ".py")
_PYTHON_WORDS = re.compile(rb"\b(?:register_fake|impl_abstract|custom_op|triton_op)\b|\btorch\.library\b|\bLibrary\(")
_IN_FRONT = re.compile(rb"\b([A-Za-z_]\w*)\s*\(")
_FAKES = frozenset({"register_fake", "impl_abstract", "custom_op", "triton_op", "register_meta"})


@dataclass(frozen=True)
class Registered:
    """A registration and its file, relative to the project's folder."""

    file: str
    registration: Registration


@dataclass(frozen=True)
class Project:
    """The registrations of all files.

    ``holding`` maps a registered function's name to the files that contain it in front of a parenthesis. ``fakes`` are
    the operators that have a fake kernel in Python, without overload. ``sources`` are the C++ files. ``callers`` are
    the Python files that name a fake kernel or call an operator. All paths are relative to the project's folder.
    """

    root: Path | None = None
    macros: Mapping[str, Macro] = field(default_factory=dict)
    registered: tuple[Registered, ...] = ()
    fakes: frozenset[str] = frozenset()
    sources: tuple[str, ...] = ()
    callers: tuple[str, ...] = ()
    holding: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @cached_property
    def by_function(self) -> Mapping[str, Sequence[Registered]]:
        """Return the registrations by the last part of each name that may be the registered function's."""
        found: dict[str, list[Registered]] = defaultdict(list)
        for one in self.registered:
            for name in one.registration.functions:
                found[name.rpartition("::")[2]].append(one)
        return found

    @cached_property
    def by_operator(self) -> Mapping[str, Sequence[Registered]]:
        """Return the registrations by the operator's name with its namespace and without its overload."""
        found: dict[str, list[Registered]] = defaultdict(list)
        for one in self.registered:
            found[one.registration.operator.partition(".")[0]].append(one)
        return found


NO_PROJECT = Project()


def read_project(root: Path, files: Sequence[Path]) -> bytes:
    """Return the serialized index of a project's files. `project_of` deserializes it."""
    contents = {}
    for path in files:
        try:
            contents[path] = path.read_bytes()
        except OSError:
            continue
    sources = {path: content for path, content in contents.items() if path.suffix != ".py"}
    macros = registering_macros([text.decode("latin-1") for text in sources.values() if b"define" in text])
    words = (*MARKS, *(name.encode() for name in macros))
    speaks = re.compile(rb"\b\w*(?:" + b"|".join(map(re.escape, words)) + rb")")
    rows = [
        [str(path.relative_to(root)), *astuple(registration)]
        for path, content in sources.items()
        if speaks.search(content)
        for block in read_blocks(content, macros)
        for registration in block.registrations
    ]
    fakes = {name for path, text in contents.items() if path.suffix == ".py" for name in _python_fakes(text)}
    if not rows and not fakes and not macros:
        return b""
    kept = {
        "root": str(root),
        "macros": [[macro.name, macro.parameters, macro.body] for macro in macros.values()],
        "registered": rows,
        "fakes": sorted(fakes),
        "sources": [str(path.relative_to(root)) for path in sources],
        "holding": _holding(root, sources, {name.rpartition("::")[2] for row in rows for name in row[2]}),
        "callers": [
            str(path.relative_to(root))
            for path, text in contents.items()
            if path.suffix == ".py" and (_PYTHON_WORDS.search(text) or b"torch.ops." in text)
        ],
    }
    return json.dumps(kept, separators=(",", ":")).encode()


@lru_cache(maxsize=8)
def project_of(said: bytes) -> Project:
    """Return the deserialized index."""
    if not said:
        return NO_PROJECT
    kept = json.loads(said)
    return Project(
        Path(kept["root"]),
        {name: Macro(name, None if listed is None else tuple(listed), body) for name, listed, body in kept["macros"]},
        tuple(_registered(row) for row in kept["registered"]),
        frozenset(kept["fakes"]),
        tuple(kept["sources"]),
        tuple(kept["callers"]),
        kept["holding"],
    )


def _holding(root: Path, sources: Mapping[Path, bytes], names: set[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    wanted = {name.encode() for name in names}
    for path, content in sources.items():
        for name in wanted.intersection(_IN_FRONT.findall(content)):
            found[name.decode()].append(str(path.relative_to(root)))
    return found


def project_of_file(file: str, content: bytes) -> Project:
    """Return a project of only one file."""
    blocks = read_blocks(content, {})
    return Project(registered=tuple(Registered(file, one) for block in blocks for one in block.registrations))


def _registered(row: Sequence[Any]) -> Registered:
    file, operator, functions, *rest = row
    return Registered(file, Registration(operator, tuple(functions), *rest))


def _python_fakes(content: bytes) -> Iterator[str]:
    """Yield the operators that have a fake kernel in a Python file, if their names are written out."""
    if not _PYTHON_WORDS.search(content):
        return
    try:
        tree = parse_module(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    libraries = {
        target.id: _text(node.value.args[0])
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _last(node.value.func) == "Library"
        for target in node.targets
        if isinstance(target, ast.Name) and node.value.args
    }
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        words = [_text(argument) for argument in call.args]
        name = next((word for word in words if word), "")
        if _last(call.func) in _FAKES:
            yield _plain(name)
        elif _last(call.func) == "impl" and "Meta" in (*words, *(_text(one.value) for one in call.keywords)):
            holder = call.func.value if isinstance(call.func, ast.Attribute) else None
            owner = next((one for one in (holder, *call.args[:1]) if isinstance(one, ast.Name)), None)
            space = libraries.get(owner.id, "") if owner is not None else ""
            yield _plain(name if "::" in name or not space else f"{space}::{name}")


def faked_operators(function: ast.FunctionDef) -> Iterator[str]:
    """Yield the operators, as ``ns::name``, whose fake kernel a decorated Python function is."""
    for decorator in function.decorator_list:
        words = [_text(argument) for argument in decorator.args] if isinstance(decorator, ast.Call) else []
        if not words or not isinstance(decorator, ast.Call):
            continue
        if _last(decorator.func) in _FAKES or (_last(decorator.func) == "impl" and "Meta" in words):
            yield _plain(next((word for word in words if word), ""))


def _plain(name: str) -> str:
    return name.partition("(")[0].strip().partition(".")[0]


def _last(called: ast.expr) -> str:
    return called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""

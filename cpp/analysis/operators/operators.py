"""Operators of a project outside of torch: their schemas and their kernel functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from ....codemods.model.rule import Context
from ....codemods.model.source_file import SourceFile
from ....codemods.torchapi import DeclaredSchema, SchemaError, read_schema
from ...syntax.declarations import Function
from ...syntax.library_blocks import read_blocks
from ...syntax.project import Project, Registered, project_of, project_of_file
from ..file.file_analysis import FileAnalysis, knowledge
from ..file.registrations import is_for_fakes, is_named


@dataclass(frozen=True)
class Unclear:
    """A schema of the file that can't be analysed: its byte range, and the reason."""

    start: int
    end: int
    why: str


@dataclass(frozen=True)
class OwnOperator:
    """An operator of the project. ``start`` is the schema's first byte in its file."""

    name: str
    schema: DeclaredSchema
    path: Path
    start: int
    registered: tuple[Registered, ...]

    @property
    def fakes(self) -> tuple[Registered, ...]:
        """Return the registrations of functions or lambdas that run on fake tensors."""
        return tuple(
            one
            for one in self.registered
            if is_for_fakes(one.registration.key)
            and (one.registration.functions or one.registration.is_lambda)
            and not one.registration.stable
        )

    @property
    def kernels(self) -> tuple[Registered, ...]:
        """Return the registrations for devices."""
        fakes = self.fakes
        return tuple(one for one in self.registered if one.registration.functions and one not in fakes)


@dataclass(frozen=True)
class OwnKernel:
    """A function of the project that is a kernel of an operator."""

    know: FileAnalysis
    source: SourceFile
    function: Function


def project_around(source: SourceFile) -> Project:
    """Return the project of a file, or a project of only the file.

    The file's own registrations are read from its present content, which may not be on disk yet.
    """
    found = project_of(source.project)
    if found.root is None:
        return project_of_file(str(source.path), source.content)
    here = _relative(source.path, found.root)
    own = tuple(
        Registered(here, one) for block in read_blocks(source.content, found.macros) for one in block.registrations
    )
    return replace(found, registered=(*(one for one in found.registered if one.file != here), *own))


def own_operators(source: SourceFile, project: Project) -> Iterator[OwnOperator | Unclear]:
    """Yield the operators whose schemas or possible kernels a file contains.

    ``Unclear`` are unreadable schemas of its own.
    """
    here = str(source.path) if project.root is None else _relative(source.path, project.root)
    held = {name for name, files in project.holding.items() if here in files}
    for one in project.registered:
        said = one.registration
        if said.schema is None or said.stable:
            continue
        mine = tuple(
            other
            for other in project.by_operator[said.operator.partition(".")[0]]
            if other.registration.operator == said.operator
        )
        if one.file != here and not any(_last(name) in held for other in mine for name in other.registration.functions):
            continue
        found = _operator(one, mine, project)
        if isinstance(found, OwnOperator) or (found is not None and one.file == here):
            yield found


def _operator(one: Registered, mine: tuple[Registered, ...], project: Project) -> OwnOperator | Unclear | None:
    said = one.registration
    assert said.schema is not None
    places = sorted(other.file for other in mine if other.registration.schema is not None)
    if len(places) > 1:
        files = ", ".join(dict.fromkeys(places))
        return Unclear(said.start, said.end, f"{said.operator} is defined {len(places)} times ({files})")
    if said.schema_start < 0:
        return None
    if any(mark in said.schema for mark in ("{{", "{%")):
        return Unclear(said.start, said.end, "a tag of a template stands in this schema")
    try:
        # Replace line continuations and escaped quotes by blanks, so that offsets are unchanged.
        schema = read_schema(said.schema.replace("\\\n", "  ").replace('\\"', ' "'))
    except SchemaError as error:
        return Unclear(said.start, said.end, str(error))
    path = Path(one.file) if project.root is None else project.root / one.file
    return OwnOperator(said.operator, schema, path, said.schema_start, mine)


def _last(name: str) -> str:
    return name.rpartition("::")[2]


def own_kernel(project: Project, one: Registered, source: SourceFile, context: Context) -> OwnKernel | None:
    """Return the function that a registration names. Search the registration's file first, then the other files."""
    for name in one.registration.functions:
        for file in _looked_at(project, one, name, source):
            know = knowledge(file, context)
            found = [own for own in know.model.named(_last(name)) if is_named(own, name)]
            if len(found) == 1 and (not found[0].internal or _is_file(file, one, project)):
                return OwnKernel(know, file, found[0])
    return None


def _looked_at(project: Project, one: Registered, name: str, source: SourceFile) -> Iterator[SourceFile]:
    if project.root is None:
        yield source
        return
    holding = project.holding.get(_last(name), ())
    home = [one.file] if one.file in holding else []
    for path in (project.root / file for file in dict.fromkeys((*home, *holding))):
        file = source if path == source.path else _read(path, source.project)
        if file is not None:
            yield file


def _is_file(file: SourceFile, one: Registered, project: Project) -> bool:
    return project.root is None or file.path == project.root / one.file


def other_files(project: Project, source: SourceFile) -> Sequence[SourceFile]:
    """Return all C++ files of a project."""
    if project.root is None:
        return (source,)
    paths = (project.root / file for file in project.sources)
    found = (source if path == source.path else _read(path, source.project) for path in paths)
    return tuple(file for file in found if file is not None)


@lru_cache(maxsize=512)
def _read(path: Path, said: bytes) -> SourceFile | None:
    try:
        return SourceFile(path, path.read_bytes(), project=said)
    except OSError:
        return None


def _relative(path: Path, root: Path) -> str:
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)

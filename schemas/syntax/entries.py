"""Entries of native_functions.yaml and derivatives.yaml as text, with the byte position of each part.

The files are edited by byte ranges, so that comments, order and layout stay. They are read line by line, in the one
layout that they are written in. Another layout is an error that names the line.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from ...codemods.model.edit import Edit
from ...codemods.torchapi import DeclaredSchema, SchemaError, read_schema

_ENTRY = re.compile(rb"- (?P<key>func|name):[ \t]*(?P<text>\S.*?)[ \t]*\r?\n?\Z")
_FIELD = re.compile(rb"(?P<indent> +)(?P<key>[\w, ]+?):[ \t]*(?P<value>.*?)[ \t]*\r?\n?\Z")
_COMMENT = re.compile(rb"[ \t]*(?:#.*)?\r?\n?\Z")
_INDENT = 2


class EntryError(ValueError):
    """Unreadable file of entries. ``str()`` is one line with the position."""


@dataclass(frozen=True)
class TextPiece:
    """Text of a file and its position."""

    text: str
    start: int

    @property
    def end(self) -> int:
        """Return the offset of the byte after the text."""
        return self.start + len(self.text.encode())


@dataclass(frozen=True)
class Line:
    """``key: value`` of an entry. The lines below it that are indented further are its ``inner`` lines."""

    key: TextPiece
    value: TextPiece
    end: int
    """Byte offset after the line and its inner lines."""
    inner: tuple[Line, ...] = ()


@dataclass(frozen=True)
class Entry:
    """Entry of one operator. ``start`` is the position of its schema, ``end`` the byte after its last line."""

    schema: DeclaredSchema
    start: int
    head_end: int
    """Byte offset after the line with the schema."""
    end: int
    line: int
    fields: tuple[Line, ...]

    @property
    def name(self) -> str:
        """Return the operator's name with its overload."""
        return self.schema.full_name

    def widened(self, names: Collection[str]) -> Iterator[Edit]:
        """Yield the edits that make the arguments of these names take SymInts."""
        for argument in self.schema.arguments:
            if argument.name in names and argument.widened is not None:
                at = self.start + argument.start
                yield Edit(at, at + len(argument.type), argument.widened.encode())

    def field(self, key: str) -> Line | None:
        """Return the line of that key, or None."""
        return next((one for one in self.fields if one.key.text == key), None)

    def value(self, key: str) -> str:
        """Return the value of that key, or ''."""
        found = self.field(key)
        return "" if found is None else found.value.text

    @property
    def dispatch(self) -> tuple[Line, ...]:
        """Return the dispatch table: keys with commas, and the kernel of each."""
        found = self.field("dispatch")
        return () if found is None else found.inner


def read_entries(content: bytes, path: str) -> Mapping[str, Entry]:
    """Return the entries of a file by the names of their operators. Raises EntryError with ``path`` and the line."""
    found: dict[str, Entry] = {}
    for number, start, lines in _blocks(content):
        entry = _entry(lines, start, number, path)
        if entry.name in found:
            first = found[entry.name].line
            raise EntryError(f"{path}:{number}: {entry.name} is defined twice, first in line {first}")
        found[entry.name] = entry
    if not found:
        raise EntryError(f"{path}: no operator is defined here ('- func: …' or '- name: …')")
    return found


def _blocks(content: bytes) -> Iterator[tuple[int, int, list[bytes]]]:
    """Yield the number and the offset of the first line of each entry, and its lines.

    Blank lines and comments at the end of an entry are omitted.
    """
    block: list[bytes] = []
    first = offset = at = 0
    for number, line in enumerate(content.splitlines(keepends=True), 1):
        if line.startswith(b"- "):
            if block:
                yield first, offset, _trimmed(block)
            block, first, offset = [], number, at
        if block or line.startswith(b"- "):
            block.append(line)
        at += len(line)
    if block:
        yield first, offset, _trimmed(block)


def _trimmed(block: list[bytes]) -> list[bytes]:
    while len(block) > 1 and _COMMENT.match(block[-1]):
        block.pop()
    return block


def _entry(lines: list[bytes], start: int, number: int, path: str) -> Entry:
    head = _ENTRY.match(lines[0])
    if head is None:
        raise EntryError(f"{path}:{number}: an entry starts with '- func: …' or '- name: …'")
    text = head["text"].decode(errors="replace")
    at = start + head.start("text")
    if text[:1] in "'\"" and text[-1:] == text[:1]:
        text, at = text[1:-1], at + 1
    try:
        schema = read_schema(text)
    except SchemaError as error:
        raise EntryError(f"{path}:{number}: {error}") from None
    fields = tuple(_fields(lines[1:], start + len(lines[0]), number + 1, path))
    end = start + sum(map(len, lines))
    return Entry(schema, at, start + len(lines[0]), end, number, fields)


def _fields(lines: list[bytes], start: int, number: int, path: str, depth: int = _INDENT) -> Iterator[Line]:
    """Yield the lines at one depth, each with the lines below it."""
    waiting: Line | None = None
    below: list[bytes] = []
    for offset, line in enumerate(lines):
        found = None if _COMMENT.match(line) else _FIELD.match(line)
        if found is not None and len(found["indent"]) == depth:
            if waiting is not None:
                yield _whole(waiting, below, number + offset - len(below), path, depth)
            waiting, below = _line(found, start, start + len(line)), []
        elif waiting is not None:
            below.append(line)
        elif not _COMMENT.match(line):
            raise EntryError(f"{path}:{number + offset}: not a line 'key: value' of an entry")
        start += len(line)
    if waiting is not None:
        yield _whole(waiting, below, number + len(lines) - len(below), path, depth)


def _line(found: re.Match[bytes], start: int, end: int) -> Line:
    key = TextPiece(found["key"].decode(), start + found.start("key"))
    return Line(key, TextPiece(found["value"].decode(errors="replace"), start + found.start("value")), end)


def _whole(head: Line, below: list[bytes], number: int, path: str, depth: int) -> Line:
    """Return a line with the lines below it: the rest of its value, or lines of a table."""
    below = _trimmed([b"", *below])[1:]
    end = head.end + sum(map(len, below))
    if any(line.lstrip().startswith(b"- ") for line in below):
        return Line(head.key, head.value, end)  # a list
    if not head.value.text or head.value.text.startswith("#"):
        return Line(head.key, head.value, end, tuple(_fields(below, head.end, number, path, depth + _INDENT)))
    value = head.value
    at = head.end
    for line in below:
        text = value.text + " " * (at - value.end) + line.rstrip().decode(errors="replace")
        value = TextPiece(text, value.start)
        at += len(line)
    return Line(head.key, value, end)

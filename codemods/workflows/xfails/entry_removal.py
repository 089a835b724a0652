"""Removal of entries from sets and lists. Every other byte is unchanged."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ...model.edit import Edit, apply
from ...system.python_parser import parse_module
from .xfail_lists import line_starts

_OLD_ENTRY = re.compile(rb"#\s*(?:xfail|skip|decorate|skipIf\w*|subtest)\s*\(")


class NotRemovable(Exception):
    """Error for text that would not parse as expected after the removal."""


@dataclass(frozen=True)
class _Element:
    start: int
    end: int
    gone: bool


def without(content: bytes, spans: Collection[tuple[int, int]]) -> bytes:
    """Return ``content`` without the elements at ``spans`` (bytes). Raises NotRemovable.

    A comment after an element is removed with it. One above a group of elements is removed with the last of them.
    """
    after = apply(content, edits(content, spans)) if spans else content
    try:
        same = ast.dump(parse_module(after)) == ast.dump(_expected(content, set(spans)))
    except SyntaxError:
        same = False
    if not same:
        raise NotRemovable("the list would not read as it should without them")
    return after


def edits(content: bytes, spans: Collection[tuple[int, int]]) -> list[Edit]:
    """Return the deletions that `without` makes."""
    text = _Text(content)
    gone = set(spans)
    found: list[Edit] = []
    for node in ast.walk(parse_module(content)):
        if isinstance(node, (ast.Set, ast.List)):
            elements = [_Element(*text.span(child), text.span(child) in gone) for child in node.elts]
            if any(element.gone for element in elements):
                here = _merged(text.deletions(text.span(node), elements))
                found += _emptied(node, text, here) if all(element.gone for element in elements) else here
    return _merged(found)


def _emptied(node: ast.Set | ast.List, text: _Text, deletions: list[Edit]) -> list[Edit]:
    """Return the edits of an emptied set or list: ``set()`` for a set, unchanged lines if comments remain."""
    start, end = text.span(node)
    opening, closing = (b"set(", b")") if isinstance(node, ast.Set) else (b"[", b"]")
    inner = text.content[start + 1 : end - 1]
    left = apply(inner, [Edit(one.start - start - 1, one.end - start - 1, b"") for one in deletions])
    if not left.strip():
        return [Edit(start, end, opening + closing)]
    return [Edit(start, start + 1, opening), *deletions, Edit(end - 1, end, closing)]


def _merged(found: Iterable[Edit]) -> list[Edit]:
    merged: list[Edit] = []
    for edit in sorted(found):
        if merged and not edit.text and not merged[-1].text and edit.start <= merged[-1].end:
            merged[-1] = Edit(merged[-1].start, max(merged[-1].end, edit.end), b"")
        else:
            merged.append(edit)
    return merged


def _expected(content: bytes, gone: set[tuple[int, int]]) -> ast.Module:
    text = _Text(content)

    class Without(ast.NodeTransformer):
        def visit_Set(self, node: ast.Set) -> ast.expr:
            node.elts = [self.visit(child) for child in node.elts if text.span(child) not in gone]
            if node.elts:
                return node
            return ast.Call(ast.Name("set", ast.Load()), [], [])

        def visit_List(self, node: ast.List) -> ast.expr:
            node.elts = [self.visit(child) for child in node.elts if text.span(child) not in gone]
            return node

    tree: ast.Module = Without().visit(parse_module(content))
    return tree


class _Text:
    """Source text by bytes and lines (from 0), with its comments."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.starts = line_starts(content)
        self.comments = dict(self._comments())

    def span(self, node: ast.expr) -> tuple[int, int]:
        return (
            self.starts[node.lineno - 1] + node.col_offset,
            self.starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0),
        )

    def line_of(self, at: int) -> int:
        """Return the line, from 0, of a byte offset."""
        return min(bisect_right(self.starts, at), len(self.starts) - 1) - 1

    def line(self, number: int) -> bytes:
        return self.content[self.starts[number] : self.starts[number + 1]]

    def deletions(self, holder: tuple[int, int], elements: Sequence[_Element]) -> Iterator[Edit]:
        """Yield the deletions of the removed elements, so that the rest of the set or list is laid out well."""
        lines_gone: set[int] = set()
        for cluster in self._clusters(elements):
            first, last = self.line_of(cluster[0].start), self.line_of(cluster[-1].end - 1)
            if all(element.gone for element in cluster) and self._alone(cluster, first, last):
                lines_gone |= set(range(first, self.line_of(self._comma(cluster[-1].end)[1] - 1) + 1))
            else:
                yield from self._inside(cluster, holder)
        lines_gone |= set(self._comments_gone(holder, elements, lines_gone))
        lines_gone |= set(self._blank_lines_gone(holder, lines_gone))
        for number in sorted(lines_gone):
            yield Edit(self.starts[number], self.starts[number + 1], b"")

    def _clusters(self, elements: Sequence[_Element]) -> Iterator[list[_Element]]:
        """Yield runs of elements that share lines."""
        run: list[_Element] = []
        for element in elements:
            if run and self.line_of(element.start) != self.line_of(run[-1].end - 1):
                yield run
                run = []
            run.append(element)
        yield run

    def _alone(self, cluster: Sequence[_Element], first: int, last: int) -> bool:
        """Return whether the lines contain only the cluster, its comma and a comment."""
        begin = self.content[self.starts[first] : cluster[0].start]
        end, comma = cluster[-1].end, self._comma(cluster[-1].end)[1]
        line_end = self.starts[self.line_of(comma - 1) + 1]
        rest = self.content[comma:line_end].strip()
        between = self.content[end:comma].strip(b" \t\r\n,")
        return not begin.strip() and (not rest or rest.startswith(b"#")) and not between

    def _comma(self, at: int) -> tuple[int, int]:
        """Return start and end of the comma after an element, or ``at`` twice if there is none."""
        here = at
        while here < len(self.content):
            byte = self.content[here : here + 1]
            if byte == b",":
                return here, here + 1
            if byte == b"#":
                here = self.starts[self.line_of(here) + 1]
            elif byte in b" \t\r\n":
                here += 1
            else:
                break
        return at, at

    def _inside(self, cluster: Sequence[_Element], holder: tuple[int, int]) -> Iterator[Edit]:
        """Yield deletions within lines that are kept."""
        runs = [(gone, list(run)) for gone, run in groupby(cluster, key=lambda element: element.gone)]
        for number, (gone, run) in enumerate(runs):
            if not gone:
                continue
            start, end = run[0].start, run[-1].end
            if number + 1 < len(runs):
                yield Edit(start, runs[number + 1][1][0].start, b"")
            elif number:
                yield Edit(runs[number - 1][1][-1].end, end, b"")
            else:
                comma = self._comma(end)[1]
                while comma < holder[1] and self.content[comma : comma + 1] in (b" ", b"\t"):
                    comma += 1
                yield Edit(start, comma, b"")

    def _comments_gone(
        self, holder: tuple[int, int], elements: Sequence[_Element], lines_gone: set[int]
    ) -> Iterator[int]:
        """Yield the lines of comments that are only about removed elements."""
        first, last = self.line_of(holder[0]), self.line_of(holder[1] - 1)
        spans = [(self.line_of(element.start), self.line_of(element.end - 1)) for element in elements]
        occupied = {number for begin, end in spans for number in range(begin, end + 1)}
        column = min(element.start - self.starts[line] for element, (line, _) in zip(elements, spans, strict=True))
        heading: list[int] = []
        members: list[bool] = []
        above: bool | None = None
        for number in range(first + 1, last + 1):
            comment = None if number in occupied else self.comments.get(number)
            if comment is not None and above is not None and comment > column:
                # It continues the comment after the entry above it.
                if above:
                    yield number
            elif number in occupied:
                above = number in lines_gone
                members.append(above)
            else:
                above = None
                if comment is None or members:
                    yield from heading if members and all(members) else ()
                    heading, members = [], []
                if comment is not None:
                    heading.append(number)
                    # An old entry in a comment is kept there on purpose.
                    members += [False] if _OLD_ENTRY.match(self.line(number).strip()) else []

    def _blank_lines_gone(self, holder: tuple[int, int], lines_gone: set[int]) -> Iterator[int]:
        """Yield blank lines that only separated removed lines from the rest."""
        first, last = self.line_of(holder[0]), self.line_of(holder[1] - 1)
        number = first + 1
        while number < last:
            if number not in lines_gone:
                number += 1
                continue
            stop = number
            while stop < last and stop in lines_gone:
                stop += 1
            blank_before = number - 1 == first or not self.line(number - 1).strip()
            if blank_before and stop < last and not self.line(stop).strip():
                yield stop
            elif stop == last and number - 1 > first and not self.line(number - 1).strip():
                yield number - 1
            number = stop + 1

    def _comments(self) -> Iterator[tuple[int, int]]:
        """Yield the lines that contain only a comment, with its column in bytes."""
        for token in tokenize.tokenize(io.BytesIO(self.content).readline):
            if token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip():
                yield token.start[0] - 1, len(token.line[: token.start[1]].encode())

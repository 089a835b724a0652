"""Syntax tree of one C++ file, with original byte offsets, and its trustworthy parts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

import tree_sitter_cpp
from tree_sitter import Language, Node, Parser, Query, QueryCursor

from ...codemods.model.source_file import SourceFile
from .macro_mask import Masked, macro_bodies, mask_attributes, mask_preprocessor, template_tags

CPP = Language(tree_sitter_cpp.language())

STATEMENTS = frozenset(
    {
        "expression_statement", "declaration", "return_statement", "if_statement", "for_statement", "while_statement",
        "do_statement", "for_range_loop", "switch_statement", "case_statement", "throw_statement",
        "function_definition", "field_declaration", "condition_clause",
    }
)  # fmt: skip


class Tree:
    """A parsed file. ``text(node)`` is the original text, never the masked one.

    Names, operators and other nodes without children are never masked, except for the tags of a template, so
    ``node.text`` is the same there.
    """

    def __init__(self, content: bytes) -> None:
        self.content = content
        parser = Parser(CPP)
        masked = mask_attributes(content)
        tree = parser.parse(masked.text)
        if tree.root_node.has_error:
            deeper = mask_preprocessor(masked)
            other = parser.parse(deeper.text)
            if count_errors(other.root_node) < count_errors(tree.root_node):
                masked, tree = deeper, other
        self._tree = tree
        self.masked: Masked = masked
        self.root: Node = tree.root_node
        self.tags = template_tags(content) if b"{%" in content else ()
        """Positions of the tags of a template."""
        self._macro_bodies = macro_bodies(content) if b"define" in content else {}

    def text(self, node: Node) -> str:
        """Return the original source text of a node."""
        return self.content[node.start_byte : node.end_byte].decode()

    def trusted(self, node: Node) -> str | None:
        """Return None if a node may be edited, else the reason: a parse error or a preprocessor branch."""
        statement: Node | None = node
        while statement is not None and statement.type not in STATEMENTS:
            if statement.type == "ERROR" or statement.is_missing:
                return "parse-error"
            statement = statement.parent
        if statement is None or _own_errors(statement, node):
            return "parse-error"
        around: Node | None = node
        while around is not None and around.type not in (
            "function_definition",
            "lambda_expression",
            "namespace_definition",
        ):
            if around.type.startswith("preproc_"):
                return "preprocessor-branch"
            around = around.parent
        return None

    def unfollowed(self, node: Node) -> str | None:
        """Return the reason code if a function definition is not analysed, else None."""
        if any(start < node.end_byte and node.start_byte < end for start, end in self.tags):
            return "template-tag"
        return "nested-too-deeply" if is_deep(node) else None

    def macro(self, name: str) -> str | None:
        """Return the body of a macro without parameters, or None for any other name."""
        parameters, body = self._macro_bodies.get(name.encode(), (None, b""))
        return None if parameters is None else body.decode().strip()

    def hidden_use(self, name: str, scope: Node) -> str | None:
        """Return the reason why the tree may miss uses of ``name`` inside ``scope``, or None if it has all of them."""
        word = re.compile(rb"\b" + re.escape(name.encode()) + rb"\b")
        for macro, (parameters, body) in self._macro_bodies.items():
            used = re.compile(rb"\b" + macro + rb"\b").search(self.content, scope.start_byte, scope.end_byte)
            if used and name.encode() not in parameters and word.search(body):
                return "macro-body"
        for start, end in self.masked.hidden:
            if start < scope.end_byte and scope.start_byte < end and word.search(self.content, start, end):
                return "preprocessor-branch"
        if scope.has_error:
            for node in doubts(scope):
                holder = node.parent if node.parent is not None and node.is_missing else node
                if word.search(self.content, holder.start_byte, holder.end_byte):
                    return "parse-error"
        return None


def parse(source: SourceFile) -> Tree:
    """Return the tree of a file."""
    return tree_of(source.content)


@lru_cache(maxsize=6)
def tree_of(content: bytes) -> Tree:
    """Return the tree of a text. The last few are cached, since every rule requests the same one."""
    return Tree(content)


def every(node: Node, *kinds: str) -> list[Node]:
    """Return the nodes of these kinds at or below ``node``, in source order. It is several times faster than a walk."""
    return [found["node"][0] for _, found in QueryCursor(_query(kinds)).matches(node)]


@cache
def _query(kinds: tuple[str, ...]) -> Query:
    return Query(CPP, f"[{' '.join(f'({kind})' for kind in kinds)}] @node")


def walk(node: Node) -> Iterator[Node]:
    """Yield the node and everything below it, in source order."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(current.children))


def errors(node: Node) -> Iterator[Node]:
    """Yield the ERROR and MISSING nodes at or below ``node``."""
    stack = [node]
    while stack:
        current = stack.pop()
        if current.type == "ERROR" or current.is_missing:
            yield current
        if current.has_error:
            stack.extend(reversed(current.children))


def doubts(node: Node) -> Iterator[Node]:
    """Return the errors at or below ``node``, except the missing semicolon of a statement macro."""
    return (error for error in errors(node) if not _ends_macro(error))


def _ends_macro(error: Node) -> bool:
    """Return whether an error is a missing semicolon behind ``CHECK(…)``. Such a macro is a whole statement."""
    holder = error.parent
    in_statement = holder is not None and holder.type == "expression_statement" and holder.named_child_count
    call = holder.named_child(0) if holder is not None and in_statement else None
    if call is None or not error.is_missing or error.type != ";":
        return False
    name = call.child_by_field_name("function") if call.type == "call_expression" else None
    return name is not None and re.fullmatch(rb"[A-Z][A-Z0-9_]*", name.text or b"") is not None


def count_errors(node: Node) -> int:
    """Return the number of ERROR and MISSING nodes of a tree."""
    return sum(1 for _ in errors(node))


DEEPEST = 200
"""Limit on the nesting of nodes in a function that is analysed. Handwritten code remains below it, except for a few
generated tables."""


def is_deep(node: Node) -> bool:
    """Return whether the nesting below ``node`` is deeper than the limit."""
    cursor, depth = node.walk(), 0
    while True:
        if depth > DEEPEST:
            return True
        if cursor.goto_first_child():
            depth += 1
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent() or depth == 1:
                return False
            depth -= 1


def ancestors(node: Node) -> Iterator[Node]:
    """Yield the parents of a node, innermost first."""
    parent = node.parent
    while parent is not None:
        yield parent
        parent = parent.parent


def statement_of(node: Node) -> Node:
    """Return the innermost statement around a node, or the node itself if there is none."""
    return next((around for around in ancestors(node) if around.type in STATEMENTS), node)


def arguments(call: Node) -> list[Node]:
    """Return the argument expressions of a call, an initializer list or an argument list, without comments."""
    listed = call if call.type in ("argument_list", "initializer_list") else call.child_by_field_name("arguments")
    return [] if listed is None else [child for child in listed.named_children if child.type != "comment"]


def _own_errors(statement: Node, node: Node) -> bool:
    """Return whether a statement has an error outside the nested blocks that do not contain ``node``."""
    if not statement.has_error:
        return False
    for error in doubts(statement):
        inner: Node | None = error if error.type != "ERROR" else error.parent
        while inner is not None and inner.id != statement.id and inner.type not in STATEMENTS:
            inner = inner.parent
        if inner is None or inner.id == statement.id:
            return True
        if inner.start_byte <= node.start_byte and node.end_byte <= inner.end_byte:
            return True
    return False

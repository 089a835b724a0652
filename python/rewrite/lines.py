"""Text, comments and line breaks of a LibCST tree: an expression on one line, or with other indentation."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ..analysis.types.cannot_rewrite import CannotRewrite

Blank = cst.BaseParenthesizableWhitespace
_NOWHERE = cst.Module([])
_NOTHING, _BLANK = cst.SimpleWhitespace(""), cst.SimpleWhitespace(" ")


def code(node: cst.CSTNode) -> str:
    """Return the text of a tree."""
    return _NOWHERE.code_for_node(node)


def comments(node: cst.CSTNode) -> list[str]:
    """Return the comments in a tree, in order."""
    if "#" not in code(node):
        return []
    found = _Comments()
    node.visit(found)
    return found.found


class _Comments(cst.CSTVisitor):
    def __init__(self) -> None:
        self.found: list[str] = []

    def visit_Comment(self, node: cst.Comment) -> None:
        self.found.append(node.value)


def broken(*blanks: object) -> bool:
    """Return whether any whitespace between tokens contains a line break."""
    return any(
        isinstance(blank, cst.ParenthesizedWhitespace)
        or (isinstance(blank, cst.SimpleWhitespace) and ("\n" in blank.value or "\r" in blank.value))
        for blank in blanks
    )


def one_line(tree: cst.BaseExpression) -> cst.BaseExpression | None:
    """Return ``tree`` without its line breaks, or None if a comment ends a line.

    Raise CannotRewrite if a string spans several lines.
    """
    if not _breaks(tree):
        return tree
    if comments(tree):
        return None
    if string_breaks(tree):
        raise CannotRewrite("multi-line", "a string goes over the end of a line")
    return flat(tree)


def string_breaks(tree: cst.BaseExpression) -> bool:
    """Return whether a string in ``tree`` spans several lines."""
    return _breaks(flat(tree))


def flat(tree: cst.BaseExpression) -> cst.BaseExpression:
    """Return ``tree`` on one line, without its comments. A string may still span several lines."""
    flat = tree.visit(_Flattener()) if _breaks(tree) else tree
    assert isinstance(flat, cst.BaseExpression)
    return flat


def new_line(indentation: str) -> cst.ParenthesizedWhitespace:
    """Return a line break inside brackets. The next line is indented by ``indentation`` more than the statement."""
    return cst.ParenthesizedWhitespace(last_line=cst.SimpleWhitespace(indentation), indent=True)


def indented(tree: cst.BaseExpression, block: str, indentation: str) -> cst.BaseExpression:
    """Return ``tree`` with the outermost lines at ``indentation``, relative to the indentation ``block``."""
    gathered = _Indentations(block)
    tree.visit(gathered)
    moved = tree.visit(_Indenter(block, _common(gathered.found), indentation))
    assert isinstance(moved, cst.BaseExpression)
    return moved


def _common(texts: Sequence[str]) -> str:
    """Return the common prefix of the texts, or an empty string without texts."""
    if not texts:
        return ""
    first, last = min(texts), max(texts)
    differing = (at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other)
    return first[: next(differing, min(len(first), len(last)))]


def _breaks(tree: cst.CSTNode) -> bool:
    return not {"\n", "\r"}.isdisjoint(code(tree))


class _Flattener(cst.CSTTransformer):
    """Transformer that replaces line breaks by blanks, or by nothing next to a bracket.

    A trailing comma before a bracket is removed too.
    """

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> cst.CSTNode:  # type: ignore[override]
        if isinstance(original_node, (cst.SimpleWhitespace, cst.ParenthesizedWhitespace)):
            return _BLANK if broken(original_node) else updated_node
        if isinstance(original_node, (cst.LeftParen, cst.LeftSquareBracket, cst.LeftCurlyBrace)):
            return _closed(original_node, updated_node, "whitespace_after")
        if isinstance(original_node, (cst.RightParen, cst.RightSquareBracket, cst.RightCurlyBrace)):
            return _closed(original_node, updated_node, "whitespace_before")
        if isinstance(original_node, cst.Call):
            return _without_comma(original_node, _closed(original_node, updated_node, "whitespace_before_args"), "args")
        if isinstance(original_node, cst.Subscript):
            return _without_comma(original_node, updated_node, "slice")
        if isinstance(original_node, (cst.Tuple, cst.List, cst.Set, cst.Dict)):
            return _without_comma(original_node, updated_node, "elements")
        return updated_node


def _closed(original: cst.CSTNode, updated: cst.CSTNode, field: str) -> cst.CSTNode:
    return updated.with_changes(**{field: _NOTHING}) if broken(getattr(original, field)) else updated


def _without_comma(original: cst.CSTNode, updated: cst.CSTNode, field: str) -> cst.CSTNode:
    """Remove the comma behind the last item if a line ended there, unless it makes a tuple."""
    items = getattr(original, field)
    last = items[-1] if items else None
    if last is None:
        return updated
    made = getattr(updated, field)[-1]
    if isinstance(last, cst.Arg):
        made = _closed(last, made, "whitespace_after_arg")
    comma = last.comma
    if isinstance(comma, cst.Comma):
        ends = broken(comma.whitespace_after) or broken(_before_closing(original))
        tuple_of_one = len(items) == 1 and isinstance(original, (cst.Tuple, cst.Subscript))
        if ends and tuple_of_one:
            made = made.with_changes(comma=cst.Comma())
        elif ends:
            made = made.with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return updated.with_changes(**{field: [*getattr(updated, field)[:-1], made]})


def _before_closing(node: cst.CSTNode) -> object:
    """Return the whitespace before the bracket that closes a display."""
    if isinstance(node, cst.Tuple):
        return node.rpar[0].whitespace_before if node.rpar else None
    closing = getattr(node, "rbracket", None) or getattr(node, "rbrace", None)
    return closing.whitespace_before if closing is not None else None


class _Indentations(cst.CSTVisitor):
    """Collector of the indentation of the broken lines of a tree."""

    def __init__(self, block: str) -> None:
        self._block = block
        self.found: list[str] = []

    def visit_ParenthesizedWhitespace(self, node: cst.ParenthesizedWhitespace) -> None:
        self.found.append(_begins(self._block, node.indent, node.last_line))
        for line in node.empty_lines:
            if line.comment is not None:
                self.found.append(_begins(self._block, line.indent, line.whitespace))


def _begins(block: str, indent: bool, blanks: cst.SimpleWhitespace) -> str:
    return (block if indent else "") + blanks.value


class _Indenter(cst.CSTTransformer):
    def __init__(self, block: str, common: str, indentation: str) -> None:
        super().__init__()
        self._block, self._common, self._indentation = block, common, indentation

    def leave_ParenthesizedWhitespace(
        self, original_node: cst.ParenthesizedWhitespace, updated_node: cst.ParenthesizedWhitespace
    ) -> cst.ParenthesizedWhitespace:
        first = original_node.first_line
        return updated_node.with_changes(
            first_line=first if first.comment else first.with_changes(whitespace=_NOTHING),
            empty_lines=[self._line(line) for line in original_node.empty_lines],
            indent=True,
            last_line=self._moved(original_node.indent, original_node.last_line),
        )

    def leave_SimpleWhitespace(
        self, original_node: cst.SimpleWhitespace, updated_node: cst.SimpleWhitespace
    ) -> cst.BaseParenthesizableWhitespace:
        return new_line(self._indentation) if broken(original_node) else updated_node

    def _line(self, line: cst.EmptyLine) -> cst.EmptyLine:
        if line.comment is None:
            return line.with_changes(indent=False, whitespace=_NOTHING)
        return line.with_changes(indent=True, whitespace=self._moved(line.indent, line.whitespace))

    def _moved(self, indent: bool, blanks: cst.SimpleWhitespace) -> cst.SimpleWhitespace:
        return cst.SimpleWhitespace(self._indentation + _begins(self._block, indent, blanks).removeprefix(self._common))

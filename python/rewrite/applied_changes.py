"""Application of `changes` to an expression by a LibCST transformer, which preserves whitespace and comments."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, reduce

import libcst as cst

from ...codemods.model.edit import Edit
from ...codemods.system.python_parser import parse_expression
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..syntax.module import Module
from . import change_types as to
from .expressions import NO_BLANK, Binding, call, comparison, grouped, name, needed_by, own_parentheses, ungrouped
from .lines import Blank, broken, code, comments

_OPPOSITE: dict[type[cst.BaseCompOp], type[cst.BaseCompOp]] = {
    cst.Equal: cst.NotEqual,
    cst.NotEqual: cst.Equal,
    cst.LessThan: cst.GreaterThanEqual,
    cst.LessThanEqual: cst.GreaterThan,
    cst.GreaterThan: cst.LessThanEqual,
    cst.GreaterThanEqual: cst.LessThan,
    cst.Is: cst.IsNot,
    cst.IsNot: cst.Is,
    cst.In: cst.NotIn,
    cst.NotIn: cst.In,
}
_BITWISE: dict[str, tuple[type[cst.BitAnd | cst.BitOr], Binding]] = {
    "&": (cst.BitAnd, Binding.BIT_AND),
    "|": (cst.BitOr, Binding.BIT_OR),
}
_OPERATORS = {"==": cst.Equal, "!=": cst.NotEqual, ">=": cst.GreaterThanEqual}


@dataclass(frozen=True)
class _Question:
    """An expression and the changes to it, without its place. Parts are numbered in the order of ``ast.walk``."""

    text: str
    numbered: tuple[tuple[int, to.Change], ...]
    needed: Binding
    node: ast.expr = field(compare=False)
    changes: to.Changes = field(compare=False)


def rewritten(module: Module, node: ast.expr, changes: to.Changes) -> Edit:
    """Return the edit that makes ``changes`` to ``node`` and its parts.

    Raise CannotRewrite if a comment would be lost.
    """
    start, end = module.grouped_span(node)
    content = module.source.content
    numbers = {part: number for number, part in enumerate(ast.walk(node))}
    numbered = tuple((numbers[part], change) for part, change in changes)
    needed = needed_by(module.parents[node], node)
    text = _written(_Question(content[start:end].decode(), numbered, needed, node, changes))
    return _edit(content, (start, end), text)


# Between two saves of a file in an editor most expressions stay, and LibCST takes half of the time of a check.
@lru_cache(maxsize=1024)
def _written(asked: _Question) -> str:
    fragment = Fragment(asked.text)
    return fragment.written(grouped(changed(asked.node, fragment.tree, asked.changes), asked.needed))


def changed(node: ast.expr, tree: cst.BaseExpression, changes: to.Changes) -> cst.BaseExpression:
    """Return ``tree``, the LibCST tree of ``node``, with the changes made to it and its parts."""
    result = tree.visit(_Rewriter(node, tree, changes))
    assert isinstance(result, cst.BaseExpression)
    return result


class Fragment:
    """One expression, with the parentheses that group it."""

    def __init__(self, text: str) -> None:
        """Parse the expression. Raise CannotRewrite if LibCST does not reproduce the text."""
        self.text = text
        try:
            # Inside parentheses, line breaks are allowed anywhere.
            self._whole = cst.parse_module(f"({self.text})")
        except cst.ParserSyntaxError as error:
            raise CannotRewrite("not-read", "LibCST does not read this expression") from error
        (line,) = self._whole.body
        assert isinstance(line, cst.SimpleStatementLine) and isinstance(line.body[0], cst.Expr)
        tree = line.body[0].value
        self.tree = tree.with_changes(lpar=tree.lpar[1:], rpar=tree.rpar[:-1])
        if self._whole.code_for_node(self.tree) != self.text:
            raise CannotRewrite("not-read", "LibCST does not read every byte of this expression")

    def written(self, tree: cst.BaseExpression) -> str:
        """Return the text of ``tree`` in place of the expression. Raise CannotRewrite if a comment would be lost."""
        written = self._whole.code_for_node(tree)
        if "\n" in written and _stands_alone(self.text) and not _stands_alone(written):
            written = f"({written})"
        if "#" in self.text and comments(tree) != comments(self.tree):
            raise CannotRewrite("comment-inside", "a comment inside would lose its place")
        return written


def _edit(content: bytes, span: tuple[int, int], written: str) -> Edit:
    """Return the edit that writes an expression, apart from the words around it."""
    (start, end), text = span, written.encode()
    before, after = content[max(start - 1, 0) : start], content[end : end + 1]
    gap = b" " if _in_a_word(before) and _in_a_word(text[:1]) else b""
    behind = b" " if _in_a_word(after) and _in_a_word(text[-1:]) else b""
    return Edit(start, end, gap + text + behind)


def _stands_alone(text: str) -> bool:
    """Return whether an expression parses without surrounding parentheses: on one line, or inside brackets."""
    try:
        parse_expression(text)
    except SyntaxError:
        return False
    return True


def _in_a_word(byte: bytes) -> bool:
    return byte.isalnum() or byte == b"_" or byte >= b"\x80"


class _Rewriter(cst.CSTTransformer):
    """Transformer that makes the changes from the inside out. Subtrees without changes are not walked."""

    def __init__(self, node: ast.expr, tree: cst.BaseExpression, changes: to.Changes) -> None:
        super().__init__()
        self._changes: dict[cst.CSTNode, list[to.Change]] = {}
        self._whole: set[cst.CSTNode] = set()
        self._find(node, tree, changes)

    def _find(self, node: ast.expr, tree: cst.BaseExpression, changes: to.Changes) -> None:
        self._changes[tree] = [change for part, change in changes if part is node]
        inside = {part for part, _ in changes if part is not node}
        if inside and any(one in inside for one in ast.walk(node)):
            for part, place in _parts(node, tree):
                self._find(part, place, changes)
        else:
            self._whole.add(tree)

    def on_visit(self, node: cst.CSTNode) -> bool:
        return node not in self._whole

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> cst.CSTNode:  # type: ignore[override]
        made: cst.CSTNode = updated_node
        for change in self._changes.get(original_node, ()):
            assert isinstance(made, cst.BaseExpression)
            made = _made(change, made)
        return made


def _parts(node: ast.expr, tree: cst.BaseExpression) -> Iterator[tuple[ast.expr, cst.BaseExpression]]:
    """Yield the operands and arguments of an expression, each with its LibCST tree."""
    if isinstance(node, ast.BoolOp):
        yield from zip(node.values, _operands(tree, len(node.values)), strict=True)
    elif isinstance(node, ast.UnaryOp) and isinstance(tree, cst.UnaryOperation):
        yield node.operand, tree.expression
    elif isinstance(node, ast.Compare) and isinstance(tree, cst.Comparison):
        yield node.left, tree.left
        yield from zip(node.comparators, (one.comparator for one in tree.comparisons), strict=True)
    elif isinstance(node, (ast.GeneratorExp, ast.ListComp)) and isinstance(tree, (cst.GeneratorExp, cst.ListComp)):
        yield node.elt, tree.elt
    elif isinstance(node, ast.Call) and isinstance(tree, cst.Call):
        yield node.func, tree.func
        plain = [one.value for one in tree.args if one.keyword is None and one.star != "**"]
        yield from zip(node.args, plain, strict=True)
        yield from zip(
            (one.value for one in node.keywords),
            (one.value for one in tree.args if one.value not in plain),
            strict=True,
        )
    else:
        raise TypeError(f"no change is made inside {type(node).__name__}")


def _operands(tree: cst.BaseExpression, count: int) -> list[cst.BaseExpression]:
    """Return the operands of ``a and b and c``, which LibCST nests to the left."""
    if count == 1:
        return [tree]
    assert isinstance(tree, cst.BooleanOperation)
    return [*_operands(tree.left, count - 1), tree.right]


def _operators(tree: cst.BaseExpression, count: int) -> list[cst.BaseBooleanOp]:
    if count == 1:
        return []
    assert isinstance(tree, cst.BooleanOperation)
    return [*_operators(tree.left, count - 1), tree.operator]


def _made(change: to.Change, node: cst.BaseExpression) -> cst.BaseExpression:
    match change:
        case to.Named():
            return name(change.name)
        case to.Attributed():
            return node.with_changes(attr=cst.Name(change.name))
        case to.Called():
            bare, opening, closing = _opened(node)
            return call(change.name, [cst.Arg(bare, whitespace_after_arg=closing)], opening)
        case to.Uncalled():
            return _uncalled(node, change.grouped)
        case to.Plain.UNGROUPED:
            return ungrouped(node)
        case to.Plain.GROUPED:
            return grouped(node, Binding.ATOM)
        case to.Compared():
            return comparison(node, _OPERATORS[change.operator](), cst.Integer("0"))
        case to.Plain.NEGATED:
            # A comparison binds more tightly than ``not``. The parentheses are for readability.
            return cst.UnaryOperation(cst.Not(), grouped(node, Binding.BIT_OR))
        case to.Plain.AFFIRMED:
            assert isinstance(node, cst.UnaryOperation)
            return node.expression
        case to.Plain.REVERSED:
            assert isinstance(node, cst.Comparison)
            (only,) = node.comparisons
            made = comparison(node.left, _opposite(only.operator), only.comparator)
            return made.with_changes(lpar=node.lpar, rpar=node.rpar)
        case to.Plain.MEASURED:
            assert isinstance(node, cst.Call)
            size = cst.Attribute(grouped(node.args[0].value, Binding.ATOM), cst.Name("size"))
            return cst.Call(size, [cst.Arg(cst.Integer("0"))])
        case to.Equated():
            return _equated(node, change.name)
        case to.Combined():
            return _combined(node, change.name)
        case to.Apart():
            return _apart(node, change)
        case to.Chosen():
            return _chosen(node, change)
        case to.Joined():
            return _joined(node, change)
        case to.Quantified():
            return _quantified(node, change)
        case to.Received():
            assert isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute)
            return call(change.name, [cst.Arg(node.func.value)])
        case to.Unless():
            asked = cst.UnaryOperation(cst.Not(), call(change.name, []))
            return cst.BooleanOperation(asked, cst.And(), grouped(node, Binding.AND))
        case to.OrElse():
            return cst.BooleanOperation(call(change.name, []), cst.Or(), grouped(node, Binding.OR))
        case to.Scripted():
            bare = ungrouped(node)
            return cst.IfExp(call(change.scripting, []), grouped(bare, Binding.OR), call(change.name, [cst.Arg(bare)]))
        case to.Selected():
            assert isinstance(node, cst.IfExp)
            return call(change.name, [cst.Arg(ungrouped(one)) for one in (node.test, node.body, node.orelse)])
        case to.Divided():
            return _divided(node, change)


def _opposite(operator: cst.BaseCompOp) -> cst.BaseCompOp:
    made, around = _OPPOSITE[type(operator)](), _around(operator)
    if not broken(*around):
        return made
    before, after = (blank if broken(blank) else cst.SimpleWhitespace(" ") for blank in around)
    return made.with_changes(whitespace_before=before, whitespace_after=after)


def _around(operator: cst.BaseCompOp | cst.BaseBooleanOp | cst.BaseBinaryOp) -> tuple[Blank, Blank]:
    before, after = (getattr(operator, f"whitespace_{side}") for side in ("before", "after"))
    return before, after


def _opened(node: cst.BaseExpression) -> tuple[cst.BaseExpression, Blank, Blank]:
    """Return ``node`` without its outermost grouping parentheses, and the whitespace inside of them."""
    if len(node.lpar) <= own_parentheses(node):
        return node, NO_BLANK, NO_BLANK
    opening, closing = node.lpar[0].whitespace_after, node.rpar[-1].whitespace_before
    return node.with_changes(lpar=node.lpar[1:], rpar=node.rpar[:-1]), opening, closing


def _uncalled(node: cst.BaseExpression, keep: bool) -> cst.BaseExpression:
    assert isinstance(node, cst.Call)
    (argument,) = node.args
    if not keep:
        return argument.value
    return argument.value.with_changes(
        lpar=[cst.LeftParen(node.whitespace_before_args), *argument.value.lpar],
        rpar=[*argument.value.rpar, cst.RightParen(argument.whitespace_after_arg)],
    )


def _equated(node: cst.BaseExpression, helper: str) -> cst.BaseExpression:
    bare, opening, closing = _opened(node)
    assert isinstance(bare, cst.Comparison)
    (only,) = bare.comparisons
    left = cst.Arg(ungrouped(bare.left), comma=_comma(only.operator))
    return call(helper, [left, cst.Arg(ungrouped(only.comparator), whitespace_after_arg=closing)], opening)


def _combined(node: cst.BaseExpression, helper: str) -> cst.BaseExpression:
    bare, opening, closing = _opened(node)
    assert isinstance(bare, cst.BinaryOperation)
    left = cst.Arg(_argument(bare.left), comma=_comma(bare.operator))
    return call(helper, [left, cst.Arg(_argument(bare.right), whitespace_after_arg=closing)], opening)


def _comma(operator: cst.BaseCompOp | cst.BaseBooleanOp | cst.BaseBinaryOp) -> cst.Comma:
    """Return the comma that replaces an operator. One at the head of a line moves to the end of the line before."""
    before, after = _around(operator)
    if not broken(before) or (broken(after) and isinstance(before, cst.SimpleWhitespace)):
        return cst.Comma(whitespace_after=after)
    if isinstance(before, cst.ParenthesizedWhitespace) and isinstance(after, cst.ParenthesizedWhitespace):
        before = before.with_changes(
            empty_lines=[*before.empty_lines, cst.EmptyLine(comment=after.first_line.comment), *after.empty_lines],
            last_line=after.last_line,
        )
    return cst.Comma(whitespace_after=before)


def _apart(node: cst.BaseExpression, change: to.Apart) -> cst.BaseExpression:
    assert isinstance(node, cst.Comparison)
    kinds = [type(one.operator) for one in node.comparisons]
    operators = [(_OPPOSITE[kind] if change.opposite else kind)() for kind in kinds]
    sides = [node.left, *(one.comparator for one in node.comparisons)]
    pairs = zip(sides, operators, sides[1:], strict=False)
    words = [comparison(left, operator, right) for left, operator, right in pairs]
    return _in_one(words, change.name)


def _chosen(node: cst.BaseExpression, change: to.Chosen) -> cst.BaseExpression:
    assert isinstance(node, cst.Comparison)
    choices = node.comparisons[0].comparator
    assert isinstance(choices, (cst.Tuple, cst.List, cst.Set))
    operator = cst.Equal if change.inside else cst.NotEqual
    words: list[cst.BaseExpression] = [comparison(node.left, operator(), one.value) for one in choices.elements]
    if change.each is not None:
        words = [call(change.each, [cst.Arg(word)]) for word in words]
    if change.name is not None and len(words) > 1:
        return _in_one(words, change.name)
    between = cst.Or if change.inside else cst.And
    return reduce(lambda left, right: cst.BooleanOperation(left, between(), right), words)


def _joined(node: cst.BaseExpression, change: to.Joined) -> cst.BaseExpression:
    operands, operators = _operands(node, change.count), _operators(node, change.count)
    lead, rest = operands[: change.start], operands[change.start :]
    opening: Blank = NO_BLANK
    closing: Blank = NO_BLANK
    if change.name is not None and change.name in _BITWISE:
        rest = [_by_operator(rest, change.name, operators[change.start :])]
    elif change.name is not None:
        if not lead:
            _, opening, closing = _opened(node)
        arguments = [
            cst.Arg(_argument(one), comma=_comma(between))
            for one, between in zip(rest, operators[change.start :], strict=False)
        ]
        last = cst.Arg(_argument(rest[-1]))
        if broken(closing):
            last = last.with_changes(comma=cst.Comma(whitespace_after=closing))
        else:
            last = last.with_changes(whitespace_after_arg=closing)
        rest = [call(change.name, [*arguments, last], opening)]
    words = [*lead, *rest]
    if len(words) == 1:
        return words[0].with_changes(lpar=node.lpar, rpar=node.rpar) if change.name in _BITWISE else words[0]
    word = cst.And if change.conjunction else cst.Or
    made = grouped(words[0], Binding.NOT)
    for between, one in zip(operators, words[1:], strict=False):
        operator = word(between.whitespace_before, between.whitespace_after)
        made = cst.BooleanOperation(made, operator, grouped(one, Binding.NOT))
    return made.with_changes(lpar=node.lpar, rpar=node.rpar)


def _in_one(words: Sequence[cst.BaseExpression], joined_by: str) -> cst.BaseExpression:
    if joined_by in _BITWISE:
        return _by_operator(words, joined_by)
    return call(joined_by, [cst.Arg(word) for word in words])


def _by_operator(
    words: Sequence[cst.BaseExpression], operator: str, places: Sequence[cst.BaseBooleanOp] = ()
) -> cst.BaseExpression:
    """Return ``(a == b) & (c == d)``. The operators get the whitespace of the operators ``places``."""
    kind, binding = _BITWISE[operator]
    made = grouped(words[0], binding)
    for number, word in enumerate(words[1:]):
        between = kind(*_around(places[number])) if places else kind()
        made = cst.BinaryOperation(made, between, grouped(word, Binding(binding + 1)))
    return made


def _argument(node: cst.BaseExpression) -> cst.BaseExpression:
    """Return the argument without parentheses, unless they span lines."""
    bare, opening, closing = _opened(node)
    return node if bare.lpar[own_parentheses(bare) :] or code(opening) or code(closing) else bare


def _quantified(node: cst.BaseExpression, change: to.Quantified) -> cst.BaseExpression:
    assert isinstance(node, cst.Call)
    (argument,) = node.args
    generator = argument.value
    if isinstance(generator, cst.GeneratorExp) and not generator.lpar:  # its parentheses are those of the call
        generator = generator.with_changes(
            lpar=[cst.LeftParen(node.whitespace_before_args)], rpar=[cst.RightParen(argument.whitespace_after_arg)]
        )
    return call(change.name, [cst.Arg(name(change.neutral)), cst.Arg(generator, star="*")])


def _divided(node: cst.BaseExpression, change: to.Divided) -> cst.BaseExpression:
    while not isinstance(node, cst.BinaryOperation):
        assert isinstance(node, cst.Call)
        (argument,) = node.args
        node = argument.value
    left, right = (grouped(side, Binding.AWAIT) for side in (node.left, node.right))
    if change.up:
        sum_ = cst.BinaryOperation(left, cst.Add(), right)
        left = grouped(cst.BinaryOperation(sum_, cst.Subtract(), cst.Integer("1")), Binding.ATOM)
    return cst.BinaryOperation(left, cst.FloorDivide(), right)

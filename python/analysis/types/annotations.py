"""Annotations as types. A name has the meaning of its import: ``cute.Shape`` is no shape of torch's."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from ....codemods.system.python_parser import parse_expression
from ...syntax.module import Module
from ...syntax.tree import FunctionDefinition
from .may_types import Kind, Value
from .must_types import Certain, ScalarType, SequenceType, row, same

_DEEPEST = 4
"""Limit on the nesting of type aliases."""


_SEVERAL = re.compile(r"\b(list|List|tuple|Tuple|Sequence|Iterable|Collection)\[")
_OPTIONAL = re.compile(r"\bOptional\[(.*)\]$|\s*\|\s*None\b|\bNone\s*\|\s*")
_NOT_A_VALUE = re.compile(r"\b(Callable|Dict|dict|Mapping|Type|type|Module|Mesh|Group)\b|DTensorSpec|Strategy")
_TENSOR = re.compile(r"^torch\.(\w*Tensor(Like(Type)?)?|Parameter)$")
_TENSORS = re.compile(r"^torch\.TensorSequenceType$")
_SIZES = re.compile(r"^torch\.(Size|ShapeType|Shape|size)$")
_STRIDES = re.compile(r"^torch\.StrideType$")
_SIZE = re.compile(r"^torch\.(SymInt|IntLikeType|IntLike|Dim)$")
_NUMBER = re.compile(r"^(torch\.(Number|NumberType|Scalar|SymFloat|FloatLikeType|FloatLike)|Number|float)$")
_FOREIGN = re.compile(r"^unknown\.(ndarray|NDArray)$")
_CONCRETE = re.compile(r"^(bool|str|bytes|complex|torch\.(dtype|device|layout|memory_format|Dims(Sequence)?Type))$")


@dataclass(frozen=True, eq=False)
class Annotation:
    """Types that an annotation gives a value."""

    may: Value = Kind.UNKNOWN
    """May-type of the value, UNKNOWN if the annotation does not mention sizes."""
    _tree: ast.expr | None = None
    _words: _Words | None = None

    @cached_property
    def sure(self) -> Certain | None:
        """Return the must-type of the value, if the caller respects the annotation."""
        return None if self._tree is None or self._words is None else _sure(self._words, self._tree, 0)

    @cached_property
    def believed(self) -> Certain | None:
        """Return the part of the must-type that is trusted.

        Python does not enforce annotations, and a caller may pass a float or a numpy number for an ``int``. A tensor is
        trusted, since little else would work in its place. It is also trusted that a value may be None.
        """
        sure = self.sure
        if isinstance(sure, SequenceType) and sure.element is ScalarType.TENSOR:
            return ScalarType.TENSORS
        return sure if sure in (ScalarType.TENSOR, ScalarType.OPTIONAL) else None


@dataclass(frozen=True)
class AnnotatedSignature:
    """Annotated types of a function, by the names of its parameters, and of its result."""

    parameters: Mapping[str, Annotation]
    returns: Annotation


def signature(module: Module, function: FunctionDefinition) -> AnnotatedSignature:
    """Return the types of all annotations of a function."""
    annotations = [*(one.annotation for one in function.arguments), function.node.returns]
    written = [one for one in annotations if one is not None]
    roots = [one.value if isinstance(one, ast.Attribute) else one for one in written]
    named = {one.id for one in roots if isinstance(one, ast.Name)}
    if not written:
        return AnnotatedSignature({one.arg: _NOTHING for one in function.arguments}, _NOTHING)
    # All annotations are in the scope around the function, so a name has the same meaning in each.
    words = _Words(module, written[0], module.names.meanings(named, written[0]) if named else {})
    *parameters, returns = (_said(words, annotation) for annotation in annotations)
    return AnnotatedSignature(
        {one.arg: held for one, held in zip(function.arguments, parameters, strict=True)}, returns
    )


_NOTHING = Annotation()


def said(module: Module, annotation: ast.expr | None) -> Annotation:
    """Return the types of one annotation."""
    return _NOTHING if annotation is None else _said(_Words(module, annotation, {}), annotation)


def _said(words: _Words, annotation: ast.expr | None) -> Annotation:
    tree = _parsed(annotation)
    return _NOTHING if tree is None else Annotation(_by_text(_resolved(words, tree)), tree, words)


def _parsed(annotation: ast.expr | None) -> ast.expr | None:
    if not isinstance(annotation, ast.Constant) or not isinstance(annotation.value, str):
        return annotation
    try:
        return parse_expression(annotation.value.strip())
    except SyntaxError:
        return None


class _Words:
    """Meanings of the names in annotations at a place."""

    def __init__(self, module: Module, place: ast.AST, meanings: dict[str, str | None]) -> None:
        self.module = module
        self._place = place
        self._meanings = meanings

    def word(self, node: ast.expr) -> str:
        """Return ``torch.NAME`` for a name of torch's, ``NAME`` for one of the language, else ``unknown.NAME``."""
        meaning = self._meaning(node)
        last = ast.unparse(node).rpartition(".")[2]
        if meaning is None:
            own = self.module.own_tree and isinstance(node, ast.Name) and node.id in self.module.names.bound
            return f"torch.{last}" if own else f"unknown.{last}"
        head, _, last = meaning.rpartition(".")
        if head in _LANGUAGE:
            return last
        # In PyTorch's own tree relative imports are torch's.
        of_torch = meaning.startswith("torch.") or (meaning.startswith(".") and self.module.own_tree)
        return f"torch.{last}" if of_torch else f"unknown.{last}"

    def _meaning(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Attribute):
            value = self._meaning(node.value)
            return f"{value}.{node.attr}" if value else None
        if not isinstance(node, ast.Name):
            return None
        if node.id not in self._meanings:
            self._meanings[node.id] = self.module.names.meaning_of_name(node.id, self._place)
        return self._meanings[node.id]

    def alias(self, node: ast.expr, depth: int) -> ast.expr | None:
        """Return the type that the file itself names: ``Shape = Union[...]``, once, at the top.

        Return None otherwise.
        """
        if not isinstance(node, ast.Name) or depth >= _DEEPEST or self.module.own_tree:
            return None
        if self.module.names.owner(node.id, self._place) is not self.module.tree:
            return None
        return self.module.names.assigned_at_top.get(node.id)


_LANGUAGE = frozenset({"builtins", "typing", "typing_extensions", "collections.abc", "numbers"})


def _resolved(words: _Words, tree: ast.expr) -> str:
    """Return the text of the annotation, with each name replaced by `_Words.word`."""
    if isinstance(tree, ast.Name) and words.alias(tree, 0) is None:
        return words.word(tree)
    return ast.unparse(_Resolver(words, 0).visit(tree))


class _Resolver(ast.NodeVisitor):
    """Builder of a new tree with resolved names. The old tree belongs to the file."""

    def __init__(self, words: _Words, depth: int) -> None:
        self._words = words
        self._depth = depth

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return ast.Name(self._words.word(node))

    def visit_Name(self, node: ast.Name) -> ast.expr:
        alias = self._words.alias(node, self._depth)
        if alias is None:
            return ast.Name(self._words.word(node))
        resolved: ast.expr = _Resolver(self._words, self._depth + 1).visit(alias)
        return resolved

    def generic_visit(self, node: ast.AST) -> ast.AST:
        return type(node)(**{name: self._rebuilt(value) for name, value in ast.iter_fields(node)})

    def _rebuilt(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._rebuilt(one) for one in value]
        return self.visit(value) if isinstance(value, ast.AST) else value


@lru_cache(maxsize=4096)
def _by_text(annotation: str) -> Value:
    """Return the kind that a value with this annotation may have, or UNKNOWN if the annotation is not about sizes.

    Torch's names are written ``torch.NAME``. Names of the language have no prefix.
    """
    text = annotation.strip()
    if _NOT_A_VALUE.search(text):
        return Kind.CONCRETE if "Callable" not in text else Kind.UNKNOWN
    while (shorter := _OPTIONAL.sub(lambda match: match.group(1) or "", text)) != text:
        text = shorter
    many = bool(_SEVERAL.search(text))
    words = [word for word in re.findall(r"[\w.]+", text) if not _SEVERAL.match(word + "[") and word != "Union"]
    kinds = {_of_word(word) for word in words}
    for kind in (Kind.TENSORS, Kind.TENSOR, Kind.STRIDES, Kind.SIZES, Kind.SIZE):
        if kind in kinds:
            if kind is Kind.TENSOR and Kind.NUMBER in kinds:
                return Kind.NUMBER
            if many and Kind.CONCRETE in kinds and kind in (Kind.SIZE, Kind.STRIDE):
                return Kind.UNKNOWN  # ``tuple[bool, SymInt]``: not all of them are sizes
            return kind.sequence if many else kind
    if Kind.FOREIGN in kinds:
        return Kind.FOREIGN
    if Kind.NUMBER in kinds:
        return Kind.UNKNOWN if many else Kind.NUMBER
    return Kind.CONCRETE if kinds == {Kind.CONCRETE} else Kind.UNKNOWN


def _of_word(word: str) -> Kind:
    for pattern, kind in (
        (_TENSOR, Kind.TENSOR),
        (_TENSORS, Kind.TENSORS),
        (_SIZES, Kind.SIZES),
        (_STRIDES, Kind.STRIDES),
        (_SIZE, Kind.SIZE),
        (_NUMBER, Kind.NUMBER),
        (_FOREIGN, Kind.FOREIGN),
        (_CONCRETE, Kind.CONCRETE),
    ):
        if pattern.match(word):
            return kind
    return Kind.UNKNOWN


def _sure(words: _Words, tree: ast.expr, depth: int) -> Certain | None:
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.BitOr):
        return _one_of([_sure(words, side, depth) for side in (tree.left, tree.right)])
    if isinstance(tree, ast.Constant) and tree.value is None:
        return ScalarType.NOTHING
    if isinstance(tree, ast.Constant) and isinstance(tree.value, str):
        inner = _parsed(tree) if depth < _DEEPEST else None
        return None if inner is None else _sure(_Words(words.module, tree, {}), inner, depth + 1)
    if isinstance(tree, ast.Subscript):
        return _parametrised(words, tree, depth)
    if not isinstance(tree, (ast.Name, ast.Attribute)):
        return None
    alias = words.alias(tree, depth)
    return _OF_WORD.get(words.word(tree)) if alias is None else _sure(words, alias, depth + 1)


def _parametrised(words: _Words, tree: ast.Subscript, depth: int) -> Certain | None:
    base = words.word(tree.value)
    base = "" if "." in base else base
    inner = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
    last = inner[-1] if inner else None
    endless = isinstance(last, ast.Constant) and last.value is ...
    known = [_sure(words, one, depth) for one in (inner[:-1] if endless else inner)]
    if base in ("tuple", "Tuple"):
        return SequenceType(False, known[0]) if endless else row(known, False)
    if not known:
        return None
    if base in ("Final", "Annotated", "ClassVar"):
        return known[0]
    if base == "Optional":
        return ScalarType.OPTIONAL
    if base == "Union":
        return _one_of(known)
    if base in ("list", "List"):
        return SequenceType(True, known[0])
    return SequenceType(None, known[0]) if base in ("Sequence", "Collection") else None


def _one_of(known: Sequence[Certain | None]) -> Certain | None:
    return ScalarType.OPTIONAL if ScalarType.NOTHING in known or ScalarType.OPTIONAL in known else same(known)


_OF_WORD: dict[str, Certain] = {
    "int": ScalarType.WHOLE,
    "bool": ScalarType.TRUTH,
    "float": ScalarType.NUMBER,
    "complex": ScalarType.NUMBER,
    "str": ScalarType.TEXT,
    "torch.SymInt": ScalarType.WHOLE,
    "torch.IntLikeType": ScalarType.WHOLE,
    "torch.IntLike": ScalarType.WHOLE,
    "torch.SymBool": ScalarType.TRUTH,
    "torch.BoolLikeType": ScalarType.TRUTH,
    "torch.SymFloat": ScalarType.FLOAT,
    "torch.FloatLikeType": ScalarType.NUMBER,
    "torch.Number": ScalarType.NUMBER,
    "torch.NumberType": ScalarType.NUMBER,
    "torch.dtype": ScalarType.PLAIN,
    "torch.device": ScalarType.PLAIN,
    "torch.layout": ScalarType.PLAIN,
    "torch.memory_format": ScalarType.PLAIN,
    "torch.Tensor": ScalarType.TENSOR,
    "torch.TensorLike": ScalarType.TENSOR,
    "torch.TensorLikeType": ScalarType.TENSOR,
    "torch.Parameter": ScalarType.TENSOR,
    "torch.Size": SequenceType(False, ScalarType.WHOLE),
    "torch.ShapeType": SequenceType(None, ScalarType.WHOLE),
    "torch.StrideType": SequenceType(None, ScalarType.WHOLE),
}

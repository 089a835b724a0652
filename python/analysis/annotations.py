"""What an annotation says, its names taken for what their imports say: ``cute.Shape`` is no shape of torch's."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from copy import deepcopy
from functools import lru_cache

from ..syntax.module import Module
from .certain import Certain, Several, Sure, row, same
from .values import Kind, Value

_DEEPEST = 4
"""Aliases of aliases that are followed."""


def may_hold(module: Module, annotation: ast.expr | None) -> Value:
    """What a value with this annotation may hold; UNKNOWN where the annotation says nothing about sizes."""
    tree = _parsed(annotation)
    return Kind.UNKNOWN if tree is None or annotation is None else _by_text(_resolved(module, tree, annotation))


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


@lru_cache(maxsize=4096)
def _by_text(annotation: str) -> Value:
    """What a value with this annotation may hold; UNKNOWN when the annotation says nothing about sizes.

    Names of torch's are written ``torch.NAME``, those that the language brings by themselves.
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


def surely_is(module: Module, annotation: ast.expr | None, depth: int = 0) -> Certain | None:
    """What a value with this annotation surely is, if the caller keeps to it."""
    tree = _parsed(annotation)
    return None if tree is None or annotation is None else _sure(module, tree, annotation, depth)


def _parsed(annotation: ast.expr | None) -> ast.expr | None:
    if not isinstance(annotation, ast.Constant) or not isinstance(annotation.value, str):
        return annotation
    try:
        return ast.parse(annotation.value.strip(), mode="eval").body
    except SyntaxError:
        return None


def _resolved(module: Module, tree: ast.expr, place: ast.AST) -> str:
    """The annotation as text, each name of torch's as ``torch.NAME`` and each unknown one as ``unknown.NAME``."""
    if isinstance(tree, ast.Name) and _alias(module, tree, place, 0) is None:
        return _word(module, tree, place)
    return ast.unparse(_Resolver(module, place, 0).visit(deepcopy(tree)))


class _Resolver(ast.NodeTransformer):
    def __init__(self, module: Module, place: ast.AST, depth: int) -> None:
        self._module = module
        self._place = place
        self._depth = depth

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return ast.Name(_word(self._module, node, self._place))

    def visit_Name(self, node: ast.Name) -> ast.expr:
        alias = _alias(self._module, node, self._place, self._depth)
        if alias is None:
            return ast.Name(_word(self._module, node, self._place))
        resolved: ast.expr = _Resolver(self._module, self._place, self._depth + 1).visit(deepcopy(alias))
        return resolved


def _word(module: Module, node: ast.expr, place: ast.AST) -> str:
    meaning = _meaning(module, node, place)
    last = ast.unparse(node).rpartition(".")[2]
    if meaning is None and module.own_tree and isinstance(node, ast.Name) and node.id in module.names.bound:
        return f"torch.{last}"
    if meaning is None:
        return f"unknown.{last}"
    head, _, last = meaning.rpartition(".")
    if head in _LANGUAGE:
        return last
    return f"torch.{last}" if of_torch(module, meaning) else f"unknown.{last}"


_LANGUAGE = frozenset({"builtins", "typing", "typing_extensions", "collections.abc", "numbers"})


def of_torch(module: Module, meaning: str) -> bool:
    """Whether a dotted name is one of torch's; in PyTorch's own tree relative imports are."""
    return meaning.startswith("torch.") or (meaning.startswith(".") and module.own_tree)


def _meaning(module: Module, node: ast.expr, place: ast.AST) -> str | None:
    if isinstance(node, ast.Attribute):
        value = _meaning(module, node.value, place)
        return f"{value}.{node.attr}" if value else None
    return module.names.meaning_of_name(node.id, place) if isinstance(node, ast.Name) else None


def _alias(module: Module, node: ast.expr, place: ast.AST, depth: int) -> ast.expr | None:
    """What the file itself says a name stands for: ``Shape = Union[...]`` at its top, once."""
    if not isinstance(node, ast.Name) or depth >= _DEEPEST or module.own_tree:
        return None
    if module.names.owner(node.id, place) is not module.tree:
        return None
    return module.names.assigned_at_top.get(node.id)


def _sure(module: Module, tree: ast.expr, place: ast.AST, depth: int) -> Certain | None:
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.BitOr):
        return _one_of([_sure(module, side, place, depth) for side in (tree.left, tree.right)])
    if isinstance(tree, ast.Constant) and tree.value is None:
        return Sure.NOTHING
    if isinstance(tree, ast.Constant) and isinstance(tree.value, str):
        return surely_is(module, tree, depth + 1) if depth < _DEEPEST else None
    if isinstance(tree, ast.Subscript):
        return _parametrised(module, tree, place, depth)
    if not isinstance(tree, (ast.Name, ast.Attribute)):
        return None
    alias = _alias(module, tree, place, depth)
    if alias is not None:
        return _sure(module, alias, place, depth + 1)
    return _OF_WORD.get(_word(module, tree, place))


def _parametrised(module: Module, tree: ast.Subscript, place: ast.AST, depth: int) -> Certain | None:
    base = _word(module, tree.value, place).rpartition(".")[2] if _spoken(module, tree.value, place) else ""
    inner = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
    last = inner[-1] if inner else None
    endless = isinstance(last, ast.Constant) and last.value is ...
    known = [_sure(module, one, place, depth) for one in (inner[:-1] if endless else inner)]
    if base in ("tuple", "Tuple"):
        return Several(False, known[0]) if endless else row(known, False)
    if not known:
        return None
    if base in ("Final", "Annotated", "ClassVar"):
        return known[0]
    if base == "Optional":
        return Sure.OPTIONAL
    if base == "Union":
        return _one_of(known)
    if base in ("list", "List"):
        return Several(True, known[0])
    return Several(None, known[0]) if base in ("Sequence", "Collection") else None


def _one_of(known: Sequence[Certain | None]) -> Certain | None:
    return Sure.OPTIONAL if Sure.NOTHING in known or Sure.OPTIONAL in known else same(known)


def _spoken(module: Module, node: ast.expr, place: ast.AST) -> bool:
    return "." not in _word(module, node, place)


_OF_WORD: dict[str, Certain] = {
    "int": Sure.WHOLE,
    "bool": Sure.TRUTH,
    "float": Sure.NUMBER,
    "complex": Sure.NUMBER,
    "str": Sure.TEXT,
    "torch.SymInt": Sure.WHOLE,
    "torch.IntLikeType": Sure.WHOLE,
    "torch.IntLike": Sure.WHOLE,
    "torch.SymBool": Sure.TRUTH,
    "torch.BoolLikeType": Sure.TRUTH,
    "torch.SymFloat": Sure.FLOAT,
    "torch.FloatLikeType": Sure.NUMBER,
    "torch.Number": Sure.NUMBER,
    "torch.NumberType": Sure.NUMBER,
    "torch.dtype": Sure.PLAIN,
    "torch.device": Sure.PLAIN,
    "torch.layout": Sure.PLAIN,
    "torch.memory_format": Sure.PLAIN,
    "torch.Tensor": Sure.TENSOR,
    "torch.TensorLike": Sure.TENSOR,
    "torch.TensorLikeType": Sure.TENSOR,
    "torch.Parameter": Sure.TENSOR,
    "torch.Size": Several(False, Sure.WHOLE),
    "torch.ShapeType": Several(None, Sure.WHOLE),
    "torch.StrideType": Several(None, Sure.WHOLE),
}

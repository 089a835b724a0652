"""Index of the function definitions in a PyTorch tree that its operators are composed of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ..syntax.functions import FunctionDeclaration, function_declarations
from ..syntax.tree import Tree, every
from .kinds import UNKNOWN, CppKind, read_kind

_ATEN = Path("aten", "src", "ATen")
_BACKENDS = frozenset(
    {"cuda", "hip", "mps", "mkldnn", "miopen", "cudnn", "quantized", "vulkan", "metal", "xpu", "nested", "sparse",
     "test", "functorch", "cpu", "detail", "templates"}
)  # fmt: skip
_CHECK = re.compile(rb"(?m)^[ \t]*(?:TORCH_CHECK\w*|TORCH_INTERNAL_ASSERT\w*|TORCH_WARN\w*)\(")
_BRACKET_OR_STRING = re.compile(rb'[()]|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_CONSTANT = rb"(?m)^(?:static |inline )*constexpr (?:static )?[\w:]+ %s = (\d+);"


@dataclass(frozen=True, eq=False)
class Parameter:
    """One parameter of a C++ function."""

    name: str
    kind: CppKind
    type_text: str
    default: str

    @property
    def writes(self) -> bool:
        """Return whether the caller's variable can be assigned to through it."""
        return self.type_text.rstrip().endswith("&") and "const" not in self.type_text


@dataclass(frozen=True, eq=False)
class Definition:
    """A function with a body, and its file."""

    path: Path
    tree: Tree
    declared: FunctionDeclaration
    parameters: tuple[Parameter, ...]

    @property
    def result(self) -> CppKind:
        """Return the kind of its result."""
        returns = self.declared.returns
        return UNKNOWN if returns is None else read_kind(self.tree.text(returns))


@dataclass
class Sources:
    """The C++ files of a tree, read at the first lookup."""

    root: Path
    _found: dict[str, tuple[Definition, ...]] = field(default_factory=dict)
    _trees: dict[Path, Tree] = field(default_factory=dict)
    _in_file: dict[Path, list[FunctionDeclaration]] = field(default_factory=dict)

    @cached_property
    def _files(self) -> dict[Path, bytes]:
        folder = self.root / _ATEN
        paths = [path for suffix in ("*.cpp", "*.h") for path in sorted(folder.rglob(suffix))]
        own = (path for path in paths if not _BACKENDS & set(path.relative_to(folder).parts))
        return {path: path.read_bytes() for path in own}

    def definitions(self, name: str) -> tuple[Definition, ...]:
        """Return the functions of an unqualified name, outside of classes."""
        if name not in self._found:
            plain = name.encode()
            word = re.compile(rb"(?m)^(?![ \t]*(?:return\b|//|#))[^\n;=()]*\b" + re.escape(plain) + rb"\s*\(")
            paths = [path for path, content in self._files.items() if plain in content and word.search(content)]
            self._found[name] = tuple(one for path in paths for one in self._defined(path, name))
        return self._found[name]

    def constant(self, name: str, near: Path) -> int | None:
        """Return the number of a ``constexpr`` of the file, or of exactly one other file, or None."""
        pattern = re.compile(_CONSTANT % re.escape(name.encode()))
        own = pattern.search(self._files.get(near, b""))
        found = [own] if own else [one for content in self._files.values() if (one := pattern.search(content))]
        return int(found[0][1]) if len(found) == 1 else None

    def _defined(self, path: Path, name: str) -> Iterator[Definition]:
        if path not in self._trees:
            self._trees[path] = Tree(_ended(self._files[path]))
            self._in_file[path] = function_declarations(self._trees[path])
        tree = self._trees[path]
        for one in self._in_file[path]:
            if one.unqualified == name and one.body is not None and not one.around.in_class and one.macro is None:
                yield Definition(path, tree, one, tuple(_parameters(tree, one)))


def _ended(content: bytes) -> bytes:
    """Return the text with a semicolon in place of the blank behind a check that has none."""
    text = bytearray(content)
    for found in _CHECK.finditer(content):
        end = _closing(content, found.end())
        if end and content[end : end + 1].isspace() and content[end:].lstrip()[:1] not in b";,)":
            text[end] = ord(";")
    return bytes(text)


def _closing(content: bytes, start: int) -> int:
    """Return the offset behind the parenthesis that closes the one before ``start``, or 0 if there is none."""
    depth = 1
    for found in _BRACKET_OR_STRING.finditer(content, start):
        depth += {b"(": 1, b")": -1}.get(found[0], 0)
        if depth == 0:
            return found.end()
    return 0


def _parameters(tree: Tree, function: FunctionDeclaration) -> Iterator[Parameter]:
    for node in function.parameters:
        default = node.child_by_field_name("default_value")
        named = node.child_by_field_name("declarator")
        words = every(named, "identifier") if named is not None else []
        name = tree.text(words[0]) if words else ""
        end = default.start_byte if default is not None else node.end_byte
        text = tree.content[node.start_byte : end].decode().rstrip(" =")
        type_text = re.sub(rf"\b{re.escape(name)}\b\s*\Z", "", text).rstrip() if name else text
        yield Parameter(name, read_kind(type_text), type_text, "" if default is None else tree.text(default))


def same_kinds(mine: Sequence[CppKind], theirs: Sequence[CppKind]) -> bool:
    """Return whether two signatures have the same kinds, regardless of which lists are owned."""
    return len(mine) == len(theirs) and all(_bare(one) == _bare(other) for one, other in zip(mine, theirs, strict=True))


def _bare(kind: CppKind) -> CppKind:
    return CppKind(kind.name, tuple(map(_bare, kind.inner)))

"""Search for a macro, a C++ function or a Python function in the sources of a torch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path

from .headers import headers, written_by_hand

_COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)
_MACRO = re.compile(r"[A-Z][A-Z0-9_]*")
_IMPORTED = re.compile(r"^from \S+ import (\([^)]*\)|.*)", re.MULTILINE)
_BARE_PYTHON = ("torch", "torch.fx.experimental.symbolic_shapes", "torch._prims_common")
_CLASS = rb"\b(?:class|struct)\s+(?:[A-Z0-9_]+\s+)?%b(?!\w)(?:\s+final)?\s*(?=[:{])([^{;]*)\{"


def cpp_has(include_dirs: tuple[Path, ...], symbol: str) -> bool:
    """Return whether the headers define a macro, or declare ``namespace::name`` or ``Class::name``.

    A class has its own names and the inherited ones.
    """
    *scopes, name = symbol.removeprefix("::").split("::")
    if _MACRO.fullmatch(name):
        define = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+" + name.encode() + rb"\b", re.MULTILINE)
        return any(define.search(text) for text in _mentions(include_dirs, name))
    if scopes and scopes[-1][:1].isupper():
        return any(_declares(body, name) for body in _class_bodies(include_dirs, scopes[-1], seen=set()))
    namespace = rb"\bnamespace\s(?:[\w:\s]*[:\s])?" + b"".join(scope.encode() + rb"\s*\{" for scope in scopes[-1:])
    return any(
        re.search(namespace, text) and _declares(_outside_classes(text), name) for text in _mentions(include_dirs, name)
    )


@cache
def named_in_headers(include_dirs: tuple[Path, ...], name: str) -> bool:
    """Return whether any header contains the word ``name`` outside its comments."""
    word = re.compile(rb"\b" + name.encode() + rb"\b")
    return any(word.search(text) for text in _mentions(include_dirs, name))


def python_has(package: Path, symbol: str) -> bool:
    """Return whether a module defines ``torch.module.name`` or ``torch.module.Class.name``.

    For the former an import by name counts too. A bare name is searched in `_BARE_PYTHON`.
    """
    if "." not in symbol:
        return any(python_has(package, f"{module}.{symbol}") for module in _BARE_PYTHON)
    parts = symbol.split(".")
    if parts[0] != package.name:
        return False
    for length in range(len(parts) - 1, 0, -1):
        text = _module(package.joinpath(*parts[1:length]))
        if text is not None:
            return _defines(text, parts[length:])
    return False


def named_elsewhere(package: Path, function: str) -> bool:
    """Return whether a file of torch contains the name of a function and the last name of its module.

    ``function`` is a dotted name such as ``torch.nn.functional._in_projection``. The file of its module does not count.
    """
    *home, name = function.split(".")
    own = package.joinpath(*home[1:])
    word = re.compile(rf"\b{re.escape(name)}\b".encode())
    files = _files_with(package, home[-1].encode())
    return any(word.search(text) for path, text in files if path not in (own.with_suffix(".py"), own / "__init__.py"))


@lru_cache(maxsize=2)
def _files_with(package: Path, word: bytes) -> tuple[tuple[Path, bytes], ...]:
    read = ((path, path.read_bytes()) for path in package.rglob("*.py"))
    return tuple((path, text) for path, text in read if word in text)


def _defines(text: str, names: list[str]) -> bool:
    *classes, name = (re.escape(part) for part in names)
    for owner in classes:
        match = re.search(rf"^([ \t]*)class {owner}\b.*\n((?:\1[ \t]+.*\n|[ \t]*\n|\)[^\n]*:\n)*)", text, re.MULTILINE)
        if match is None:
            return False
        text = match[2]
    indent = r"[ \t]+" if classes else ""
    if not classes and any(re.search(rf"\b{name}\b", names[1]) for names in _IMPORTED.finditer(text)):
        return True
    return (
        re.search(rf"^{indent}(?:async )?(?:def {name}\(|class {name}\b|{name}\s*[:=])", text, re.MULTILINE) is not None
    )


def _module(path: Path) -> str | None:
    for file in (path / "__init__.py", path.with_suffix(".py")):
        if file.is_file():
            return file.read_text(encoding="utf-8")
    return None


def _mentions(include_dirs: tuple[Path, ...], name: str) -> Iterator[bytes]:
    word = name.encode()
    return (_COMMENT.sub(b" ", text) for path in _paths(include_dirs) if word in (text := _text(path)))


@lru_cache(maxsize=4)
def _paths(include_dirs: tuple[Path, ...]) -> tuple[Path, ...]:
    return tuple(Path(header.path) for header in headers(include_dirs))


@cache
def _text(path: Path) -> bytes:
    content = path.read_bytes()
    return content if written_by_hand(content) else b""


def _declares(text: bytes, name: str) -> bool:
    typed = rb"(?:\b(?!return\b|throw\b|else\b|new\b)\w+|[>&*])[\s*&]+\b" + name.encode() + rb"\s*\("
    return re.search(typed, text) is not None


def _class_bodies(include_dirs: tuple[Path, ...], name: str, seen: set[str]) -> Iterator[bytes]:
    seen.add(name)
    head = re.compile(_CLASS % re.escape(name.encode()))
    for text in _mentions(include_dirs, name):
        for match in head.finditer(text):
            yield text[match.end() : _closing(text, match.end())]
            for base in re.findall(rb"(\w+)\s*(?:,|$|<)", match[1].strip()):
                if base.decode() not in seen:
                    yield from _class_bodies(include_dirs, base.decode(), seen)


def _outside_classes(text: bytes) -> bytes:
    kept, at = [], 0
    for match in re.finditer(_CLASS % rb"\w+(?:<[\w:, ]*>)?", text):
        if match.start() >= at:
            kept.append(text[at : match.start()])
            at = _closing(text, match.end())
    return b"".join([*kept, text[at:]])


def _closing(text: bytes, start: int) -> int:
    depth = 1
    for brace in re.compile(rb"[{}]").finditer(text, start):
        depth += 1 if brace[0] == b"{" else -1
        if depth == 0:
            return brace.start()
    return len(text)

"""Dispatcher registrations in a C++ text: operators, their schemas, and their kernel functions.

They are read as text, not as a tree, because registrations occur in macros, whose uses no grammar can parse before they
are expanded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from .macros import Macro, definitions, reaching

MARKS = (b"TORCH_LIBRARY", b"RegisterOperators")
"""Words without which a text registers nothing, unless a macro expands to one of them."""

KEYS = (
    r"(?:Autograd|Autocast|Quantized|Sparse|SparseCsr|Nested|NestedTensor)?"
    r"(?:CPU|CUDA|HIP|XLA|MPS|IPU|XPU|HPU|VE|MTIA|MAIA|FPGA|Meta|META|PrivateUse[123]|Lazy|Vulkan)"
    r"|Autograd|AutogradOther|CatchAll|BackendSelect|Functionalize|ADInplaceOrView|Python"
    r"|Composite(?:Implicit|Explicit)Autograd(?:NonFunctional|NestedTensor)?"
)
_REGISTERS = re.compile(r"\bTORCH_LIBRARY|[.>]\s*(?:impl|def|op)\s*\(|\bRegisterOperators\b")
_CALL = re.compile(r"\b([A-Za-z_]\w*[A-Z]\w*|[A-Z]\w*)\s*(?=\()")
_LIBRARY = re.compile(r"(?:(\w+?)_)??_?TORCH_LIBRARY(?:_(IMPL|FRAGMENT|DEF))?(?:_\w+)?\Z")
_METHOD = re.compile(r"(?:\.|->)\s*(def|impl|op)\s*(?=\()")
_KEY = re.compile(r"\bDispatchKey::(\w+)|\b(?:torch|at|c10)::k([A-Z]\w*)\b")
_WORD_KEY = re.compile(rf"\s*(?:{KEYS})\s*\Z")
_OPTION = re.compile(r"\b(?:kernel|catchAllKernel)<(.*?)>\(([^()]*)\)", re.DOTALL)
_STRING = re.compile(
    r'R"(?P<mark>[^()\\\s"]{0,16})\((?P<raw>.*?)\)(?P=mark)"|"(?P<plain>(?:[^"\\\n]|\\.)*)"', re.DOTALL
)
_TOKEN = re.compile(
    r'R"(?P<mark>[^()\\\s"]{0,16})\(.*?\)(?P=mark)"|"(?:[^"\\\n]|\\.)*"|\b\d[\w\']*|\'(?:[^\'\\\n]|\\.)*\''
    r"|(?<=\w)<[\w:,\s*&()]*>|[()\[\]{},]",
    re.DOTALL,
)
_HIDDEN = re.compile(
    r'R"(?P<mark>[^()\\\s"]{0,16})\(.*?\)(?P=mark)"|"(?:[^"\\\n]|\\.)*"|\b\d[\w\']*|\'(?:[^\'\\\n]|\\.)*\''
    r"|(?P<hidden>//[^\n]*|/\*.*?\*/|^[ \t]*#(?:[^\n\\]|\\\r?\n|\\.)*)",
    re.DOTALL | re.MULTILINE,
)
_WRAPPED = re.compile(r"\s*[\w:]+\s*\(\s*(.*?)\s*\)\s*\Z", re.DOTALL)
_NAME = re.compile(r"(?:\b[A-Za-z_]\w*\s*::\s*)*\b[A-Za-z_]\w*")
_REFERENCE = re.compile(r"\s*(?:TORCH_FN\s*\(\s*)?\(?\s*&?\s*[A-Za-z_][\w:]*\s*(?:<[^<>]*>)?\s*\)?\s*\)?\s*\Z")
_DEEPEST = 8
"""Limit on the nesting of macro expansions."""


@dataclass(frozen=True)
class Registration:
    """One ``def``, ``impl`` or ``op``. Offsets are bytes of the text, and those of the macro's use for an expansion.

    ``schema`` is the text in the quotes, and ``schema_start`` its first byte. The latter is -1 if the schema comes from
    a macro or several pieces. ``functions`` are the names in the function's argument, qualified as written. There are
    none for a lambda or for a schema only. ``key`` is empty if no key is named, and None if it can't be read.
    """

    operator: str
    functions: tuple[str, ...]
    key: str | None
    start: int
    end: int
    schema: str | None = None
    schema_start: int = -1
    is_lambda: bool = False
    stable: bool = False
    """True if registered through torch's stable ABI, whose Tensor has no symbolic sizes."""


@dataclass(frozen=True)
class LibraryBlock:
    """A block of registrations, or an equivalent. ``unread`` describes the part that could not be read."""

    start: int
    end: int
    key: str | None
    registrations: tuple[Registration, ...]
    unread: str | None = None
    stable: bool = False


def registering_macros(texts: Sequence[str]) -> dict[str, Macro]:
    """Return the macros of some files that register something when they are used, or that are a dispatch key."""
    found: dict[str, Macro] = {}
    for text in texts:
        if "define" in text:
            found |= definitions(text)
    keys = {name: macro for name, macro in found.items() if macro.parameters is None and _WORD_KEY.match(macro.body)}
    return keys | reaching(found, _REGISTERS)


def read_blocks(content: bytes, macros: Mapping[str, Macro]) -> tuple[LibraryBlock, ...]:
    """Return the registrations of a file. ``macros`` are the registering ones of other files, its own are read here."""
    return _read(content, macros) if macros else _read_alone(content)


@lru_cache(maxsize=4)
def _read_alone(content: bytes) -> tuple[LibraryBlock, ...]:
    return _read(content, {})


def _read(content: bytes, macros: Mapping[str, Macro]) -> tuple[LibraryBlock, ...]:
    text = content.decode("latin-1")
    own = registering_macros([text])
    return tuple(_Reader(_bare(text), {**macros, **own}).blocks())


@dataclass(frozen=True)
class _Call:
    """A use of parentheses: the texts between its commas with their offsets, and its end."""

    arguments: tuple[tuple[int, str], ...]
    end: int


class _Reader:
    """Reader of one text. For a macro's expansion, ``origin`` is the span of the macro's use."""

    def __init__(self, text: str, macros: Mapping[str, Macro], origin: tuple[int, int] | None = None, depth: int = 0):
        self.text = text
        self.code = _STRING.sub(lambda literal: " " * len(literal[0]), text)
        """Text with blank literals, which contain no calls."""
        self.macros = macros
        self.origin = origin
        self.depth = depth

    def blocks(self) -> Iterator[LibraryBlock]:
        """Yield the blocks of the text, and each use of a macro outside of them that expands to registrations."""
        at = 0
        while (found := _CALL.search(self.code, at)) is not None:
            at = found.end()
            call = _call(self.text, found.end())
            if call is None:
                continue
            name = found[1]
            for block in self._named(name, found.start(), call):
                yield block
                if self.origin is None:
                    at = max(at, block.end)

    def _named(self, name: str, start: int, call: _Call) -> Iterator[LibraryBlock]:
        library = _LIBRARY.match(name)
        if library is not None and name not in self.macros:
            yield self._block(library, start, call)
        elif name in self.macros and self.depth < _DEEPEST:
            yield from self._expanded(name, start, call)
        elif name == "RegisterOperators":
            yield self._old(start, call)
        else:
            guessed = self._by_key(start, call, "") if name == name.upper() else None
            if guessed is not None:
                yield LibraryBlock(*self._span(start, call.end), guessed.key, (guessed,))

    def _block(self, library: re.Match[str], start: int, call: _Call) -> LibraryBlock:
        opens = re.compile(r"\s*\{").match(self.text, call.end)
        body = None if opens is None else _call(self.text, opens.end() - 1)
        head = [text.strip() for _, text in call.arguments]
        stable = (library[1] or "").endswith("STABLE")
        key: str | None = ""
        if library[2] == "IMPL":
            key = self._key(head[1]) if len(head) > 1 else None
        span = self._span(start, call.end)
        if opens is None or body is None:
            return LibraryBlock(*span, key, (), "this block of registrations does not parse", stable)
        space = re.sub(r"\s", "", head[0]) if head else ""
        inner = _Reader(self.text[opens.end() : body.end - 1], self.macros, self.origin, self.depth)
        shift = 0 if self.origin is not None else opens.end()
        found, unread = inner.body(key, space)
        moved = tuple(_moved(one, shift, stable) for one in found)
        if key is None:
            unread = "the key of this block can't be read: its functions are taken for kernels on real data"
        return LibraryBlock(span[0], self._span(start, body.end)[1], key, moved, unread, stable)

    def _expanded(self, name: str, start: int, call: _Call) -> Iterator[LibraryBlock]:
        span = self._span(start, call.end)
        text = self.macros[name].expand([text for _, text in call.arguments])
        following = re.compile(r"\s*\{").match(self.text, call.end)
        inner = _Reader(text, self.macros, span, self.depth + 1)
        if following is not None:
            # The macro is the head of a block, whose body follows its use.
            last = list(_CALL.finditer(text))
            for found in last:
                head, library = _call(text, found.end()), _LIBRARY.match(found[1])
                if head is not None and library is not None and not text[head.end :].strip():
                    yield replace(self._block(library, start, replace(head, end=call.end)), start=span[0])
                    return
        yield from inner.blocks()

    def _old(self, start: int, call: _Call) -> LibraryBlock:
        """Return the block of ``RegisterOperators().op(…).op(…)``, or with one operator in the first parentheses."""
        found, end = [], call.end
        if len(call.arguments) > 1:
            found.append(self._one(call.arguments, "", "", start, end))
        while (method := re.compile(r"\s*\.\s*op\s*(?=\()").match(self.text, end)) is not None:
            inner = _call(self.text, method.end())
            if inner is None:
                break
            found += self._several(inner.arguments, method.start(), inner.end)
            end = inner.end
        return LibraryBlock(*self._span(start, end), "", tuple(found))

    def body(self, key: str | None, space: str) -> tuple[list[Registration], str | None]:
        """Return the registrations between the braces of a block, and a sentence about an unreadable part."""
        found: list[Registration] = []
        unread: str | None = None
        at = 0
        one_of = re.compile(f"{_METHOD.pattern}|{_CALL.pattern}")
        while (match := one_of.search(self.code, at)) is not None:
            at = match.end()
            call = _call(self.text, match.end())
            if call is None:
                continue
            if match[1] is not None:
                at = call.end
                if match[1] == "op":
                    found += self._several(call.arguments, match.start(), call.end)
                elif call.arguments:
                    found.append(self._one(call.arguments, key, space, match.start(), call.end))
            elif match[2] in self.macros and self.depth < _DEEPEST:
                at = call.end
                text = self.macros[match[2]].expand([text for _, text in call.arguments])
                span = self._span(match.start(), call.end)
                more, why = _Reader(text, self.macros, span, self.depth + 1).body(key, space)
                found += more
                unread = unread or why
            elif match[2] == match[2].upper() and self._stands_alone(match.start()):
                at = call.end
                guessed = self._by_key(match.start(), call, space)
                if guessed is not None:
                    found.append(guessed)
                else:
                    unread = unread or f"what the macro {match[2]} registers can't be read: its definition is not here"
        return found, unread

    def _stands_alone(self, start: int) -> bool:
        """Return whether a statement begins at an offset."""
        before = self.text[:start].rstrip()
        return not before or before[-1] in ";{}"

    def _one(
        self, arguments: Sequence[tuple[int, str]], key: str | None, space: str, start: int, end: int
    ) -> Registration:
        (name_at, name), *rest = arguments
        while rest and (rest[-1][1].lstrip().startswith("{") or "Tag::" in rest[-1][1]):
            rest.pop()
        last = rest[-1][1] if rest else ""
        said = [match[1] or match[2] for match in _KEY.finditer(" ".join(text for _, text in rest))]
        if not said and len(rest) > 1 and _WORD_KEY.match(rest[0][1]):
            said = [rest[0][1].strip()]
        text, text_at = _string(name, name_at)
        exact = text_at >= 0 and self.origin is None
        is_lambda = last.lstrip().startswith("[")
        return Registration(
            operator=_operator(text, space),
            functions=() if is_lambda else _functions(last),
            key=said[0] if said else key,
            start=self._span(start, end)[0],
            end=self._span(start, end)[1],
            schema=text if "(" in text else None,
            schema_start=text_at if exact else -1,
            is_lambda=is_lambda,
        )

    def _several(self, arguments: Sequence[tuple[int, str]], start: int, end: int) -> list[Registration]:
        """Return the registrations of one ``op``: a function, or options that name one function for each key."""
        last = arguments[-1][1] if arguments else ""
        options = [(match[1], match[2]) for match in _OPTION.finditer(last)]
        schema = next((text for at, one in arguments if (text := _string(one, at)[0])), "")
        if not options:
            return [self._one(arguments, "", "", start, end)] if len(arguments) > 1 else []
        return [
            Registration(
                _operator(schema, ""), _functions(functions),
                next((match[1] or match[2] for match in _KEY.finditer(key)), ""), *self._span(start, end),
                schema if "(" in schema else None,
            )
            for functions, key in options
        ]  # fmt: skip

    def _by_key(self, start: int, call: _Call, space: str) -> Registration | None:
        """Return the registration of an unknown macro, or None.

        Its arguments are a dispatch key, an operator's name and a function.
        """
        if not any('"' in text for _, text in call.arguments):
            return None
        keys = [text.strip() for _, text in call.arguments if _WORD_KEY.match(text) or _KEY.search(text)]
        names = [text for at, one in call.arguments if (text := _string(one, at)[0])]
        others = [
            text for _, text in call.arguments
            if '"' not in text and not _WORD_KEY.match(text) and not _KEY.search(text) and _REFERENCE.match(text)
        ]  # fmt: skip
        if len(keys) != 1 or len(names) != 1 or not others:
            return None
        key = next((match[1] or match[2] for match in _KEY.finditer(keys[0])), keys[0])
        functions = tuple(name for other in others for name in _functions(other))
        return Registration(_operator(names[0], space), functions, key, *self._span(start, call.end))

    def _key(self, word: str) -> str | None:
        """Return the dispatch key that a word of a block's head is, or expands to."""
        for _ in range(_DEEPEST):
            if _WORD_KEY.match(word):
                return word
            macro = self.macros.get(word)
            if macro is None or macro.parameters is not None:
                break
            word = macro.body
        return word if re.fullmatch(r"\w+", word) and word != word.upper() else None

    def _span(self, start: int, end: int) -> tuple[int, int]:
        return (start, end) if self.origin is None else self.origin


def _moved(one: Registration, by: int, stable: bool) -> Registration:
    start = one.schema_start if one.schema_start < 0 else one.schema_start + by
    return replace(one, start=one.start + by, end=one.end + by, schema_start=start, stable=stable)


def _bare(text: str) -> str:
    """Return the text with blanks of equal length for comments and directives."""

    def blanked(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match[0]) if match["hidden"] is not None else match[0]

    return _HIDDEN.sub(blanked, text)


def _call(text: str, opens: int) -> _Call | None:
    """Return the arguments between the bracket at ``opens`` and its closing bracket, or None if there is none."""
    depth, begins = 0, opens + 1
    found: list[tuple[int, str]] = []
    for token in _TOKEN.finditer(text, opens):
        sign = token[0]
        if sign in ("(", "[", "{"):
            depth += 1
        elif sign in (")", "]", "}"):
            depth -= 1
            if depth == 0:
                if text[begins : token.start()].strip() or found:
                    found.append((begins, text[begins : token.start()]))
                return _Call(tuple(found), token.end())
        elif sign == "," and depth == 1:
            found.append((begins, text[begins : token.start()]))
            begins = token.end()
    return None


def _string(text: str, at: int) -> tuple[str, int]:
    """Return the characters of a string literal, unwrapped from calls, and their start.

    The start is -1 for several literals.
    """
    while (wrapped := _WRAPPED.match(text)) is not None and not text.lstrip().startswith(('R"', '"')):
        at += wrapped.start(1)
        text = wrapped[1]
    pieces = list(_STRING.finditer(text))
    if not pieces or _STRING.sub("", text).strip():
        return "", -1
    said = "".join(piece["raw"] if piece["raw"] is not None else piece["plain"] for piece in pieces)
    group = "raw" if pieces[0]["raw"] is not None else "plain"
    return said, at + pieces[0].start(group) if len(pieces) == 1 else -1


def _operator(schema: str, space: str) -> str:
    """Return ``ns::name.overload`` of a schema or name, with the namespace of the block if none is written."""
    name = re.sub(r"\s", "", schema.partition("(")[0])
    return name if "::" in name or not space or not name else f"{space}::{name}"


def _functions(text: str) -> tuple[str, ...]:
    """Return the names in a function's argument that may be the function's, qualified as they are written."""
    text = re.sub(r"<[^<>]*>", "", _STRING.sub("", text))
    names = (re.sub(r"\s", "", name) for name in _NAME.findall(text))
    return tuple(
        dict.fromkeys(name for name in names if not _KEY.search(name) and name not in ("TORCH_FN", "torch::dispatch"))
    )

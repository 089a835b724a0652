"""Translation of checks and error messages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .expressions import Expressions
from .kinds import TENSOR_ARGUMENT, TEXT
from .values import Level, PythonExpression, Untranslatable, quoted

if TYPE_CHECKING:
    from tree_sitter import Node

_LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"')
_TEXTS = ("string_literal", "concatenated_string")


def check(expressions: Expressions, function: str, condition: Node, parts: Sequence[Node]) -> Iterator[str]:
    """Yield the lines of a check that raises the same error type and text if the condition does not hold."""
    words = message(expressions, parts) if parts else quoted(_unsaid(expressions, condition))
    asked = expressions.condition(condition)
    yield f"{function}({asked.inside(Level.TERNARY)}, lambda: {words})"


def message(expressions: Expressions, parts: Sequence[Node]) -> str:
    """Return the parts of a C++ error message as a string or an f-string."""
    pieces: list[str] = []
    plain = True
    for part in parts:
        if part.type in _TEXTS:
            pieces.append(quoted(expressions.text_of(part))[1:-1].replace("{", "{{").replace("}", "}}"))
        else:
            value = expressions.write(part)
            plain = False
            pieces.append(_shown(value))
    text = "".join(pieces)
    return f'"{text}"'.replace("{{", "{").replace("}}", "}") if plain else f'f"{text}"'


def _shown(value: PythonExpression) -> str:
    """Return a value as part of an f-string."""
    if value.kind is TENSOR_ARGUMENT and value.parts and len(value.parts) == 3:
        return f"argument #{value.parts[2].text} {value.parts[1].text}".replace('"', "'")
    if value.kind is TENSOR_ARGUMENT:
        return f"argument #{{{value.atom}[2]}} '{{{value.atom}[1]}}'"
    if value.kind is TEXT and _LITERAL.fullmatch(value.text):
        return value.text[1:-1].replace("{", "{{").replace("}", "}}")
    if value.kind.name == "list" and not (value.kind.owned and value.fresh):
        text = f"list({value.text})"
    else:
        text = value.inside(Level.TERNARY)
    if '"' in text:
        if "'" in text:
            raise Untranslatable(f"`{text}` in the text of an error")
        text = text.replace('"', "'")
    if "\\" in text:
        raise Untranslatable(f"`{text}` in the text of an error")
    return "{" + (f" {text} " if text.startswith("{") else text) + "}"


def _unsaid(expressions: Expressions, condition: Node) -> str:
    """Return torch's message of a check without a text."""
    words = " ".join(expressions.tree.text(condition).split())
    return (
        f"Expected {words} to be true, but got false.  (Could this error message be improved?  If so, "
        "please report an enhancement request to PyTorch.)"
    )

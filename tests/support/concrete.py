"""Runs of a function before and after symfix's Python fixes, on concrete values, and the differences in the results."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from goldens import installed_torch
from symfix.codemods.engine.fixpoint import FixOptions, rewrite
from symfix.codemods.engine.registry import load_language, load_rules
from symfix.codemods.model.outcome import Changed, Refused, Unchanged
from symfix.codemods.model.rule import Context, Rule
from symfix.codemods.model.source_file import SourceFile

Call = Callable[[], tuple[Any, ...]]
"""Function that makes new arguments, so that no call sees modifications by another."""


def outcome(
    text: str, *, unsafe: bool = False, path: str = "model.py", drop_torchscript: bool = False
) -> Changed | Unchanged | Refused:
    """Return the outcome of all Python rules on a text. All of its functions are treated as eligible."""
    context = Context(installed_torch(), all_functions=True, drop_torchscript=drop_torchscript)
    wishes = FixOptions(unsafe=unsafe, polish=False)
    rules: Sequence[Rule] = load_rules("symfix.python")
    return rewrite(SourceFile(Path(path), text.encode()), rules, load_language("symfix.python"), context, wishes)


def fixed(text: str, *, unsafe: bool = False, path: str = "model.py") -> str:
    """Return the text after the fixes. Raises AssertionError if the file is refused."""
    found = outcome(text, unsafe=unsafe, path=path)
    assert not isinstance(found, Refused), found.detail
    return found.after.decode() if isinstance(found, Changed) else text


def beyond_script(text: str) -> str:
    """Add a parameter that TorchScript rejects to each top-level function, so that no fix is withheld."""
    return re.sub(r"(?m)^(def \w+\((?!.*\*).*?\S)(\)(?: -> .*)?:)$", r"\1, *, by_name=None\2", text)


def answers(text: str, calls: Iterable[Call], name: str = "f") -> list[tuple[str, ...]]:
    """Return each call's result: the value and its type, or an exception's type, text and arguments."""
    namespace: dict[str, Any] = {"__name__": "concrete"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(text, "concrete.py", "exec"), namespace)
        return [_answer(namespace[name], call()) for call in calls]


def _answer(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[str, ...]:
    try:
        value = function(*arguments)
    except Exception as error:
        return type(error).__name__, str(error), repr(error.args)
    return "value", type(value).__name__, repr(value)


def differences(before: str, after: str, calls: Sequence[Call], name: str = "f") -> list[str]:
    """Return one line for each call whose result differs."""
    found = []
    for number, (old, new) in enumerate(zip(answers(before, calls, name), answers(after, calls, name), strict=True)):
        if old != new:
            found.append(f"call {number} with {calls[number]()!r}: {old} became {new}")
    return found

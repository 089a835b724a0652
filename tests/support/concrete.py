"""Runs a function before and after symfix's Python fixes on concrete values, and says in what the answers differ."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from goldens import installed_torch
from symfix.codemods.engine.outcome import Changed, Refused, Unchanged
from symfix.codemods.engine.registry import load_language, load_rules
from symfix.codemods.engine.rounds import Wishes, rewrite
from symfix.codemods.engine.rule import Context, Rule
from symfix.codemods.engine.source import SourceFile

Call = Callable[[], tuple[Any, ...]]
"""Makes the arguments anew, so that no call sees what another did to them."""


def outcome(
    text: str, *, unsafe: bool = False, path: str = "model.py", drop_torchscript: bool = False
) -> Changed | Unchanged | Refused:
    """What all Python rules make of a text; every function counts as one that sees symbolic sizes."""
    context = Context(installed_torch(), all_functions=True, drop_torchscript=drop_torchscript)
    wishes = Wishes(unsafe=unsafe, polish=False)
    rules: Sequence[Rule] = load_rules("symfix.python")
    return rewrite(SourceFile(Path(path), text.encode()), rules, load_language("symfix.python"), context, wishes)


def fixed(text: str, *, unsafe: bool = False, path: str = "model.py") -> str:
    """The text after the fixes; raises AssertionError when the file is refused."""
    found = outcome(text, unsafe=unsafe, path=path)
    assert not isinstance(found, Refused), found.detail
    return found.after.decode() if isinstance(found, Changed) else text


def beyond_script(text: str) -> str:
    """The text with a parameter in each function of its top that TorchScript refuses, so that no fix is held back."""
    return re.sub(r"(?m)^(def \w+\((?!.*\*).*?\S)(\)(?: -> .*)?:)$", r"\1, *, by_name=None\2", text)


def answers(text: str, calls: Iterable[Call], name: str = "f") -> list[tuple[str, ...]]:
    """What ``name`` of a module answers to each call: the value and its type, or the exception, its type and text."""
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
    """The calls that are answered differently, each as one line."""
    found = []
    for number, (old, new) in enumerate(zip(answers(before, calls, name), answers(after, calls, name), strict=True)):
        if old != new:
            found.append(f"call {number} with {calls[number]()!r}: {old} became {new}")
    return found

"""A sample as source code, and the test made of it, in the layout of PyTorch's formatter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

WIDTH = 88
_BODY = 8


@dataclass(frozen=True)
class FailingCall:
    """A failing call. ``call`` is the public name, and ``tensors`` maps tensors of ``arguments`` to their source."""

    operator: str
    call: str
    arguments: tuple[str, ...]
    tensors: Mapping[str, str]
    marks: tuple[tuple[str, int], ...]
    """Dimensions with an unbacked size, each with the name of its tensor."""
    changes: bool
    """True if the call modifies its arguments."""
    failure: str = ""
    """Failure before the fix."""

    @property
    def test(self) -> str:
        """Return the name of its test."""
        return f"test_unbacked_{re.sub(r'[^0-9A-Za-z]+', '_', self.operator).strip('_').lower()}"


def words_of(operator: str, said: Mapping[str, Any], failure: str) -> FailingCall:
    """Build `FailingCall` from a child's report."""
    marks = tuple((name, int(dimension)) for name, dimension in said["marks"])
    return FailingCall(
        operator, said["call"], tuple(said["arguments"]), said["tensors"], marks, said["changes"], failure
    )


def method(words: FailingCall, backend: str, name: str = "") -> bytes:
    """Return the test as a method of a top-level test class."""
    lines = [
        f"    def {name or words.test}(self):",
        *(f"        {line}" if line else "" for line in _body(words, backend)),
    ]
    return ("\n".join(lines) + "\n").encode()


def standalone(words: FailingCall, backend: str) -> bytes:
    """Return a file that contains only the test and runs it."""
    title = "".join(part.title() for part in re.split(r"[^0-9A-Za-z]+", words.operator) if part)
    head = [
        '# Owner(s): ["module: dynamic shapes"]',
        "",
        "import torch",
        "import torch._dynamo",
        "from torch.testing._internal.common_utils import run_tests, TestCase",
        "",
        "",
        f"class TestUnbacked{title}(TestCase):",
        "",
    ]
    tail = ["", "", 'if __name__ == "__main__":', "    run_tests()", ""]
    return "\n".join(head).encode() + method(words, backend) + "\n".join(tail).encode()


def _body(words: FailingCall, backend: str) -> Iterator[str]:
    names = list(words.tensors)
    yield f"def fn({', '.join(names)}):"
    yield from _call("    return ", words.call, words.arguments)
    yield ""
    for name, text in words.tensors.items():
        call, _, inside = text.partition("(")
        yield from _call(f"{name} = ", call, [inside[:-1]])
    yield from _call("expected = ", "fn", [f"{name}.clone()" for name in names] if words.changes else names)
    for name, dimension in words.marks:
        yield f"torch._dynamo.decorators.mark_unbacked({name}, {dimension})"
    yield f'compiled = torch.compile(fn, backend="{backend}", fullgraph=True)'
    yield f"self.assertEqual(compiled({', '.join(names)}), expected)"


def _call(before: str, name: str, arguments: Sequence[str]) -> Iterator[str]:
    """Yield a call on one line, else its arguments on one line of their own, else one argument on each line."""
    indent = " " * (len(before) - len(before.lstrip(" ")))
    joined = ", ".join(arguments)
    if _BODY + len(f"{before}{name}({joined})") <= WIDTH:
        yield f"{before}{name}({joined})"
        return
    yield f"{before}{name}("
    if _BODY + len(f"{indent}    {joined}") <= WIDTH:
        yield f"{indent}    {joined}"
    else:
        yield from (f"{indent}    {argument}," for argument in arguments)
    yield f"{indent})"

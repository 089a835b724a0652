"""Source code of samples for a test: a call by a public name, tensors by shape and dtype.

A regression test is made of a call that fails on this torch with unbacked sizes and passes in eager.
"""

from __future__ import annotations

import faulthandler
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..overlay.changed_torch import Kernels, overlay
from ..overlay.import_hooks import imported
from .operators import quiet, say, spread

_LONGEST = 120
_LONGEST_NUMBER = 8
_MOST_ELEMENTS = 12
_OTHER_SAMPLES = 5
_LETTERS = "xyzwvu"
_KINDS = ("randn", "rand", "written")


class Unwordable(Exception):
    """Error raised when a value has no short source code. ``str()`` names it."""


def main(request_path: str) -> None:
    """Run the request in the JSON file at ``request_path``, and append each answer to the report immediately."""
    request: dict[str, Any] = json.loads(Path(request_path).read_bytes())
    overlay(request["modules"])
    with Path(request["report"]).open("a") as report:
        if request["library"]:
            Kernels(request["library"], request["kernels"]).states()
        quiet()
        op_db = imported("torch.testing._internal.common_methods_invocations").op_db

        named = {".".join(filter(None, (one.name, one.variant_test_name))): one for one in op_db}
        for name, number in request["operators"]:
            say(report, {"start": name})
            faulthandler.dump_traceback_later(request["patience"], exit=True)
            say(report, {"operator": name, **_worded(named[name], number)})
            faulthandler.cancel_dump_traceback_later()


def _worded(operator: Any, number: int) -> dict[str, Any]:
    """Return the source code of the first sample that fails with it. The sample at ``number`` is tried first."""
    from ..samples.samples import samples_of

    drawn = samples_of(operator)
    order = [*drawn[number : number + 1], *spread(drawn[:number] + drawn[number + 1 :], _OTHER_SAMPLES)]
    why = "it has no samples"
    for sample in order:
        for kind in _KINDS:
            try:
                words = _words(operator, sample, kind)
                failure = _failure(words)
            except Unwordable as reason:
                why = str(reason)
                continue
            if failure:
                return {"words": words, "failure": failure}
            why = "with the values that a test writes it does not fail"
    return {"refused": why}


def _words(operator: Any, sample: Any, kind: str) -> dict[str, Any]:
    args, kwargs = sample.inputs()
    tensors: dict[str, str] = {}
    marks: list[tuple[str, int]] = []
    words = [_text(value, "", kind, tensors, marks) for value in args]
    named = {name: _text(value, name, kind, tensors, marks) for name, value in kwargs.items()}
    call, words = _callee(operator, sample, words)
    if not marks:
        raise Unwordable("no dimension has two or more")
    return {
        "call": call,
        "arguments": [*words, *(f"{name}={text}" for name, text in named.items())],
        "tensors": tensors,
        "marks": marks,
        "changes": _changes_inputs(sample),
    }


def _text(value: Any, name: str, kind: str, tensors: dict[str, str], marks: list[tuple[str, int]]) -> str:
    import torch

    if isinstance(value, torch.Tensor):
        taken = name if name.isidentifier() and name not in tensors else _letter(tensors)
        tensors[taken] = _tensor(value, kind)
        marks += [(taken, dimension) for dimension, size in enumerate(value.shape) if size >= 2]
        return taken
    if value is None or isinstance(value, (bool, int, float, str)):
        value = round(value, 3) if isinstance(value, float) and len(repr(value)) > _LONGEST_NUMBER else value
        text = json.dumps(value) if isinstance(value, str) else repr(value)
        if "inf" in text or "nan" in text:
            text = f'float("{text}")' if isinstance(value, float) else text
        return _short(text)
    if type(value) in (list, tuple, torch.Size):
        inner = [_text(child, "", kind, tensors, marks) for child in value]
        if type(value) is list:
            return _short(f"[{', '.join(inner)}]")
        return _short(f"({', '.join(inner)}{',' if len(inner) == 1 else ''})")
    if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
        return str(value)
    raise Unwordable(f"there are no short words for a {type(value).__name__}")


def _tensor(tensor: Any, kind: str) -> str:
    import torch

    if tensor.layout is not torch.strided or tensor.is_quantized:
        raise Unwordable(f"there are no short words for a tensor of layout {tensor.layout}")
    sizes = ", ".join(map(str, tensor.shape)) or "()"
    dtype = "" if tensor.dtype is torch.get_default_dtype() else f", dtype={tensor.dtype}"
    real = tensor.dtype.is_floating_point
    if (real or tensor.dtype.is_complex) and kind != "written":
        return _short(f"torch.{kind}({sizes}{dtype})")
    if tensor.numel() == 0:
        return _short(f"torch.empty({sizes}{f', dtype={tensor.dtype}' if not real else dtype})")
    if tensor.numel() <= _MOST_ELEMENTS:
        values = tensor.tolist() if not real else _rounded(tensor.tolist())
        plain = tensor.dtype in (torch.bool, torch.int64, torch.get_default_dtype())
        return _short(f"torch.tensor({values}{'' if plain else f', dtype={tensor.dtype}'})")
    if real or tensor.dtype.is_complex:
        raise Unwordable(f"a tensor of {tensor.numel()} given values is too long to write")
    if tensor.dtype is torch.bool:
        return _short(f"torch.ones({sizes}, dtype=torch.bool)")
    least, most = int(tensor.min()), int(tensor.max())
    shape = f"({sizes},)" if tensor.dim() == 1 else f"({sizes})"
    return _short(f"torch.randint({least}, {most + 1}, {shape}{'' if tensor.dtype is torch.int64 else dtype})")


def _rounded(value: Any) -> Any:
    return [_rounded(child) for child in value] if isinstance(value, list) else round(value, 3)


def _short(text: str) -> str:
    if len(text) > _LONGEST:
        raise Unwordable("an argument is too long to write")
    return text


def _letter(tensors: dict[str, str]) -> str:
    return next((letter for letter in _LETTERS if letter not in tensors), f"t{len(tensors)}")


def _callee(operator: Any, sample: Any, words: list[str]) -> tuple[str, list[str]]:
    """Return a public name that does the same as the OpInfo on this sample, and the remaining arguments."""
    from ..samples.samples import attempt

    expected, error = attempt(sample.call)
    if error:
        raise Unwordable(f"eager raises {error}")
    for path in (operator.name, f"ops.aten.{operator.name}"):
        function = _found(path)
        if callable(function) and _alike(sample, function, expected):
            return f"torch.{path}", words
    method = operator.name.rpartition(".")[2]
    if words[0].isidentifier() and _alike(
        sample, lambda first, *rest, **named: _by(first, method, rest, named), expected
    ):
        return f"{words[0]}.{method}", words[1:]
    raise Unwordable("no public name does what its OpInfo does")


def _found(path: str) -> Any:
    """Return the object below torch with a dotted name, or None."""
    import torch

    value: Any = torch
    for part in path.split("."):
        value = getattr(value, part, None)
    return value


def _alike(sample: Any, function: Any, expected: Any) -> bool:
    from ..samples.samples import attempt, difference

    result, error = attempt(lambda: sample.call(function))
    return not error and not difference(result, expected)


def _by(first: Any, method: str, rest: Any, named: Any) -> Any:
    return getattr(first, method)(*rest, **named)


def _changes_inputs(sample: Any) -> bool:
    from ..samples.samples import tensors_in

    args, kwargs = sample.inputs()
    versions = [tensor._version for tensor in tensors_in((args, kwargs))]
    sample.function(*args, **kwargs)
    return versions != [tensor._version for tensor in tensors_in((args, kwargs))]


def _failure(words: dict[str, Any]) -> str:
    """Return the error of the call when its sizes are unbacked, or "" if it passes.

    Raises Unwordable if eager fails.
    """
    import torch
    from torch._dynamo.decorators import mark_unbacked

    from ..protocols.dynamo_setup import compile_anew
    from ..samples.samples import attempt, describe

    names = ", ".join(words["tensors"])
    function = eval(f"lambda {names}: {words['call']}({', '.join(words['arguments'])})", {"torch": torch})
    torch.manual_seed(0)
    # The operator may reject the generated values, which eager shows.
    _, error = attempt(lambda: function(*_made(words)))
    if error:
        raise Unwordable(f"eager raises {error} with values that a test can write")
    tensors = dict(zip(words["tensors"], _made(words), strict=True))
    for name, dimension in words["marks"]:
        mark_unbacked(tensors[name], dimension)
    compile_anew()
    try:
        compiled: Any = torch.compile(function, backend="eager", fullgraph=True)
        compiled(*tensors.values())
    except Exception as failure:
        return next(_telling(describe(failure, 2000)))
    return ""


def _telling(text: str) -> Iterator[str]:
    """Yield the undecided expression, if the error names one, then the beginning of the message."""
    found = re.search(r"Could not (?:guard on|extract)[^.]*?expression ([^(]*\(.*?\)) \(unhinted", text)
    if found:
        yield f"could not decide {found[1]}"
    yield text[:200]


def _made(words: dict[str, Any]) -> list[Any]:
    import torch

    return [eval(text, {"torch": torch}) for text in words["tensors"].values()]

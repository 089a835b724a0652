"""Calls of the privately registered twins of operators: ``twinning.py REQUEST REPORT``.

The request names a library that registers ``symfix_twin::f``, and for each operator its aten name and its size
arguments. Each call is one that aten accepts: a sample of torch's own operator tests, or one generated from the schema.
A call runs eagerly, and traced with a backed and with an unbacked size. The results are written as JSON.
"""

from __future__ import annotations

import ctypes
import importlib
import itertools
import json
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

_SHAPES = ((6,), (3, 4), (2, 3, 4), (1, 36, 2, 2), (1, 2, 12, 12))
_VALUES = (2, 3, 4, 6)
_DTYPES = (torch.float32, torch.int64)
_CALLS = 12
_SAMPLES = 40


def main(request: str, report: str) -> int:
    """Run the request, write the report and return the exit code."""
    asked = json.loads(Path(request).read_text())
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"), mode=ctypes.RTLD_GLOBAL)
    load: Callable[[str], None] = torch.ops.load_library
    load(asked["library"])
    answers = [_operator(one["name"], one["overload"], one["sizes"]) for one in asked["operators"]]
    Path(report).write_text(json.dumps(answers))
    return 0


def _operator(name: str, overload: str, sizes: Sequence[str]) -> dict[str, Any]:
    aten = getattr(getattr(torch.ops.aten, name), overload or "default")
    twin = getattr(getattr(torch.ops.symfix_twin, name), overload or "default")
    rows = []
    for words in itertools.islice(_calls(name, aten, sizes), _CALLS):
        # A mutated tensor has a fixed size.
        values = [] if aten._schema.is_mutable else _values(aten, words, sizes)
        row: dict[str, Any] = {"call": _shown(words), "eager": _eager(aten, twin, words)}
        if len(values) > 1:
            row["backed"] = _traced(twin, words, sizes, values, _backed)
            row["unbacked"] = _traced(twin, words, sizes, values, _unbacked)
        rows.append(row)
    return {"name": name, "overload": overload, "calls": rows}


def _calls(name: str, aten: Any, sizes: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield arguments by name that aten accepts, with a value for at least one of the sizes."""
    seen: set[str] = set()
    for words in itertools.chain(_samples(name, aten), _made_up(aten, sizes)):
        given = [words.get(one) for one in sizes]
        if not any(isinstance(value, (int, list, tuple)) and value != [] for value in given):
            continue
        if _shown(words) not in seen and not isinstance(_outcome(aten, words), str):
            seen.add(_shown(words))
            yield words


def _samples(name: str, aten: Any) -> Iterator[dict[str, Any]]:
    database = importlib.import_module("torch.testing._internal.common_methods_invocations").op_db
    parameters = [one.name for one in aten._schema.arguments]
    for info in database:
        dtype = next((one for one in _DTYPES if one in info.dtypes), None)
        if name not in (info.name.rpartition(".")[2], info.aten_name) or dtype is None:
            continue
        for sample in itertools.islice(info.sample_inputs("cpu", dtype), _SAMPLES):
            words = dict(zip(parameters, (sample.input, *sample.args), strict=False)) | sample.kwargs
            if words.keys() <= set(parameters):
                yield words


def _made_up(aten: Any, sizes: Sequence[str]) -> Iterator[dict[str, Any]]:
    required = [one for one in aten._schema.arguments if not one.has_default_value()]
    optional = [one for one in aten._schema.arguments if one.has_default_value() and one.name in sizes]
    for shape, value in itertools.product(_SHAPES, _VALUES):
        words: dict[str, Any] = {}
        for one in (*required, *optional):
            kind = str(one.type)
            if kind == "Tensor":
                words[one.name] = torch.arange(float(torch.Size(shape).numel())).reshape(shape)
            elif "int" in kind.lower():
                words[one.name] = [value] * (one.N or 1) if "List" in kind else value
            elif one in required:
                return
        yield words


def _values(aten: Any, words: dict[str, Any], sizes: Sequence[str]) -> list[int]:
    """Return up to three values that aten accepts for the sizes in the same call."""
    held = next(words[one] for one in sizes if words.get(one) not in (None, []))
    first = held if isinstance(held, int) else held[0]
    found = [first] if first > 1 else []
    for value in (*range(2, 10), 12):
        if value not in found and not isinstance(_outcome(aten, _with(words, sizes, value)), str):
            found.append(value)
    return found[:3]


def _with(words: dict[str, Any], sizes: Sequence[str], value: Any) -> dict[str, Any]:
    changed = dict(words)
    for one in sizes:
        held = words.get(one)
        if isinstance(held, (list, tuple)) and held:
            changed[one] = [value] * len(held)
        elif held is not None:
            changed[one] = value
    return changed


def _eager(aten: Any, twin: Any, words: dict[str, Any]) -> str:
    """Compare the twin with aten in eager, and return the difference or an empty string."""
    wanted, given = _outcome(aten, words), _outcome(twin, words)
    return "" if _same(wanted, given) else f"differs: {_shown_result(given)} for {_shown_result(wanted)}"


def _outcome(operator: Any, words: dict[str, Any]) -> Any:
    try:
        return operator(**words)
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"


def _traced(
    twin: Any,
    words: dict[str, Any],
    sizes: Sequence[str],
    values: Sequence[int],
    make: Callable[..., Callable[[int], Any]],
) -> dict[str, Any]:
    """Return the number of graphs for the values, and the first failure. The expected result is the twin's in eager."""
    torch._dynamo.reset()
    graphs = 0

    def count(module: Any, inputs: Any) -> Any:
        nonlocal graphs
        graphs += 1
        return module.forward

    try:
        run = make(twin, words, sizes, count)
        for value in values:
            wanted, given = _outcome(twin, _with(words, sizes, value)), run(value)
            if not _same(wanted, given):
                return {"graphs": graphs, "wrong": f"another result for {value}"}
    except Exception as error:
        return {"graphs": graphs, "wrong": _wording(error)}
    return {"graphs": graphs, "wrong": ""}


def _wording(error: Exception) -> str:
    """Return the relevant line of an exception, or the original error in one that Dynamo wraps."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line.partition(": got ")[2] for line in lines if ": got " in line]
    return f"{type(error).__name__}: {(telling or lines or [''])[0]}"[:300]


def _backed(twin: Any, words: dict[str, Any], sizes: Sequence[str], count: Any) -> Callable[[int], Any]:
    tensors = {key: value for key, value in words.items() if isinstance(value, torch.Tensor)}
    rest = {key: value for key, value in words.items() if key not in tensors}

    def call(tensors: dict[str, Any], value: int) -> Any:
        return twin(**{**tensors, **_with(rest, sizes, value)})

    compiled = torch.compile(call, backend=count, fullgraph=True, dynamic=True)
    return lambda value: compiled(tensors, value)


def _unbacked(twin: Any, words: dict[str, Any], sizes: Sequence[str], count: Any) -> Callable[[int], Any]:
    tensors = {key: value for key, value in words.items() if isinstance(value, torch.Tensor)}
    rest = {key: value for key, value in words.items() if key not in tensors}

    def call(tensors: dict[str, Any], held: torch.Tensor) -> Any:
        value = held.item()
        check(value >= 2)
        return twin(**{**tensors, **_with(rest, sizes, value)})

    check: Callable[[bool], None] = torch._check
    torch._dynamo.config.capture_scalar_outputs = True
    compiled = torch.compile(call, backend=count, fullgraph=True, dynamic=True)
    return lambda value: compiled(tensors, torch.tensor(value))


def _same(wanted: Any, given: Any) -> bool:
    if isinstance(wanted, torch.Tensor) and isinstance(given, torch.Tensor):
        alike = (wanted.dtype, wanted.shape, wanted.stride()) == (given.dtype, given.shape, given.stride())
        return alike and torch.equal(wanted.nan_to_num(), given.nan_to_num())
    if isinstance(wanted, (list, tuple)) and isinstance(given, (list, tuple)):
        return len(wanted) == len(given) and all(map(_same, wanted, given))
    return type(wanted) is type(given) and bool(wanted == given)


def _shown(words: dict[str, Any]) -> str:
    parts = (f"{key}={tuple(v.shape) if isinstance(v, torch.Tensor) else v}" for key, v in words.items())
    return ", ".join(parts)


def _shown_result(value: Any) -> str:
    return str(tuple(value.shape)) if isinstance(value, torch.Tensor) else str(value)[:200]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))

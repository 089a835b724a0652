"""Exports of models, compared with the models: which ways succeed, and where the others stop."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, cast

from ..samples.cases import ATTRIBUTE, Case, cases_of, kept, with_other_values
from .operators import Questions, answer_all

_LARGEST = 2**16
"""Largest size outside of a program's range at which the model is tried."""
_OUTSIDE = 32
"""Number of sizes on each side of a program's range that the model must reject too."""
_UNLIKE = "two calls of the model with the same inputs give different results, so that nothing can be compared"
_GUARD = re.compile(r"^\s*- \d+/(\d+): (.+)$", re.MULTILINE)
"""Line of a RecompileError: the number of a compiled program, and the guard of it that failed."""
living: dict[str, Callable[[], Any]] = {}
"""Targets that are alive in this process, by name, each with the function that builds its `Model`."""


def main(request_path: str) -> None:
    """Run the request in the JSON file at ``request_path``, and append each answer to the report immediately."""
    request: dict[str, Any] = json.loads(Path(request_path).read_bytes())

    def questions() -> Questions:
        from ..recorders.branch_coverage import count_sides
        from ..recorders.failure_site import FailureRecorder

        witness = FailureRecorder(inside_torch=request["inside_torch"])
        if request["sides"]:
            request["counted"] = count_sides()
        if description := request.get("described"):
            from ..samples.described_target import described

            for words in request["targets"]:
                living[words] = partial(described, words, request["folder"], description)
        for words in request["targets"]:
            yield "target", words, partial(_in_time, words, witness, request)

    answer_all(request, questions)


class _Overtime(BaseException):
    """Error raised when a target exceeds its limit on processor time."""


def _stop(number: int, frame: Any) -> None:
    raise _Overtime


def _in_time(words: str, witness: Any, request: dict[str, Any]) -> dict[str, Any]:
    signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, request["cpu"])
    started = time.monotonic()
    try:
        answer = _examine(words, witness, request)
    except _Overtime:
        answer = {
            "verdict": "failed",
            "message": f"more than {request['cpu']:.0f} s of processor time",
            "crashed": True,
        }
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return {**answer, "seconds": round(time.monotonic() - started, 2)}


def _examine(words: str, witness: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Return the verdict on one target: passed, failed, wrong, deviates or untestable.

    ``stage`` is the index of the way that failed.
    """
    import torch

    from ..protocols.dynamo_setup import compile_anew
    from ..samples.export_targets import BadTarget, load, read
    from ..samples.samples import describe

    try:
        torch.manual_seed(0)
        model = living[words]() if words in living else read(load(words, request["folder"])())
    except BadTarget as error:
        return {"verdict": "untestable", "message": str(error)}
    except Exception as error:
        return {"verdict": "untestable", "message": f"{words} raises {describe(error)}"}
    counted, varied = request.get("counted"), request.get("varied", {})
    if counted is not None:
        counted.clear()
    with torch.set_grad_enabled(model.differentiable):
        with _whole_numbers() if request.get("changed", request.get("modules")) else contextlib.nullcontext():
            cases = list(_counted_cases(model, varied.get(words, ()), counted, filled=request.get("filled", False)))
        if cases[0].error:
            return {"verdict": "untestable", "message": f"the model itself raises {cases[0].error}"}
        if not cases[0].repeats:
            return {"verdict": "untestable", "message": _UNLIKE}
        seen = [{"name": case.name, "digest": case.digest, "error": case.error} for case in cases]
        sides = [] if counted is None else [[*place, sorted(truths)] for place, truths in counted.seen().items()]
        answer: dict[str, Any] = {
            "verdict": "passed",
            "message": "",
            "cases": seen,
            "varied": varied.get(words, []),
            "notes": [],
            "sides": sides,
            "taken": [],
        }
        for stage, way in enumerate(request["ways"]):
            compile_anew()
            witness.forget()
            found = _one_way(model, cases, way, request["unbacked"], witness, answer["taken"])
            case = found.pop("case", None)
            # Torch assumes 2 and more for sizes with a hint only. In a living process the lines of changed texts are
            # unknown.
            if case is not None and case.small and not request["unbacked"] and not request.get("changed"):
                found |= _specialized(model, cases[0], case, request.get("modules") or {})
            answer["notes"] += [f"{way}: {note}" for note in found.pop("notes", ())]
            if found:
                if words not in varied:
                    _vary(model, cases, answer, by_value=bool(found.get("values")))
                return {**answer, "stage": stage, "way": way, **found}
    return answer


def _counted_cases(model: Any, varied: Sequence[str], counted: Any, *, filled: bool) -> Iterator[Case]:
    """Yield the cases. A call that torch refuses shows nothing of the decisions on the way to the error."""
    cases = chain(cases_of(model, filled=filled), with_other_values(model, varied))
    while True:
        before = None if counted is None else counted.copy()
        case = next(cases, None)
        if case is None:
            return
        if before is not None and case.error and not case.raises_itself:
            counted.restore(before)
        yield case


def _vary(model: Any, cases: Sequence[Case], answer: dict[str, Any], *, by_value: bool) -> None:
    """Look for values under which the model goes other ways than in all ``cases``; they go with every later trial."""
    from ..samples.values import telling

    with kept(model.module):
        # An empty tensor takes the way of true in `all()`, and shows nothing of what is computed there.
        filled = [case.inputs for case in cases if all(case.sizes.values())]
        answer["varied"] = list(telling(model, filled, by_value=by_value))
    more = with_other_values(model, answer["varied"])
    answer["cases"] += [{"name": case.name, "digest": case.digest, "error": case.error} for case in more]


@contextlib.contextmanager
def _whole_numbers() -> Iterator[None]:
    """Make ``torch.sym_max`` and ``torch.sym_min`` raise for a float: changes use them on sizes only."""
    import torch

    plain = {name: getattr(torch, name) for name in ("sym_max", "sym_min")}

    def whole(function: Any) -> Any:
        def called(*values: Any) -> Any:
            if any(isinstance(value, float) for value in values):
                raise TypeError(f"{function.__name__} of a float, which is no size")
            return function(*values)

        return called

    for name, function in plain.items():
        setattr(torch, name, whole(function))
    try:
        yield
    finally:
        for name, function in plain.items():
            setattr(torch, name, function)


def _one_way(model: Any, cases: list[Case], way: str, unbacked: bool, witness: Any, taken: list[str]) -> dict[str, Any]:
    """Return the fault of the program that one way gives, or {} if it has none. ``notes`` are for the user.

    The names of further inputs that the model refuses and the program accepts are added to ``taken``.
    """
    from ..samples.samples import attempt, describe, difference

    try:
        program = _WAYS[way](model, unbacked, witness)
    except Exception as error:
        return {"verdict": "failed", "message": describe(error, 800), **witness.testimony(error)}
    if program.narrowed:
        return {"verdict": "failed", **program.narrowed}
    notes: list[str] = program.notes
    lost: set[str] = set()
    for case in cases:
        if case.error:
            if case.refused and not attempt(lambda case=case: case.call(program))[1]:  # type: ignore[misc]
                taken.append(case.name)
            continue
        left: dict[str, Any] = {}
        result, refusal = attempt(lambda case=case, left=left: case.call(program, left=left))  # type: ignore[misc]
        if program.guard:
            again = f"at {case.name} it is compiled again for the guard {program.guard}"
            if unbacked and not _is_of_empty_strides(program.guard, case):
                return {"verdict": "failed", "message": again, "notes": notes, "kind": "guard"}
            notes.append(again)
        if refusal:
            if not case.small:
                message = f"at {case.name} the program raises {refusal}"
                return {"verdict": "failed", "message": message, "notes": notes, **program.violated(case.sizes)}
            notes.append(f"at {case.name} the program refuses what the model takes: {refusal}")
            continue
        lost |= {name.removeprefix(ATTRIBUTE) for name in case.left if name.startswith(ATTRIBUTE) and name not in left}
        said = difference(result, case.expected, values=case.repeats)
        for name in (name for name in case.left if not said and name in left):
            other = difference(left[name], case.left[name], values=case.repeats)
            said = f"it leaves {name} with {other}" if other else ""
        if said:
            verdict = "wrong" if case.name == "as given" else "deviates"
            return {"verdict": verdict, "message": f"at {case.name}: {said}", "notes": notes, "case": case}
    notes += [f"a call of the model changes `{name}`, which a program does not" for name in sorted(lost)]
    return {"notes": notes} if notes else {}


def _specialized(model: Any, given: Case, case: Case, changed: Mapping[str, str]) -> dict[str, Any]:
    """Return the place at which the model takes another way for a small size; {} where no line of it decides."""
    from ..recorders.divergence import parting_line

    places = parting_line(partial(given.call, model.module), partial(case.call, model.module), changed)
    return {"kind": "specialized", "places": places} if places else {}


def _is_of_empty_strides(guard: str, case: Case) -> bool:
    """Return whether torch recompiles only because a contiguous tensor without elements has other strides."""
    return 0 in case.sizes.values() and ".stride()" in guard


class _Exported:
    """Exported program, with the restrictions that its guards put on the requested sizes."""

    guard = ""

    def __init__(self, strict: bool, model: Any, unbacked: bool, witness: Any) -> None:
        import torch

        args, kwargs = model.inputs()
        shapes: Any = torch.export.ShapesCollection()  # type: ignore[no-untyped-call]
        if unbacked:
            _mark_unbacked(model, (args, kwargs))
        else:
            for tensor, dimensions in model.dimensions((args, kwargs)):
                shapes[tensor] = dimensions
        torch.manual_seed(0)
        with witness.watching(), kept(model.module):
            program = torch.export.export(
                model.module, args, kwargs, dynamic_shapes=None if unbacked else shapes, strict=strict
            )
        from ..recorders.kept_sides import sides_kept

        self.notes: list[str] = sides_kept(program.graph_module)
        self.narrowed: dict[str, Any] = {}
        self._witness = witness
        self._symbols = {} if unbacked else _symbols(program, model)
        self.state: Any = program.module()
        """The program as a module, with buffers of its own."""
        if not unbacked:
            self._examine_ranges(program, model)

    def _examine_ranges(self, program: Any, model: Any) -> None:
        """Record the narrowed ranges that the model shares as notes, and keep the first that it does not share."""
        for symbol, (lower, upper), places in self._witness.narrowings(program):
            allowed = f"{lower} to {upper}" if upper is not None else f"{lower} and more"
            name = self._symbols.get(symbol)
            least, most = model.ranges.get(name, (0, None))
            if lower <= max(least, 2) and (upper is None or (most is not None and most <= upper)):
                continue
            outside = [] if name is None else _outside(model, name, lower, upper)
            refused = "" if name is None or not outside else _refused(model, name, outside)
            if refused:
                self.notes.append(f"`{name}` is {allowed}, as in the model: {refused}")
            else:
                said = f"the program takes {allowed} for `{name or symbol}`, which should be free"
                self.narrowed = {"message": said, "places": places, "kind": "narrowed"}
                return

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.state(*args, **kwargs)

    def violated(self, sizes: Mapping[str, int]) -> dict[str, Any]:
        """Return the place of a guard that these sizes violate, {} if none is known."""
        values = {symbol: sizes[name] for symbol, name in self._symbols.items() if name in sizes}
        found: dict[str, Any] = self._witness.violated(values)
        return found


def _symbols(program: Any, model: Any) -> dict[str, str]:
    """Return the name of the dynamic dimension by the symbol of its size in a program."""
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    inputs = [nodes.get(one) if isinstance(one, str) else None for one in program.graph_signature.user_inputs]
    found = {}
    for place, dimension, name in model.marks:
        value = inputs[place].meta.get("val") if place < len(inputs) and inputs[place] is not None else None
        size = getattr(getattr(value.shape[dimension], "node", None), "expr", None) if value is not None else None
        if getattr(size, "is_Symbol", False):
            found[str(size)] = name
    return found


def _outside(model: Any, name: str, lower: int, upper: int | None) -> list[int]:
    """Return requested sizes outside of a range: the next ones, and divisors and multiples of the given size."""
    given = model.sizes[name]
    found = {*range(max(2, lower - _OUTSIDE), lower), *(size for size in range(2, lower) if given % size == 0)}
    if upper is not None:
        beyond = upper - upper % given
        found |= {*range(upper + 1, upper + 1 + _OUTSIDE), beyond + given, beyond + 2 * given}
    return [size for size in sorted(found) if model.is_asked(name, size) and size <= _LARGEST]


def _refused(model: Any, name: str, outside: Sequence[int]) -> str:
    """Return the first error of a model that refuses each of the sizes outside, or "" if it accepts one of them."""
    from ..samples.samples import attempt

    told = ""
    for size in outside:
        args, kwargs = model.resized({**model.sizes, name: size})
        _, error = attempt(partial(model.module, *args, **kwargs), 120)
        if not error:
            return ""
        told = told or f"at {size} it raises {error}"
    return told


class _Compiled:
    """Compiled module. ``guard`` is the guard that the last call failed if it caused a recompilation."""

    narrowed: Mapping[str, Any] = {}

    def __init__(self, model: Any, unbacked: bool, witness: Any) -> None:
        import torch

        self.guard = ""
        self.notes: list[str] = []
        self.state = model.module
        self._call = cast("Any", torch.compile(model.module, backend=self._noted, fullgraph=True))
        args, kwargs = model.inputs()
        if unbacked:
            _mark_unbacked(model, (args, kwargs))
        else:
            for tensor, dimension, name in model.marked((args, kwargs)):
                torch._dynamo.mark_dynamic(tensor, dimension, **model.limits(name))
        torch.manual_seed(0)
        with witness.watching(), kept(model.module):
            self._call(*args, **kwargs)

    def _noted(self, graph: Any, inputs: Any) -> Any:
        """Run a graph as the backend ``eager`` does, and note the sides in it."""
        from torch._dynamo.backends.debugging import eager

        from ..recorders.kept_sides import sides_kept

        self.notes = sides_kept(graph)
        return eager(graph, inputs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        import torch
        from torch._dynamo.exc import RecompileError

        self.guard = ""
        try:
            with torch._dynamo.config.patch(error_on_recompile=True):
                return self._call(*args, **kwargs)
        except RecompileError as error:
            self.guard = _guard_of_first(str(error))
        return self._call(*args, **kwargs)

    def violated(self, sizes: Mapping[str, int]) -> dict[str, Any]:
        """Return {}: compiled code recompiles for other sizes."""
        return {}


def _guard_of_first(message: str) -> str:
    """Return the guard of the first program in the text of a RecompileError, which lists all programs."""
    programs = [(int(number), guard) for number, guard in _GUARD.findall(message)]
    return min(programs, default=(0, "of dynamo"))[1].partition("  #")[0].strip()


def _mark_unbacked(model: Any, inputs: Any) -> None:
    from torch._dynamo.decorators import mark_unbacked

    for tensor, dimension, name in model.marked(inputs):
        mark_unbacked(tensor, dimension, shape_id=name, **model.limits(name))


_WAYS: dict[str, Callable[[Any, bool, Any], Any]] = {
    "export": partial(_Exported, False),
    "strict": partial(_Exported, True),
    "compile": _Compiled,
}


if __name__ == "__main__":
    sys.exit("this module is run by symfix")

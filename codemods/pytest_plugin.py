"""Plugin of pytest: ``pytest --symfix-traces`` also traces the calls that a test's mark ``traces`` names.

``@pytest.mark.traces("package.models:Encoder", dynamic={"x": {0: "batch"}})`` names modules and functions, as objects
or as ``module:name``, and the dynamic dimensions of their tensors. The first call of each in the test is traced by
``torch.export`` and ``torch.compile`` with dynamic sizes, and with unbacked ones. The test fails if a way does. Nothing
of torch is imported without the option.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from importlib import import_module
from inspect import unwrap
from types import CodeType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .harness.children.recorders.recorded_calls import Call

_WAYS = ("export", "compile", "unbacked")
_USAGE = 'traces("package.models:Encoder", dynamic={"x": {0: "batch"}})'


class _BadMark(Exception):
    """Error for a mark that cannot be followed. ``str()`` is one line."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.getgroup("symfix").addoption(
        "--symfix-traces", action="store_true", help="also trace the calls that the mark `traces` of a test names"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Describe the mark."""
    config.addinivalue_line("markers", f"{_USAGE}: with --symfix-traces, export and compile its first call in the test")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Run a test, and trace the calls that its marks name."""
    marks = list(item.iter_markers("traces")) if item.config.getoption("--symfix-traces") else []
    if not marks:
        return (yield)
    from .harness.children.recorders.captures import copied_in_eager
    from .harness.children.recorders.recorded_calls import recorded_calls

    try:
        named, wrong = [(mark, _targets(mark)) for mark in marks], ""
    except _BadMark as error:
        named, wrong = [], f"traces: {error}"
    if wrong:
        pytest.fail(wrong, pytrace=False)
    wanted = {code: found for _, targets in named for code, found in targets.items()}
    with recorded_calls(wanted.get, copied_in_eager) as calls:
        result = yield
    failures = [
        line for mark, targets in named for name, _ in targets.values() for line in _failures(calls, name, mark)
    ]
    if failures:
        pytest.fail("\n".join(failures), pytrace=False)
    return result


def _targets(mark: pytest.Mark) -> dict[CodeType, tuple[str, Callable[..., Any]]]:
    """Return the functions that a mark names by their code, each with its name."""
    if not mark.args or not set(mark.kwargs) <= {"dynamic", "ways"} or not mark.kwargs.get("dynamic"):
        raise _BadMark(f"the mark names what is traced, and its dynamic dimensions: {_USAGE}")
    unknown = sorted(set(mark.kwargs.get("ways", ())) - set(_WAYS))
    if unknown:
        raise _BadMark(f"no way {unknown[0]!r}; there are {', '.join(_WAYS)}")
    found = {}
    for target in mark.args:
        function = _function(target)
        found[function.__code__] = f"{function.__module__}:{function.__qualname__}", function
    return found


def _function(target: Any) -> Any:
    if isinstance(target, str):
        module, _, name = target.partition(":")
        try:
            target = import_module(module)
            for part in name.split("."):
                target = getattr(target, part)
        except (ImportError, AttributeError, ValueError) as error:
            raise _BadMark(str(error)) from None
    function = unwrap(getattr(target, "forward", target))
    function = getattr(function, "__func__", function)
    if not hasattr(function, "__code__"):
        raise _BadMark(f"{target!r} is no function of Python and no module")
    return function


def _failures(calls: Sequence[Call], name: str, mark: pytest.Mark) -> Iterator[str]:
    """Yield the lines about the ways that do not trace the call of a name, in the words of ``symfix explain``."""
    from .harness.children.recorders.dynamic_traces import BadDimensions, trace_call
    from .harness.children.recorders.recorded_calls import traceable

    call = next((one for one in calls if one.name == name), None)
    if call is None:
        yield f"traces: the test makes no call of {name} that can be traced"
        return
    dynamic = {parameter: tuple(dimensions) for parameter, dimensions in mark.kwargs["dynamic"].items()}
    try:
        for way, error in trace_call(*traceable(call), dynamic, mark.kwargs.get("ways", _WAYS)):
            yield f"{name} does not trace ({way}):"
            yield from (f"  {line}" for line in _explained(error))
    except BadDimensions as error:
        yield f"traces: {error}"


def _explained(error: BaseException) -> list[str]:
    from .workflows.explain.cleanup import Unreadable
    from .workflows.explain.explanation import explain
    from .workflows.explain.text import lines

    try:
        return list(lines(explain("".join(traceback.format_exception(error)))))
    except Unreadable:
        return [f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"]

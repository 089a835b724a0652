"""Compiled call, and the code of other backends for the same trace."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch._guards import TracingContext

from ..samples.samples import Sample, attempt
from .dynamo_setup import NOT_AGAIN, compile_anew

_Backend = Callable[[Any, Any], Callable[..., Any]]


class Compiled:
    """Compiled call that counts its compilations.

    The first backend of ``others`` that can also compiles the same graph, and `alike` runs that code. Dynamo traces
    only once. If the other backend adds guards on sizes, everything is recompiled without it.
    """

    def __init__(self, sample: Sample, backend: str, dynamic: bool | None = None, others: Iterable[str] = ()) -> None:
        compile_anew()
        self.count = 0
        self._hints = dynamic is True
        self._key = sample.trace_key(self._hints)
        self._backend = _named(backend)
        self._others = {name: _named(name) for name in others if name != backend}
        self._alike: dict[str, Callable[..., Any]] = {}
        self._runs = backend
        self._call = _compile(sample, self._made_of, dynamic)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return self._call(*args, **kwargs)
        except Exception as error:
            if not _caused_by(_Disturbed, error):
                raise
        self._others, self._alike = {}, {}
        compile_anew()
        return self._call(*args, **kwargs)

    def accepts(self, sample: Sample) -> bool:
        """Return whether dynamo would make the same code for another sample, since its guards accept the arguments."""
        if self._key != sample.trace_key(self._hints):
            return False
        with torch.compiler.set_stance(NOT_AGAIN):
            return not attempt(lambda: sample.outcome(self, unbacked=not self._hints))[1]

    def on_known_sizes(self, sample: Sample) -> Any:
        """Return the result of the same backend on the sample's concrete sizes, or its error."""
        return _on_known_sizes(sample, self._backend)

    def alike(self, backend: str) -> Alike | None:
        """Return the code, or the error, of another backend for the last compiled graph, or None if there is none."""
        return Alike(self, backend) if backend in self._alike else None

    def run_by(self, backend: str, args: Any, kwargs: Any) -> Any:
        """Call the code of another backend."""
        usual, self._runs = self._runs, backend
        try:
            return self(*args, **kwargs)
        finally:
            self._runs = usual

    def _made_of(self, graph: Any, inputs: Any) -> Callable[..., Any]:
        self.count += 1
        usual = self._backend(graph, inputs)
        if not self._others:
            return usual
        self._alike = {}
        before = _known_of_sizes()
        for name, backend in self._others.items():
            code, error = attempt(lambda backend=backend: backend(graph, inputs))  # type: ignore[misc]
            self._alike[name] = code or _raising(error)
            if not error:
                break
        if before != _known_of_sizes():
            raise _Disturbed
        return lambda *args: self._alike.get(self._runs, usual)(*args)


class Alike:
    """Code of another backend for the graph of a compiled call."""

    def __init__(self, compiled: Compiled, backend: str) -> None:
        self._compiled = compiled
        self._name = backend

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._compiled.run_by(self._name, args, kwargs)

    def on_known_sizes(self, sample: Sample) -> Any:
        """Run like `Compiled.on_known_sizes`."""
        return _on_known_sizes(sample, _named(self._name))


class _Disturbed(Exception):
    """Error raised when another backend changed the shape environment before the code of the first was guarded."""


def _known_of_sizes() -> tuple[Any, ...]:
    """Return the state of the trace: what its shape environment has decided about sizes, and the input alias guards."""
    context = TracingContext.get()
    environment: Any = context.fake_mode.shape_env if context.fake_mode else None
    same = len(context.guards_context.aotautograd_guards)
    if environment is None:
        return (same,)
    return same, environment._get_key(), len(environment.guards), dict(environment.var_to_range)


def _named(backend: str) -> _Backend:
    found: _Backend = torch._dynamo.backends.registry.lookup_backend(backend)
    return found


def _raising(message: str) -> Callable[..., Any]:
    def refuse(*_: Any) -> Any:
        raise RuntimeError(message)

    return refuse


def _caused_by(kind: type[Exception], error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, kind):
        error = error.__cause__ or error.__context__ or getattr(error, "inner_exception", None)
    return error is not None


def _on_known_sizes(sample: Sample, backend: _Backend) -> Any:
    result, error = attempt(lambda: sample.outcome(_compile(sample, backend, dynamic=False)))
    return error or result


def _compile(sample: Sample, backend: _Backend, dynamic: bool | None) -> Any:
    function = sample.function
    return torch.compile(
        lambda *args, **kwargs: function(*args, **kwargs), backend=backend, fullgraph=True, dynamic=dynamic
    )

"""Compilation of operator files, each once and in parallel, and their linking into a library that can be swapped in."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...harness.process_limits import Ended, Limits, run
from ...harness.temp_folder import new_name
from ...system.cache_folder import age, folder, load, store
from ...torchapi.index_cache import stored
from ..evidence import question_key
from .partial_unit import PartialUnit, loadable_unit, partial_unit
from .prelude import Prelude, Preludes, headers_in
from .toolchain import Toolchain

COMPILE_LIMITS = Limits(wall=600, cpu=900)
_KEPT_OBJECTS = 64
_DEFINED = re.compile(rb"(?m)^[ \t]*#[ \t]*(?:define|undef)[ \t]+(\w+)")
_DIED = "error: the compiler "
"""Prefix of the error of a compiler that a limit or a signal ended, which says nothing of the code."""
_ASSERTING = b"TORCH_ASSERT_"
"""Prefix of macros whose only effect is an error in some headers. The listing of a file's headers reports such an
error."""


@dataclass(frozen=True)
class Built:
    """Object or library, or the reason why there is none. ``seconds`` is 0 for a cached object.

    ``omitted`` are the definitions and statements that were left out because this torch's headers do not accept them,
    or because it has registered the same schemas or classes.
    """

    command: tuple[str, ...]
    target: Path | None
    seconds: float = 0.0
    errors: str = field(default="", repr=False)
    omitted: tuple[str, ...] = ()

    @property
    def first_error(self) -> str:
        """Return the line of the compiler's or linker's output that contains the error."""
        lines = [line.strip() for line in self.errors.splitlines() if line.strip()]
        telling = [line for line in lines if "error:" in line or "undefined reference" in line]
        return re.sub(r"\S*/unit-[\w-]+/", "", (telling or lines or ["it failed without a word"])[0])


@dataclass(frozen=True)
class _Unit:
    """One text to compile, by the arguments of `Builder.compile`. ``headers`` are those to be precompiled."""

    name: str
    content: bytes
    quote: Path | None
    counted: bool
    alone: bool
    headers: tuple[Future[Prelude | None], ...]


class _Died(Exception):
    """The compiler was ended, so which part of a file compiles is undecided."""


class Builder:
    """Compiler runs in a scratch folder with one toolchain, ``jobs`` at a time.

    Torch's headers are precompiled first unless they are already. This speeds up the shim and each file so much that
    even one change takes less time. Without ``precompile`` each file reads them again.
    """

    def __init__(
        self,
        toolchain: Toolchain,
        scratch: Path,
        jobs: int = 2,
        limits: Limits = COMPILE_LIMITS,
        progress: Callable[[str], None] = lambda _: None,
        precompile: bool = True,
    ) -> None:
        self._toolchain = toolchain
        self._scratch = scratch
        self._limits = limits
        self._preludes = Preludes(toolchain, scratch, limits, progress)
        self._pool = ThreadPoolExecutor(max(1, jobs), thread_name_prefix="compile")
        both = (self._preludes.wide, self._preludes.core) if precompile else ()
        self._headers = tuple(self._pool.submit(self._preludes.made, one) for one in both)
        self._parts: dict[tuple[str, bytes], PartialUnit] = {}

    def compile(
        self,
        name: str,
        content: bytes,
        quote: Path | None = None,
        *,
        counted: bool = False,
        alone: bool = False,
        original: bytes | None = None,
    ) -> Future[Built]:
        """Start compiling ``content`` as a file called ``name``, with ``quote`` as its own folder.

        If the ``original`` content of the file does not compile, the definitions with errors in it are left out of
        ``content``, as long as the change is in none of them. Torch's registrations of schemas and classes always are.

        A precompiled header may hide a missing ``#include``. An object compiled ``alone`` uses one only if the file
        includes each of its headers. ``counted`` objects write their line counts into files in their folder, and are
        never cached.
        """
        # A precompiled header is only valid for the flags that it was compiled with.
        usual = self._toolchain.added(name, quote) is None
        first = self._headers if usual else ()
        unit = _Unit(name, content, quote, counted, alone, first)
        if original is None:
            return self._pool.submit(self._compile, unit)
        return self._pool.submit(self._compile_part, unit, original)

    @property
    def counts(self) -> bool:
        """Return whether the compiler supports line counts and its tool for reading them is installed."""
        return bool(self._toolchain.gcov)

    def link(self, objects: Sequence[Path], name: str, *, counted: bool = False) -> Future[Built]:
        """Start linking objects to a shared library."""
        target = self._scratch / f"{new_name(name)}.so"
        command = self._toolchain.link_command(list(objects), target, counted=counted)
        return self._pool.submit(self._finish, command, target)

    def close(self) -> None:
        """Cancel the pending compilations, and wait for the running ones."""
        self._pool.shutdown(cancel_futures=True)

    def _compile_part(self, unit: _Unit, original: bytes) -> Built:
        part = self._parts.get((unit.name, original))
        if part is None or not part.omits_the_same(original, unit.content):
            whole = self._compile(unit)
            if part is not None or (whole.target is not None and not loadable_unit(original).omitted):
                return whole
            try:
                part = self._parts[unit.name, original] = self._part(unit, original)
            except _Died:
                return whole
            if not part.omits_the_same(original, unit.content):
                return whole
        built = self._compile(replace(unit, content=part.of(unit.content)))
        return replace(built, omitted=part.texts(unit.content))

    def _part(self, unit: _Unit, original: bytes) -> PartialUnit:
        def errors(content: bytes) -> str:
            wide = unit.headers[0].result() if unit.headers else None
            whole = replace(unit, content=content, counted=False)
            said = self._made(self._written(unit.name, content), whole, wide).errors
            if said.startswith(_DIED):
                raise _Died
            return said

        def found() -> bytes:
            return json.dumps(partial_unit(original, unit.name, errors).omitted).encode()

        named = (self._toolchain.identity, unit.name, str(unit.quote))
        key = question_key([*(part.encode() for part in named), original])
        return PartialUnit(tuple(json.loads(stored("partial-units", key, found))))

    def _compile(self, unit: _Unit) -> Built:
        source = self._written(unit.name, unit.content)
        wide, core = (header.result() for header in unit.headers) if unit.headers else (None, None)
        first = wide
        if unit.alone:
            first = core if core and self._includes(source, unit, core) else None
        built = self._made(source, unit, first)
        if built.target is None and first is not None:
            return self._made(source, unit, None)
        return built

    def _written(self, name: str, content: bytes) -> Path:
        place = self._scratch / new_name("unit")
        place.mkdir()
        source = place / name
        source.write_bytes(content)
        return source

    def _includes(self, source: Path, unit: _Unit, first: Prelude) -> bool:
        """Return whether reading ``first`` before a file adds no header and is unaffected by the file's macros."""
        above, _, _ = unit.content.partition(b"#include")
        if any(not name.startswith(_ASSERTING) for name in _DEFINED.findall(above)):
            return False
        rule = source.with_name(f"{source.name}.d")
        command = self._toolchain.headers_command(source, rule, quote=unit.quote)
        ended = run(command, scratch=self._scratch, limits=self._limits)
        return ended.code == 0 and first.closure <= headers_in(rule.read_text())

    def _made(self, source: Path, unit: _Unit, first: Prelude | None) -> Built:
        target = source.with_name(f"{source.name}.o")
        header = first.header if first else None
        plain = None if unit.counted else _kept_object(self._toolchain, unit, None)
        kept = None if unit.counted else _kept_object(self._toolchain, unit, header)
        command = self._toolchain.compile_command(
            source, target, quote=unit.quote, prelude=header, counted=unit.counted
        )
        for known in (plain, kept):
            content_then = None if known is None else load(known)
            if content_then is not None:
                target.write_bytes(content_then)
                return Built(tuple(command), target)
        built = self._finish(command, target)
        if built.target is not None and kept is not None:
            store(kept, target.read_bytes())
            _forget_oldest(kept.parent)
        return built

    def _finish(self, command: Sequence[str], target: Path) -> Built:
        ended = run(command, scratch=self._scratch, limits=self._limits)
        made = target if ended.code == 0 and target.is_file() else None
        return Built(tuple(command), made, ended.seconds, "" if made else _complaint(ended))


def _complaint(ended: Ended) -> str:
    return f"{_DIED}{ended.died}\n{ended.stderr}" if ended.died else ended.stderr


def _kept_object(toolchain: Toolchain, unit: _Unit, first: Path | None) -> Path | None:
    """Return the cache path of an object, or None if it depends on headers that may change."""
    installed = toolchain.libraries.parent
    if toolchain.added(unit.name, unit.quote) is not None or (unit.quote is not None and any(unit.quote.glob("*.h"))):
        return None
    if any(not folder.is_relative_to(installed) for folder in toolchain.includes):
        return None
    digest = hashlib.sha256()
    for part in (toolchain.identity.encode(), unit.name.encode(), unit.content, first.name.encode() if first else b""):
        digest.update(len(part).to_bytes(8, "little") + part)
    return folder("objects") / f"{digest.hexdigest()}.o"


def _forget_oldest(place: Path) -> None:
    for item in sorted(place.glob("*.o"), key=age)[:-_KEPT_OBJECTS]:
        item.unlink(missing_ok=True)

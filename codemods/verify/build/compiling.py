"""Compile operator files, each once, two at a time, and link them into a library that can be swapped in."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from ...engine.storage import age, folder, load, store
from ...lab.isolation import Ended, Limits, run
from ...lab.scratch import new_name
from .prelude import Prelude, Preludes, headers_in
from .toolchain import Toolchain

COMPILE_LIMITS = Limits(wall=600, cpu=900)
_KEPT_OBJECTS = 64
_DEFINED = re.compile(rb"(?m)^[ \t]*#[ \t]*(?:define|undef)[ \t]+(\w+)")
_ASSERTING = b"TORCH_ASSERT_"
"""Macros that only make headers refuse, which they do when the headers of a file are listed."""


@dataclass(frozen=True)
class Built:
    """An object or a library, or why there is none; ``ended`` is None when an object was at hand."""

    command: tuple[str, ...]
    target: Path | None
    seconds: float = 0.0
    errors: str = field(default="", repr=False)

    @property
    def first_error(self) -> str:
        """The line of the compiler's or linker's output that says what is wrong."""
        lines = [line.strip() for line in self.errors.splitlines() if line.strip()]
        telling = [line for line in lines if "error:" in line or "undefined reference" in line]
        return re.sub(r"\S*/unit-[\w-]+/", "", (telling or lines or ["it failed without a word"])[0])


class Builder:
    """Compiles into a scratch folder with one toolchain, ``jobs`` compilers at a time.

    Torch's headers are precompiled first where they are not yet: a file read with them, and the shim, takes a fraction
    of the time, so that even one change waits less. Without ``precompile`` each file reads them anew.
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

    def compile(
        self, name: str, content: bytes, quote: Path | None = None, *, counted: bool = False, alone: bool = False
    ) -> Future[Built]:
        """Start compiling ``content`` as a file called ``name``, with ``quote`` as its own folder.

        A precompiled header may hide that an ``#include`` is missing: an object that is made ``alone`` takes none but
        one whose every header the file includes itself. ``counted`` objects count their lines into files beside
        themselves, and are made anew each time.
        """
        # A precompiled header is good for the flags that it was compiled with.
        usual = self._toolchain.added(name, quote) is None
        first = self._headers if usual else ()
        return self._pool.submit(self._compile, name, content, quote, counted, alone, first)

    @property
    def counts(self) -> bool:
        """Whether this compiler's code can count its lines, and the counts be read."""
        return bool(self._toolchain.gcov)

    def link(self, objects: Sequence[Path], name: str, *, counted: bool = False) -> Future[Built]:
        """Start linking objects to a shared library."""
        target = self._scratch / f"{new_name(name)}.so"
        command = self._toolchain.link_command(list(objects), target, counted=counted)
        return self._pool.submit(self._finish, command, target)

    def close(self) -> None:
        """Forget what has not started; what runs is waited for."""
        self._pool.shutdown(cancel_futures=True)

    def _compile(
        self,
        name: str,
        content: bytes,
        quote: Path | None,
        counted: bool,
        alone: bool,
        headers: Sequence[Future[Prelude | None]],
    ) -> Built:
        place = self._scratch / new_name("unit")
        place.mkdir()
        source = place / name
        source.write_bytes(content)
        wide, core = (header.result() for header in headers) if headers else (None, None)
        first = wide
        if alone:
            first = core if core and self._includes(source, content, quote, core) else None
        built = self._made(source, content, quote, first, counted)
        if built.target is None and first is not None:
            return self._made(source, content, quote, None, counted)
        return built

    def _includes(self, source: Path, content: bytes, quote: Path | None, first: Prelude) -> bool:
        """Whether reading ``first`` ahead of a file brings nothing but what it includes, and keeps nothing from it."""
        above, _, _ = content.partition(b"#include")
        if any(not name.startswith(_ASSERTING) for name in _DEFINED.findall(above)):
            return False
        rule = source.with_name(f"{source.name}.d")
        command = self._toolchain.headers_command(source, rule, quote=quote)
        ended = run(command, scratch=self._scratch, limits=self._limits)
        return ended.code == 0 and first.closure <= headers_in(rule.read_text())

    def _made(self, source: Path, content: bytes, quote: Path | None, first: Prelude | None, counted: bool) -> Built:
        target = source.with_name(f"{source.name}.o")
        header = first.header if first else None
        plain = None if counted else _kept_object(self._toolchain, source.name, content, quote, None)
        kept = None if counted else _kept_object(self._toolchain, source.name, content, quote, header)
        command = self._toolchain.compile_command(source, target, quote=quote, prelude=header, counted=counted)
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
    return f"error: the compiler {ended.died}\n{ended.stderr}" if ended.died else ended.stderr


def _kept_object(
    toolchain: Toolchain, name: str, content: bytes, quote: Path | None, first: Path | None
) -> Path | None:
    """Where the object of this very question is kept; None when headers that may change have a say in it."""
    installed = toolchain.libraries.parent
    if toolchain.added(name, quote) is not None or (quote is not None and any(quote.glob("*.h"))):
        return None
    if any(not folder.is_relative_to(installed) for folder in toolchain.includes):
        return None
    digest = hashlib.sha256()
    for part in (toolchain.identity.encode(), name.encode(), content, first.name.encode() if first else b""):
        digest.update(len(part).to_bytes(8, "little") + part)
    return folder("objects") / f"{digest.hexdigest()}.o"


def _forget_oldest(place: Path) -> None:
    for item in sorted(place.glob("*.o"), key=age)[:-_KEPT_OBJECTS]:
        item.unlink(missing_ok=True)

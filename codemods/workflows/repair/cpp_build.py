"""C++ under repair: the files of a source tree that define functions, and libraries that replace torch's kernels."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ....cpp.syntax.functions import outline
from ...torchapi import TorchApi
from ...verify.build.changed_kernels import functions_reaching
from ...verify.build.compilation import Builder, Built
from ...verify.build.formulas import FILE, formula_in, formulas
from ...verify.build.kernel_shim import KernelCandidate, candidates, shim_source

NOT_COMPILED = "does not compile"
"""Start of the result of a candidate that does not compile."""
_NATIVE = Path("aten", "src", "ATen", "native")
_BACKENDS = frozenset({"cuda", "hip", "mps", "mkldnn", "miopen", "cudnn", "quantized", "vulkan", "metal", "xpu"})
_NAME = re.compile(r"at::(?:native|meta)::(?:\(anonymous namespace\)::)?(?:\w+::)*?(~?\w+)(?:\[abi:\w+\])?(?:<|\()")
_ERROR_LINE = re.compile(r":(\d+):(?:\d+:)? (?:fatal )?error")


@dataclass(frozen=True)
class Library:
    """A linked library, with the kernels that its shim may register."""

    path: Path
    candidates: tuple[KernelCandidate, ...]


class DoesNotBuild(Exception):
    """Error of compiling or linking a file against the installed torch. ``line`` is 0 if the compiler names none."""

    def __init__(self, path: Path, line: int, reason: str) -> None:
        super().__init__(f"{path.name}: {reason}")
        self.path = path
        self.line = line
        self.reason = reason


def plain_name(frame: str) -> str:
    """Return the unqualified function name in a demangled frame, or "" if it is neither a kernel nor a formula."""
    found = _NAME.search(frame)
    return found[1] if found else formula_in(frame)


@dataclass
class Native:
    """Operator files of one source tree, compiled on demand."""

    root: Path
    builder: Builder
    api: TorchApi
    derivatives: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Operators whose derivatives call each formula."""
    _homes: dict[str, Path | None] = field(default_factory=dict, repr=False)
    _named: dict[Path, frozenset[str]] = field(default_factory=dict, repr=False)
    _objects: dict[tuple[Path, bytes], Built] = field(default_factory=dict, repr=False)
    _libraries: dict[tuple[object, ...], Library] = field(default_factory=dict, repr=False)
    _candidates: dict[
        tuple[Path, bytes], tuple[tuple[KernelCandidate, ...], tuple[KernelCandidate, ...], frozenset[str]]
    ] = field(default_factory=dict, repr=False)

    @cached_property
    def _files(self) -> dict[Path, bytes]:
        folder = self.root / _NATIVE
        paths = (path for path in sorted(folder.rglob("*.cpp")) if not _BACKENDS & set(path.parts))
        return {path: path.read_bytes() for path in paths}

    @property
    def linked(self) -> tuple[Library, ...]:
        """Return the libraries that were linked so far."""
        return tuple(self._libraries.values())

    def home(self, frame: str) -> Path | None:
        """Return the file that defines the function of a demangled frame, or None if none or several do."""
        formula = formula_in(frame)
        if formula:
            return self.root / FILE if formula in self._formulas else None
        name = plain_name(frame)
        return self.file_of(name) if name else None

    @cached_property
    def _formulas(self) -> frozenset[str]:
        path = self.root / FILE
        return outline(path.read_bytes()).names if path.is_file() else frozenset()

    def file_of(self, function: str) -> Path | None:
        """Return the operator file that defines a function with a body, by its name, or None if none or several do."""
        if function not in self._homes:
            called = f"{function}(".encode()
            found = [path for path, text in self._files.items() if called in text and self._defines(path, function)]
            self._homes[function] = found[0] if len(found) == 1 else None
        return self._homes[function]

    def _defines(self, path: Path, function: str) -> bool:
        if path not in self._named:
            self._named[path] = outline(self._files[path]).names
        return function in self._named[path]

    def object(self, path: Path, content: bytes) -> Path:
        """Compile one file and return the object file. Raises DoesNotBuild."""
        key = (path, content)
        if key not in self._objects:
            self._objects[key] = self._compile(path, content).result()
        built = self._objects[key]
        if built.target is None:
            line = _ERROR_LINE.search(built.first_error)
            raise DoesNotBuild(path, int(line[1]) if line else 0, built.first_error)
        return built.target

    def _compile(self, path: Path, content: bytes) -> Future[Built]:
        return self.builder.compile(path.name, content, path.parent, original=path.read_bytes())

    def start(self, files: Mapping[Path, bytes]) -> None:
        """Compile several files in parallel and store the results for `object`."""
        missing = {key: content for key, content in files.items() if (key, content) not in self._objects}
        running = {(path, content): self._compile(path, content) for path, content in missing.items()}
        for key, future in running.items():
            self._objects[key] = future.result()

    def library(self, files: Mapping[Path, bytes], kernels: frozenset[str]) -> Library:
        """Link the files so that their kernels named in ``kernels`` replace torch's. Raises DoesNotBuild."""
        wanted = tuple(one for path, content in files.items() for one in self._wanted(path, content, kernels))
        key = (tuple(sorted(files.items())), wanted)
        if key not in self._libraries:
            self.start(files)
            objects = [self.object(path, content) for path, content in sorted(files.items())]
            shim = self.builder.compile("shim.cpp", shim_source(wanted).encode()).result()
            if shim.target is None:
                raise DoesNotBuild(Path("shim.cpp"), 0, shim.first_error)
            linked = self.builder.link([shim.target, *objects], "repair").result()
            if linked.target is None:
                raise DoesNotBuild(next(iter(files)), 0, linked.first_error)
            self._libraries[key] = Library(linked.target, wanted)
        return self._libraries[key]

    def _wanted(self, path: Path, content: bytes, kernels: frozenset[str]) -> Iterator[KernelCandidate]:
        if (path, content) not in self._candidates:
            # A formula that was changed after the first failure is not among the kernels named by that failure.
            changed = functions_reaching(path.read_bytes(), content) or frozenset()
            of_autograd = formulas(content, self.derivatives)
            self._candidates[path, content] = (candidates(content, self.api.kernels), of_autograd, changed)
        found, of_autograd, changed = self._candidates[path, content]
        yield from (one for one in found if one.kernel in kernels)
        yield from (one for one in of_autograd if one.kernel in kernels or one.kernel in changed)

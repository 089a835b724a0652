"""Compiler and flags for one operator file that match the installed torch."""

from __future__ import annotations

import hashlib
import mmap
import platform
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ...torchapi.index_cache import stored
from ...torchapi.torch_finder import TorchInstallation, release
from .flags import Flags, flags_for, newer_standard

_CALL_PTR = b"_ZN2at6native16DispatchStubImpl12get_call_ptrEN3c1010DeviceTypeEPv"
_COMPILERS = ("clang++", "g++", "c++")
_COMMON = b"#include <ATen/core/Tensor.h>\n#include <torch/library.h>\n"


class CompilerMissing(Exception):
    """Error raised when there is no C++ compiler. ``str()`` is the one line for the user."""


@dataclass(frozen=True)
class Toolchain:
    """Compiler, flags and paths for one torch. ``identity`` distinguishes two toolchains."""

    compiler: Path
    version: str
    torch: str
    flags: tuple[str, ...]
    includes: tuple[Path, ...]
    libraries: Path
    gcov: tuple[str, ...] = ()
    """Words of the command that reads the line counts of this compiler's code, without the object. Empty if there is
    none."""
    own: tuple[tuple[Path, Flags], ...] = ()
    """Flags that the tree of a file adds for that file only, with the file."""
    tree_first: bool = False
    """True if the tree's headers come before torch's, since both are of one release."""

    @property
    def identity(self) -> str:
        own = (repr(self.own), str(self.tree_first)) if self.own else ()
        return "\0".join((self.version, self.torch, *self.flags, *map(str, self.includes), *own))

    def added(self, name: str, folder: Path | None) -> Flags | None:
        """Return the flags that the tree adds for the file ``name`` of ``folder``."""
        return next((flags for path, flags in self.own if folder and path == (folder / name).resolve()), None)

    def compile_command(
        self,
        source: Path,
        target: Path,
        *,
        quote: Path | None = None,
        prelude: Path | None = None,
        counted: bool = False,
    ) -> list[str]:
        """Build the command that compiles ``source`` to the object ``target``.

        ``quote`` is the first folder for its ``#include "…"``. ``prelude`` is a header with a compiled form in its
        folder. With ``counted``, the code counts its lines.
        """
        places = [f"-I{folder}" for folder in self.includes]
        flags = self.flags
        added = self.added(source.name, quote)
        if added is not None:
            places = [*added.includes, *places] if self.tree_first else [*places, *added.includes]
            standards = (flag for flag in flags if flag.startswith("-std="))
            newest = newer_standard(added.standard, next(standards, ""))
            flags = (newest, *(flag for flag in flags if not flag.startswith("-std=")), *added.macros)
        places = [f"-iquote{quote}", *places] if quote else places
        first = ["-include", str(prelude)] if prelude else []
        first += ["--coverage"] if counted else []
        return [str(self.compiler), *flags, *places, *first, "-c", str(source), "-o", str(target)]

    def headers_command(self, source: Path, rule: Path, *, quote: Path | None = None) -> list[str]:
        """Build the command that lists the headers of ``source`` in a make rule, without a prelude.

        The flags are those of `compile_command`.
        """
        *words, _, _, _, _ = self.compile_command(source, source, quote=quote)
        return [*words, "-M", "-MF", str(rule), str(source)]

    def precompile_command(self, header: Path, target: Path, rule: Path) -> list[str]:
        """Build the command that precompiles ``header`` as a prelude, and writes its headers to ``rule``."""
        places = [f"-I{folder}" for folder in self.includes]
        made = ["-o", str(target), "-MD", "-MF", str(rule)]
        if "clang" in self.version:
            # Otherwise each file instantiates the templates of the header again.
            made.append("-fpch-instantiate-templates")
        return [str(self.compiler), *self.flags, *places, "-x", "c++-header", str(header), *made]

    def link_command(self, objects: list[Path], target: Path, *, counted: bool = False) -> list[str]:
        """Build the command that links a library whose functions bind to themselves and whose data binds to torch's."""
        names = [str(item) for item in objects]
        count = ["--coverage", "-Wl,-u,__gcov_dump", "-Wl,-u,__gcov_reset"] if counted else []
        return [str(self.compiler), "-shared", "-Wl,-Bsymbolic-functions", *count, *names, "-o", str(target), "-ldl"]


def find_toolchain(
    place: TorchInstallation, torch_root: Path | None = None, compiler: str | None = None, files: Iterable[Path] = ()
) -> Toolchain:
    """Return the toolchain for the installed torch at ``place``, and sources from ``torch_root``.

    The flags in a ``compile_commands.json`` for one of ``files`` are added for that file. Raises CompilerMissing.
    """
    libraries = place.package / "lib"
    flags = ("-std=c++20", "-O0", "-fPIC", "-w", "-DAT_PER_OPERATOR_HEADERS", *_vector_macros(libraries))
    includes = list(place.include_dirs)
    torch = _build(place, libraries)
    path = _find_compiler(compiler, lambda path: _reads_headers(path, torch, flags, place.include_dirs))
    # A tree of another release has other structs than this torch's libraries, so its headers only fill gaps.
    tree_first = torch_root is not None and _same_release(torch_root, place)
    if torch_root is not None:
        # Compilers run in a scratch folder.
        includes.insert(0 if tree_first else len(includes), torch_root.resolve() / "aten" / "src")
    found = [(file.resolve(), flags_for(file, torch_root)) for file in files]
    return Toolchain(
        path,
        _compiler_version(path),
        torch,
        flags,
        tuple(includes),
        libraries,
        _find_gcov(path),
        tuple((file, added) for file, added in found if added is not None),
        tree_first,
    )


def _find_compiler(name: str | None, reads: Callable[[Path], bool]) -> Path:
    there = [Path(path) for one in ((name,) if name else _COMPILERS) if (path := shutil.which(one))]
    if there:
        # Without counts, executed lines are unknown. A clang may be older than torch's headers, or than g++'s own.
        counting = list(filter(_find_gcov, there)) or there
        first, *others = counting
        return others[0] if others and "clang" in first.name and not reads(first) else first
    if name:
        raise CompilerMissing(f"no compiler {name!r}: name one that is installed")
    raise CompilerMissing("no C++ compiler: install g++ (Debian and Ubuntu: apt-get install g++) or clang++")


def _reads_headers(compiler: Path, torch: str, flags: Sequence[str], includes: Iterable[Path]) -> bool:
    """Return whether the compiler accepts torch's headers, cached for each torch and compiler."""
    places = [f"-I{folder}" for folder in includes]
    question = "\0".join((str(compiler), _compiler_version(compiler), torch, *flags, *places))
    command = [str(compiler), *flags, *places, "-fsyntax-only", "-x", "c++", "-"]

    def asked() -> bytes:
        return b"no" if subprocess.run(command, input=_COMMON, capture_output=True, check=False).returncode else b"yes"

    return stored("compilers", hashlib.sha256(question.encode()).hexdigest()[:32], asked) == b"yes"


def _build(place: TorchInstallation, libraries: Path) -> str:
    try:
        stat = (libraries / "libtorch_cpu.so").stat()
    except OSError:
        return place.build
    return f"{place.build} {stat.st_size} {stat.st_mtime_ns}"


def _find_gcov(compiler: Path) -> tuple[str, ...]:
    name = compiler.name
    if "clang" in name:
        found = shutil.which(name.replace("clang++", "llvm-cov"))
        return (found, "gcov", "--intermediate-format") if found and _counts_at_run_time(compiler) else ()
    found = shutil.which(name.replace("g++", "gcov")) if "g++" in name else None
    return (found, "--json-format") if found else ()


@lru_cache
def _counts_at_run_time(clang: Path) -> bool:
    """Return whether the library for code compiled with ``--coverage`` is installed, which is a package of its own."""
    library = f"libclang_rt.profile-{platform.machine()}.a"
    asked = f"-print-file-name={library}"
    answer = subprocess.run([clang, asked], capture_output=True, text=True, check=False).stdout.strip()
    return answer != library and Path(answer).is_file()


@lru_cache
def _compiler_version(path: Path) -> str:
    answer = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    return answer.splitlines()[0] if answer else str(path)


def _vector_macros(libraries: Path) -> tuple[str, ...]:
    """Return the ``HAVE_…_CPU_DEFINITION`` macros of torch's build, which determine the pointers of a stub call."""
    pointers = _stub_pointers(libraries / "libtorch_cpu.so")
    if platform.machine() not in ("x86_64", "AMD64") or pointers < 2:
        return ()
    avx2, avx512 = "-DHAVE_AVX2_CPU_DEFINITION", "-DHAVE_AVX512_CPU_DEFINITION"
    return (avx2, avx512) if pointers > 2 else (avx2,)


@lru_cache
def _stub_pointers(library: Path) -> int:
    try:
        with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            at = content.find(_CALL_PTR)
            if at < 0:
                return 0
            rest = content[at + len(_CALL_PTR) : at + len(_CALL_PTR) + 64]
    except OSError:
        return 0
    repeats = re.match(rb"(?:S\d*_)*", rest)
    assert repeats is not None
    return 1 + repeats[0].count(b"S")


def _same_release(root: Path, place: TorchInstallation) -> bool:
    try:
        return release((root / "version.txt").read_text()) == release(place.version)
    except (OSError, ValueError):
        return False

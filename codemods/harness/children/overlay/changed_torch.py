"""Overlay of changed kernels and changed Python modules on the installed torch, in this process only."""

from __future__ import annotations

import atexit
import ctypes
import importlib
import importlib.util
import json
import linecache
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from .function_patches import Detours
from .hot_swap import TooDeep, exchange
from .import_hooks import Used
from .line_coverage import Recorder
from .report_writer import write

imported_already = False
"""True if this process was forked from one that has imported torch."""
used: Used | None = None
"""Functions and files that the imports of that process used, or None if they were not recorded."""

Wanted = Mapping[str, Sequence[Sequence[int]]]


class Kernels:
    """Linked library whose shim has registered its kernels over torch's, with autograd formulas redirected to it.

    Raises OSError with the loader's message if it does not load.
    """

    def __init__(self, library: str, count: int) -> None:
        torch: Any = importlib.import_module("torch")
        library_folder = Path(torch.__file__).parent / "lib"
        # The library's dispatch stubs must bind to torch's: its symbols have to be global before it loads.
        ctypes.CDLL(str(library_folder / "libtorch_cpu.so"), mode=ctypes.RTLD_GLOBAL)
        self._shim = ctypes.CDLL(library, handle=_open_lazily(library))
        self._shim.symfix_calls.restype = ctypes.c_uint64
        self._shim.symfix_state.restype = ctypes.c_char_p
        self._shim.symfix_formula.restype = ctypes.c_char_p
        self._count = count
        formulas = (self._shim.symfix_formula(number).decode() for number in range(count))
        self._formulas = {number: name for number, name in enumerate(formulas) if name}
        self._detours = Detours(library, tuple(dict.fromkeys(self._formulas.values())))

    def states(self) -> list[str]:
        return [
            self._detours.states[self._formulas[number]]
            if number in self._formulas
            else self._shim.symfix_state(number).decode("utf-8", "replace")
            for number in range(self._count)
        ]

    def calls(self) -> list[int]:
        """Return the number of calls of each kernel, and write the line counts of a library with coverage."""
        self._shim.symfix_keep_counts()
        formulas = self._detours.calls()
        return [
            formulas[self._formulas[number]] if number in self._formulas else self._shim.symfix_calls(number)
            for number in range(self._count)
        ]


def _open_lazily(library: str) -> int:
    """Open a library whose functions are resolved at their first call.

    A file of another release may contain an unused CPU kernel that calls a function which this torch does not export.
    """
    loader = ctypes.CDLL(None)
    loader.dlopen.restype = ctypes.c_void_p
    loader.dlerror.restype = ctypes.c_char_p
    handle: int | None = loader.dlopen(library.encode(), os.RTLD_LAZY)
    if handle is None:
        raise OSError((loader.dlerror() or b"it does not open").decode("utf-8", "replace"))
    return handle


def install(request_path: str) -> None:
    """Change torch as the JSON file specifies: modules immediately, kernels when torch is imported."""
    request: dict[str, Any] = json.loads(Path(request_path).read_bytes())
    recorder = overlay(request["modules"], request["wanted"])
    if request["wanted"]:
        recorder.start()
        atexit.register(lambda: write(f"{request['report']}.ran.{os.getpid()}", {"ran": recorder.ran}))
    if request["library"]:
        sys.meta_path.insert(0, _WhenImported(request))


class _WhenImported(MetaPathFinder):
    """Import hook that loads the kernels right after torch."""

    def __init__(self, request: dict[str, Any]) -> None:
        self._request = request

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec("torch")
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def then_swap(module: Any) -> None:
            execute(module)
            kernels = Kernels(self._request["library"], self._request["kernels"])
            atexit.register(self._tell, kernels)

        spec.loader.exec_module = then_swap  # type: ignore[method-assign]
        return spec

    def _tell(self, kernels: Kernels) -> None:
        write(f"{self._request['report']}.{os.getpid()}", {"swaps": kernels.states(), "calls": kernels.calls()})


@dataclass(frozen=True)
class _Laid:
    """Overlay that was installed before the fork server imported torch."""

    modules: Mapping[str, str]
    wanted: Wanted
    recorder: Recorder


_laid = _Laid({}, {}, Recorder({}))


def lay(modules: dict[str, str], wanted: Wanted) -> None:
    """Run `overlay` for all processes that are later forked from this one."""
    global _laid
    _laid = _Laid(modules, wanted, overlay(modules, wanted))


def overlay(modules: dict[str, str], wanted: Wanted = MappingProxyType({})) -> Recorder:
    """Serve each module from the given file, as if that text were at the module's own path.

    A module is identified by its name or by the path of its file. Raises RuntimeError if one is imported already.

    A process forked from one that has imported torch replaces the code of imported functions instead. It raises TooDeep
    for a change that can't be exchanged, unless exactly these modules were overlaid on that torch. It also raises
    TooDeep for a path whose file is already imported.

    Return a recorder of the executed statements among ``wanted``, at import and while it records.
    """
    if imported_already:
        if modules == _laid.modules and wanted in ({}, _laid.wanted):
            return _laid.recorder if wanted else Recorder({})
        if wanted:
            raise TooDeep("statements that an import starts are to be told")
        if _laid.modules:
            raise TooDeep("other modules were laid over torch when it was imported")
    recorder = Recorder(wanted)
    if imported_already:
        files = {name: text for name, text in modules.items() if os.sep in name}
        if late := _imported(files):
            raise TooDeep(f"already imported: {', '.join(late)}")
        if files:
            sys.meta_path.insert(0, _Finder(files, recorder))
        exchange({name: text for name, text in modules.items() if name not in files}, used)
        return recorder
    if late := _imported(modules):
        raise RuntimeError(f"already imported: {', '.join(late)}")
    if modules:
        sys.meta_path.insert(0, _Finder(modules, recorder))
    return recorder


def _imported(modules: Iterable[str]) -> list[str]:
    """Return those of the modules, by name or path of file, that are already imported."""
    imported = sys.modules.keys() | {str(getattr(module, "__file__", None)) for module in list(sys.modules.values())}
    return sorted(name for name in modules if name in imported)


class _Finder(MetaPathFinder):
    def __init__(self, modules: dict[str, str], recorder: Recorder) -> None:
        self._modules = modules
        self._by_path = any(os.sep in name for name in modules)
        self._recorder = recorder

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname not in self._modules and not self._by_path:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        found = (finder.find_spec(fullname, path, target) for finder in others)
        spec = next((spec for spec in found if spec is not None), None)
        if spec is None or spec.origin is None:
            return None
        name = fullname if fullname in self._modules else spec.origin
        if name not in self._modules:
            return spec
        spec.loader = _Loader(fullname, spec.origin, self._modules[name], self._recorder, name)
        spec.cached = None
        return spec


class _Loader(SourceFileLoader):
    """Loader that reads the text from another file. Tracebacks and everything else use the module's own path."""

    def __init__(self, fullname: str, path: str, source: str, recorder: Recorder, known_as: str) -> None:
        super().__init__(fullname, path)
        self._recorder = recorder
        recorder.watch(known_as, path)
        self._content = Path(source).read_bytes()
        lines = self._content.decode("utf-8", "replace").splitlines(keepends=True)
        linecache.cache[path] = (len(self._content), None, lines, path)

    def exec_module(self, module: ModuleType) -> None:
        with self._recorder.recording():
            super().exec_module(module)

    def get_data(self, path: str) -> bytes:
        if path == self.path:
            return self._content
        return super().get_data(path)

    def path_stats(self, path: str) -> Any:
        # Without a time stamp no bytecode is read or written for the overlaid text.
        raise OSError(f"{path} is overlaid")

"""Changed lines of code, and which of them were run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ..harness.torch_variant import Ran, Touched, merged
from .build.kernel_libraries import Libraries
from .build.toolchain import Toolchain
from .change import Change
from .choose.changed_functions import changed_functions, lines_of
from .compare.line_coverage import unrun_lines
from .compare.statements import touched


class LineCoverage:
    """Coverage of changed lines: of Python modules from the children's reports, of C++ from the libraries' counts."""

    def __init__(self, modules: Mapping[str, Change], toolchain: Toolchain | None, scratch: Path) -> None:
        self._modules = modules
        self._gcov = toolchain.gcov if toolchain else ()
        self._scratch = scratch
        self._ran: Ran = {}
        self._counted = True
        self.touched: dict[str, Touched] = {name: touched(change) for name, change in modules.items()}

    def add(self, ran: Ran) -> None:
        """Add the statements that a child ran."""
        self._ran = merged([self._ran, ran])

    def unrun(self, libraries: Libraries | None) -> Iterator[str]:
        """Yield the changed lines that were not run, as ``path:line``."""
        for name, change in self._modules.items():
            ran = self._ran.get(name, ())
            idle = {line for number, (line, _) in enumerate(self.touched[name]) if number not in ran}
            yield from (f"{change.path}:{line}" for line in sorted(idle))
        if not self._gcov or libraries is None:
            return
        for change, counted in libraries.counted:
            lines = unrun_lines(change, counted, self._gcov, self._scratch)
            self._counted = self._counted and lines is not None
            yield from (f"{change.path}:{line}" for line in lines or ())

    def all_counted(self, libraries: Libraries | None) -> bool:
        """Return whether the lines of every C++ file were counted. It is False without ``libraries``."""
        return bool(self._counted and self._gcov and libraries)

    def untold(self) -> frozenset[str]:
        """Return the changed functions without a changed line: a name that they mention changed, or they are gone."""
        return frozenset(
            function.qualname
            for name, change in self._modules.items()
            for function in changed_functions(change.before, change.after)
            if not lines_of(frozenset((function.qualname,)), change.after) & {line for line, _ in self.touched[name]}
        )


def shown(places: Sequence[str]) -> list[str]:
    """Return ``path:line`` with the file's name only, if the names are unique."""
    names = {path: Path(path).name for path in (place.rpartition(":")[0] for place in places)}
    plain = len(set(names.values())) == len(names)
    parts = (place.rpartition(":") for place in places)
    return [f"{names[path] if plain else path}:{line}" for path, _, line in parts]

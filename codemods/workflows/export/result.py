"""The result of `symfix.export`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ...model.outcome import Changed, Refused
from ...model.source_file import SourceFile
from ...reports.patch import patch
from ...system.atomic_write import write
from .outcome import ExportBlocker, Exported, ExportOutcome, FilePatch, LastFailure
from .text import target_lines


class NotApplied(Exception):
    """Error of applying a patch, with no file written. ``str()`` is the reason."""


@dataclass(frozen=True, repr=False)
class Result:
    """The result of exporting a model. Its text is that of the command, followed by the patch."""

    outcome: ExportOutcome

    @property
    def exported(self) -> Exported:
        """Return the complete result of the model."""
        (one,) = self.outcome.targets
        return one

    @property
    def verdict(self) -> str:
        """Return the verdict of ``export.json``.

        It is ``as-it-is``, ``proven``, ``with-torch``, ``one-sided``, ``left`` or ``unusable``.
        """
        return self.exported.verdict.name.lower().replace("_", "-")

    @property
    def good(self) -> bool:
        """Return whether the model exports, unchanged or with a proven patch."""
        return self.exported.good

    @property
    def message(self) -> str:
        """Return the reason why the model still fails or is unusable."""
        return self.exported.message

    @property
    def patch(self) -> str:
        """Return the patch for ``git apply``, or "" if there is none. It excludes changes of torch."""
        return self._patch(of_torch=False)

    @property
    def torch_patch(self) -> str:
        """Return the patch of torch, or "" if none is needed."""
        return self._patch(of_torch=True)

    def _patch(self, *, of_torch: bool) -> str:
        files = [file for file in self._files if file.of_torch is of_torch]
        return b"".join(patch(file.name, file.before, file.after) for file in files).decode("utf-8", "replace")

    @property
    def _files(self) -> tuple[FilePatch, ...]:
        return () if self.exported.left is not None else self.exported.files

    @property
    def obstacles(self) -> tuple[ExportBlocker, ...]:
        """Return the places where the export stopped, with their changes, in order."""
        return self.exported.obstacles

    @property
    def left(self) -> LastFailure | None:
        """Return the place where the export finally stops, or None."""
        return self.exported.left

    @property
    def notes(self) -> tuple[str, ...]:
        """Return notes on the program, such as inputs that only the program refuses."""
        return (*self.exported.notes, *self.exported.unseen)

    def apply(self, *, packages: bool = False) -> tuple[Path, ...]:
        """Write the patch to the files and return their paths. Imported modules are not reloaded.

        Raises NotApplied, with no file written, if a file has changed since the patch was made. It is also raised if a
        file belongs to an installed package and ``packages`` is False.
        """
        files = self._files
        for file in files:
            if file.package and not packages:
                raise NotApplied(f"{file.path} belongs to {file.package}; packages=True writes it all the same")
            if not file.path.is_file():
                raise NotApplied(f"{file.path} is no file: write the change where the code comes from, such as a cell")
            if file.path.read_bytes() != file.before:
                raise NotApplied(f"{file.path} was changed since the patch was made; export again")
        for file in files:
            done = write(Changed(SourceFile(file.path, file.before), file.after, ()), file.path.resolve().parent)
            if isinstance(done, Refused):
                raise NotApplied(f"{file.path} {done.detail}")
        return tuple(file.path for file in files)

    def __str__(self) -> str:
        text = "\n".join(target_lines(self.exported))
        return "\n\n".join(filter(None, (text, self.patch, self.torch_patch)))

    __repr__ = __str__

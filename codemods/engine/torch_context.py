"""Torch context of a run: located cheaply, and read only when a rule runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ..model.rule import Context
from ..torchapi.torch_finder import TorchInstallation, locate


@dataclass(frozen=True)
class TorchSurroundings:
    """Command-line options that choose the torch, and the assumptions that rules may make."""

    torch_root: Path | None = None
    torch_python: Path | None = None
    min_torch: tuple[int, int] | None = None
    all_functions: bool = False
    modules: bool = False
    drop_torchscript: bool = False
    installed_torchgen: bool = False
    """True if no code of ``torch_root`` is run to read its schemas."""
    tried: bool = False
    """True if each fix is tried on the program that the user named."""
    prefer: str = ""
    """The operator to try first where the values of a tensor decide."""

    @cached_property
    def place(self) -> TorchInstallation:
        """Return the location of the torch. Raises TorchError."""
        return locate(self.torch_root, self.torch_python, tree_code=not self.installed_torchgen)

    @property
    def identity(self) -> str:
        yaml = self.place.native / "native_functions.yaml"
        stat = yaml.stat()
        return repr((self, str(yaml), stat.st_mtime_ns, stat.st_size, self.place.build))

    def context(self) -> Context:
        from ..torchapi import TorchApi

        api = TorchApi.at(self.place)
        return Context(
            api,
            min_torch=self.min_torch,
            all_functions=self.all_functions,
            modules=self.modules,
            drop_torchscript=self.drop_torchscript,
            torch_root=self.torch_root,
            tried=self.tried,
            prefer=self.prefer,
        )

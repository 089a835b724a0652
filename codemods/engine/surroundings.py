"""The torch that a run is about: found cheaply, read only when a rule is asked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ..torchapi.locating import Place, locate
from .rule import Context


@dataclass(frozen=True)
class TorchSurroundings:
    """Words of the command line that say which torch, and how much of it rules may assume."""

    torch_root: Path | None = None
    torch_python: Path | None = None
    min_torch: tuple[int, int] | None = None
    all_functions: bool = False
    modules: bool = False
    drop_torchscript: bool = False
    installed_torchgen: bool = False
    """Nothing of ``torch_root`` is run to read its schemas."""
    tried: bool = False
    """Each fix is tried on the program that the user named."""

    @cached_property
    def place(self) -> Place:
        """Where that torch is; raises TorchError."""
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
        )

"""The two torches of a set of changes: with the files before, and with the files after."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ...lab.variants import Laboratory, Variant
from ...torchapi import TorchApi
from ...torchapi.locating import Place
from ...verify.build.compiling import Builder
from ...verify.build.modules import module_name
from ...verify.build.swapping import build
from ...verify.build.toolchain import find_toolchain
from ...verify.change import Change


@contextmanager
def sides(
    changes: Sequence[Change],
    laboratory: Laboratory,
    place: Place,
    torch_root: Path | None,
    torch_python: Path | None,
    jobs: int,
    progress: Callable[[str], None] = lambda _: None,
) -> Iterator[tuple[Variant, Variant]]:
    """``changes`` before and after, to run on. Raises Unbuildable, CompilerMissing, Unplaced."""
    cpp = [change for change in changes if change.path.suffix != ".py"]
    roots = [place.package.parent, *((torch_root,) if torch_root else ())]
    modules = {module_name(change.path, roots): change for change in changes if change not in cpp}
    if not cpp:
        yield _side("before", modules, laboratory), _side("after", modules, laboratory)
        return
    toolchain = find_toolchain(place, torch_root, None, [change.path for change in cpp])
    builder = Builder(toolchain, laboratory.scratch, jobs, progress=progress)
    try:
        libraries = build(cpp, TorchApi.load(None, torch_python), builder, progress)
        kernels = len(libraries.candidates)
        identity = f"{toolchain.identity} {libraries.candidates!r} {_digest(cpp)}"
        yield (
            _side("before", modules, laboratory, libraries.before, kernels, identity),
            _side("after", modules, laboratory, libraries.after, kernels, identity),
        )
    finally:
        builder.close()


def _side(
    side: str,
    modules: dict[str, Change],
    laboratory: Laboratory,
    library: Path | None = None,
    kernels: int = 0,
    identity: str = "",
) -> Variant:
    files = {}
    for name, change in modules.items():
        content = change.before if side == "before" else change.after
        files[name] = laboratory.scratch / f"{side}.{name}.{hashlib.sha256(content).hexdigest()[:12]}.py"
        files[name].write_bytes(content)
    own = f"{side} {identity} {_digest(modules.values())}"
    return Variant(side, library, kernels, files, hashlib.sha256(own.encode()).hexdigest())


def _digest(changes: Iterable[Change]) -> str:
    hashed = hashlib.sha256()
    for change in changes:
        hashed.update(hashlib.sha256(change.before).digest() + hashlib.sha256(change.after).digest())
    return hashed.hexdigest()

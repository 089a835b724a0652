"""The two torches of a set of changes, one with the files before and one with the files after, and their runners."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ....harness.torch_variant import Harness, Variant
from ....torchapi import TorchApi
from ....torchapi.torch_finder import TorchInstallation
from ....verify.before_after import Side, started
from ....verify.build.compilation import Builder
from ....verify.build.kernel_libraries import build
from ....verify.build.modules import module_name
from ....verify.build.toolchain import find_toolchain
from ....verify.change import Change
from ....verify.evidence import holds


@contextmanager
def sides(
    changes: Sequence[Change],
    laboratory: Harness,
    ready: Harness,
    place: TorchInstallation,
    torch_root: Path | None,
    torch_python: Path | None,
) -> Iterator[tuple[Side, Side]]:
    """Yield the sides before and after ``changes``. Raises Unbuildable, CompilerMissing and Unplaced.

    ``ready`` forks from a process with the installed torch. For changed Python a process with the changes is kept.
    """
    with _variants(changes, laboratory, place, torch_root, torch_python) as variants, ExitStack() as stack:
        before, after = (started(one, laboratory, ready, 1, stack, scripts=True) for one in variants)
        yield before, after


@contextmanager
def _variants(
    changes: Sequence[Change],
    laboratory: Harness,
    place: TorchInstallation,
    torch_root: Path | None,
    torch_python: Path | None,
) -> Iterator[tuple[Variant, Variant]]:
    cpp = [change for change in changes if change.path.suffix != ".py"]
    roots = [place.package.parent, *((torch_root,) if torch_root else ())]
    modules = {module_name(change.path, roots): change for change in changes if change not in cpp}
    if not cpp:
        yield _variant("before", modules, laboratory, place), _variant("after", modules, laboratory, place)
        return
    toolchain = find_toolchain(place, torch_root, None, [change.path for change in cpp])
    builder = Builder(toolchain, laboratory.scratch, jobs=1)
    try:
        libraries = build(cpp, TorchApi.load(None, torch_python), builder, lambda _: None)
        kernels = len(libraries.candidates)
        identity = f"{toolchain.identity} {libraries.candidates!r} {_digest(cpp)}"
        yield (
            _variant("before", modules, laboratory, place, libraries.before, kernels, identity),
            _variant("after", modules, laboratory, place, libraries.after, kernels, identity),
        )
    finally:
        builder.close()


def _variant(
    side: str,
    modules: dict[str, Change],
    laboratory: Harness,
    place: TorchInstallation,
    library: Path | None = None,
    kernels: int = 0,
    identity: str = "",
) -> Variant:
    files = {}
    for name, change in modules.items():
        content = change.before if side == "before" else change.after
        if holds(place.package, {name: content}):
            continue
        files[name] = laboratory.scratch / f"{side}.{name}.{hashlib.sha256(content).hexdigest()[:12]}.py"
        files[name].write_bytes(content)
    own = f"{side} {identity} {_digest(modules.values())}"
    return Variant(side, library, kernels, files, hashlib.sha256(own.encode()).hexdigest())


def _digest(changes: Iterable[Change]) -> str:
    hashed = hashlib.sha256()
    for change in changes:
        hashed.update(hashlib.sha256(change.before).digest() + hashlib.sha256(change.after).digest())
    return hashed.hexdigest()

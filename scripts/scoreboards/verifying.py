"""Single steps of a verification for the benchmark: ``python -m scoreboards.verifying STEP TREE``."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from symfix.codemods.harness.fork_server import TESTS, forking
from symfix.codemods.harness.process_limits import Limits
from symfix.codemods.harness.temp_folder import scratch_folder
from symfix.codemods.harness.torch_variant import Harness, Variant
from symfix.codemods.system import cache_folder
from symfix.codemods.torchapi import TorchApi
from symfix.codemods.torchapi.torch_finder import locate
from symfix.codemods.verify.build.compilation import COMPILE_LIMITS, Builder
from symfix.codemods.verify.build.kernel_libraries import build
from symfix.codemods.verify.build.kernel_shim import candidates, shim_source
from symfix.codemods.verify.build.prelude import Preludes
from symfix.codemods.verify.build.toolchain import Toolchain, find_toolchain
from symfix.codemods.verify.change import Change

from .corpus import NATIVE, ROOT

OPERATOR = "LossNLL.cpp"
EIGHT = (
    "ConvolutionTBC.cpp",
    "Fill.cpp",
    "Integration.cpp",
    "Itertools.cpp",
    OPERATOR,
    "SpectralOps.cpp",
    "TriangularOps.cpp",
    "WeightNorm.cpp",
)
REPRO = ROOT / "golden" / "repros" / "cross_entropy.py"


def precompile(tree: Path, scratch: Path, toolchain: Toolchain) -> None:
    """Precompile torch's headers without cached results."""
    shutil.rmtree(cache_folder.folder("precompiled"), ignore_errors=True)
    headers = Preludes(toolchain, scratch, COMPILE_LIMITS, lambda _: None)
    with ThreadPoolExecutor(2) as pool:
        assert all(pool.map(headers.made, (headers.wide, headers.core))), "no precompiled header"


def compile_one(tree: Path, scratch: Path, toolchain: Toolchain) -> None:
    """Compile one operator file with the precompiled headers."""
    builder = Builder(toolchain, scratch)
    built = builder.compile(OPERATOR, (tree / NATIVE / OPERATOR).read_bytes(), tree / NATIVE).result()
    assert built.target is not None, built.first_error
    builder.close()


def swap_one(tree: Path, scratch: Path, toolchain: Toolchain) -> None:
    """Compile, link and load one file, and run one script on it."""
    api = TorchApi.load(None, None)
    content = (tree / NATIVE / OPERATOR).read_bytes()
    wanted = candidates(content, api.kernels)
    builder = Builder(toolchain, scratch)
    units = [
        builder.compile(OPERATOR, content, tree / NATIVE),
        builder.compile("shim.cpp", shim_source(wanted).encode()),
    ]
    objects = [target for unit in units if (target := unit.result().target) is not None]
    library = builder.link(objects, "swapped").result().target
    builder.close()
    replayed = Harness(api.torch_python, scratch, Limits()).replay(Variant("one", library, len(wanted)), REPRO)
    assert replayed.loaded
    assert "symbolic" in replayed.observation.message, replayed.observation


def swap_eight(tree: Path, scratch: Path, toolchain: Toolchain) -> None:
    """Compile, link and load eight files before and after a change in each, and run a script on both sides."""
    api = TorchApi.load(None, None)
    changes = []
    for name in EIGHT:
        before = (tree / NATIVE / name).read_bytes()
        changes.append(
            Change(tree / NATIVE / name, before, re.sub(rb"(?m)^namespace at::native \{$", rb"\g<0> ", before))
        )
    alone = Harness(api.torch_python, scratch, Limits())
    # As in a verification, torch is imported once, while the compilers run.
    with forking(alone, 2, at_once=True, scripts=True, preloaded=TESTS) as laboratory:
        builder = Builder(toolchain, scratch)
        libraries = build(changes, api, builder, lambda _: None)
        builder.close()
        sides = [Variant(name, getattr(libraries, name), len(libraries.candidates)) for name in ("before", "after")]
        with ThreadPoolExecutor(len(sides)) as pool:
            assert all(one.loaded for one in pool.map(laboratory.replay, sides, [REPRO, REPRO]))


def load(tree: Path, scratch: Path, toolchain: Toolchain) -> None:
    """Build the file with ``torch.utils.cpp_extension.load``, which registers nothing, for comparison."""
    from torch.utils.cpp_extension import load as load_extension

    flags = [flag for flag in toolchain.flags if flag.startswith("-D")]
    load_extension(
        "operator_file",
        [str(tree / NATIVE / OPERATOR)],
        extra_cflags=["-w", *flags],
        build_directory=str(scratch),
        is_python_module=False,
    )


STEPS: dict[str, Callable[[Path, Path, Toolchain], None]] = {
    "precompile": precompile,
    "compile": compile_one,
    "swap": swap_one,
    "eight": swap_eight,
    "load": load,
}


def main() -> None:
    """Run one step without stored objects."""
    step, tree = STEPS[sys.argv[1]], Path(sys.argv[2])
    shutil.rmtree(cache_folder.folder("objects"), ignore_errors=True)
    with scratch_folder() as scratch:
        step(tree, scratch, find_toolchain(locate(None, None), tree))


if __name__ == "__main__":
    main()

"""Tests of compiling a file with the flags of its tree's compile_commands.json that fit the installed torch."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from symfix.codemods.torchapi.torch_finder import locate
from symfix.codemods.verify.build.flags import flags_for, newer_standard
from symfix.codemods.verify.build.toolchain import Toolchain, find_toolchain


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Write a tree with a header in an unusual folder, and a file that needs it and a macro."""
    root = tmp_path / "tree"
    (root / "include dir").mkdir(parents=True)
    (root / "build").mkdir()
    (root / "csrc").mkdir()
    (root / "include dir" / "mine.h").write_text("inline int mine() { return MODE; }\n")
    (root / "csrc" / "file.cpp").write_text(
        '#include <mine.h>\n#if MODE != 3\n#error "no mode"\n#endif\nint m = mine();\n'
    )
    return root


def database(root: Path, place: str = "build", **entry: object) -> None:
    whole = {"directory": str(root / "build"), "file": "../csrc/file.cpp", **entry}
    (root / place / "compile_commands.json").write_text(json.dumps([whole]))


def toolchain(root: Path, torch_root: Path | None = None) -> Toolchain:
    return find_toolchain(locate(None, None), torch_root, files=[root / "csrc" / "file.cpp"])


def compiles(chain: Toolchain, root: Path, scratch: Path) -> bool:
    source = scratch / "file.cpp"
    source.write_bytes((root / "csrc" / "file.cpp").read_bytes())
    command = chain.compile_command(source, scratch / "file.o", quote=root / "csrc")
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("place", ["build", ""])
def test_a_file_compiles_with_its_trees_flags(tree: Path, tmp_path: Path, place: str) -> None:
    assert not compiles(toolchain(tree), tree, tmp_path)
    database(tree, place, command="c++ -DMODE=3 '-I../include dir' -o file.o -c ../csrc/file.cpp")
    assert compiles(toolchain(tree), tree, tmp_path)


def test_the_flags_are_part_of_the_question(tree: Path) -> None:
    database(tree, command="c++ -DMODE=3 -c ../csrc/file.cpp")
    first = toolchain(tree).identity
    database(tree, command="c++ -DMODE=4 -c ../csrc/file.cpp")
    assert toolchain(tree).identity != first


def test_what_decides_how_torch_links_stays_torchs_own(tree: Path) -> None:
    words = ["c++", "-D", "MODE=3",
             "-DHAVE_AVX2_CPU_DEFINITION", "-D_GLIBCXX_USE_CXX11_ABI=0", "-isystem../include dir",
             "-I", "gone", "-O3", "-UNDEBUG", "-std=gnu++17", "-Wall"]  # fmt: skip
    database(tree, arguments=words)
    found = flags_for(tree / "csrc" / "file.cpp")
    assert found is not None
    assert found.macros == ("-DMODE=3", "-UNDEBUG")
    assert found.includes == ("-isystem", str(tree / "build" / "../include dir"))
    assert found.standard == "-std=gnu++17"


def test_headers_of_another_release_only_fill_gaps(tree: Path) -> None:
    database(tree, command="c++ '-I../include dir' -c ../csrc/file.cpp")
    for version, first in (("1.0.0", False), (locate(None, None).version, True)):
        (tree / "version.txt").write_text(version)
        chain = toolchain(tree, tree)
        command = chain.compile_command(Path("file.cpp"), Path("file.o"), quote=tree / "csrc")
        own = command.index(str(tree / "build" / "../include dir"))
        assert (own < command.index(f"-I{chain.includes[1 if first else 0]}")) is first


@pytest.mark.parametrize("text", ["", "{}", "[1]", '[{"file": "x"}]'])
def test_a_broken_database_counts_as_none(tree: Path, text: str) -> None:
    (tree / "build" / "compile_commands.json").write_text(text)
    assert flags_for(tree / "csrc" / "file.cpp") is None


@pytest.mark.parametrize(
    ("pair", "newer"),
    [
        (("-std=c++20", "-std=gnu++17"), "-std=c++20"),
        (("-std=c++2b", "-std=c++20"), "-std=c++2b"),
        (("-std=c++98", "-std=c++11"), "-std=c++11"),
        (("", "-std=c++20"), "-std=c++20"),
    ],
)
def test_the_newer_standard_counts(pair: tuple[str, str], newer: str) -> None:
    assert newer_standard(*pair) == newer


def test_a_tree_named_by_a_relative_path_is_found_from_anywhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert tmp_path.resolve() / "aten" / "src" in find_toolchain(locate(None, None), Path()).includes

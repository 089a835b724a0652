"""Tests of finding a torch: source trees, other interpreters, and their possible errors."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from symfix.codemods.system import cache_folder
from symfix.codemods.torchapi import (
    NotATorchTree,
    TorchApi,
    TorchError,
    TorchgenFailed,
    TorchMissing,
    TorchTooOld,
    YamlUnreadable,
)

_YAML = """
- func: weigh(Tensor self, SymInt size, int dim=0) -> Tensor
  variants: function, method
  dispatch:
    CompositeImplicitAutograd: weigh_symint

- func: settle(Tensor self, int[] shape) -> Tensor
"""

Interpreter = Callable[..., Path]


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Write a source tree with two operators and without its own torchgen."""
    root = tmp_path / "pytorch"
    native = root / "aten" / "src" / "ATen" / "native"
    native.mkdir(parents=True)
    (native / "native_functions.yaml").write_text(_YAML)
    (native / "tags.yaml").write_text("- tag: core\n  desc: |\n    belongs to the core\n")
    (root / "version.txt").write_text("2.20.0a0\n")
    return root


@pytest.fixture
def interpreter(tmp_path: Path) -> Interpreter:
    """Return a function that writes an interpreter without site-packages, but with a folder on its path."""

    def make(folder: Path) -> Path:
        python = tmp_path / "python"
        python.write_text(f'#!/bin/sh\nPYTHONPATH={folder} exec {sys.executable} -S "$@"\n')
        python.chmod(0o755)
        return python

    return make


def _rewrite(tree: Path, name: str, text: str) -> None:
    (tree / "aten" / "src" / "ATen" / "native" / name).write_text(text)


def test_a_source_tree_speaks_for_itself(tree: Path) -> None:
    api = TorchApi.load(tree)
    (weigh,) = api.methods("weigh_symint")
    assert [(one.name, one.type, one.default) for one in weigh.method_arguments] == [
        ("size", "SymInt", None),
        ("dim", "int", "0"),
    ]
    assert api.kernels("weigh_symint")[0].parameters[1] == ("c10::SymInt", "size")
    assert api.kernels("settle")[0].keys == ("CompositeImplicitAutograd",)
    assert not api.functions("empty")
    assert (api.version, api.release, api.torch_root) == ("2.20.0a0", (2, 20), tree)
    assert api.include_dirs == (tree / "aten" / "src", tree)


def test_a_changed_yaml_is_read_again(tree: Path) -> None:
    before = _child(tree)
    _rewrite(tree, "native_functions.yaml", _YAML.replace("int[] shape", "SymInt[] shape"))
    assert (before, _child(tree)) == ("int[]", "SymInt[]")


def _child(tree: Path) -> str:
    program = (
        "import sys; from pathlib import Path; from symfix.codemods.torchapi import TorchApi;"
        "print(TorchApi.load(Path(sys.argv[1])).functions('settle')[0].arguments[1].type)"
    )
    child = subprocess.run([sys.executable, "-c", program, tree], capture_output=True, text=True, check=True)
    return child.stdout.strip()


def test_the_rows_are_kept_and_used(tree: Path, own_cache: Path) -> None:
    _child(tree)
    (rows,) = own_cache.rglob("*.jsonl")
    kept = cache_folder.load(rows)
    assert kept is not None
    cache_folder.store(rows, kept.replace(b'"int[]"', b'"kept"'))
    assert _child(tree) == "kept"


def test_a_cache_folder_that_cannot_be_made_costs_only_time(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert _child(tree) == "int[]"


def test_processes_that_ask_at_once_extract_once(own_cache: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    program = textwrap.dedent(
        """
        import sys, time
        from symfix.codemods.torchapi.index_cache import stored

        def make():
            with open(sys.argv[1], "a") as log:
                log.write("made\\n")
            time.sleep(0.5)
            return b"result"

        sys.stdout.buffer.write(stored("test", "key", make))
        """
    )
    command = [sys.executable, "-c", program, str(log)]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(3)]
    assert [child.communicate()[0] for child in children] == [b"result"] * 3
    assert log.read_text() == "made\n"


def test_a_torchgen_of_the_tree_that_does_not_import_gives_way_to_the_installed_one(tree: Path) -> None:
    (tree / "torchgen").mkdir()
    (tree / "torchgen" / "__init__.py").touch()
    (tree / "torchgen" / "gen.py").write_text("import torchgen_of_another_age\n")
    assert TorchApi.load(tree).functions("weigh")
    assert not list(tree.rglob("__pycache__"))


def test_an_interpreter_without_pyyaml_gives_way_to_this_one(tree: Path, interpreter: Interpreter) -> None:
    installed = TorchApi.load().package.parent / "torchgen"
    (tree / "torchgen").symlink_to(installed)
    assert TorchApi.load(tree, interpreter(tree.parent)).functions("weigh")


@pytest.mark.parametrize(
    "text", ["- func: [unclosed\n", "- func: weigh(Tensr self) -> Tensor\n", "weigh: true\n", "- variants: function\n"]
)
def test_a_yaml_that_does_not_parse_is_named(tree: Path, text: str) -> None:
    _rewrite(tree, "native_functions.yaml", text)
    with pytest.raises(YamlUnreadable, match=r"native_functions\.yaml does not parse: .+"):
        TorchApi.load(tree)


def test_a_missing_yaml_is_named(tree: Path) -> None:
    (tree / "aten" / "src" / "ATen" / "native" / "tags.yaml").unlink()
    with pytest.raises(YamlUnreadable, match=r"tags\.yaml is missing"):
        TorchApi.load(tree)


def test_a_folder_that_is_no_source_tree(tmp_path: Path, tree: Path) -> None:
    with pytest.raises(NotATorchTree, match=r"--torch-root takes the top folder"):
        TorchApi.load(tmp_path)
    (tree / "version.txt").write_text("unknown\n")
    with pytest.raises(NotATorchTree, match=r"version\.txt"):
        TorchApi.load(tree)


def test_no_torchgen_at_all(tree: Path, interpreter: Interpreter) -> None:
    with pytest.raises(TorchgenFailed, match=r"no torchgen reads torch 2\.20\.0a0"):
        TorchApi.load(tree, interpreter(tree.parent))


def test_an_interpreter_without_torch(interpreter: Interpreter, tmp_path: Path) -> None:
    with pytest.raises(TorchMissing, match=r"no torch in .*python: .*--torch-python"):
        TorchApi.load(None, interpreter(tmp_path))


def test_a_source_checkout_on_the_path_is_no_installed_torch(interpreter: Interpreter, tmp_path: Path) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").touch()
    with pytest.raises(TorchMissing):
        TorchApi.load(None, interpreter(tmp_path))


def test_an_installed_torch_that_is_too_old(interpreter: Interpreter, tmp_path: Path) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").touch()
    (tmp_path / "torch" / "version.py").write_text("__version__ = '2.7.1+cpu'\n")
    with pytest.raises(TorchTooOld, match=r"torch 2\.7\.1\+cpu in .* is too old: symfix needs 2\.8 or newer"):
        TorchApi.load(None, interpreter(tmp_path))


@pytest.mark.parametrize("program", ["/no/such/interpreter", "/bin/false"])
def test_something_that_is_no_interpreter(program: str) -> None:
    with pytest.raises(TorchMissing, match=f"--torch-python {program}: "):
        TorchApi.load(None, Path(program))


def test_every_error_is_one_line(tree: Path, interpreter: Interpreter, tmp_path: Path) -> None:
    _rewrite(tree, "native_functions.yaml", "- func: |\n    broken\n    over lines\n")
    for root, python in ((tree, None), (tmp_path, None), (None, interpreter(tmp_path))):
        with pytest.raises(TorchError) as caught:
            TorchApi.load(root, python)
        assert len(str(caught.value).splitlines()) == 1


def test_the_working_directory_is_not_searched(tmp_path: Path) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").touch()
    (tmp_path / "torch" / "version.py").write_text("__version__ = '2.0.0'\n")
    program = "from symfix.codemods.torchapi.torch_finder import locate; print(locate(None, None).package)"
    child = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True, env={**os.environ}
    )
    assert Path(child.stdout.strip()) != tmp_path / "torch"

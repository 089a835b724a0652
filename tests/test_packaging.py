from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import click
import pytest
from running import MENDED, SHAPES, symfix
from symfix.codemods.commands.extras import required

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TOP = Path(__file__).parents[1]
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text())
NOT_PACKAGES = {"tests", "golden", "examples", "scripts", "build", "dist"}
VERSION = PROJECT["project"]["version"]
LONG_PYTHON = """import torch
from torch import Tensor

@torch.library.register_fake("mine::shorter")
def _(x: Tensor, y: Tensor) -> Tensor:
    return x.new_empty(min(x.shape[0], y.shape[1]))
"""
LONG_CPP = """#include <ATen/ATen.h>
namespace at::native {
Tensor shorter(const Tensor& x) {
  auto y = at::empty({x.size(0)}, x.options());
  return y;
}
} // namespace at::native
"""


def packages_on_disk() -> set[str]:
    folders = {path.parent.relative_to(TOP) for top in TOP.iterdir() for path in top.glob("**/*.py") if top.is_dir()}
    return {
        ".".join(("symfix", *folder.parts))
        for folder in (*folders, Path())
        if not {part for part in folder.parts if part.startswith(".")}
        and (not folder.parts or folder.parts[0] not in NOT_PACKAGES)
    }


def test_the_listed_packages_are_the_folders() -> None:
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == packages_on_disk()


def test_the_version_is_the_newest_of_the_changelog_and_stated_once() -> None:
    assert re.findall(r"^## (\S+)$", (TOP / "CHANGELOG.md").read_text(), re.MULTILINE)[0] == VERSION
    spelled = re.compile(rf"""__version__ = |version = ["']{re.escape(VERSION)}["']""")
    assert spelled.findall((TOP / "pyproject.toml").read_text()) == [f'version = "{VERSION}"']
    modules = [path for package in ("codemods", "cpp", "python", "schemas") for path in (TOP / package).rglob("*.py")]
    assert [path for path in (TOP / "__init__.py", *modules) if spelled.search(path.read_text())] == []


def test_every_package_has_a_docstring_at_its_top() -> None:
    for package in PROJECT["tool"]["setuptools"]["packages"]:
        text = (TOP / Path(*package.split(".")[1:]) / "__init__.py").read_text()
        assert re.match(r'"""\S', text), package


def test_the_package_reads_no_module_before_it_is_asked_for_one() -> None:
    code = "import sys; before = {*sys.modules}; import symfix; print(sorted({*sys.modules} - before))"
    assert run(sys.executable, "-c", code, cwd=TOP) == "['symfix']\n"
    offered = "import symfix; print([getattr(symfix, name).__name__ for name in symfix.__all__] == symfix.__all__)"
    assert run(sys.executable, "-c", offered, cwd=TOP) == "True\n"


def test_the_checkout_is_the_package() -> None:
    import symfix

    assert Path(str(symfix.__file__)).resolve().parent == TOP


def test_the_wheel_holds_what_the_checkout_holds(tmp_path: Path) -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=TOP, capture_output=True, check=True).stdout
    tracked = [name for name in listed.decode().split("\0") if (TOP / name).is_file()]
    for name in tracked:
        copy = tmp_path / "checkout" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(TOP / name, copy)
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--wheel-dir",
        str(tmp_path),
        str(tmp_path / "checkout"),
    ]
    built = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    held = {name for name in names if name.startswith("symfix/")}
    kinds = (".py", ".html", ".css", ".js", "py.typed")
    ours = {name for name in tracked if name.endswith(kinds) and name.split("/")[0] not in NOT_PACKAGES}
    assert held == {f"symfix/{name}" for name in ours}


def run(*command: object, cwd: Path, code: int = 0) -> str:
    ended = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True, check=False)
    assert ended.returncode == code, ended.stdout + ended.stderr
    return ended.stdout


def cloned(tmp_path: Path) -> Path:
    """Clone this checkout, with what is not committed."""
    checkout = tmp_path / "checkout"
    run("git", "clone", "--quiet", TOP, checkout, cwd=tmp_path)
    for name in run("git", "ls-files", "--modified", "--others", "--exclude-standard", cwd=TOP).splitlines():
        if (TOP / name).is_file():
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(TOP / name, checkout / name)
    return checkout


def test_the_packages_are_checked_and_start_in_an_empty_environment(tmp_path: Path) -> None:
    checkout = cloned(tmp_path)
    surroundings = {**os.environ, "PYTHON": sys.executable, "PYTHONPATH": ""}
    ended = subprocess.run(
        ["scripts/packages"], cwd=checkout, env=surroundings, capture_output=True, text=True, check=False
    )
    if "No matching distribution found for build" in ended.stderr:
        pytest.skip("pip has no index here")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    wheel, sdist = f"dist/symfix-{VERSION}-py3-none-any.whl", f"dist/symfix-{VERSION}.tar.gz"
    for package in (wheel, sdist):
        assert re.search(rf"Checking {re.escape(package)}: .*PASSED", ended.stdout)
        assert re.search(rf"^{re.escape(package)}: installed in \d+ s and started$", ended.stdout, re.MULTILINE)
    assert f"{wheel}: OK" in ended.stdout


def test_what_only_some_commands_need_is_an_extra() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    always = {re.split(r"[>=;\[]", line)[0] for line in PROJECT["project"]["dependencies"]}
    assert always.isdisjoint(re.split(r"[>=;\[]", line)[0] for lines in extras.values() for line in lines)
    assert {"format", "review", "verify", "lsp", "mcp", "cluster"} <= {*extras}


@pytest.mark.parametrize(
    ("package", "name", "text", "style"),
    [
        ("ruff", "m.py", LONG_PYTHON, ("ruff.toml", "line-length = 52\n")),
        ("clang_format", "m.cpp", LONG_CPP, (".clang-format", "ColumnLimit: 50\n")),
    ],
)
def test_without_a_formatter_one_line_names_the_extra(
    tmp_path: Path, package: str, name: str, text: str, style: tuple[str, str]
) -> None:
    work, shadow = tmp_path / "work", tmp_path / "shadow" / package
    work.mkdir()
    shadow.mkdir(parents=True)
    (shadow / "__init__.py").write_text(f"raise ImportError('no {package}', name='{package}')\n")
    (work / name).write_text(text)
    words = ("diff", "--all-functions", "--unsafe-fixes", name)
    said = f"symfix: long lines in 1 file need {package.replace('_', '-')}: pip install 'symfix[format]'\n"
    path = os.pathsep.join([str(shadow.parent), *sys.path])
    assert said not in symfix(*words, cwd=work, code=1, PYTHONPATH=path).stderr
    (work / style[0]).write_text(style[1])
    assert said in symfix(*words, cwd=work, code=1, PYTHONPATH=path).stderr
    assert said not in symfix(*words, cwd=work, code=1).stderr


def test_a_missing_package_of_an_extra_is_one_line() -> None:
    said = "the page needs jinja2: pip install 'symfix\\[review\\]'"
    with pytest.raises(click.ClickException, match=said), required("review", "jinja2", "the page"):
        raise ImportError("no", name="jinja2")
    with pytest.raises(ImportError), required("review", "jinja2"):
        raise ImportError("no", name="symfix.gone")


def test_a_built_wheel_works_in_a_fresh_environment(tmp_path: Path) -> None:
    checkout = cloned(tmp_path)
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", tmp_path, checkout, cwd=tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    fresh = tmp_path / "fresh"
    run(sys.executable, "-m", "venv", "--without-pip", fresh, cwd=tmp_path)
    python = fresh / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel, cwd=tmp_path)
    # Dependencies of symfix are imported from here. This checkout is not, since path files do not nest.
    (packages,) = fresh.glob("lib/*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    place = run(python, "-c", "import symfix; print(symfix.__file__)", cwd=tmp_path).strip()
    assert Path(place).is_relative_to(fresh)
    (tmp_path / "m.py").write_text(SHAPES)
    for program in ([fresh / "bin" / "symfix"], [python, "-m", "symfix"]):
        assert "m.py:5:5: migrate_check_is_size" in run(*program, "check", "m.py", cwd=tmp_path, code=1)
        assert "use_sym_sizes" in run(*program, "rule", cwd=tmp_path)
    assert MENDED in run(fresh / "bin" / "symfix", "diff", "m.py", cwd=tmp_path, code=1)
    assert "ok       torch" in run(fresh / "bin" / "symfix", "doctor", cwd=tmp_path)
    assert run(fresh / "bin" / "symfix", "--version", cwd=tmp_path) == f"symfix {VERSION}\n"
    (tmp_path / "uses.py").write_text("import symfix\n\nreveal_type(symfix.check)\n")
    types = run(
        sys.executable, "-m", "mypy", "--follow-imports=silent", "--python-executable", python, "uses.py", cwd=tmp_path
    )
    assert "Finding" in types


BACKEND = """
import zipfile
from pathlib import Path

def build_editable(folder, settings=None, metadata=None):
    name = "symfix-0-py3-none-any.whl"
    with zipfile.ZipFile(Path(folder, name), "w") as wheel:
        info = "symfix-0.dist-info/"
        needs = "Provides-Extra: verify\\nRequires-Dist: torch>=2.8; extra == 'verify'\\n"
        wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: symfix\\nVersion: 0\\n" + needs)
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(info + "RECORD", "")
    return name
"""
"""Build backend in plain Python for a project without code."""


def stand_in(folder: Path, version: str) -> None:
    """Write a wheel with the name of torch."""
    info = f"torch-{version}.dist-info"
    with zipfile.ZipFile(folder / f"torch-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr("torch/__init__.py", "")
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


@pytest.mark.parametrize(
    ("there", "taken", "said", "release"),
    [
        (("+cpu", ""), "+cpu", (), None),
        (("",), "", ("pip knows no torch==2.8.0", "3 GB", "SYMFIX_TORCH_INDEX"), "2.8.0"),
        ((), None, ("found neither",), None),
    ],
)
def test_the_environment_is_made_where_pip_knows_no_cpu_build(
    tmp_path: Path, there: tuple[str, ...], taken: str | None, said: tuple[str, ...], release: str | None
) -> None:
    (tmp_path / "scripts").mkdir()
    shutil.copy(TOP / "scripts" / "venv", tmp_path / "scripts" / "venv")
    (tmp_path / "pyproject.toml").write_text(
        "[build-system]\nrequires = []\nbuild-backend = 'backend'\nbackend-path = ['.']\n"
    )
    (tmp_path / "backend.py").write_text(BACKEND)
    # A system that calls itself Linux.
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "uname").write_text("#!/bin/sh\necho Linux\n")
    (tmp_path / "bin" / "uname").chmod(0o755)
    pinned = re.search(r"torch='torch==([\d.]+)\+cpu'", (TOP / "scripts" / "venv").read_text())
    assert pinned
    version = release or pinned[1]
    (tmp_path / "index").mkdir()
    for suffix in there:
        stand_in(tmp_path / "index", version + suffix)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "SYMFIX_"))}
    surroundings = {
        **kept, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path / "index"), "PIP_CONFIG_FILE": os.devnull,
        "PYTHON": sys.executable, "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "SYMFIX_TORCH": release or "",
    }  # fmt: skip
    ended = subprocess.run(
        ["sh", "scripts/venv", "verify"], cwd=tmp_path, capture_output=True, text=True, check=False, env=surroundings
    )
    for words in said:
        assert words in ended.stderr
    if taken is None:
        assert ended.returncode == 1
        return
    assert ended.returncode == 0, ended.stderr
    assert said or ended.stderr == ""
    code = "import importlib.metadata as m; print(m.version('torch'), m.version('symfix'))"
    assert run(tmp_path / ".venv" / "bin" / "python", "-c", code, cwd=tmp_path) == f"{version}{taken} 0\n"
    again = ["sh", "scripts/venv", "verify"]
    assert subprocess.run(again, cwd=tmp_path, capture_output=True, env=surroundings, check=True).stderr == b""


def test_no_file_names_a_machines_folders() -> None:
    found = subprocess.run(
        ["git", "-C", str(TOP), "grep", "-nIE", r"/(home|Users|root|work|tmp)/\w"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.stdout.splitlines() == []


@pytest.mark.parametrize("script", ["demo", "test", "check", "bless", "venv", "new-rule", "corpus", "bench"])
def test_a_promised_script_is_there_and_runs(script: str) -> None:
    assert os.access(TOP / "scripts" / script, os.X_OK)

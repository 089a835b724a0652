from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TOP = Path(__file__).parents[1]
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text())
NOT_PACKAGES = {"tests", "golden", "scripts", "build", "dist"}


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


def test_every_package_has_a_docstring_and_nothing_else_at_its_top() -> None:
    for package in PROJECT["tool"]["setuptools"]["packages"]:
        text = (TOP / Path(*package.split(".")[1:]) / "__init__.py").read_text()
        assert re.match(r'"""\S', text), package
    assert (TOP / "__init__.py").read_text().count("\n") == 1


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
    kinds = (".py", ".html", ".css", ".js")
    ours = {name for name in tracked if name.endswith(kinds) and name.split("/")[0] not in NOT_PACKAGES}
    assert held == {f"symfix/{name}" for name in ours}


def test_no_file_names_a_machines_folders() -> None:
    found = subprocess.run(
        ["git", "-C", str(TOP), "grep", "-nIE", r"/(home|Users|root|work|tmp)/\w"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.stdout.splitlines() == []


@pytest.mark.parametrize("script", ["demo", "test", "check", "bless", "venv", "new-rule", "corpus", "bench"])
def test_a_promised_script_is_there_and_runs(script: str) -> None:
    assert os.access(TOP / "scripts" / script, os.X_OK)

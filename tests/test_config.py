"""Tests of ``[tool.symfix]``: accepted values and error messages."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import SHAPES, symfix
from symfix.codemods.system.config import ConfigError, Kind, load

KNOWN: dict[str, Kind] = {
    "min_torch": "text", "jobs": "number", "statistics": "flag", "select": "names", "build": "commands",
    "baseline": "path",
}  # fmt: skip


def loaded(folder: Path, table: str) -> dict[str, object]:
    path = folder / "pyproject.toml"
    path.write_text(f"[tool.symfix]\n{table}\n")
    return dict(load(path, KNOWN).options)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("min_torhc = '2.8'", "[tool.symfix] has no key 'min_torhc'; do you mean 'min-torch'?"),
        ("zzz = 1", "has no key 'zzz'; there are baseline, build, jobs, min-torch, select, statistics"),
        ("min-torch = 2.10", "min-torch = 2.1: a text in quotes is wanted"),
        ("statistics = 'yes'", "statistics = 'yes': true or false is wanted"),
        ("statistics = 1", "statistics = 1: true or false is wanted"),
        ("jobs = true", "jobs = true: a number is wanted"),
        ("jobs = '4'", "jobs = '4': a number is wanted"),
        ("select = [1]", "select = [1]: a list of names in quotes is wanted"),
        ("build = {a = 'b'}", "a command in quotes, or a list of them is wanted"),
        ("baseline = ['a']", "baseline = ['a']: a path in quotes is wanted"),
        ("jobs = ", "(at line 2, column 8)"),
    ],
)
def test_an_error_names_the_file_the_key_and_the_way_out(tmp_path: Path, table: str, said: str) -> None:
    with pytest.raises(ConfigError) as error:
        loaded(tmp_path, table)
    assert str(error.value).startswith(str(tmp_path / "pyproject.toml"))
    assert said in str(error.value)


def test_values_become_words_of_the_command_line(tmp_path: Path) -> None:
    table = "min-torch = '2.10'\njobs = 2\nselect = ['a', 'b']\nbuild = 'make a,b'\nbaseline = 'known.json'"
    assert loaded(tmp_path, table) == {
        "min_torch": "2.10", "jobs": 2, "select": "a,b", "build": ["make a,b"],
        "baseline": str(tmp_path / "known.json"),
    }  # fmt: skip


def test_a_table_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("tool.symfix = 3\n")
    with pytest.raises(ConfigError, match="not a table"):
        load(tmp_path / "pyproject.toml", KNOWN)


def test_the_command_line_ends_with_two_and_one_line(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(SHAPES)
    (tmp_path / "pyproject.toml").write_text("[tool.symfix]\nselct = 'a'\n")
    assert "do you mean 'select'?" in symfix("check", "m.py", cwd=tmp_path, code=2).stderr
    (tmp_path / "pyproject.toml").write_text("[tool.symfix]\nformat = 'xml'\n")
    assert "'xml' is not one of" in symfix("check", "m.py", cwd=tmp_path, code=2).stderr

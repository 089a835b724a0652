"""The examples do what their README shows: each command is run and its output compared."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from running import symfix
from symfix.codemods.verify.build.toolchain import CompilerMissing
from syntax import complaint

EXAMPLES = Path(__file__).parents[1] / "examples"
README = (EXAMPLES / "README.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| \[(\S+)\]\((\S+)\) \| .+ \| `symfix (.+)` \|$", README, re.MULTILINE)
SHOWN = dict(re.findall(r"^```console\n\$ symfix (.+)\n((?:.*\n)+?)```$", README, re.MULTILINE))
"""Output by command line. A line `…` takes the place of omitted lines."""
CODES = {"check": 1, "diff": 1, "export": 0}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the examples."""
    return shutil.copytree(EXAMPLES, tmp_path / "examples")


def test_the_readme_has_a_row_and_a_shown_command_for_each_example() -> None:
    assert sorted(name for name, _, _ in ROWS) == sorted({path.name for path in EXAMPLES.iterdir()} - {"README.md"})
    assert all(name == link and command.endswith(f" {name}") for name, link, command in ROWS)
    assert [command for _, _, command in ROWS] == list(SHOWN)


@pytest.mark.parametrize("command", SHOWN)
def test_a_shown_command_prints_what_is_shown(command: str, folder: Path) -> None:
    words = command.split()
    printed = symfix(*words, cwd=folder, code=CODES[words[0]]).stdout
    lines = "".join(f"{line.rstrip()}\n" for line in printed.splitlines())
    shown = "(?s:.*)".join(map(re.escape, SHOWN[command].split("…\n")))
    assert re.fullmatch(shown, lines), printed


def test_the_fixed_operators_are_clean_and_compile(folder: Path) -> None:
    for name in ("distances.cpp", "overlap.py"):
        symfix("fix", "--allow-dirty", name, cwd=folder, code=0)
        symfix("check", "--unsafe-fixes", name, cwd=folder, code=0)
    code = (
        "import overlap, torch\n"
        "x, y = torch.ones(3, 2), torch.ones(5, 2)\n"
        "torch.library.opcheck(torch.ops.examples.add_overlap.default, (x, y))\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True)
    try:
        assert complaint((folder / "distances.cpp").read_bytes(), "distances.cpp") is None
    except CompilerMissing as missing:
        pytest.skip(str(missing))

"""Tests of ``symfix mcp`` with the SDK's own client."""

from __future__ import annotations

import asyncio
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from agents import WORDS, answer, refusal, server_in, with_client
from mcp import Client
from running import MENDED, SHAPES, git, symfix
from symfix.codemods.server.command_process import run_command

ERROR = (
    "torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode: Could not guard on data-dependent expression "
    "Eq(u0, 1) (unhinted: Eq(u0, 1)).  (Size-like symbols: u0)\n"
)
WAITING = """from pathlib import Path

Path(__file__).with_name("gate").read_text()
"""
"""Target that reads a pipe which has no end."""
CLIENT = """import asyncio, os, sys
from mcp import Client
from mcp.client.stdio import StdioServerParameters

async def main():
    server = StdioServerParameters(command=sys.executable, args=["-m", "symfix", "mcp"], env=dict(os.environ))
    async with Client(server) as client:
        await client.call_tool("export", {"path": "waiting.py"})

asyncio.run(main())
"""
"""Program of an agent that waits for a call."""


def runs(process: int) -> bool:
    """Return whether a process exists and is no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.05)


class WaitingTarget:
    """Target that runs until it is killed, with the end of its pipe by which a test notices its beginning and end."""

    def __init__(self, folder: Path) -> None:
        (folder / "waiting.py").write_text(WAITING)
        self._gate = folder / "gate"
        os.mkfifo(self._gate)

    def wait_for_begin(self) -> None:
        def opened() -> bool:
            with suppress(OSError):
                self._poll = select.poll()
                self._poll.register(os.open(self._gate, os.O_WRONLY | os.O_NONBLOCK), select.POLLERR)
                return True
            return False

        wait_until(opened, 60)
        assert not self.ended()

    def ended(self) -> bool:
        return bool(self._poll.poll(0))


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Yield a repository with one finding, and fail if a call left something else in it."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "m.py").write_text(SHAPES)
    (tmp_path / "outside.py").write_text(SHAPES)
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "one")
    yield root
    kept = {".git", "m.py", "waiting.py", "gate", "big.py", "link.py", "inner", "agent.py"}
    assert {path.name for path in root.iterdir()} <= kept
    assert (tmp_path / "outside.py").read_text() == SHAPES


def test_check_explain_and_fix_return_typed_results_and_write_nothing(folder: Path) -> None:
    async def work(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert [*tools] == ["check", "explain", "fix", "verify", "export", "hunt"]
        assert all(tool.output_schema for tool in tools.values())
        hints = {name: tool.annotations.read_only_hint for name, tool in tools.items() if tool.annotations}
        assert hints == {name: name in ("check", "explain") for name in tools}
        checked = await answer(client, "check", paths=["."])
        (finding,) = checked["findings"]
        assert (finding["path"], finding["line"], finding["rule"], finding["safety"]) == (
            str(folder / "m.py"), 5, "migrate_check_is_size", "safe",
        )  # fmt: skip
        fixed = await answer(client, "fix", paths=["m.py"])
        assert fixed["patch"] == symfix("diff", "m.py", cwd=folder, code=1).stdout
        assert not fixed["written"]
        several = await asyncio.gather(*(answer(client, "explain", text=ERROR) for _ in range(4)))
        for explained in several:
            assert (explained["kind"], explained["expression"]) == ("undecided-size", "Eq(u0, 1)")

    with_client(folder, work)
    assert (folder / "m.py").read_text() == SHAPES


def test_fix_writes_with_apply_and_only_what_git_can_restore(folder: Path) -> None:
    async def work(client: Client) -> None:
        assert (await answer(client, "fix", paths=["m.py"], apply=True))["written"]
        assert MENDED in (folder / "m.py").read_text()
        assert (await answer(client, "fix", paths=["m.py"], apply=True)) == {
            "patch": "", "written": False, "messages": ["all clear: 1 file, nothing to change"],
        }  # fmt: skip
        (folder / "m.py").write_text(SHAPES + "#\n")
        assert "not committed" in await refusal(client, "fix", paths=["m.py"], apply=True)
        assert (folder / "m.py").read_text() == SHAPES + "#\n"
        assert (await answer(client, "fix", paths=["m.py"], apply=True, allow_dirty=True))["written"]

    with_client(folder, work)
    assert (folder / "m.py").read_text().endswith("#\n")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_path_outside_of_the_roots_is_refused(folder: Path, mode: str) -> None:
    inner = folder / "inner"
    inner.mkdir()
    (inner / "n.py").write_text(SHAPES)
    (inner / "link.py").symlink_to(folder / "m.py")

    async def work(client: Client) -> None:
        said = f"is outside of the allowed folders ({inner}); name a path in them"
        for name in ("../m.py", str(folder / "m.py"), "link.py", "/", "~/../../etc"):
            assert (await refusal(client, "check", paths=["n.py", name])).startswith((f"'{name}': ", "'~"))
        assert await refusal(client, "check", paths=["../m.py"]) == f"'../m.py': {said}"
        assert await refusal(client, "check", paths=["."]) == f"'{inner / 'link.py'}': {said}"
        assert await refusal(client, "fix", paths=["../m.py"], apply=True) == f"'../m.py': {said}"
        assert await refusal(client, "explain", path="../m.py") == f"'../m.py': {said}"
        assert await refusal(client, "export", path="../m.py") == f"'../m.py': {said}"
        assert len((await answer(client, "check", paths=["n.py"]))["findings"]) == 1

    with_client(folder, work, [inner], mode)


@pytest.mark.parametrize(
    ("tool", "words", "said"),
    [
        ("check", {"paths": ["../outside.py"]}, "is outside of the allowed folders"),
        ("check", {"paths": ["none.py"]}, "'none.py': no such file or folder"),
        ("check", {"paths": ["a\0b"]}, "is no path: embedded null byte"),
        ("check", {"paths": ["x" * 5000]}, "is no path: File name too long"),
        ("check", {"paths": ["--config=m.py"]}, "'--config=m.py': no such file or folder"),
        ("check", {"paths": []}, "no path was named"),
        ("check", {"paths": ["m.py"], "select": ["use_sym_size"]}, "do you mean 'use_sym_sizes'?"),
        ("explain", {"text": "a poem"}, "no error of torch"),
        ("explain", {}, "give a text or a path"),
        ("verify", {"paths": ["m.py"], "base": "--output=stolen"}, "'--output=stolen' is no revision"),
        ("export", {"path": "m.py", "target": "f:../../g"}, "is no name of a function or class"),
        ("hunt", {"operators": ["--page=stolen"]}, "name one operator or more"),
    ],
)
def test_a_hostile_word_has_one_line_as_its_answer(
    told: Callable[[str, dict[str, Any]], str], tool: str, words: dict[str, Any], said: str
) -> None:
    assert said in told(tool, words)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str, dict[str, Any]], str]]:
    """Yield a function that returns the refusal of a call to one server for all of these tests."""
    folder = tmp_path_factory.mktemp("root")
    (folder / "m.py").write_text(SHAPES)
    loop = asyncio.new_event_loop()
    client = Client(server_in(folder))
    calls: asyncio.Queue[tuple[str, dict[str, Any]] | None] = asyncio.Queue()
    answers: asyncio.Queue[str] = asyncio.Queue()

    async def serve() -> None:
        async with client:
            while (call := await calls.get()) is not None:
                await answers.put(await refusal(client, call[0], **call[1]))

    async def tell(tool: str, words: dict[str, Any]) -> str:
        await calls.put((tool, words))
        waiting = asyncio.ensure_future(answers.get())
        await asyncio.wait([serving, waiting], return_when=asyncio.FIRST_COMPLETED)
        return waiting.result() if waiting.done() else str(serving.result())

    serving = loop.create_task(serve())
    yield lambda tool, words: loop.run_until_complete(tell(tool, words))
    loop.run_until_complete(calls.put(None))
    loop.run_until_complete(serving)
    loop.close()
    assert [path.name for path in folder.iterdir()] == ["m.py"]


def test_a_file_of_five_megabytes_is_checked_and_one_that_does_not_parse_is_named(folder: Path) -> None:
    (folder / "big.py").write_text(SHAPES + "# A line that is no code.\n" * 200_000)

    async def work(client: Client) -> None:
        assert [one["line"] for one in (await answer(client, "check", paths=["big.py"]))["findings"]] == [5]
        (folder / "big.py").write_text(SHAPES + "def f(:\n")
        (problem,) = (await answer(client, "check", paths=["big.py"]))["problems"]
        assert "does not parse as Python at line 7" in problem

    with_client(folder, work)


def test_a_cancelled_call_ends_its_processes_and_the_server_goes_on(folder: Path) -> None:
    target = WaitingTarget(folder)
    steps: list[str] = []

    async def work(client: Client) -> None:
        async def report(seconds: float, total: float | None, step: str | None) -> None:
            steps.append(step or "")

        call = asyncio.create_task(client.call_tool("export", {"path": "waiting.py"}, progress_callback=report))
        await asyncio.to_thread(target.wait_for_begin)
        while not steps:
            await asyncio.sleep(0.05)
        call.cancel()
        await asyncio.to_thread(wait_until, target.ended)
        assert len((await answer(client, "check", paths=["m.py"]))["findings"]) == 1

    with_client(folder, work)
    assert steps[0].startswith("export: ")


def test_a_dead_client_ends_the_server_and_its_processes(folder: Path) -> None:
    target = WaitingTarget(folder)
    (folder / "agent.py").write_text(CLIENT)
    agent = subprocess.Popen([sys.executable, "agent.py"], cwd=folder)
    target.wait_for_begin()
    (server,) = Path(f"/proc/{agent.pid}/task/{agent.pid}/children").read_text().split()
    agent.send_signal(signal.SIGKILL)
    agent.wait()
    wait_until(lambda: target.ended() and not runs(int(server)))


def test_a_killed_server_leaves_no_process(folder: Path) -> None:
    target = WaitingTarget(folder)
    (folder / "agent.py").write_text(CLIENT)
    agent = subprocess.Popen([sys.executable, "agent.py"], cwd=folder, stderr=subprocess.DEVNULL)
    target.wait_for_begin()
    (server,) = Path(f"/proc/{agent.pid}/task/{agent.pid}/children").read_text().split()
    os.kill(int(server), signal.SIGKILL)
    wait_until(target.ended)
    agent.wait(20)


def test_a_command_imports_no_module_of_the_clients_folder(tmp_path: Path) -> None:
    for name in ("symfix", "click"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('the folder was imported')\n")

    async def report(seconds: float, step: str) -> None:
        return None

    ended = asyncio.run(run_command(["--version"], tmp_path, report))
    assert (ended.code, ended.messages) == (0, ())
    assert ended.output.startswith("symfix ")


def test_the_page_for_agents_starts_this_server() -> None:
    page = (Path(__file__).parents[1] / "docs" / "use" / "agents.md").read_text()
    (block,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    (server,) = json.loads(block)["mcpServers"].values()
    assert [server["command"], *server["args"]] == ["symfix", *WORDS[2:]]


def test_the_command_line_imports_no_server() -> None:
    code = "import sys, symfix.codemods.cli, symfix.codemods.commands.fix, symfix.codemods.api; print(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"mcp", "pydantic", "pygls", "lsprotocol", "anyio"} & {*ended.stdout.split()}


def test_without_the_sdk_one_line_names_the_extra(tmp_path: Path) -> None:
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "__init__.py").write_text("raise ImportError('no mcp', name='mcp')\n")
    ended = symfix("mcp", cwd=tmp_path, code=2, PYTHONPATH=os.pathsep.join([str(tmp_path), *sys.path]))
    assert ended.stderr == "Error: symfix mcp needs mcp: pip install 'symfix[mcp]'\n"

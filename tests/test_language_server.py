"""Tests of ``symfix lsp`` with a client of the protocol."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient, make_test_lsp_client
from running import MENDED, SHAPES, symfix

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

BRANCH = """import torch


@torch.compile
def f(x: torch.Tensor):
    if x.shape[0] == 0:
        return x.cos()
    return x.sin()
"""
"""Module with one unsafe fix."""
CPP = """#include <ATen/ATen.h>
#include <torch/library.h>

namespace mine {
at::Tensor flat(const at::Tensor& self) {
  int64_t rows = self.size(0);
  return self.reshape({rows, -1});
}
} // namespace mine

TORCH_LIBRARY(mine, m) {
  m.def("flat(Tensor self) -> Tensor", &mine::flat);
}
"""
COMMAND = ["symfix", "lsp"]
OPTIONS = ("--drop-torchscript",)
T = TypeVar("T")


class Editor:
    """Editor with one server, whose client works while a test awaits something."""

    def __init__(self, folder: Path, able: types.ClientCapabilities | None = None) -> None:
        self.folder = folder
        self._able = able or types.ClientCapabilities()
        self._loop = asyncio.new_event_loop()
        self._client = make_test_lsp_client()
        self.do(self._start)

    def do(self, work: Callable[[LanguageClient], Awaitable[T]]) -> T:
        return self._loop.run_until_complete(asyncio.wait_for(work(self._client), 60))

    def end(self) -> None:
        self.do(lambda client: client.shutdown_session())
        self.do(lambda client: client.stop())
        self._loop.close()

    async def _start(self, client: LanguageClient) -> None:
        await client.start_io(sys.executable, "-m", *COMMAND, *OPTIONS, cwd=self.folder)
        await client.initialize_session(types.InitializeParams(self._able, root_uri=self.folder.as_uri()))


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    started = Editor(tmp_path_factory.mktemp("editor"))
    yield started
    started.end()


@pytest.fixture
def path(editor: Editor, request: pytest.FixtureRequest) -> Path:
    """Return a path for the text of one test."""
    return editor.folder / f"{re.sub(r'[^a-z0-9_]', '', request.node.name)}.py"


def open_text(client: LanguageClient, path: Path, text: str, language: str = "python") -> None:
    item = types.TextDocumentItem(path.as_uri(), language, 1, text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))


def change_text(client: LanguageClient, path: Path, text: str, version: int) -> None:
    item = types.VersionedTextDocumentIdentifier(version, path.as_uri())
    whole = types.TextDocumentContentChangeWholeDocument(text)
    client.text_document_did_change(types.DidChangeTextDocumentParams(item, [whole]))


async def found_in(client: LanguageClient, path: Path) -> Sequence[types.Diagnostic]:
    """Return the next diagnostics of a file."""
    while True:
        await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        if path.as_uri() in client.diagnostics:
            return client.diagnostics.pop(path.as_uri())


async def actions_at(
    client: LanguageClient, path: Path, line: int, only: list[str] | None = None
) -> Sequence[types.CodeAction]:
    wanted = types.Range(types.Position(line, 0), types.Position(line, 0))
    item, context = types.TextDocumentIdentifier(path.as_uri()), types.CodeActionContext([], only)
    found = await client.text_document_code_action_async(types.CodeActionParams(item, wanted, context))
    return [one for one in found or () if isinstance(one, types.CodeAction)]


def applied(text: str, action: types.CodeAction, path: Path) -> str:
    """Return a text of single-unit characters after an action, as an editor applies it."""
    assert action.edit is not None and action.edit.changes is not None
    lines = text.splitlines(keepends=True)
    starts = [sum(map(len, lines[:number])) for number in range(len(lines) + 1)]
    for edit in sorted(action.edit.changes[path.as_uri()], key=lambda edit: edit.range.start, reverse=True):
        start, end = (starts[at.line] + at.character for at in (edit.range.start, edit.range.end))
        text = text[:start] + edit.new_text + text[end:]
    return text


def test_an_opened_text_has_the_findings_of_check_and_not_those_of_the_disk(editor: Editor, path: Path) -> None:
    path.write_text("x = 1\n")

    async def work(client: LanguageClient) -> Sequence[types.Diagnostic]:
        open_text(client, path, SHAPES)
        return await found_in(client, path)

    (found,) = editor.do(work)
    assert (found.code, found.source, found.severity) == (
        "migrate_check_is_size", "symfix", types.DiagnosticSeverity.Warning,
    )  # fmt: skip
    assert found.range == types.Range(types.Position(4, 4), types.Position(4, 36))
    path.write_text(SHAPES)
    printed = symfix("check", path.name, cwd=editor.folder, code=1).stdout
    assert printed == f"{path.name}:5:5: {found.message}\n"
    assert "migrate_check_is_size safe: " in found.message


def test_an_action_writes_one_fix_and_another_all_safe_ones(editor: Editor, path: Path) -> None:
    text = SHAPES.replace("    return x\n", "    torch._check_is_size(x.shape[1])\n    return x\n")

    async def work(client: LanguageClient) -> tuple[Sequence[types.CodeAction], Sequence[types.CodeAction]]:
        open_text(client, path, text)
        return await actions_at(client, path, 4), await actions_at(client, path, 4, ["source.fixAll"])

    (one, both), (again,) = editor.do(work)
    assert (one.kind, one.is_preferred, both.kind) == ("quickfix", True, "source.fixAll.symfix")
    assert applied(text, one, path).count("_check(") == 1
    assert MENDED in applied(text, one, path)
    assert again == both
    path.write_text(text)
    symfix("fix", "--allow-dirty", path.name, cwd=editor.folder, code=0)
    assert applied(text, both, path) == path.read_text()


def test_an_editor_that_resolves_actions_gets_the_edit_of_the_chosen_one(editor: Editor, path: Path) -> None:
    edits = types.ClientCodeActionResolveOptions(["edit"])
    able = types.TextDocumentClientCapabilities(code_action=types.CodeActionClientCapabilities(resolve_support=edits))
    resolving = Editor(editor.folder, types.ClientCapabilities(text_document=able))

    async def work(client: LanguageClient) -> list[types.CodeAction]:
        open_text(client, path, SHAPES)
        listed = await actions_at(client, path, 4)
        assert [action.edit for action in listed] == [None, None]
        chosen = [await client.code_action_resolve_async(action) for action in listed]
        change_text(client, path, f"#\n{SHAPES}", 2)
        assert (await client.code_action_resolve_async(listed[0])).edit is None
        return chosen

    one, every = resolving.do(work)
    resolving.end()
    assert applied(SHAPES, one, path) == applied(SHAPES, every, path)
    assert MENDED in applied(SHAPES, one, path)


def test_the_title_of_an_unsafe_action_names_the_change(editor: Editor, path: Path) -> None:

    async def work(client: LanguageClient) -> Sequence[types.CodeAction]:
        open_text(client, path, BRANCH)
        return await actions_at(client, path, 5)

    (action,) = editor.do(work)
    assert "guard_size_branches unsafe: " in action.title
    assert "[what changes: " in action.title
    assert not action.is_preferred
    assert "guard_or_false(" in applied(BRANCH, action, path)
    assert "import guard_or_false" in applied(BRANCH, action, path)


def test_a_cpp_text_has_findings_and_actions(editor: Editor, path: Path) -> None:
    path = path.with_suffix(".cpp")

    async def work(client: LanguageClient) -> tuple[Sequence[types.Diagnostic], Sequence[types.CodeAction]]:
        open_text(client, path, CPP, "cpp")
        return await found_in(client, path), await actions_at(client, path, 5)

    found, actions = editor.do(work)
    assert "use_sym_sizes" in {one.code for one in found}
    assert "self.sym_size(0)" in applied(CPP, actions[0], path)


def test_half_a_text_has_one_information_in_place_of_its_findings(editor: Editor, path: Path) -> None:

    async def work(client: LanguageClient) -> list[Sequence[types.Diagnostic]]:
        open_text(client, path, SHAPES)
        found = [await found_in(client, path)]
        change_text(client, path, SHAPES + "def g(:\n", 2)
        found.append(await found_in(client, path))
        change_text(client, path, SHAPES, 3)
        return [*found, await found_in(client, path)]

    good, (half,), mended = editor.do(work)
    assert half.severity == types.DiagnosticSeverity.Information
    assert "does not parse as Python at line 7" in half.message
    assert half.range.start.line == 6
    assert good == mended


def test_a_run_of_changes_is_checked_once(editor: Editor, path: Path) -> None:

    async def work(client: LanguageClient) -> int | None:
        open_text(client, path, "x = 1\n")
        await found_in(client, path)
        for version in range(2, 9):
            change_text(client, path, SHAPES + "#\n" * version, version)
        assert len(await found_in(client, path)) == 1
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(found_in(client, path), 1)
        return None

    editor.do(work)


def test_columns_are_counted_in_utf_16(editor: Editor, path: Path) -> None:
    text = SHAPES.replace("    torch._check_is_size(", '    s = "\N{GRINNING FACE}é"; torch._check_is_size(')

    async def work(client: LanguageClient) -> tuple[Sequence[types.Diagnostic], Sequence[types.CodeAction]]:
        open_text(client, path, text)
        return await found_in(client, path), await actions_at(client, path, 4)

    (found,), (action, _) = editor.do(work)
    assert found.range.start == types.Position(4, 15)
    assert action.edit and action.edit.changes
    (edit,) = action.edit.changes[path.as_uri()]
    assert edit.new_text == text.splitlines(keepends=True)[4].replace("torch._check_is_size(x.shape[0])", MENDED)


def test_a_save_takes_other_files_of_the_package_into_account(editor: Editor) -> None:
    package = editor.folder / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    path = package / "m.py"

    async def work(client: LanguageClient) -> list[Sequence[types.Diagnostic]]:
        open_text(client, path, BRANCH)
        found = [await found_in(client, path)]
        (package / "layer.py").write_text("import torch\n\nprint(torch.jit.is_scripting())\n")
        client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(path.as_uri())))
        return [*found, await found_in(client, path)]

    assert [len(found) for found in editor.do(work)] == [1, 0]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("m.py", "x = 1\n" * 900_000, "is larger than 1 MB and not checked in an editor; run symfix check m.py"),
        ("m.py", "# @generated\nx = 1\n", "is generated"),
        ("m.py", "x = '\0'\n", "is a binary file"),
        ("m.cpp", "int f( {\n", "does not parse here"),
    ],
)
def test_a_text_that_is_not_read_has_one_information(editor: Editor, name: str, text: str, said: str) -> None:
    path = editor.folder / name

    async def work(client: LanguageClient) -> tuple[Sequence[types.Diagnostic], Sequence[types.CodeAction]]:
        open_text(client, path, text)
        return await found_in(client, path), await actions_at(client, path, 0)

    (found,), actions = editor.do(work)
    assert found.severity == types.DiagnosticSeverity.Information
    assert said in found.message
    assert not actions


def test_texts_of_other_languages_and_schemes_are_left(editor: Editor, path: Path) -> None:

    async def work(client: LanguageClient) -> list[str]:
        client.diagnostics.clear()
        open_text(client, editor.folder / "m.txt", SHAPES, "text")
        for uri in ("git:/m.py", "untitled:Untitled-1"):
            item = types.TextDocumentItem(uri, "python", 1, SHAPES)
            client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        open_text(client, path, SHAPES)
        while path.as_uri() not in client.diagnostics:
            await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(path.as_uri())))
        while client.diagnostics[path.as_uri()]:
            await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        return sorted(client.diagnostics)

    assert editor.do(work) == [path.as_uri(), "untitled:Untitled-1"]


def test_a_dead_editor_ends_the_server(tmp_path: Path) -> None:
    async def die() -> int:
        client = make_test_lsp_client()
        await client.start_io(sys.executable, "-m", "symfix", "lsp", cwd=tmp_path)
        await client.initialize_session(types.InitializeParams(types.ClientCapabilities()))
        open_text(client, tmp_path / "m.py", "import torch\n" + SHAPES[14:] * 9000)
        server = client._server
        assert server is not None and server.stdin is not None
        server.stdin.write(b"Content-Length: 100\r\n\r\n{half")
        server.stdin.close()
        return await asyncio.wait_for(server.wait(), 10)

    assert asyncio.run(die()) == 0
    assert [*tmp_path.iterdir()] == []


def test_the_page_for_editors_starts_this_server() -> None:
    page = (Path(__file__).parents[1] / "docs" / "use" / "editor.md").read_text()
    blocks = dict(re.findall(r"```(\w+)\n(.*?)```", page, re.DOTALL))
    code = json.loads("{" + blocks["json"] + "}")
    helix = tomllib.loads(blocks["toml"])
    server = helix["language-server"]["symfix"]
    (neovim,) = re.findall(r"cmd = \{ '(\w+)', '(\w+)' \}", blocks["lua"])
    assert [code["glspc.server.command"], *code["glspc.server.commandArguments"]] == COMMAND
    assert [server["command"], *server["args"]] == [*neovim] == COMMAND
    assert all("symfix" in language["language-servers"] for language in helix["language"])


def test_without_pygls_one_line_names_the_extra(tmp_path: Path) -> None:
    (tmp_path / "pygls").mkdir()
    (tmp_path / "pygls" / "__init__.py").write_text("raise ImportError('no pygls', name='pygls')\n")
    ended = symfix("lsp", cwd=tmp_path, code=2, PYTHONPATH=os.pathsep.join([str(tmp_path), *sys.path]))
    assert ended.stderr == "Error: symfix lsp needs pygls: pip install 'symfix[lsp]'\n"

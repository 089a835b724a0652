"""Language server: diagnostics and code actions of ``symfix check`` for the text in an editor."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar, cast

import attrs
from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from ..model.outcome import Changed, Refused
from ..model.rule import Fix, Safety
from ..reports.text import UNPARSED, sentence
from .text_checks import TextChecker, TextOutcome
from .text_positions import TextPositions

PAUSE_SECONDS = 0.2
"""Time without a change after which a text is checked."""
FIX_ALL = "source.fixAll.symfix"
_SUFFIXES = {"python": ".py", "cpp": ".cpp", "cuda-cpp": ".cu", "cuda": ".cu"}
"""Suffixes of texts without a file, by the editor's name of their language."""
T = TypeVar("T")


@dataclass(frozen=True)
class OpenText:
    """Text in the editor. ``version`` is the editor's count of its changes."""

    uri: str
    version: int | None
    path: Path
    content: bytes


def serve(checker: TextChecker) -> None:
    """Serve the editor on stdin and stdout until it ends, and end the process."""
    # Children and stray prints must not reach the protocol.
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    # The editor gets the message of an error, its log no traceback of each half message.
    logging.getLogger("pygls").setLevel(logging.CRITICAL)
    server = EditorServer(checker)
    server.feature(types.TEXT_DOCUMENT_DID_OPEN)(check_opened)
    server.feature(types.TEXT_DOCUMENT_DID_CHANGE)(check_changed)
    server.feature(types.TEXT_DOCUMENT_DID_SAVE)(check_saved)
    server.feature(types.TEXT_DOCUMENT_DID_CLOSE)(clear_closed)
    kinds = types.CodeActionOptions([types.CodeActionKind.QuickFix, FIX_ALL], resolve_provider=True)
    server.feature(types.TEXT_DOCUMENT_CODE_ACTION, kinds)(list_actions)
    server.feature(types.CODE_ACTION_RESOLVE)(write_edit)
    server.start_io(source, sink)
    sys.stderr.flush()
    # The interpreter would wait for the check of a large text. It leaves nothing half done.
    os._exit(0)


class EditorServer(LanguageServer):
    """Server of one editor. Each text is checked when it is opened or saved, and after a pause in its changes."""

    def __init__(self, checker: TextChecker) -> None:
        super().__init__("symfix", version("symfix"), types.TextDocumentSyncKind.Full)
        self._checker = checker
        self._worker = ThreadPoolExecutor(max_workers=1)
        self._waiting: dict[str, asyncio.Task[None]] = {}

    def schedule(self, uri: str, seconds: float) -> None:
        """Check a text after some time, in place of a check that waits or runs."""
        self.cancel(uri)
        self._waiting[uri] = asyncio.create_task(self._check(uri, seconds))

    def cancel(self, uri: str) -> None:
        """Cancel the check of a text, if one waits or runs."""
        if uri in self._waiting:
            self._waiting.pop(uri).cancel()

    def forget(self) -> None:
        """Forget what is known of other files before the next check."""
        self._worker.submit(self._checker.forget)

    async def _check(self, uri: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        text = self._text(uri)
        if text is None:
            return
        found = await self._in_worker(self._diagnostics, text)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, text.version))

    async def list_actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """Return the actions for the lines of a range."""
        text = self._text(params.text_document.uri)
        if text is None:
            return []
        return await self._in_worker(self._actions, text, params.range, params.context.only)

    async def resolve(self, action: types.CodeAction) -> types.CodeAction:
        """Return the action with its edit, or without one if the text has changed since it was listed."""
        uri, version, *_ = cast("list[str | int]", action.data)
        text = self._text(str(uri))
        if text is None or text.version != version:
            return action
        return await self._in_worker(self._resolved, action, text)

    async def _in_worker(self, work: Callable[..., T], *words: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._worker, work, *words)

    def _text(self, uri: str) -> OpenText | None:
        """Return an open text, or None for one that no rule reads."""
        document = self.workspace.text_documents.get(uri)
        if document is None:
            return None
        name = to_fs_path(uri)
        if name is None and uri.startswith("untitled:"):
            name = f"untitled{_SUFFIXES.get(document.language_id or '', '')}"
        if name is None or not self._checker.reads(Path(name)):
            return None
        content = document.source.encode("utf-8", "surrogatepass")
        return OpenText(uri, document.version, Path(name).absolute(), content)

    def _positions(self, content: bytes) -> TextPositions:
        return TextPositions(content, self.server_capabilities.position_encoding or "utf-16")

    def _diagnostics(self, text: OpenText) -> list[types.Diagnostic]:
        outcome = self._checker.check(text.path, text.content)
        positions = self._positions(text.content)
        note = self._note(outcome, text)
        found = [diagnostic(fix, positions) for fix in fixes_of(outcome)]
        return found if note is None else [information(note[1], note[0], positions), *found]

    def _note(self, outcome: TextOutcome, text: OpenText) -> tuple[int, str] | None:
        """Return the offset and the reason of a text that is not checked, or not completely."""
        if not isinstance(outcome, Refused):
            return None if outcome.unparsed is None else (outcome.unparsed, UNPARSED)
        broken = outcome.reason == "syntax-error"
        at = self._checker.parse_error(text.path, text.content) if broken else 0
        return at, f"{text.path.name} {outcome.detail}"

    def _actions(self, text: OpenText, wanted: types.Range, only: Sequence[str] | None) -> list[types.CodeAction]:
        positions = self._positions(text.content)
        place = [text.uri, text.version]
        found = []
        if includes(only, types.CodeActionKind.QuickFix):
            for fix in self._checker.single_fixes(text.path, text.content):
                shown = diagnostic(fix, positions)
                if shown.range.start.line <= wanted.end.line and wanted.start.line <= shown.range.end.line:
                    data = [*place, fix.rule, fix.start]
                    kind, safe = types.CodeActionKind.QuickFix, fix.safety is Safety.SAFE
                    found.append(types.CodeAction(sentence(fix), kind, [shown], is_preferred=safe, data=data))
        if includes(only, FIX_ALL) and isinstance(self._checker.check(text.path, text.content), Changed):
            found.append(types.CodeAction("symfix: apply all safe fixes of this file", FIX_ALL, data=place))
        return found if self._resolves() else [self._resolved(action, text) for action in found]

    def _resolves(self) -> bool:
        """Return whether the editor requests the edit of an action when it is chosen."""
        return "edit" in get_capability(
            self.client_capabilities, "text_document.code_action.resolve_support.properties", []
        )

    def _resolved(self, action: types.CodeAction, text: OpenText) -> types.CodeAction:
        key = cast("list[str | int]", action.data)[2:]
        if key:
            fixes = self._checker.single_fixes(text.path, text.content)
            (fix,) = (fix for fix in fixes if [fix.rule, fix.start] == key)
            after = self._checker.apply_one(text.path, text.content, fix)
        else:
            after = self._checker.apply_safe(text.path, text.content)
        edits = [*self._positions(text.content).edits(after)]
        return attrs.evolve(action, edit=types.WorkspaceEdit(changes={text.uri: edits}))


def includes(only: Sequence[str] | None, kind: str) -> bool:
    """Return whether a request for these kinds of action, or for all, includes a kind."""
    return only is None or any(kind == one or kind.startswith(f"{one}.") for one in only)


def fixes_of(outcome: TextOutcome) -> Iterator[Fix]:
    """Yield the fixes of an outcome by position."""
    applied = outcome.applied if isinstance(outcome, Changed) else ()
    found = (*applied, *outcome.offered) if not isinstance(outcome, Refused) else ()
    yield from sorted(found, key=lambda fix: (fix.start, fix.rule))


def diagnostic(fix: Fix, positions: TextPositions) -> types.Diagnostic:
    first = min(fix.edits)
    severity = types.DiagnosticSeverity.Warning
    return types.Diagnostic(
        positions.rest_of_line(first.start, first.end), sentence(fix), severity, code=fix.rule, source="symfix"
    )


def information(text: str, offset: int, positions: TextPositions) -> types.Diagnostic:
    severity = types.DiagnosticSeverity.Information
    return types.Diagnostic(positions.rest_of_line(offset, offset), text, severity, source="symfix")


# The handlers are functions, since pygls sets attributes of them; the name of the first parameter is its convention.
async def check_opened(ls: EditorServer, params: types.DidOpenTextDocumentParams) -> None:
    ls.schedule(params.text_document.uri, 0)


async def check_changed(ls: EditorServer, params: types.DidChangeTextDocumentParams) -> None:
    ls.schedule(params.text_document.uri, PAUSE_SECONDS)


async def check_saved(ls: EditorServer, params: types.DidSaveTextDocumentParams) -> None:
    ls.forget()
    ls.schedule(params.text_document.uri, 0)


async def clear_closed(ls: EditorServer, params: types.DidCloseTextDocumentParams) -> None:
    ls.cancel(params.text_document.uri)
    ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(params.text_document.uri, []))


async def write_edit(ls: EditorServer, action: types.CodeAction) -> types.CodeAction:
    return await ls.resolve(action)


async def list_actions(ls: EditorServer, params: types.CodeActionParams) -> list[types.CodeAction]:
    return await ls.list_actions(params)

"""Board of the time between a save in an editor and its diagnostics, for a warm server and texts of 1,000 lines."""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from lsprotocol import types
from pytest_lsp import LanguageClient, make_test_lsp_client

LINES = 1_000
FOUND = """
@torch.compile
def found_{number}(x, y):
    torch._check_is_size(x.shape[0])
    n = max(x.shape[0], y.shape[1])
    return x.reshape(n, -1) + y
"""
PLAIN = """
def plain_{number}(x, y):
    for name, value in y.items():
        if name in x:
            x[name] = value + 1
    return sum(x.values())
"""


def module(every: int) -> str:
    """Return a module in which every n-th function has findings."""
    lines = ["import torch"]
    for number in count():
        lines += (PLAIN if number % every else FOUND).format(number=number).splitlines()
        if len(lines) >= LINES:
            return "\n".join(lines) + "\n"
    raise AssertionError


def texts(files: list[Path]) -> Iterator[tuple[str, str, str]]:
    """Yield the name, the language and the text of each sample."""
    yield "findings in every 10th function", "python", module(10)
    yield "findings in every function", "python", module(1)
    for file in files:
        lines = file.read_text().splitlines(keepends=True)
        yield f"first {LINES} lines of {file.name}", "python" if file.suffix == ".py" else "cpp", "".join(lines[:LINES])


async def diagnostics(client: LanguageClient, uri: str) -> int:
    while uri not in client.diagnostics:
        await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    return len(client.diagnostics.pop(uri))


async def measure(files: list[Path], saves: int) -> None:
    """Print the milliseconds from save to diagnostics. Each saved text is new to the server."""
    with tempfile.TemporaryDirectory() as folder:
        client = make_test_lsp_client()
        await client.start_io(sys.executable, "-m", "symfix", "lsp", cwd=folder)
        await client.initialize_session(types.InitializeParams(types.ClientCapabilities()))
        for number, (name, language, text) in enumerate(texts(files)):
            uri = Path(folder, f"sample_{number}{'.py' if language == 'python' else '.cpp'}").as_uri()
            item = types.TextDocumentItem(uri, language, 0, text)
            client.text_document_did_open(types.DidOpenTextDocumentParams(item))
            findings = await diagnostics(client, uri)
            taken = []
            for version in range(1, saves + 1):
                changed = f"{text}{'#' if language == 'python' else '//'} {version}\n"
                named = types.VersionedTextDocumentIdentifier(version, uri)
                whole = types.TextDocumentContentChangeWholeDocument(changed)
                client.text_document_did_change(types.DidChangeTextDocumentParams(named, [whole]))
                started = time.perf_counter()
                client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))
                await diagnostics(client, uri)
                taken.append(1000 * (time.perf_counter() - started))
            figures = f"median {statistics.median(taken):.0f} ms, {min(taken):.0f} to {max(taken):.0f} ms"
            print(f"{name}: {findings} findings: {figures}")
        await client.shutdown_session()
        await client.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="further texts, cut after 1,000 lines")
    parser.add_argument("--saves", type=int, default=12, metavar="N")
    asked = parser.parse_args()
    asyncio.run(measure(asked.files, asked.saves))


if __name__ == "__main__":
    main()

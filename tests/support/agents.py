"""Client of ``symfix mcp``, from the SDK."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import CallToolResult, ListRootsResult, Root, TextContent
from pydantic import FileUrl

WORDS = ["-m", "symfix", "mcp"]
T = TypeVar("T")


def server_in(folder: Path) -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=WORDS, env=dict(os.environ), cwd=folder)


def with_client(
    folder: Path, work: Callable[[Client], Awaitable[T]], roots: list[Path] | None = None, mode: str = "auto"
) -> T:
    """Return the result of work with the client of a server that is started in a folder."""

    async def session() -> T:
        async def announced(context: object) -> ListRootsResult:
            return ListRootsResult(roots=[Root(uri=FileUrl(root.as_uri())) for root in roots or ()])

        callback = None if roots is None else announced
        async with Client(server_in(folder), mode=mode, list_roots_callback=callback) as client:
            return await asyncio.wait_for(work(client), 100)

    return asyncio.run(session())


async def answer(client: Client, tool: str, **words: Any) -> dict[str, Any]:
    """Return the structured content of a call. Fail if it is an error."""
    found = await client.call_tool(tool, words)
    assert not found.is_error, message(found)
    return found.structured_content or {}


async def refusal(client: Client, tool: str, **words: Any) -> str:
    """Return the message of a call. Fail if it is no error of one line."""
    found = await client.call_tool(tool, words)
    assert found.is_error, found.structured_content
    assert "\n" not in message(found)
    return message(found).removeprefix(f"Error executing tool {tool}: ")


def message(found: CallToolResult) -> str:
    (content,) = found.content
    assert isinstance(content, TextContent)
    return content.text

"""``lsp`` and ``mcp``: servers for editors and for agents."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from .arguments import RuleSelection
from .check_session import request_of
from .torch_tree import tree_meant


def serve_editor(asked: RuleSelection) -> int:
    """Serve an editor until it ends."""
    from ..engine.fixpoint import FixOptions
    from ..server.text_checks import TextChecker

    with _required("lsp", "pygls"):
        from ..server.language_server import serve
    question, surroundings = request_of(asked, tree_meant(asked, [Path.cwd()], verifying=False), FixOptions())
    serve(TextChecker(question, surroundings))
    return 0


def serve_agent() -> int:
    """Serve an agent until it ends."""
    with _required("mcp", "mcp"):
        from ..server.mcp_server import serve
    serve()
    return 0


@contextmanager
def _required(extra: str, package: str) -> Iterator[None]:
    """Raise ClickException if the imports in the block lack the package of an extra."""
    try:
        yield
    except ImportError as error:
        if (error.name or "").startswith("symfix"):
            raise
        raise click.ClickException(f"symfix {extra} needs {package}: pip install 'symfix[{extra}]'") from None

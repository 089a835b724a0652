"""``lsp`` and ``mcp``: servers for editors and for agents."""

from __future__ import annotations

from pathlib import Path

from .arguments import RuleSelection
from .check_session import request_of
from .extras import required
from .torch_tree import tree_meant


def serve_editor(asked: RuleSelection) -> int:
    """Serve an editor until it ends."""
    from ..engine.fixpoint import FixOptions
    from ..server.text_checks import TextChecker

    with required("lsp", "pygls"):
        from ..server.language_server import serve
    question, surroundings = request_of(asked, tree_meant(asked, [Path.cwd()], verifying=False), FixOptions())
    serve(TextChecker(question, surroundings))
    return 0


def serve_agent() -> int:
    """Serve an agent until it ends."""
    with required("mcp", "mcp"):
        from ..server.mcp_server import serve
    serve()
    return 0

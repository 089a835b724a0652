"""Python files of a few lines, for the modules of the Python wing."""

from __future__ import annotations

import ast
from pathlib import Path

from goldens import installed_torch
from symfix.codemods.model.rule import Context
from symfix.codemods.model.source_file import SourceFile
from symfix.python.analysis.flow.flow import Flow, flow
from symfix.python.syntax.module import Module, parse

HEAD = "import math\nimport torch\nfrom torch import Tensor\n\n"


def module(text: str, path: str = "torch/_refs/a.py") -> Module:
    """Return a module of PyTorch's own tree, unless the path is another one."""
    return parse(SourceFile(Path(path), text.encode()))


def function(body: str, parameters: str = "x: Tensor, y: Tensor, n, k: int", path: str = "torch/_refs/a.py") -> Module:
    """Return a module with one function of this body."""
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return module(f"{HEAD}def f({parameters}):\n{lines}", path)


def asked(condition: str) -> tuple[Flow, ast.expr]:
    """Return the flow of a module with this condition, and the condition."""
    made = function(f"if {condition}:\n    x = y\nreturn x")
    return flow(made), made.nodes.ifs[0].test


def context() -> Context:
    """Return the context of the installed torch without options."""
    return Context(installed_torch())

"""Which PyTorch tree a command is about, and what is said when it and the installed torch are of two releases."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from ..torchapi.errors import TorchError
from ..torchapi.locating import installed_version, release, tree_around, tree_version
from .asked import Target

_PROOF = "a verification swaps what fits of its C++ and Python into that one"


def tree_meant(asked: Target, paths: Iterable[Path], *, verifying: bool) -> Path | None:
    """The tree that was named, or that all of the paths belong to, where the installed torch is of its release.

    The schemas of a tree that was not named can be read then without running any code of it. Where the releases differ,
    that is said in one line, with what works.
    """
    try:
        if asked.torch_root is not None:
            say_release(asked.torch_root, asked.torch_python, f"the tree's schemas count; {_PROOF}")
            return asked.torch_root
        roots = {tree_around(path) for path in paths}
        root = roots.pop() if len(roots) == 1 else None
        proof = f"; {_PROOF}" if verifying else ""
        what = f"the schemas of that one count{proof}; --torch-root takes the tree's and runs its torchgen to read them"
        return None if say_release(root, asked.torch_python, what) else root
    except TorchError as error:
        raise click.ClickException(str(error)) from None


def say_release(root: Path | None, torch_python: Path | None, what: str) -> bool:
    """Say that a tree and the installed torch are of two releases, and ``what`` works; whether it was said."""
    tree = tree_version(root) if root is not None else None
    installed = installed_version(torch_python) if tree is not None else None
    if tree is None or installed is None or release(tree) == release(installed):
        return False
    click.echo(f"symfix: {root} is PyTorch {tree}, the installed torch is {installed}: {what}", err=True)
    return True

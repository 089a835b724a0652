"""Text-based prefilter of the files that a rule may apply to, without parsing."""

from __future__ import annotations

import re
from functools import lru_cache

from ....codemods.model.rule import Context
from ....codemods.model.source_file import SourceFile
from ....codemods.torchapi import TorchApi
from ...syntax.library_blocks import MARKS
from ...syntax.project import NO_PROJECT, project_of
from .eligibility import successors
from .registrations import FAKE_KEYS

GUARDS = (
    "TORCH_GUARD_OR_FALSE", "TORCH_GUARD_OR_TRUE", "TORCH_STATICALLY_KNOWN_TRUE", "TORCH_GUARD_SIZE_OBLIVIOUS",
)  # fmt: skip
"""Macros whose arguments are checked in every function, eligible or not."""
_DEFINED = re.compile(rb"^[ \t]*(?:static |inline )*[\w:<>,&* ]*?\b(\w+)\((?:[^;{}]*)\)[^;{}()]*\{", re.MULTILINE)
_HEAD = re.compile(rb"[\w:<>,&* \t]*")
_CALLED = re.compile(rb"\b(\w+)\(")
_ALWAYS = (*MARKS, b"META_FUNC", b"generated::details", b"functionalization")


@lru_cache(maxsize=4)
def worth_reading(source: SourceFile, context: Context) -> bool:
    """Return whether a file may contain a function that sees symbolic sizes, from its text only.

    It may if it defines something by the name of a kernel that runs on fake tensors.
    """
    content = source.content
    if context.all_functions or any(word in content for word in _ALWAYS):
        return True
    project = project_of(source.project) if source.project else NO_PROJECT
    if any(name.encode() in content for name in project.macros):
        return True
    called = set(_CALLED.findall(content))
    said = {name for name in called & context.api.names if _runs_on_fake_tensors(name.decode(), context.api)}
    said |= {name for name in called if name.decode() in project.by_function} if project.by_function else set()
    return _begins_line(said, content) and any(match[1] in said for match in _DEFINED.finditer(content))


def _begins_line(names: set[bytes], content: bytes) -> bool:
    """Return whether a line begins as `_DEFINED` does with one of the names. This quickly rejects most files."""
    if not names:
        return False
    for match in re.finditer(rb"\b(?:" + b"|".join(sorted(names)) + rb")\(", content):
        if _HEAD.fullmatch(content, content.rfind(b"\n", 0, match.start()) + 1, match.start()):
            return True
    return False


@lru_cache(maxsize=65536)
def _runs_on_fake_tensors(name: str, api: TorchApi) -> bool:
    kernels = api.kernels(name) or successors(api, name)
    return any(not FAKE_KEYS.isdisjoint(kernel.keys) for kernel in kernels)


_KERNEL_HEAD = re.compile(rb"^[ \t]*[A-Za-z][\w:<>&*, ]*[ &*](\w+)\(([^()]*)", re.MULTILINE)


@lru_cache(maxsize=4)
def trails_schema(source: SourceFile, context: Context) -> bool:
    """Return whether a file may define a kernel on integers where torch expects SymInts."""
    heads = set(_KERNEL_HEAD.findall(source.content))
    known = context.api.names
    return any(_left_behind(name.decode(), taken, context) for name, taken in heads if name in known)


def _left_behind(name: str, taken: bytes, context: Context) -> bool:
    standing = [kernel for kernel in context.api.kernels(name) if kernel.symint]
    wanted = (sum("SymInt" in kind for kind, _ in kernel.parameters) for kernel in standing)
    return any(taken.count(b"SymInt") < count for count in wanted) or bool(successors(context.api, name))


def is_read(source: SourceFile, context: Context) -> bool:
    """Return whether any rule needs more of a file than its text."""
    return (
        bool(source.project)
        or any(guard.encode() in source.content for guard in GUARDS)
        or worth_reading(source, context)
        or trails_schema(source, context)
    )

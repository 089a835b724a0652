from __future__ import annotations

from collections.abc import Sequence

from symfix.codemods.model.edit import Edit
from symfix.codemods.model.rule import Context, Fix, Language
from symfix.codemods.model.source_file import SourceFile


def _complete(source: SourceFile, fixes: Sequence[Fix], context: Context) -> list[Edit]:
    needs = sorted({need for fix in fixes for need in fix.needs})
    wanted = [need for need in needs if f"use {need}\n".encode() not in source.content]
    return [Edit(0, 0, "".join(f"use {need}\n" for need in wanted).encode())] if wanted else []


def _errors(content: bytes) -> int:
    return content.split(b"\n").count(b"!")


def _unparsed(source: SourceFile, context: Context) -> tuple[int, str] | None:
    content = source.content
    at = [*content.split(b"\n"), b"!"].index(b"!")
    return (sum(len(line) + 1 for line in content.split(b"\n")[:at]), "!") if _errors(content) else None


def _polish(source: SourceFile, after: bytes, context: Context) -> bytes:
    return after.replace(b"  LOUD", b" LOUD")


language = Language(
    "toy",
    (".toy",),
    _complete,
    _errors,
    _polish,
    unparsed=_unparsed,
    settings=(".toy-format",),
    package_words=(b"spoken",),
)

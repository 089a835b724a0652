"""Make quiet words loud."""

from __future__ import annotations

import re
from collections.abc import Iterator

from symfix.codemods.model.edit import Edit
from symfix.codemods.model.rule import Context, Fix, Rule, Safety, Skip
from symfix.codemods.model.source_file import SourceFile


def decide(source: SourceFile, context: Context) -> Iterator[Fix | Skip]:
    for match in re.finditer(rb"\bquiet\b", source.content):
        edits = (Edit(match.start(), match.end(), b"LOUD"),)
        yield Fix("shout", 1, Safety.SAFE, edits, "say it loud", function="f", needs=("voice",))
    for match in re.finditer(rb"\bsilent\b", source.content):
        yield Skip("shout", 4, match.start(), match.end(), "no-voice", "nothing to make loud", function="g")
    for match in re.finditer(rb"\bmuted\b", source.content):
        edits = (Edit(match.start(), match.end(), b"LOUD"),)
        yield Fix("shout", 2, Safety.UNSAFE, edits, "unmute it", default="loud")
    for match in re.finditer(rb"\bsecret\b", source.content):
        yield Fix("shout", 2, Safety.MANUAL, (Edit(match.start(), match.end(), b"public"),), "tell it")
    if b"where" in source.content:
        yield Skip("shout", 1, 0, 5, "here", str(source.path))
    if b"deep" in source.content:
        raise RecursionError
    if b"crash" in source.content:
        raise RuntimeError("toy rule crashed")
    for match in re.finditer(rb"\bbroken\b", source.content):
        yield Fix("shout", 1, Safety.SAFE, (Edit(match.start(), match.end(), b"\n!\n"),), "break it")


rule = Rule(
    "shout",
    Safety.SAFE,
    "toy",
    (b"quiet", b"silent", b"muted", b"secret", b"crash", b"deep", b"broken", b"where"),
    decide,
)

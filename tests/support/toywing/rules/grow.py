"""Turn each step into the next one, to take more than one round."""

from __future__ import annotations

import re
from collections.abc import Iterator

from symfix.codemods.model.edit import Edit
from symfix.codemods.model.rule import Context, Fix, Rule, Safety
from symfix.codemods.model.source_file import SourceFile


def decide(source: SourceFile, context: Context) -> Iterator[Fix]:
    for match in re.finditer(rb"\bstep([0-9])\b", source.content):
        left = int(match[1])
        if left:
            edits = (Edit(match.start(), match.end(), b"step%d" % (left - 1)),)
            yield Fix("grow", 1, Safety.SAFE, edits, f"step from {left}")
    for match in re.finditer(rb"\bforever\b", source.content):
        yield Fix("grow", 1, Safety.SAFE, (Edit(match.start(), match.start(), b"and "),), "never done")


rule = Rule("grow", Safety.SAFE, "toy", (b"step", b"forever"), decide)

"""Reader of the notes: ``code // name: other code``, in Python with ``#``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from symfix.codemods.model.edit import Edit
from symfix.codemods.model.rule import Context, Fix, Rule, Safety
from symfix.codemods.model.source_file import SourceFile


def noted(name: str) -> Rule:
    """Return the rule that applies the notes called ``name``."""
    note = re.compile(rb"(?m)^( *)(\S.*?) *(?://|#) " + name.encode() + rb": (.*)$")

    def decide(source: SourceFile, context: Context) -> Iterator[Fix]:
        for match in note.finditer(source.content):
            edit = Edit(match.start(2), match.end(), match[3])
            yield Fix(name, 1, Safety.SAFE, (edit,), f"as noted: {match[3].decode()}")

    return Rule(name, Safety.SAFE, "notes", (f" {name}: ".encode(),), decide)

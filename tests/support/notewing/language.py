from __future__ import annotations

from symfix.codemods.model.rule import Language

language = Language(
    "notes", (".cpp", ".py"), lambda source, fixes, context: [], lambda content: 0, lambda s, after, c: after
)

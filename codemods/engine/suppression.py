"""Comments by which a user suppresses a rule: ``// symfix: ignore[rule] reason``, in Python with ``#``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ..model.rule import Fix, Skip
from ..model.source_file import SourceFile

_COMMENT = re.compile(rb"(?://|#)\s*symfix:\s*ignore\[([^\]\n]*)\][^\S\n]*([^\n]*)")


@dataclass(frozen=True)
class Suppressions:
    """Lines that a file's comments suppress, by rule, each with the reason that its author gave."""

    reasons: dict[tuple[int, str], str]

    @classmethod
    def of(cls, source: SourceFile) -> Suppressions:
        """Read the comments. A comment on its own line applies to the next line."""
        reasons = {}
        if b"symfix:" in source.content:
            for match in _COMMENT.finditer(source.content):
                line, _ = source.line_column(match.start())
                start = source.content.rfind(b"\n", 0, match.start()) + 1
                alone = not source.content[start : match.start()].strip()
                for name in match[1].decode("utf-8", "replace").split(","):
                    reasons[line + alone, name.strip()] = match[2].decode("utf-8", "replace").strip()
        return cls(reasons)

    def sort_out(self, source: SourceFile, answers: Iterable[Fix | Skip]) -> tuple[list[Fix], list[Skip]]:
        """Separate fixes from skips.

        A fix with an edit on a suppressed line becomes a skip, and a skip there is dropped.
        """
        fixes: list[Fix] = []
        skips: list[Skip] = []
        for answer in answers:
            places = [answer.start] if isinstance(answer, Skip) else [edit.start for edit in answer.edits]
            reason = self._reason(source, answer.rule, places) if self.reasons else None
            if isinstance(answer, Fix):
                if reason is None:
                    fixes.append(answer)
                else:
                    skips.append(_suppressed(answer, reason))
            elif reason is None:
                skips.append(answer)
        return fixes, skips

    def _reason(self, source: SourceFile, rule: str, places: Iterable[int]) -> str | None:
        keys = ((source.line_column(place)[0], rule) for place in places)
        return next((self.reasons[key] for key in keys if key in self.reasons), None)


def _suppressed(fix: Fix, reason: str) -> Skip:
    end = max(edit.end for edit in fix.edits)
    return Skip(fix.rule, fix.mode, fix.start, end, "suppressed", reason or "a comment says so", fix.function)

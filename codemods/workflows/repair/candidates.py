"""Places of candidates: the Python statement or the C++ function of torch that required a concrete size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ...engine.cache_dependencies import package_mentions
from ...engine.registry import Registry, load_language, load_rules
from ...model.rule import Context, Fix, Rule, Safety
from ...model.source_file import SourceFile
from .edited_file import AppendedTexts, EditedFile
from .translations import Translations

_BEFORE = 32


@dataclass(frozen=True)
class CandidateSite:
    """A statement (its first byte in the original text) or a function of one file."""

    path: Path
    origin: int
    function: str
    operators: tuple[str, ...] = ()
    """Composite operators for which the function that starts here could be registered."""
    composed: str = ""
    """Composite operator whose translation could be appended to the file."""

    @property
    def registers(self) -> bool:
        """Return whether candidates here replace C++ while tracing."""
        return bool(self.operators or self.composed)


@dataclass(frozen=True)
class Candidate:
    """Fixes that are tried together at one site, in coordinates of the current draft."""

    site: CandidateSite
    fixes: tuple[Fix, ...]
    key: tuple[object, ...] = field(default=(), compare=False, repr=False)

    @property
    def words(self) -> str:
        """Return a description of the fixes."""
        return "; ".join(dict.fromkeys(f"{fix.rule}: {fix.message}" for fix in self.fixes))

    @property
    def defaults(self) -> tuple[str, ...]:
        """Return descriptions of the branches that undecided sizes take."""
        return tuple(dict.fromkeys(fix.default for fix in self.fixes if fix.default))


@dataclass(frozen=True)
class CandidateSources:
    """Sources of candidates: the rules of the registry, and then the languages' alternatives."""

    registry: Registry
    context: Callable[[Path], Context]
    """Function that returns the context of a file."""
    translations: Translations | None = None
    _answers: dict[tuple[Path, bytes], list[Fix]] = field(default_factory=dict, compare=False, repr=False)
    _conditions: dict[CandidateSite, tuple[tuple[str, ...], ...]] = field(
        default_factory=dict, compare=False, repr=False
    )

    def note(self, site: CandidateSite, conditions: tuple[str, ...]) -> None:
        """Record conditions, in terms of the line's variables, that would decide the failing expression at ``site``."""
        known = self._conditions.get(site, ())
        if conditions and conditions not in known:
            self._conditions[site] = (*known, conditions)

    def conditions(self, site: CandidateSite) -> tuple[tuple[str, ...], ...]:
        """Return the recorded conditions of a site, one tuple for each record."""
        return self._conditions.get(site, ())

    def draft(self, path: Path, content: bytes) -> EditedFile | None:
        """Return an unchanged draft of a file, or None if no rule reads such files."""
        wing = self.registry.wing(path)
        if wing is None:
            return None
        source = SourceFile(path, content, package_mentions(path, wing))
        return EditedFile(source, load_language(wing.package), self.context(path), additions=AppendedTexts(content))

    def candidates(self, draft: EditedFile, site: CandidateSite) -> Iterator[Candidate]:
        """Yield the candidates at a site, in the order in which reviewers prefer them."""
        source = draft.now
        if site.composed:
            yield from self._translated(draft, site)
            return
        line = source.line_column(draft.offset(site.origin))[0]
        if site.operators:
            # Register all overloads together, or only the first, if the reference matches C++ only there.
            for operators in dict.fromkeys((site.operators, site.operators[:1])):
                for fix in draft.language.registered(source, draft.context, line, operators):
                    yield Candidate(site, (fix,), _key(draft, (fix,)))
            return
        extent = draft.language.extent(source, line, site.function)
        if extent is None:
            return
        preferred = draft.language.preferred(draft.now, draft.context, extent)
        decided = [fix for fix in self._decided(draft) if _touches(fix, extent)]
        alternatives = self._alternatives(draft, extent, site)
        seen: set[tuple[object, ...]] = set()
        for fixes in (*((fix,) for fix in preferred), *_combinations(decided), *((fix,) for fix in alternatives)):
            key = _key(draft, fixes)
            if key not in seen:
                seen.add(key)
                yield Candidate(site, fixes, key)

    def _translated(self, draft: EditedFile, site: CandidateSite) -> Iterator[Candidate]:
        translation = self.translations.of(site.composed) if self.translations else None
        if translation is None:
            return
        for fix in draft.language.translated(draft.source, draft.context, site.composed, *translation):
            yield Candidate(site, (draft.adding(fix),), (site.composed,))

    def _alternatives(self, draft: EditedFile, extent: tuple[int, int], site: CandidateSite) -> Iterator[Fix]:
        yield from draft.language.alternatives(draft.now, draft.context, extent)
        for conditions in self.conditions(site):
            yield from draft.language.stated(draft.now, draft.context, extent, conditions)

    def _decided(self, draft: EditedFile) -> list[Fix]:
        """Return the fixes of all rules for the whole text, computed once for each text."""
        key = (draft.source.path, draft.step.after)
        if key not in self._answers:
            self._answers[key] = _decided(draft.now, self._rules(draft.source.path), draft.context)
        return self._answers[key]

    def _rules(self, path: Path) -> tuple[Rule, ...]:
        wing = self.registry.wing(path)
        return load_rules(wing.package) if wing else ()


def _decided(source: SourceFile, rules: tuple[Rule, ...], context: Context) -> list[Fix]:
    answers = [
        answer
        for rule in rules
        if rule.speaks(source.content.__contains__, context.all_functions)
        for answer in rule.decide(source, context)
    ]
    return [answer for answer in answers if isinstance(answer, Fix) and answer.safety is not Safety.MANUAL]


def _combinations(decided: list[Fix]) -> Iterator[tuple[Fix, ...]]:
    """Yield the fixes without a default together, then all together, then one by one."""
    if not decided:
        return
    ordered = sorted(decided, key=lambda fix: (fix.default is not None, fix.safety is not Safety.SAFE, fix.start))
    keeping = tuple(fix for fix in ordered if fix.default is None)
    if keeping and len(keeping) < len(ordered):
        yield keeping
    yield tuple(ordered)
    if len(ordered) > 1:
        for fix in ordered:
            yield (fix,)


def _touches(fix: Fix, extent: tuple[int, int]) -> bool:
    return any(edit.start < extent[1] and extent[0] <= edit.end for edit in fix.edits)


def _key(draft: EditedFile, fixes: tuple[Fix, ...]) -> tuple[object, ...]:
    """Return an identity of the fixes that stays while other fixes change the file."""
    content = draft.now.content
    return tuple(
        (
            fix.function,
            draft.origin(edit.start),
            content[max(0, edit.start - _BEFORE) : edit.start],
            content[edit.start : edit.end],
            edit.text,
        )
        for fix in fixes
        for edit in fix.edits
    )

"""Goldens: real files under golden/<rule>/, and the results of their rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path

import jinja2
from symfix.codemods.engine.fixpoint import FixOptions, rewrite
from symfix.codemods.engine.registry import Registry, RuleCard, load_language, load_rules
from symfix.codemods.model.outcome import Changed, Refused, Unchanged
from symfix.codemods.model.rule import Context, Fix, Rule, Safety, Skip
from symfix.codemods.model.source_file import SourceFile
from symfix.codemods.torchapi import TorchApi

FOLDER = Path(__file__).parents[2] / "golden"
_NAME = re.compile(r"(?P<case>.+)\.(?P<kind>before|after|same)(?P<suffix>\.[a-z]+)")
_OPTIONS = re.compile(rb"\s*(?://|#)\s*symfix-golden:([^\n]*)")


@dataclass(frozen=True)
class Golden:
    """Test case: a file that changes with its result, or a file that does not change (``after`` None)."""

    card: RuleCard
    case: str
    before: Path
    after: Path | None

    @property
    def name(self) -> str:
        return f"{self.card.name}/{self.case}"

    @cached_property
    def options(self) -> dict[str, str]:
        """Return the options of the first line, ``// symfix-golden: all-functions path=a/b.cpp min-torch=2.6``."""
        match = _OPTIONS.match(self.before.read_bytes().removeprefix(b"\xef\xbb\xbf"))
        words = match[1].decode().split() if match else []
        options = {key: value for key, _, value in (word.partition("=") for word in words)}
        if unknown := set(options) - {"all-functions", "modules", "drop-torchscript", "path", "min-torch", "jinja"}:
            raise ValueError(f"{self.before}: unknown options {sorted(unknown)}")
        return options

    def rewritten(self, content: bytes) -> Changed | Unchanged | Refused:
        """Return the outcome of this golden's rule alone on ``content``, with unsafe fixes."""
        path = Path(self.options.get("path", self.before.as_posix()))
        rules = [_applied(rule) for rule in load_rules(self.card.wing) if rule.name == self.card.name]
        oldest = self.options.get("min-torch")
        release = None if oldest is None else (int(oldest.split(".")[0]), int(oldest.split(".")[1]))
        context = Context(
            installed_torch(),
            release,
            all_functions="all-functions" in self.options,
            modules="modules" in self.options,
            drop_torchscript="drop-torchscript" in self.options,
        )
        language = load_language(self.card.wing)
        # The path is invented: no project's layout applies to it.
        return rewrite(SourceFile(path, content), rules, language, context, FixOptions(unsafe=True, polish=False))

    def expanded(self, content: bytes) -> list[bytes]:
        """Return the texts to compile: ``content``, or a template rendered with ``jinja=flag`` off and on."""
        flag = self.options.get("jinja")
        if flag is None:
            return [content]
        template = jinja2.Template(content.decode(), undefined=jinja2.StrictUndefined)
        return [template.render({flag: on, "name": "wide"}).encode() for on in (False, True)]

    @property
    def after_path(self) -> Path:
        """Return the path of this golden's after-file."""
        return self.before.with_name(f"{self.case}.after{self.before.suffix}")


def _applied(rule: Rule) -> Rule:
    """Return a rule whose manual fixes are applied."""
    if rule.safety is not Safety.MANUAL:
        return rule

    def decide(source: SourceFile, context: Context) -> Iterator[Fix | Skip]:
        for answer in rule.decide(source, context):
            yield replace(answer, safety=Safety.UNSAFE) if isinstance(answer, Fix) else answer

    return replace(rule, decide=decide)


@lru_cache(maxsize=1)
def installed_torch() -> TorchApi:
    return TorchApi.load(None, None)


@lru_cache(maxsize=1)
def cards() -> tuple[RuleCard, ...]:
    return Registry().rules


def by_one_file() -> list[RuleCard]:
    """Return the rules that need only one file. The others need a tree of files, which tests make."""
    hanging = {wing.package for wing in Registry().wings if wing.hangs_on_other_files}
    return [card for card in cards() if card.wing not in hanging]


@lru_cache(maxsize=1)
def goldens() -> tuple[Golden, ...]:
    return tuple(golden for card in cards() for golden in _of_rule(card))


def strays() -> list[str]:
    """Return the names of files under golden/ without a rule or case. Files that are run have their own folders."""
    known = {path for golden in goldens() for path in (golden.before, golden.after) if path is not None}
    files = (path for path in FOLDER.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    names = (path.relative_to(FOLDER) for path in files if path not in known)
    return sorted(
        name.as_posix()
        for name in names
        if name.parts[0] not in ("repros", "extension", "models", "schemas", "reports", "explain", "decisions")
    )


def _of_rule(card: RuleCard) -> Iterator[Golden]:
    for path in sorted((FOLDER / card.name).glob("*")):
        match = _NAME.fullmatch(path.name)
        if match is not None and match["kind"] != "after":
            after = path.with_name(f"{match['case']}.after{match['suffix']}")
            yield Golden(card, match["case"], path, after if match["kind"] == "before" else None)

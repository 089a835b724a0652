"""Goldens: real files under golden/<rule>/, and what a rule makes of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path

import jinja2
from symfix.codemods.engine.outcome import Changed, Refused, Unchanged
from symfix.codemods.engine.registry import Registry, RuleCard, load_language, load_rules
from symfix.codemods.engine.rounds import Wishes, rewrite
from symfix.codemods.engine.rule import Context, Fix, Rule, Safety, Skip
from symfix.codemods.engine.source import SourceFile
from symfix.codemods.torchapi import TorchApi

FOLDER = Path(__file__).parents[2] / "golden"
_NAME = re.compile(r"(?P<case>.+)\.(?P<kind>before|after|same)(?P<suffix>\.[a-z]+)")
_OPTIONS = re.compile(rb"\s*(?://|#)\s*symfix-golden:([^\n]*)")


@dataclass(frozen=True)
class Golden:
    """One case: a file that changes and what it becomes, or (``after`` None) a file that stays."""

    card: RuleCard
    case: str
    before: Path
    after: Path | None

    @property
    def name(self) -> str:
        return f"{self.card.name}/{self.case}"

    @cached_property
    def options(self) -> dict[str, str]:
        """The words of the first line ``// symfix-golden: all-functions path=a/b.cpp min-torch=2.6``."""
        match = _OPTIONS.match(self.before.read_bytes().removeprefix(b"\xef\xbb\xbf"))
        words = match[1].decode().split() if match else []
        options = {key: value for key, _, value in (word.partition("=") for word in words)}
        if unknown := set(options) - {"all-functions", "modules", "drop-torchscript", "path", "min-torch", "jinja"}:
            raise ValueError(f"{self.before}: unknown options {sorted(unknown)}")
        return options

    def rewritten(self, content: bytes) -> Changed | Unchanged | Refused:
        """What this golden's rule alone makes of ``content``, unsafe fixes included."""
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
        # The path is made up: no project's layout governs it.
        return rewrite(SourceFile(path, content), rules, language, context, Wishes(unsafe=True, polish=False))

    def expanded(self, content: bytes) -> list[bytes]:
        """The texts to compile: ``content``, or what a template becomes with its option ``jinja=flag`` off and on."""
        flag = self.options.get("jinja")
        if flag is None:
            return [content]
        template = jinja2.Template(content.decode(), undefined=jinja2.StrictUndefined)
        return [template.render({flag: on, "name": "wide"}).encode() for on in (False, True)]

    @property
    def after_path(self) -> Path:
        """Where the after-file of this golden belongs."""
        return self.before.with_name(f"{self.case}.after{self.before.suffix}")


def _applied(rule: Rule) -> Rule:
    """A rule whose texts are for a person to take over, as if somebody did."""
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
    """The rules that judge a file by itself; what others say of one hangs on a tree around it, which tests make."""
    hanging = {wing.package for wing in Registry().wings if wing.hangs_on_other_files}
    return [card for card in cards() if card.wing not in hanging]


@lru_cache(maxsize=1)
def goldens() -> tuple[Golden, ...]:
    return tuple(golden for card in cards() for golden in _of_rule(card))


def strays() -> list[str]:
    """Files under golden/ that belong to no rule or no case, by name; those that are run have folders of their own."""
    known = {path for golden in goldens() for path in (golden.before, golden.after) if path is not None}
    files = (path for path in FOLDER.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    names = (path.relative_to(FOLDER) for path in files if path not in known)
    return sorted(
        name.as_posix()
        for name in names
        if name.parts[0] not in ("repros", "extension", "models", "schemas", "reports", "explain")
    )


def _of_rule(card: RuleCard) -> Iterator[Golden]:
    for path in sorted((FOLDER / card.name).glob("*")):
        match = _NAME.fullmatch(path.name)
        if match is not None and match["kind"] != "after":
            after = path.with_name(f"{match['case']}.after{match['suffix']}")
            yield Golden(card, match["case"], path, after if match["kind"] == "before" else None)

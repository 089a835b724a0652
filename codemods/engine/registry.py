"""Registry of wings and rules: a rule is a module of a wing's ``rules`` that defines ``rule = Rule(...)``."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from ..model.rule import Language, Rule
from ..system import cache_folder

WINGS = ("symfix.cpp", "symfix.python", "symfix.schemas")


class RegistryError(Exception):
    """Wing that breaks the contract: a module without a rule, or a rule with another name than its file."""


@dataclass(frozen=True)
class RuleCard:
    """Metadata of a rule that is available without importing it."""

    name: str
    wing: str
    language: str
    safety: str
    markers: tuple[bytes, ...]
    doc: str
    registering: tuple[bytes, ...] = ()

    @property
    def summary(self) -> str:
        return self.doc.strip().partition("\n")[0]


@dataclass(frozen=True)
class WingCard:
    """Metadata of a wing that is available without importing its parser."""

    package: str
    language: str
    suffixes: tuple[str, ...]
    settings: tuple[str, ...]
    package_words: tuple[bytes, ...]
    project_suffixes: tuple[str, ...]
    project_tables: tuple[str, ...]
    hangs_on_other_files: bool
    rules: tuple[RuleCard, ...]
    identity: str = ""
    """Identity of the registry that the wing belongs to."""


@dataclass(frozen=True)
class Registry:
    """Rules of some packages. Picklable, so that a worker process finds the same ones."""

    packages: tuple[str, ...] = WINGS

    @cached_property
    def wings(self) -> tuple[WingCard, ...]:
        """Return one card per wing, from the user's cache folder while the sources are unchanged."""
        stored = cache_folder.folder("rules") / f"{self.identity}.json"
        try:
            return tuple(_wing_from_json(wing) for wing in json.loads(cache_folder.load(stored) or b""))
        except (ValueError, KeyError, TypeError):
            cards = tuple(_describe(package, self.identity) for package in self.packages)
            text = json.dumps([asdict(card) for card in cards], default=lambda value: value.decode("latin-1"))
            cache_folder.store(stored, text.encode())
            return cards

    @property
    def rules(self) -> tuple[RuleCard, ...]:
        return tuple(sorted((card for wing in self.wings for card in wing.rules), key=lambda card: card.name))

    @cached_property
    def identity(self) -> str:
        """Return a hash of all that determines the results: sources of the rules and the engine, installed packages."""
        parts = (self.packages, sys.version_info, _installed(), self.sources)
        return hashlib.blake2b(repr(parts).encode(), digest_size=16).hexdigest()

    @cached_property
    def sources(self) -> str:
        """Return a hash of the sources of the rules and the engine.

        It is the same on any machine with these sources.
        """
        digest = hashlib.blake2b(digest_size=16)
        for package in ("symfix.codemods", *self.packages):
            folder = str(_folder(package))
            for below in _sources(folder):
                digest.update(f"{package}/{below}\0".encode())
                with open(os.path.join(folder, below), "rb") as file:  # noqa: PTH118, PTH123
                    digest.update(hashlib.blake2b(file.read()).digest())
        return digest.hexdigest()

    @cached_property
    def suffixes(self) -> dict[str, WingCard]:
        """Return the wing for each file suffix."""
        return {suffix: wing for wing in self.wings for suffix in wing.suffixes}

    def walked(self, rules: Iterable[str]) -> frozenset[str]:
        """Return the file suffixes for which a folder is searched when these rules run."""
        wanted = set(rules)
        return frozenset(
            suffix
            for suffix, wing in self.suffixes.items()
            if not wing.hangs_on_other_files and any(card.name in wanted for card in wing.rules)
        )

    def wing(self, path: Path) -> WingCard | None:
        """Return the wing for the file's suffix, or None."""
        return self.suffixes.get(path.suffix)


@lru_cache(maxsize=8)
def load_language(package: str) -> Language:
    """Return the language object of a wing, importing its parser."""
    language = getattr(import_module(f"{package}.language"), "language", None)
    if not isinstance(language, Language):
        raise RegistryError(f"{package}.language does not say `language = Language(...)`")
    return language


def missing_formatter(package: str, path: Path, before: bytes, after: bytes) -> str:
    """Return the formatter, not installed, that a wing needs for a path and its two texts, or "".

    Nothing else of the wing is imported. A wing without ``rewrite/formatter.py`` needs none.
    """
    if not (_folder(package) / "rewrite" / "formatter.py").is_file():
        return ""
    name: str = import_module(f"{package}.rewrite.formatter").missing_formatter(path, before, after)
    return name


@lru_cache(maxsize=8)
def load_rules(package: str) -> tuple[Rule, ...]:
    """Return the rules of a wing in the order of their names, importing every rule module."""
    return tuple(_load(package, name) for name in _modules(package))


def _load(package: str, name: str) -> Rule:
    path = f"{package}.rules.{name}"
    module = import_module(path)
    rule = getattr(module, "rule", None)
    if not isinstance(rule, Rule):
        raise RegistryError(f"{path} does not say `rule = Rule(...)`; a shared module stands in another room")
    if rule.name != name:
        raise RegistryError(f"{path} holds a rule named {rule.name!r}: the file's name is the rule's name")
    if rule.language != load_language(package).name:
        raise RegistryError(f"{path} says language {rule.language!r}, its wing another")
    return rule if rule.doc else replace(rule, doc=module.__doc__ or "")


def _modules(package: str) -> list[str]:
    return sorted(path.stem for path in _folder(f"{package}.rules").glob("*.py") if path.stem != "__init__")


def _describe(package: str, identity: str) -> WingCard:
    language = load_language(package)
    cards = tuple(
        RuleCard(rule.name, package, rule.language, rule.safety.value, rule.markers, rule.doc, rule.registering)
        for rule in load_rules(package)
    )
    return WingCard(
        package,
        language.name,
        language.suffixes,
        language.settings,
        language.package_words,
        language.project_suffixes,
        language.project_tables,
        language.hangs_on_other_files,
        cards,
        identity,
    )


def _wing_from_json(wing: dict[str, object]) -> WingCard:
    rules = wing["rules"]
    assert isinstance(rules, list)
    literals = ("markers", "registering")
    cards = tuple(
        RuleCard(**{**rule, **{key: tuple(one.encode("latin-1") for one in rule[key]) for key in literals}})
        for rule in rules
    )
    return WingCard(
        str(wing["package"]),
        str(wing["language"]),
        _strings(wing["suffixes"]),
        _strings(wing["settings"]),
        tuple(word.encode("latin-1") for word in _strings(wing["package_words"])),
        _strings(wing["project_suffixes"]),
        _strings(wing["project_tables"]),
        bool(wing["hangs_on_other_files"]),
        cards,
        str(wing["identity"]),
    )


def _strings(values: object) -> tuple[str, ...]:
    assert isinstance(values, Iterable)
    return tuple(str(value) for value in values)


def _folder(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise RegistryError(f"no package {package}")
    return Path(next(iter(spec.submodule_search_locations)))


def _sources(folder: str) -> list[str]:
    """Return the Python files below a folder as relative paths. They are strings, since every run lists all of them."""
    found = (
        os.path.join(parent, name)[len(folder) + 1 :]  # noqa: PTH118
        for parent, _, names in os.walk(folder)
        for name in names
        if name.endswith(".py")
    )
    return sorted(found, key=lambda path: path.split(os.sep))  # noqa: PTH206


def _installed() -> list[tuple[str, int]]:
    # Installing, upgrading or removing anything renames a folder in site-packages, which moves the folder's mtime:
    # the versions of all dependencies in one stat, without a list of them.
    folders = (Path(entry) for entry in sys.path if entry.endswith("-packages"))
    return [(str(folder), folder.stat().st_mtime_ns) for folder in folders if folder.is_dir()]

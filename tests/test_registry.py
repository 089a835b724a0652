from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from symfix.codemods.engine.registry import Registry, RegistryError, load_rules, missing_formatter

pytestmark = pytest.mark.usefixtures("fresh_cache")

LANGUAGE = """
from symfix.codemods.model.rule import Language
language = Language("tiny", (".tiny",), lambda *_: [], lambda _: 0, lambda s, a, c: a)
"""
RULE = '''
"""One sentence.

More."""
from symfix.codemods.model.rule import Rule, Safety
rule = Rule("{name}", Safety.SAFE, "{language}", (b"x\\xff",), lambda source, context: [])
'''


@pytest.fixture
def make_wing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest):
    name = "wing_" + request.node.name.partition("[")[0]
    folder = tmp_path / name
    for package in (folder, folder / "rules"):
        package.mkdir()
        (package / "__init__.py").write_text("")
    (folder / "language.py").write_text(LANGUAGE)
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(**files: str) -> Registry:
        for stem, text in files.items():
            (folder / "rules" / f"{stem}.py").write_text(text)
        return Registry((name,))

    return make


def test_a_rule_is_found_by_being_there(make_wing, tmp_path: Path) -> None:
    registry = make_wing(
        later=RULE.format(name="later", language="tiny"),
        earlier=RULE.format(name="earlier", language="tiny"),
    )
    (tmp_path / registry.packages[0] / "shared.py").write_text("x = 1")
    assert [card.name for card in registry.rules] == ["earlier", "later"]
    assert registry.rules[0].summary == "One sentence."
    assert registry.rules[0].markers == (b"x\xff",)
    assert load_rules(registry.packages[0])[0].doc.strip().endswith("More.")


def test_the_stored_cards_are_the_cards(make_wing) -> None:
    registry = make_wing(one=RULE.format(name="one", language="tiny"))
    cards = registry.wings
    assert Registry(registry.packages).wings == cards


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("x = 1", "does not say `rule"),
        (RULE.format(name="other", language="tiny"), "the file's name is the rule's name"),
        (RULE.format(name="one", language="huge"), "says language 'huge'"),
    ],
)
def test_a_module_that_breaks_the_contract_is_named(make_wing, text: str, complaint: str) -> None:
    registry = make_wing(one=text)
    for module in [name for name in sys.modules if name.startswith(registry.packages[0])]:
        del sys.modules[module]
    load_rules.cache_clear()
    with pytest.raises(RegistryError, match=complaint):
        _ = registry.wings


def test_a_wing_without_a_formatter_needs_none(make_wing, tmp_path: Path) -> None:
    registry = make_wing(one=RULE.format(name="one", language="tiny"))
    assert missing_formatter(registry.packages[0], tmp_path / "a.tiny", b"x", b"y") == ""


def test_the_identity_follows_the_sources(make_wing) -> None:
    registry = make_wing(one=RULE.format(name="one", language="tiny"))
    before = registry.identity
    assert Registry(registry.packages).identity == before
    assert make_wing(two=RULE.format(name="two", language="tiny")).identity != before


def test_stored_cards_spare_the_parsers(fresh_cache: Path) -> None:
    script = """
import sys
from symfix.codemods.engine.registry import Registry
rules = Registry().rules
print(len(rules), sorted({"tree_sitter", "libcst"} & set(sys.modules)))
"""
    first, second = (
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    )
    assert first.split()[0] == second.split()[0] != "0"
    assert second.split(maxsplit=1)[1].strip() == "[]"

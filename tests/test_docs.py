"""Tests of the documentation: pages are up to date, link targets exist, commands and options exist."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

import click
import commandpage
import docpages
import pytest
import rulepages
from symfix.codemods.cli import main_group
from symfix.codemods.harness.children.samples.argument_variation import MOST
from symfix.codemods.workflows.explain.kinds import KINDS
from symfix.codemods.workflows.export import outcome as export_outcome
from symfix.codemods.workflows.repair import result

TOP = Path(__file__).parents[1]
PAGES = sorted([TOP / "README.md", TOP / "CONTRIBUTING.md", *(TOP / "docs").rglob("*.md")])
GENERATED = {commandpage.PAGE, *rulepages.FOLDER.glob("*.md")}
WRITTEN = [page for page in PAGES if page not in GENERATED]
_LINES = re.MULTILINE | re.DOTALL
_LINK = re.compile(r"\]\(([^)#\s]+)")
_BLOCK = re.compile(r"^```(?:sh|console|)\n(.*?)^```", _LINES)
_INLINE = re.compile(r"`(symfix [^`\n]+)`")
_FLAGS = {"--help", "-h", "--version"}


def each_page() -> pytest.MarkDecorator:
    return pytest.mark.parametrize("page", [pytest.param(page, id=page.relative_to(TOP).as_posix()) for page in PAGES])


def test_the_generated_pages_are_what_scripts_docs_writes() -> None:
    assert docpages.stale() == [], "run scripts/docs"


def test_a_command_line_page_that_differs_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commandpage, "PAGE", tmp_path / "command-line.md")
    assert docpages.stale() == ["docs/use/command-line.md"]
    commandpage.write()
    assert docpages.stale() == []
    commandpage.PAGE.write_text(commandpage.page().replace("--show-left", "--show"))
    assert docpages.stale() == ["docs/use/command-line.md"]


def options(command: click.Command) -> list[click.Option]:
    nested = command.commands.values() if isinstance(command, click.Group) else []
    own = [one for one in command.params if isinstance(one, click.Option) and one.name != "version"]
    return [*own, *(option for one in nested for option in options(one))]


def test_the_command_line_page_describes_every_option_of_every_command() -> None:
    text = commandpage.page()
    missing = [one.opts for one in options(main_group) if (one.help or "") and " ".join(one.help.split()) not in text]
    assert not missing
    sections = {part.partition("\n")[0]: part for part in text.split("\n## ")}
    for name in ("check", "diff", "fix"):
        for heading in ("rules and files", "target torch"):
            assert f"[{heading}](#" in sections[f"symfix {name}"]
    assert "`--quiet`" in sections["symfix check"]


def test_a_rules_page_that_differs_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rulepages, "FOLDER", tmp_path)
    rulepages.write()
    (tmp_path / "use_sym_eq.md").write_text("by hand")
    (tmp_path / "README.md").unlink()
    (tmp_path / "gone.md").write_text("a rule of yesterday")
    assert rulepages.stale() == ["README.md", "gone.md", "use_sym_eq.md"]
    rulepages.write()
    assert rulepages.stale() == []


@each_page()
def test_links_lead_somewhere(page: Path) -> None:
    targets = [link for link in _LINK.findall(page.read_text(encoding="utf-8")) if "://" not in link]
    assert [link for link in targets if not (page.parent / link).exists()] == []


def commands(text: str) -> list[list[str]]:
    """Return the words of every `symfix …` in code, without comments. A backslash at the end of a line continues it."""
    lines = [line for block in _BLOCK.findall(text) for line in re.sub(r"\s*\\\n\s*", " ", block).splitlines()]
    lines += _INLINE.findall(text)
    found = []
    for line in lines:
        line = re.split(r"\s{2,}|\s#\s", line.strip().removeprefix("$ "))[0] if "symfix" in line else ""
        if line.startswith("symfix "):
            found.append(shlex.split(line.replace("[", " ").replace("]", " "))[1:])
    return found


def unknown(words: list[str]) -> list[str]:
    """Return the commands and options of a command line that do not exist."""
    command: click.Command = main_group
    # A user's command follows it.
    rest = words[: words.index("--")] if "--" in words else list(words)
    while isinstance(command, click.Group) and rest and not rest[0].startswith(("-", "…")):
        names = rest.pop(0).split("|")
        missing = [name for name in names if name not in command.commands]
        if missing:
            return missing
        command = command.commands[names[0]]
    options = {name for option in command.params for name in option.opts} | _FLAGS
    return [word for word in rest if word.startswith("-") and word != "-" and word.partition("=")[0] not in options]


@each_page()
def test_commands_and_options_that_are_shown_exist(page: Path) -> None:
    wrong = {" ".join(words): lost for words in commands(page.read_text(encoding="utf-8")) if (lost := unknown(words))}
    assert not wrong


def test_what_does_not_exist_is_found() -> None:
    block = "symfix fix --verfy a.cpp  # so\n$ symfix chek b\nsymfix series plan|send -x \\\n  --nope\n"
    text = f"```sh\n{block}```\n`symfix rule -`\n"
    assert [unknown(words) for words in commands(text)] == [["--verfy"], ["chek"], ["-x", "--nope"], []]


@pytest.mark.parametrize("page", ["README.md", "docs/understand/proof.md"])
def test_no_more_varied_calls_are_promised_than_are_made(page: str) -> None:
    text = " ".join((TOP / page).read_text().split())
    promised = re.findall(r"(?:varied up to|with up to) (\d+)(?: varied calls| times)", text)
    assert [int(number) for number in promised] == [MOST]
    assert "bounded time" in text
    assert "until every changed line has run" not in text


@pytest.mark.parametrize(
    ("page", "wings"), [("python", ["python"]), ("cpp", ["cpp"]), ("architecture", ["cpp", "python"])]
)
def test_the_modules_that_a_page_names_are_there(page: str, wings: list[str]) -> None:
    text = (TOP / "docs" / "understand" / f"{page}.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:rules|rewrite|analysis|syntax)/\w+)`", text)
    assert named
    assert [one for one in named if not any((TOP / wing / f"{one}.py").exists() for wing in wings)] == []


@each_page()
def test_the_modules_and_folders_of_the_core_that_a_page_names_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"`(?:codemods/)?((?:commands|engine|lab|torchapi|verify|workflows)/[\w/]+)`", text)
    places = [TOP / "codemods" / one for one in named]
    assert [one for one in places if not (one.is_dir() or one.with_suffix(".py").exists())] == []


@pytest.mark.parametrize(
    ("page", "words"), [("export", export_outcome.REASONS), ("repair", result.REASONS), ("explain", KINDS)]
)
def test_every_reason_and_kind_is_described(page: str, words: Mapping[str, object]) -> None:
    text = (TOP / "docs" / "use" / f"{page}.md").read_text(encoding="utf-8")
    described = {word for row in re.findall(r"^\| (`[^|]+`) \|", text, re.M) for word in re.findall(r"`([\w-]+)`", row)}
    assert set(words) - described == set()


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(
        r"^#+ (.+)$", re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=_LINES), re.M
    )
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@each_page()
def test_links_into_a_page_lead_to_a_heading(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", page.read_text(encoding="utf-8"))
    targets = [(page.parent / link if link else page, anchor) for link, anchor in links if "://" not in link]
    assert [f"{target.name}#{anchor}" for target, anchor in targets if anchor not in anchors(target)] == []


def test_every_page_is_reached_from_the_readme() -> None:
    reached, waiting = set(), [TOP / "README.md"]
    while waiting:
        page = waiting.pop().resolve()
        if page not in reached and page.suffix == ".md" and page.exists():
            reached.add(page)
            waiting += [page.parent / link for link in _LINK.findall(page.read_text(encoding="utf-8"))]
    assert [page for page in PAGES if page.resolve() not in reached] == []


def sentences(page: Path) -> list[str]:
    """Return the sentences of a page's paragraphs, list items and table cells, without code blocks."""
    text = re.sub(r"^```.*?^```", "\n", page.read_text(encoding="utf-8"), flags=_LINES)
    parts = re.split(r"\n\s*\n|\n(?=\s*[-|#]|\s*\d+\. )", text)
    cells = [cell for part in parts for cell in (re.split(r"(?<!\\)\|", part) if part.startswith("|") else [part])]
    return [one for cell in cells for one in re.split(r"(?<=[.!?:])\s+(?=[A-Z`*\[(])", " ".join(cell.split()))]


@pytest.mark.parametrize("page", [pytest.param(page, id=page.relative_to(TOP).as_posix()) for page in WRITTEN])
def test_no_sentence_is_longer_than_forty_words(page: Path) -> None:
    assert [one for one in sentences(page) if len(one.split()) > 40] == []


def test_the_documentation_is_short() -> None:
    assert len((TOP / "README.md").read_text(encoding="utf-8").splitlines()) <= 110
    docs = [page for page in PAGES if page.is_relative_to(TOP / "docs") and page.parent.name != "rules"]
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in docs) <= 23_500

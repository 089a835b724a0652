"""Tests of the review page: its colours and marks, and its use in a real browser."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path

import browser
import decks
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from symfix.codemods.workflows.pull_requests.review import colour
from symfix.codemods.workflows.pull_requests.review.diff import blocks_of
from symfix.codemods.workflows.pull_requests.series import decisions
from symfix.codemods.workflows.pull_requests.series.hunks import hunks_between

CODE = st.text("abn =(),.'\"#<&\n\t→", max_size=40)
needs_browser = pytest.mark.skipif(bool(browser.missing()), reason=browser.missing() or "there is one")


def plain(marked: str) -> str:
    return html.unescape(re.sub(r"</?[ib][^>]*>", "", marked))


@given(CODE, st.lists(st.tuples(st.integers(0, 20), st.integers(1, 5)), max_size=3))
@settings(max_examples=200)
def test_colours_and_marks_lose_no_character(text: str, spans: list[tuple[int, int]]) -> None:
    lines = colour.coloured("m.py", text)
    marks = []
    at = 0
    for start, length in sorted(spans):
        if start >= at:
            marks.append((start, start + length))
            at = start + length
    assert "\n".join(plain(colour.html(line, marks)) for line in lines) == text
    assert all("<script" not in colour.html(line) for line in colour.coloured("m.py", "<script>" + text))


@given(st.lists(CODE.map(lambda text: text.replace("\n", "")), max_size=4), st.lists(CODE, max_size=4))
@settings(max_examples=200)
def test_changed_words_lie_in_their_lines(old: list[str], new: list[str]) -> None:
    new = [text.replace("\n", "") for text in new]
    for lines, found in zip((old, new), colour.changed_words(old, new), strict=True):
        assert len(found) == len(lines)
        for line, spans in zip(lines, found, strict=True):
            assert all(0 <= start < end <= len(line) for start, end in spans)


def test_only_the_changed_words_are_marked() -> None:
    old, new = colour.changed_words(["if x.numel() == 0:"], ["if guard(x.numel() == 0):"])
    assert old == [[]] and new == [[(3, 9), (23, 24)]]
    assert colour.changed_words(["alpha beta"], ["1 + 2 * 3 / 4"]) == ([[]], [[]])


def test_blocks_show_each_changed_line_once_with_its_number() -> None:
    before = "".join(f"line{number}\n" for number in range(1, 41)).encode()
    after = before.replace(b"line10\n", b"new10\nmore\n").replace(b"line13\n", b"").replace(b"line30\n", b"new30\n")
    blocks = blocks_of("a.txt", before, after, hunks_between(before, after))
    assert [(block.line, block.skipped, len(block.pieces)) for block in blocks] == [(7, 6, 5), (27, 10, 3)]
    rows = [row for block in blocks for piece in block.pieces for row in piece.rows]
    assert [(row.kind, row.old, row.new, row.html) for row in rows if row.kind != " "] == [
        ("-", 10, None, "line10"),
        ("+", None, 10, "new10"),
        ("+", None, 11, "more"),
        ("-", 13, None, "line13"),
        ("-", 30, None, "line30"),
        ("+", None, 30, "new30"),
    ]
    assert all(row.html == f"line{row.old}" for row in rows if row.kind == " ")


def test_the_page_asks_nobody_for_anything() -> None:
    text = decks.demo(2)
    assert not re.findall(r"""(?:src|href)=["']?(?!#|data:)[^"'#>\s]+""", text)
    assert "default-src 'none'" in text and "@import" not in text and "url(" not in text
    assert "Case 1 of &lt;0&gt;" in text and "Case 1 of <0>" not in text


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Browser]:
    with browser.Browser(tmp_path_factory.mktemp("browser")) as found:
        yield found


@pytest.fixture
def demo(reader: browser.Browser, tmp_path: Path) -> browser.Browser:
    (tmp_path / "review.html").write_text(decks.demo(8), encoding="utf-8")
    reader.open(tmp_path / "review.html")
    return reader


def shown(reader: browser.Browser) -> str:
    title: str = reader.run("return document.querySelector('article:not([hidden]) h1').textContent")
    assert reader.run("return document.querySelectorAll('article:not([hidden])').length") == 1
    return title


def listed(reader: browser.Browser) -> int:
    count: int = reader.run("return [...document.querySelectorAll('#list li')].filter(li => !li.hidden).length")
    return count


def choose(reader: browser.Browser, name: str, value: str) -> None:
    script = "const s=document.getElementById(arguments[0]);s.value=arguments[1];s.dispatchEvent(new Event('input'))"
    reader.run(script, name, value)


@needs_browser
def test_keys_go_from_change_to_change_and_from_request_to_request(demo: browser.Browser) -> None:
    titles = demo.run("return [...document.querySelectorAll('h1')].map(h => h.textContent)")
    assert shown(demo) == titles[0]
    demo.press("nn")
    assert shown(demo) == titles[2]
    demo.press("p")
    assert shown(demo) == titles[1]
    changes = "[...document.querySelectorAll('article:not([hidden]) .change:not(.with)')]"
    here = f"return {changes}.findIndex(c => c.matches('.here'))"
    demo.press("jj")
    assert demo.run(here) == 1
    demo.press("k")
    assert demo.run(here) == 0
    assert demo.run("return location.hash.slice(1) === document.querySelector('article:not([hidden])').id")
    assert demo.complaints() == []


@needs_browser
def test_filters_leave_what_fits(demo: browser.Browser) -> None:
    assert listed(demo) == 8
    choose(demo, "verdict", "proven")
    assert listed(demo) == 2
    choose(demo, "verdict", "")
    choose(demo, "rule", "check")
    assert listed(demo) == 8
    choose(demo, "mode", "2")
    demo.press("/")
    demo.press("part05")
    assert listed(demo) == 1
    assert "part05" in demo.run("return document.querySelector('article:not([hidden]) .file').dataset.path")
    choose(demo, "search", "nothing like it")
    assert listed(demo) == 0 and not demo.run("return document.getElementById('none').hidden")


@needs_browser
def test_escape_shows_the_list_again_and_enter_leaves_the_field(demo: browser.Browser) -> None:
    demo.press("/")
    demo.press("there is no such request")
    assert listed(demo) == 0
    demo.press("\ue007")  # Enter
    assert demo.run("return document.activeElement.id") != "search"
    assert listed(demo) == 0
    demo.press("/")
    demo.press("\ue00c")  # Escape
    assert listed(demo) == 8
    assert demo.run("return document.getElementById('search').value") == ""
    assert demo.run("return document.activeElement.id") != "search"


@needs_browser
def test_what_is_exported_the_build_understands(demo: browser.Browser) -> None:
    plan, _, _ = decks.series(8)
    demo.press("ja" + "r")
    demo.press("nR")
    demo.click("article:not([hidden]) .change:not(.with) [data-do=accepted]")
    assert demo.run("return document.getElementById('tally').textContent") == "5 of 24 decided, 3 rejected"
    demo.press("x")
    file = demo.downloads / "demo-decisions.json"
    demo.run("return new Promise(done => setTimeout(done, 50))")
    for _ in range(200):
        if file.exists() and file.read_text():
            break
        demo.run("return new Promise(done => setTimeout(done, 50))")
    found = decisions.read(file.read_text(), plan)
    file.unlink()
    first, second = plan.requests[:2]
    assert [rule for rule, _ in found.left_out(first, first.parts[0])] == ["guard"]
    assert sorted(rule for rule, _ in found.left_out(second, second.parts[0])) == ["check", "guard"]
    assert not found.drops(first, first.parts[0])
    demo.run("location.reload()")
    assert demo.run("return document.getElementById('tally').textContent") == "5 of 24 decided, 3 rejected"
    demo.run("localStorage.clear()")
    assert json.loads(json.dumps(demo.complaints())) == []


@needs_browser
def test_light_and_dark_are_both_readable(demo: browser.Browser) -> None:
    text = ":is(p, h1, h2, td:last-child, i, b, .chip, button, summary)"
    selector = f"article:not([hidden]) {text}, nav .title, nav .dim"
    for _ in range(2):
        demo.press("t")
        demo.run("return new Promise(done => setTimeout(done, 300))")
        assert demo.run(browser.LEAST_CONTRAST, selector) >= 4.5


@needs_browser
def test_a_narrow_window_scrolls_code_and_nothing_else(demo: browser.Browser) -> None:
    demo.resize(480, 800)
    assert demo.run("return document.documentElement.scrollWidth <= innerWidth")
    assert demo.run("return getComputedStyle(document.getElementById('side')).visibility") == "hidden"
    demo.click("#menu")
    assert demo.run("return getComputedStyle(document.getElementById('side')).visibility") == "visible"
    demo.resize(1400, 900)


@needs_browser
def test_a_large_page_is_whole(reader: browser.Browser, tmp_path: Path) -> None:
    (tmp_path / "review.html").write_text(decks.demo(50, 1), encoding="utf-8")
    reader.open(tmp_path / "review.html")
    assert listed(reader) == 50
    (tmp_path / "review.html").write_text(decks.demo(1, 750), encoding="utf-8")
    reader.open(tmp_path / "review.html")
    assert reader.run("return document.querySelectorAll('tr.a, tr.d').length") == 1501
    reader.press("k")
    assert reader.run("return document.querySelector('.here').getBoundingClientRect().bottom <= innerHeight")

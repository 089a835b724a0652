"""Tests of hunt's page in a browser: search, headings, and layout on a telephone, in light and dark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import browser
import pytest
from symfix.codemods.workflows.hunt.failure import Failure, FailurePlace, Mode, Operator
from symfix.codemods.workflows.hunt.page import page
from symfix.codemods.workflows.hunt.sweep import Sweep
from symfix.codemods.workflows.hunt.text_report import table

needs_browser = pytest.mark.skipif(bool(browser.missing()), reason=browser.missing())
FILE = "torch/_refs/a_rather_long_folder_name/and_another_one/with_a_module_that_has_a_long_name_too.py"


def failing(name: str, file: str, line: int) -> Failure:
    place = FailurePlace("python", file, line, "function_of_" + name.rpartition(".")[0], f"if size == {'1' * 60}:")
    return Failure(
        Operator(name), "unbacked", Mode.BRANCH, "DDE", f"Eq(u{line}, 1)", place, 0, path=(place, place)
    )  # fmt: skip


def swept(*failures: Failure) -> Sweep:
    return Sweep("unbacked", "2.13.0", failures=failures)


SWEPT = swept(failing("fft.fft", FILE, 3), failing("fft.ifft", FILE, 3), failing("abs", "torch/other.py", 7))


def test_one_operator_is_one(tmp_path: Path) -> None:
    text = re.sub("<[^>]*>", "", page(swept(failing("abs", "torch/other.py", 7))))
    assert "1 operator at 1 place" in text
    assert "1 operator." in text
    assert "1 operators" not in text
    assert "1 operator," in list(table(swept(failing("abs", "torch/other.py", 7))))[-1]


def test_every_table_has_headings() -> None:
    text = page(SWEPT)
    assert text.count("<table") == text.count("<thead>") == 4
    assert text.count("<th scope=col") == 16


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Browser]:
    with browser.Browser(tmp_path_factory.mktemp("browser")) as found:
        yield found


@pytest.fixture
def opened(reader: browser.Browser, tmp_path: Path) -> browser.Browser:
    (tmp_path / "hunt.html").write_text(page(SWEPT), encoding="utf-8")
    reader.open(tmp_path / "hunt.html")
    return reader


def rows(reader: browser.Browser) -> int:
    script = "return [...document.querySelectorAll('section tbody tr')].filter(row => row.offsetParent).length"
    count: int = reader.run(script)
    return count


@needs_browser
def test_the_search_leaves_what_fits_and_escape_shows_all(opened: browser.Browser) -> None:
    assert rows(opened) == 4
    opened.press("/")
    opened.press("other.py")
    assert rows(opened) == 2
    opened.press("\ue007")  # Enter leaves the field and keeps its text
    assert opened.run("return document.activeElement.id") == ""
    assert rows(opened) == 2
    opened.press("/")
    opened.press("nothing like it")
    assert rows(opened) == 0
    assert opened.run("return document.getElementById('none').offsetParent !== null")
    opened.press("\ue00c")  # Escape
    assert rows(opened) == 4
    assert opened.run("return document.getElementById('search').value") == ""
    assert opened.complaints() == []


NARROW = """
const frame = document.createElement('iframe');
frame.style = 'width: 390px; height: 800px; border: 0';
document.body.append(frame);
frame.srcdoc = arguments[0];
return new Promise(done => frame.onload = () => {
  const there = frame.contentDocument.documentElement;
  const wide = there.scrollWidth;
  frame.remove();
  done(wide);
});
"""


@pytest.mark.parametrize("dark", [False, True])
@needs_browser
def test_it_fits_a_telephone_in_light_and_dark(tmp_path: Path, dark: bool) -> None:
    (tmp_path / "hunt.html").write_text(page(SWEPT), encoding="utf-8")
    with browser.Browser(tmp_path / "browser", dark=dark) as reader:
        reader.open(tmp_path / "hunt.html")
        assert reader.run("return matchMedia('(prefers-color-scheme: dark)').matches") is dark
        assert reader.run(NARROW, page(SWEPT)) <= 390
        least = reader.run(browser.LEAST_CONTRAST, "h1, h2, h3, p, th, td, summary, input")
        assert least >= 4.5, least

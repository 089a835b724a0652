"""Tests of the reports of a verification: one screen for a person, JUnit for a CI server."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from xml.etree import ElementTree

import pytest
from symfix.codemods.harness.observation import Observation
from symfix.codemods.reports.junit import junit
from symfix.codemods.reports.proof import proof
from symfix.codemods.verify.change import SWAPPED, Check, KernelSwap, Verdict, Verification

GOOD, BAD = Observation(True, seconds=1.25), Observation(False, "it is 3, not 4", "the trace")
CRASH = Observation(False, "ended by signal SIGSEGV", crashed=True)
CHECKS = {
    "worse": Check("eager", "add (3 samples)", GOOD, BAD),
    "crashes": Check("repro", "mine.py", GOOD, CRASH),
    "better": Check("unbacked", "mul (2 samples)", BAD, Observation(True, "with the guards u0 > 1", seconds=2.5)),
    "silent": Check("unbacked", "div (2 samples)", BAD, GOOD, deviates="size 0: another shape"),
    "flaky": Check("case", "tests/test_it.py::test_it", GOOD, BAD, flaky=True),
    "standing": Check("test", "pytest <&> \x00", BAD, BAD),
    "same": Check("backed", "add (3 samples)", GOOD, GOOD),
}
VERIFICATION = Verification(
    Verdict.REGRESSED,
    "eager add (3 samples) passed before and fails after: it is 3, not 4",
    ("Add.cpp",),
    tuple(CHECKS.values()),
    (KernelSwap("add", "add.Tensor", "CPU", SWAPPED, 12), KernelSwap("sub", "sub.Tensor", "CPU", "structured")),
    "add: add",
    ("Add.cpp:7",),
    torch="2.13.0+cpu 1 2",
    compiler="g++ 12",
    seconds=61.5,
)
MOMENT = datetime(2026, 11, 21, 12, 0, 0)
SUITE = {"name", "tests", "failures", "errors", "time", "timestamp", "hostname", "id", "package"}
"""Attributes of a suite that the strictest schema in use requires."""
PARTS = {"testsuites": {"testsuite"}, "testcase": {"failure", "skipped"}, "properties": {"property"},
         "testsuite": {"properties", "testcase", "system-out", "system-err"}}  # fmt: skip


def document(verification: Verification | None, **options: object) -> ElementTree.Element:
    return ElementTree.fromstring(junit(verification, moment=MOMENT, host="here", **options))  # type: ignore[arg-type]


def only(name: str, verdict: Verdict = Verdict.NEUTRAL) -> ElementTree.Element:
    """Return the test case of one check."""
    return document(replace(VERIFICATION, verdict=verdict, checks=(CHECKS[name],)))[0].findall("testcase")[1]


@pytest.mark.parametrize("verification", [VERIFICATION, None], ids=["whole", "nothing"])
def test_the_document_has_the_shape_that_ci_servers_read(verification: Verification | None) -> None:
    root = document(verification, dropped=[("Add.cpp:3:1: use_it", "it is worse")])
    assert root.tag == "testsuites"
    for element in root.iter():
        assert {child.tag for child in element} <= PARTS.get(element.tag, set())
        if element.tag == "testsuite":
            assert set(element.attrib) == SUITE | {"skipped"}
            order = [child.tag for child in element if child.tag != "testcase"]
            assert order == ["properties", "system-out", "system-err"]
        if element.tag == "testcase":
            assert set(element.attrib) == {"classname", "name", "time"}
            assert len(element) <= 1
            assert float(element.attrib["time"]) >= 0
        if element.tag == "failure":
            assert element.attrib["type"]
    (suite,) = root
    cases = suite.findall("testcase")
    assert int(suite.attrib["tests"]) == len(cases)
    for count, tag in (("failures", "failure"), ("skipped", "skipped")):
        assert int(suite.attrib[count]) == sum(case.find(tag) is not None for case in cases)


@pytest.mark.parametrize(
    ("name", "ending", "message"),
    [
        ("worse", "failure", "it is 3, not 4"),
        ("crashes", "failure", "ended by signal SIGSEGV"),
        ("silent", "failure", "size 0: another shape"),
        ("flaky", "skipped", "the difference did not come again"),
        ("standing", "skipped", "it fails before and after: it is 3, not 4"),
    ],
)
def test_a_case_ends_as_its_check_did(name: str, ending: str, message: str) -> None:
    (found,) = only(name)
    assert (found.tag, found.attrib["message"]) == (ending, message)


@pytest.mark.parametrize("name", ["better", "same"])
def test_what_is_not_worse_passes(name: str) -> None:
    assert len(only(name)) == 0


@pytest.mark.parametrize(
    ("verdict", "ending"),
    [
        (Verdict.PROVEN, None),
        (Verdict.NEUTRAL, None),
        (Verdict.UNVERIFIABLE, "skipped"),
        (Verdict.REGRESSED, "failure"),
        (Verdict.BROKEN_BASELINE, "failure"),
    ],
)
def test_the_verdict_is_the_first_case(verdict: Verdict, ending: str | None) -> None:
    case = document(replace(VERIFICATION, verdict=verdict, checks=()))[0].findall("testcase")[0]
    assert case.attrib["name"] == verdict.value
    assert [child.tag for child in case] == ([ending] if ending else [])


def test_a_dropped_fix_fails() -> None:
    (case,) = document(None, dropped=[("Add.cpp:3:1: use_it", "it is worse")])[0].findall("testcase")
    assert case.attrib["name"] == "Add.cpp:3:1: use_it"
    assert case[0].attrib["message"] == "it is worse"


def test_the_page() -> None:
    assert (
        "".join(proof(VERIFICATION))
        == """\
regressed: eager add (3 samples) passed before and fails after: it is 3, not 4

  worse
    eager add (3 samples)
      after:  it is 3, not 4
    repro mine.py
      after:  crashes: ended by signal SIGSEGV

  passes now, but not as eager does
    unbacked div (2 samples) (1.2 s)
      before: it is 3, not 4
      but:    size 0: another shape

  failed before, passes now
    unbacked mul (2 samples) (2.5 s)
      before: it is 3, not 4
      now:    with the guards u0 > 1

  went otherwise once, and not again
    case tests/test_it.py::test_it
      after:  it is 3, not 4

  fails before and after
    test pytest <&> \x00
      before: it is 3, not 4

  the same before and after
    backed add (3 samples) (1.2 s)

  tests chosen    add: add
  swapped in      add (12 calls)
  not swapped in  sub, structured
  nothing ran     Add.cpp:7
  with            torch 2.13.0+cpu, g++ 12, 61.5 s
"""
    )


def test_the_page_fits_a_screen_whatever_there_was() -> None:
    many = tuple(replace(CHECKS["worse"], subject=f"operator {number} " + "long " * 40) for number in range(500))
    same = tuple(replace(CHECKS["same"], subject=f"operator {number}") for number in range(500))
    page = "".join(proof(replace(VERIFICATION, checks=many + same, reason="because " * 500)))
    assert "and 492 more" in page
    assert page.count("\n") < 60
    assert max(map(len, page.splitlines())) <= 110

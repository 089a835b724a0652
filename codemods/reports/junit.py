"""Verification as a JUnit report for a CI server, with one test case per check."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from xml.etree import ElementTree

from ..harness.observation import Observation
from ..verify.change import Check, Verdict, Verification

_WORSE = (Verdict.REGRESSED, Verdict.BROKEN_BASELINE)
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(
    verification: Verification | None, *, moment: datetime, host: str, dropped: Sequence[tuple[str, str]] = ()
) -> str:
    """Return the report. It has no cases of a verification if nothing was changed or nothing was kept.

    ``dropped`` are the dropped fixes, each with the reason. They are failures, as are regressions. A check is skipped
    if it fails before and after, or if its difference did not reproduce, since the change is not the cause. The verdict
    is the first case.
    """
    suites = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(suites, "testsuite")
    cases = list(_cases(verification)) if verification else []
    for fix, reason in dropped:
        cases.append(_case("symfix.fix", fix, 0.0))
        _end(cases[-1], "failure", reason, kind="dropped")
    counts = {kind: sum(case.find(kind) is not None for case in cases) for kind in ("failure", "skipped")}
    seconds = verification.seconds if verification else 0.0
    suite.attrib |= {
        "name": "symfix verify",
        "id": "0",
        "package": "symfix",
        "timestamp": moment.strftime("%Y-%m-%dT%H:%M:%S"),
        "hostname": host,
        "tests": str(len(cases)),
        "failures": str(counts["failure"]),
        "errors": "0",
        "skipped": str(counts["skipped"]),
        "time": f"{seconds:.3f}",
    }
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in _facts(verification) if verification else ():
        ElementTree.SubElement(properties, "property", name=name, value=_printable(value))
    suite.extend(cases)
    ElementTree.SubElement(suite, "system-out")
    ElementTree.SubElement(suite, "system-err")
    ElementTree.indent(suites)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suites, encoding="unicode") + "\n"


def _facts(verification: Verification) -> Iterator[tuple[str, str]]:
    yield "verdict", verification.verdict.value
    yield "reason", verification.reason
    for path in verification.paths:
        yield "path", path
    for swap in verification.swaps:
        yield "swap", f"{swap.kernel}: {swap.state}, {swap.calls} calls"
    for line in verification.unrun:
        yield "changed line that nothing ran", line
    yield "torch", verification.torch.partition(" ")[0]
    yield "compiler", verification.compiler
    if verification.evidence is not None:
        yield "evidence", str(verification.evidence)


def _cases(verification: Verification) -> Iterator[ElementTree.Element]:
    case = _case("symfix.verdict", verification.verdict.value, 0.0)
    if verification.verdict in _WORSE:
        _end(case, "failure", verification.reason, kind=verification.verdict.value)
    elif verification.verdict is Verdict.UNVERIFIABLE:
        _end(case, "skipped", verification.reason)
    yield case
    for check in verification.checks:
        case = _case(f"symfix.{check.protocol}", check.subject or check.protocol, check.after.seconds)
        if check.flaky:
            _end(case, "skipped", "the difference did not come again")
        elif check.lost:
            _end(case, "failure", check.after.message, kind="regressed", text="\n".join(_sides(check)))
        elif check.deviates:
            _end(case, "failure", check.deviates, kind="deviates", text="\n".join(_sides(check)))
        elif not check.after.passed:
            _end(case, "skipped", f"it fails before and after: {check.after.message}")
        yield case


def _case(group: str, name: str, seconds: float) -> ElementTree.Element:
    return ElementTree.Element("testcase", classname=group, name=_printable(name), time=f"{seconds:.3f}")


def _end(case: ElementTree.Element, how: str, message: str, kind: str = "", text: str = "") -> None:
    ending = ElementTree.SubElement(case, how, message=_printable(message))
    if kind:
        ending.set("type", kind)
    ending.text = _printable(text) or None


def _sides(check: Check) -> Iterator[str]:
    yield f"before: {_say(check.before)}"
    yield f"after: {_say(check.after)}"
    if check.after.detail:
        yield check.after.detail


def _say(observation: Observation) -> str:
    return observation.message or ("it passes" if observation.passed else "it fails")


def _printable(text: str) -> str:
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)

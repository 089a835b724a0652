"""Tests of lists of expected failures: parsed entries, and the text after some are removed."""

from __future__ import annotations

import ast
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from symfix.codemods.workflows.xfails.entry_removal import NotRemovable, without
from symfix.codemods.workflows.xfails.xfail_lists import XfailEntry, read

LISTS = b"""\
# A file in the style of PyTorch's own.
plain = {
    # values decide
    xfail("cov"),
    xfail("corrcoef"),  # because of cov

    # sparse
    xfail('sparse.mm', 'reduce'),
    # xfail("kept.as.a.note"),
    skip("item"),
    xfail("chalf", device_type="cuda"),
    xfail("angle", dtypes=(torch.float32, torch.bfloat16)),
}
black = {
    xfail(
        "index_fill", ""
    ),  # Cannot call sizes() on tensor with symbolic sizes/strides
    decorate(
        "svd_lowrank",
        decorator=toleranceOverride({torch.float32: tol(atol=1e-04, rtol=1e-05)}),
    ),
    xfail(
        # inside of it
        "stft",
    ),
    xfail("trace", ""),  # the first line of its reason
                         # and the second
    xfail("fft.fft")
}
black.update({xfail("only")})
black |= {xfail("one"), xfail("two"), skip("three")}
joined = plain | {xfail("joined")}
if IS_WINDOWS:
    joined.update({xfail("conditional")})
listed = [xfail("in.a.list"), xfail(some_name), *others]

@skipOps("TestThis", "test_this", joined.union({xfail("here")}))
def test_this(self, device, dtype, op):
    pass

@skipOps(black)
def test_that(self, device, dtype, op):
    pass

apply_skip_decorators(op_db, "TestThose", "test_that", listed)
"""
ENTRIES = read(LISTS)


def removed(text: bytes, *names: str) -> str:
    """Return ``text`` without the entries of these names."""
    gone = [entry for entry in read(text) if entry.name in names]
    assert {entry.name for entry in gone} == set(names)
    return without(text, {(entry.start, entry.end) for entry in gone}).decode()


def entry(name: str) -> XfailEntry:
    return next(one for one in ENTRIES if one.name == name)


def test_entries_of_every_form_are_read() -> None:
    names = [one.name for one in ENTRIES if one.kind == "xfail"]
    assert names == [
        *("cov", "corrcoef", "sparse.mm.reduce", "chalf", "angle", "index_fill", "stft", "trace", "fft.fft"),
        *("only", "one", "two", "joined", "conditional", "in.a.list", "", "here"),
    ]
    assert [one.name for one in ENTRIES if one.kind == "skip"] == ["item", "three"]
    assert LISTS[entry("index_fill").start : entry("index_fill").end].count(b"\n") == 2


def test_limits_are_read() -> None:
    assert entry("chalf").device == "cuda"
    assert entry("angle").dtypes == ("float32", "bfloat16")
    assert entry("trace").device is None
    assert entry("trace").dtypes is None


@pytest.mark.parametrize(
    ("name", "tests"),
    [
        pytest.param("cov", ("test_this",), id="joined by |"),
        pytest.param("joined", ("test_this",), id="beside the |"),
        pytest.param("here", ("test_this",), id="at the test"),
        pytest.param("only", ("test_that",), id="by update"),
        pytest.param("two", ("test_that",), id="by |="),
        pytest.param("in.a.list", ("test_that",), id="by a call that names the test"),
    ],
)
def test_an_entry_knows_its_tests(name: str, tests: tuple[str, ...]) -> None:
    assert entry(name).tests == tests


def test_what_can_not_be_judged_says_why() -> None:
    assert entry("conditional").unclear == "it stands under a condition"
    assert entry("").unclear == "its arguments are no plain words"


@pytest.mark.parametrize(
    ("names", "before", "after"),
    [
        pytest.param(
            ("a",), '{\n    xfail("a"),  # why\n    xfail("b"),\n}\n', '{\n    xfail("b"),\n}\n', id="comment behind"
        ),
        pytest.param(
            ("a",), '{\n    # only a\n    xfail("a"),\n\n    xfail("b"),\n}\n', '{\n    xfail("b"),\n}\n', id="heading"
        ),
        pytest.param(
            ("a",),
            '{\n    # both\n    xfail("a"),\n    xfail("b"),\n}\n',
            '{\n    # both\n    xfail("b"),\n}\n',
            id="heading of two",
        ),
        pytest.param(
            ("a",),
            '{\n    xfail("a"),  # why\n               # goes on\n    xfail("b"),\n}\n',
            '{\n    xfail("b"),\n}\n',
            id="comment on two lines",
        ),
        pytest.param(
            ("b",),
            '{\n    xfail("a"),  # why\n               # goes on\n    xfail("b"),\n}\n',
            '{\n    xfail("a"),  # why\n               # goes on\n}\n',
            id="comment of the one above",
        ),
        pytest.param(
            ("a",),
            '{\n    # xfail("z"),\n    xfail("a"),\n    xfail("b"),\n}\n',
            '{\n    # xfail("z"),\n    xfail("b"),\n}\n',
            id="an old entry is kept",
        ),
        pytest.param(("a",), '{xfail("a"), xfail("b")}\n', '{xfail("b")}\n', id="first of a line"),
        pytest.param(("b",), '{xfail("a"), xfail("b")}\n', '{xfail("a")}\n', id="last of a line"),
        pytest.param(("b",), '{xfail("a"), xfail("b"), skip("c")}\n', '{xfail("a"), skip("c")}\n', id="middle"),
        pytest.param(("a", "b"), '{xfail("a"), xfail("b")}\n', "set()\n", id="all of a line"),
        pytest.param(("a",), '{\n    # why\n    xfail("a"),\n}\n', "set()\n", id="all"),
        pytest.param(("a",), 'f([\n    xfail("a"),\n])\n', "f([])\n", id="all of a list"),
        pytest.param(
            ("a", "b"),
            '{\n    xfail("a"), xfail("b"),  # two\n    xfail("c"),\n}\n',
            '{\n    xfail("c"),\n}\n',
            id="all of one line",
        ),
        pytest.param(
            ("b",),
            '{\n    xfail("a"), xfail("b"),  # two\n    xfail("c"),\n}\n',
            '{\n    xfail("a"),  # two\n    xfail("c"),\n}\n',
            id="one of a line",
        ),
        pytest.param(("ä",), '{  # ä\n    xfail("ä"), xfail("b"),\n}\n', '{  # ä\n    xfail("b"),\n}\n', id="bytes"),
        pytest.param(
            ("a",), '{\r\n    xfail("a"),\r\n    xfail("b"),\r\n}\r\n', '{\r\n    xfail("b"),\r\n}\r\n', id="CRLF"
        ),
    ],
)
def test_removal(names: tuple[str, ...], before: str, after: str) -> None:
    prefix = "x = " if before.startswith("{") else ""
    assert removed((prefix + before).encode(), *names) == prefix + after


def test_what_can_not_be_taken_out_cleanly_is_refused() -> None:
    text = b'x = {(xfail("a")), xfail("b")}\n'
    with pytest.raises(NotRemovable):
        removed(text, "a")


@settings(max_examples=120)
@given(st.sets(st.sampled_from(range(len(ENTRIES)))))
def test_any_subset_leaves_the_rest(chosen: set[int]) -> None:
    gone = [ENTRIES[number] for number in sorted(chosen)]
    after = without(LISTS, {(one.start, one.end) for one in gone})
    kept = [one for one in ENTRIES if one not in gone]
    left = read(after)
    assert [(one.name, one.list, one.tests) for one in left] == [(one.name, one.list, one.tests) for one in kept]
    assert [after[one.start : one.end] for one in left] == [LISTS[one.start : one.end] for one in kept]
    lines = iter(LISTS.decode().splitlines())
    for line in after.decode().splitlines():
        # Complete lines are removed. Only lines with several entries, or replaced by a set(), differ.
        assert "set(" in line or "listed" in line or "black |=" in line or line in (")", "}") or line in lines, line
    code = "decorator=toleranceOverride({torch.float32: tol(atol=1e-04, rtol=1e-05)}),"
    assert code in after.decode()
    assert '# xfail("kept.as.a.note"),' in after.decode()
    ast.parse(after)


def test_a_second_removal_changes_nothing() -> None:
    once = removed(LISTS, "cov", "two", "stft")
    assert not [one for one in read(once.encode()) if one.name in ("cov", "two", "stft")]
    assert without(once.encode(), set()).decode() == once


def test_a_set_that_is_emptied_keeps_the_notes_in_it() -> None:
    text = textwrap.dedent(
        """\
        x = {
            # xfail("z"),
            xfail("a"),
        }
        """
    )
    assert removed(text.encode(), "a") == 'x = set(\n    # xfail("z"),\n)\n'

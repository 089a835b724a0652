"""Tests of unsigned values that a SymInt can represent: counts, but no limit that may be the largest number."""

from __future__ import annotations

import pytest
from cpp_facts import place
from symfix.cpp.analysis.file.unsigned_counts import counts

COUNTING = [
    "use(«v.size()»);",
    "use(«t.size(0)»);",
    "use(«7u»);",
    "use(«0»);",
    "use(«0755ul»);",
    "use(«0x7fff'ffff'ffff'ffffull»);",
    "use(«(v.size() + 1) * 2»);",
    "use(«static_cast<size_t>(t.dim())»);",
    "size_t m = v.size(); use(«m» + 0);",
    "const auto m = v.size(); g(m); use(«m» + 0);",
    "size_t m = 0; m++; m += v.size(); m = 3; use(«m» + 0);",
    "size_t m = v.size(); size_t l = m / 2; use(«l» + 0);",
    "unsigned m = h(); use(«m» + 0);",
    "const uint32_t m = h(); use(«m» + 0);",
    "for (const auto i : c10::irange(v.size())) { use(«i» + 0); }",
    "for (size_t i : c10::irange(v.size(), h())) { use(«i» + 0); }",
]
NOT = [
    "use(«-1»);",
    "use(«18446744073709551615ull»);",
    "use(«0x8000000000000000u»);",
    "use(«2.5»);",
    "use(«h()»);",
    "use(«n»);",
    "use(«v.size() - 1»);",
    "use(«static_cast<size_t>(n)»);",
    "use(«std::numeric_limits<size_t>::max()»);",
    "size_t m = -1; use(«m» + 0);",
    "size_t m; use(«m» + 0);",
    "size_t m = v.size(); m--; use(«m» + 0);",
    "size_t m = v.size(); m -= 1; use(«m» + 0);",
    "size_t m = v.size(); m = n; use(«m» + 0);",
    "size_t m = v.size(); g(m); use(«m» + 0);",
    "size_t m = v.size(); g(&m); use(«m» + 0);",
    "size_t m = v.size(); auto& l = m; use(«m» + 0);",
    "size_t m = v.size(); auto g = [&]() { m = h(); }; use(«m» + 0);",
    "for (size_t i : h()) { use(«i» + 0); }",
    "for (size_t i : c10::irange(h(), v.size())) { use(«i» + 0); }",
]


@pytest.mark.parametrize("text", COUNTING)
def test_what_counts_has_the_same_value_without_a_sign(text: str) -> None:
    p, node = place(text)
    assert counts(p.types, node)


@pytest.mark.parametrize("text", NOT)
def test_what_may_be_the_largest_number_does_not_count(text: str) -> None:
    p, node = place(text)
    assert not counts(p.types, node)


def test_a_parameter_without_a_sign_does_not_count_and_a_small_one_does() -> None:
    text = "#include <ATen/ATen.h>\nusing namespace at;\nvoid f({}) {{ use(«m» + 0); }}\n"
    for kind, answer in (("size_t m", False), ("uint64_t m", False), ("const size_t m", False), ("unsigned m", True)):
        p, node = place(text.format(kind))
        assert counts(p.types, node) is answer, kind

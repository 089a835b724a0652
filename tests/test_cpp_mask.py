"""Tests of masks, which hide text from the grammar without moving any of it. Hidden uses are still reported."""

from __future__ import annotations

import pytest
from symfix.cpp.syntax.macro_mask import macro_bodies, mask_attributes, mask_preprocessor
from symfix.cpp.syntax.tree import Tree, walk

ATTRIBUTES = (
    b"struct TORCH_API Thing { int n; };\n",
    b"C10_UNUSED static int f(const int* C10_RESTRICT p) { return *p; }\n",
    b"C10_ALWAYS_INLINE int g() { return 0; }\n",
    b"__ubsan_ignore_float_divide_by_zero__ double h(double x) { return 1 / x; }\n",
    b"#define OURS __attribute__((noinline))\nOURS int k() { return 1; }\n",
    b"/* \xc3\xa4 */ class MY_OWN_EXPORT B {};\r\nint z;\r\n",
)


@pytest.mark.parametrize("text", ATTRIBUTES)
def test_masked_text_has_the_same_length_and_lines(text: bytes) -> None:
    for masked in (mask_attributes(text), mask_preprocessor(mask_attributes(text))):
        assert len(masked.text) == len(text)
        assert [at for at, byte in enumerate(masked.text) if byte in b"\r\n"] == [
            at for at, byte in enumerate(text) if byte in b"\r\n"
        ]
        assert all(new in (old, ord(" "), ord(";")) for new, old in zip(masked.text, text, strict=True))


@pytest.mark.parametrize("text", ATTRIBUTES)
def test_attributes_leave_no_parse_error(text: bytes) -> None:
    assert not Tree(text).root.has_error


def test_offsets_point_at_the_original_text() -> None:
    tree = Tree(b"TORCH_API int f(int \xc3\xa4, int n) { return n; }\n")
    node = next(node for node in walk(tree.root) if node.type == "return_statement")
    assert tree.text(node) == "return n;"


def test_a_bare_macro_call_ends_before_the_next_statement() -> None:
    assert b"DECLARE_THING(foo);" in mask_preprocessor(mask_attributes(b"DECLARE_THING(foo)\nint n;\n")).text
    assert not Tree(b"namespace a {\nDECLARE_THING(foo)\nint f() { return 1; }\n}\n").root.has_error


def test_macro_bodies_are_kept_with_their_parameters() -> None:
    bodies = macro_bodies(b"#define TWO (n * \\\n  2)\n#define ADD(a, b) ((a) + (b))\n")
    assert bodies[b"TWO"][0] == frozenset()
    assert b"n" in bodies[b"TWO"][1] and b"2" in bodies[b"TWO"][1]
    assert bodies[b"ADD"][0] == {b"a", b"b"}


def test_only_the_first_branch_of_a_conditional_is_left_and_the_rest_remembered() -> None:
    text = b"#if A\nint a;\n#elif B\nint b;\n#else\nint c;\n#endif\nint d;\n"
    masked = mask_preprocessor(mask_attributes(text))
    assert [word in masked.text for word in (b"int a", b"int b", b"int c", b"int d")] == [True, False, False, True]
    hidden = b"".join(text[start:end] for start, end in masked.hidden)
    assert b"int b" in hidden and b"int c" in hidden and b"int a" not in hidden

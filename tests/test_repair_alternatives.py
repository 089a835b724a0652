"""Tests of candidates beyond the rules. They preserve all results for plain ints and change the requested place."""

from __future__ import annotations

import ast
import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from symfix.codemods.engine.registry import Registry, load_language
from symfix.codemods.engine.torch_context import TorchSurroundings
from symfix.codemods.model.edit import Edit, apply
from symfix.codemods.model.rule import Context, Fix, Safety
from symfix.codemods.model.source_file import SourceFile
from symfix.codemods.workflows.repair.edited_file import EditedFile
from symfix.cpp.analysis.file.comparisons import comparison
from symfix.cpp.analysis.file.file_analysis import knowledge
from symfix.cpp.rewrite import branchless, deferred_checks, runtime_checked
from symfix.cpp.syntax.tree import every
from symfix.python.candidates.checked_defaults import checked_default
from symfix.python.candidates.safe_division import quotient_or_zero
from symfix.python.syntax.module import parse

PYTHON = Path("torch/_shapes.py")
SCRIPTED = Path("torch/nn/functional.py")


@pytest.fixture(scope="module")
def context() -> Context:
    pytest.importorskip("torch")
    return TorchSurroundings().context()


def tried(path: Path, text: str, mark: str, context: Context) -> list[tuple[Fix, str]]:
    """Return each alternative at the line of ``mark``, in C++ in the function of that name, with the resulting text."""
    wing = Registry().wing(path)
    assert wing is not None
    language = load_language(wing.package)
    source = SourceFile(path, text.encode())
    line = text[: text.index(mark)].count("\n") + 1
    extent = language.extent(source, line, mark)
    assert extent is not None
    fixes = list(language.alternatives(source, context, extent))
    draft = EditedFile(source, language, context)
    return [(fix, draft.take([fix]).now.content.decode()) for fix in fixes]


POOLING = """
import torch


def meta_pool(x, stride):
    out = x.size(0) // stride + 1
    if (out - 1) * stride >= x.size(0):
        out -= 1
    return x.new_empty(out).numel()


def meta_scale(x, n):
    size = x.size(0)
    return size if size > n else n + 1
"""


@pytest.mark.parametrize(("mark", "name"), [("if (out - 1)", "meta_pool"), ("return size if", "meta_scale")])
def test_every_alternative_keeps_what_plain_ints_give(mark: str, name: str, context: Context) -> None:
    import torch

    found = tried(PYTHON, POOLING, mark, context)
    assert any("torch.sym_ite(" in text for _, text in found)
    before: dict[str, Any] = {}
    exec(POOLING, before)
    for _, text in found:
        after: dict[str, Any] = {}
        exec(text, after)
        for size, other in itertools.product((0, 1, 2, 7, 8), (1, 2, 3)):
            x = torch.empty(size)
            assert after[name](x, other) == before[name](x, other), text


REASONS = """
import torch


def meta_solve(x, other):
    vector = x.ndim - 1 == other.ndim and other.shape == x.shape[:-1]
    return other.new_empty(x.shape[:-1] if vector else other.shape)


def meta_order(x, other):
    if x.size(0) > other.size(0):
        return x
    return other


def meta_weight(x, weight):
    if weight is not None and not (weight.dim() == 1 and weight.numel() == x.shape[-1]):
        raise AssertionError(f"one weight for each of {x.shape[-1]} classes")
    return x


def meta_asserted(x, weight):
    assert weight.numel() == x.shape[-1], f"one weight for each of {x.shape[-1]} classes"
    return x


def meta_compared(x, weight, wanted):
    if (weight.numel() == x.shape[-1]) == wanted:
        raise ValueError("one weight for each class")
    return x


def meta_any(x, weight):
    if not all(not (n == weight.numel()) for n in x.shape):
        raise ValueError("a weight for none")
    return x
"""


@pytest.mark.parametrize(
    ("mark", "guards"),
    [
        ("vector = ", {"guard_or_false"}),
        ("if x.size(0) >", set()),
        ("if weight is", {"guard_or_true"}),
        ("if (weight.numel", {"guard_or_false"}),
        ("if not all", {"guard_or_false"}),
    ],
)
def test_a_default_has_a_reason(mark: str, guards: set[str], context: Context) -> None:
    defaults = [(fix.default, text) for fix, text in tried(PYTHON, REASONS, mark, context) if fix.default]
    assert {name for name in ("guard_or_true", "guard_or_false") for _, text in defaults if name in text} == guards
    assert all(": " in words for words, _ in defaults)


def test_an_assertion_error_of_the_file_itself_is_another(context: Context) -> None:
    own = "class AssertionError(Exception): ..."
    text = REASONS.replace("import torch", f"import torch\n\n{own}", 1)
    assert all("_check_with" not in written for _, written in tried(PYTHON, text, "assert weight", context))


def test_an_assertion_may_keep_its_error(context: Context) -> None:
    import torch

    (fix, text), *_ = tried(PYTHON, REASONS, "assert weight", context)
    assert "torch._check_with(\n        AssertionError,\n" in text and "RuntimeError" not in (fix.default or "")
    namespace: dict[str, Any] = {}
    exec(text, namespace)
    assert namespace["meta_asserted"](torch.empty(2, 3), torch.empty(3)).shape == (2, 3)
    with pytest.raises(AssertionError, match="one weight for each of 3 classes"):
        namespace["meta_asserted"](torch.empty(2, 3), torch.empty(2))


LOSS = """
import torch
from torch._jit_internal import unused as _jit_unused
import warnings


def first(input, size):
    size_prods = size[0] * input.size(0)
    if size_prods == 1:
        raise ValueError(f"more than one, not {size}")
    return input


def second(input: torch.Tensor, target: torch.Tensor):
    if not (target.size() == input.size()):
        warnings.warn("sizes differ", stacklevel=2)
    return input - target
"""


def test_a_check_beside_torchscript_raises_the_same(context: Context) -> None:
    import torch

    ((_, text),) = tried(SCRIPTED, LOSS, "if size_prods", context)
    assert "if torch.jit.is_scripting():\n        if size_prods == 1:" in text
    namespace: dict[str, Any] = {}
    exec(text, namespace)
    with pytest.raises(ValueError, match="more than one, not \\[1\\]"):
        namespace["first"](torch.empty(1), [1])
    assert namespace["first"](torch.empty(2), [3]).numel() == 2


def test_two_checks_of_a_function_have_names_of_their_own(context: Context) -> None:
    import torch

    second = '    if size_prods == 2:\n        raise ValueError("two")\n    return input\n\n\ndef second'
    text = LOSS.replace("    return input\n\n\ndef second", second)
    ((first, _),) = tried(SCRIPTED, text, "if size_prods == 1", context)
    source = SourceFile(SCRIPTED, text.encode())
    registered = Registry().wing(SCRIPTED)
    assert registered is not None
    now = EditedFile(source, load_language(registered.package), context).take([first]).now.content.decode()
    ((_, both),) = tried(SCRIPTED, now, "if size_prods == 2", context)
    assert [both.count(f"def _check_first_{name}(") for name in ("size_prods", "size_prods_2")] == [1, 1]
    namespace: dict[str, Any] = {}
    exec(both, namespace)
    for size, words in ((1, "more than one"), (2, "two")):
        with pytest.raises(ValueError, match=words):
            namespace["first"](torch.empty(1), [size])


def test_a_warning_beside_torchscript_names_the_same_line(context: Context) -> None:
    import torch

    ((fix, text),) = tried(SCRIPTED, LOSS, "if not (target", context)
    assert "guard_or_true(sym_eq(target.size(), input.size()))" in text and "stacklevel=3" in text
    assert fix.default is not None and "taken as equal" in fix.default
    namespace: dict[str, Any] = {}
    exec(compile(text, "loss.py", "exec"), namespace)
    with pytest.warns(UserWarning, match="sizes differ") as caught:
        namespace["second"](torch.empty(2), torch.empty(1))
    assert caught[0].filename == __file__


def test_two_functions_with_one_warning_share_a_helper(context: Context) -> None:
    text = LOSS + LOSS[LOSS.index("\n\ndef second") :].replace("second", "third").replace(" - ", " * ")
    (third, _), *_ = tried(SCRIPTED, text, text[text.rindex("if not (target") :], context)
    source = SourceFile(SCRIPTED, text.encode())
    registered = Registry().wing(SCRIPTED)
    assert registered is not None
    draft = EditedFile(source, load_language(registered.package), context).take([third])
    now = draft.now.content.decode()
    (second, _), *_ = tried(SCRIPTED, now, now[now.index("if not (target") :], context)
    both = draft.take([second])
    after = both.now.content.decode()
    assert after.count("def _warn_unless_same_size(target, input):") == 1
    assert after.count(" _warn_unless_same_size(target, input)") == 2 + 1
    assert after.index("def _warn_unless_same_size") < after.index("def second")
    alone = both.only(both.taken[1:]).now.content.decode()
    assert alone.count("_warn_unless_same_size(target, input)") == 2
    assert "\n".join(alone.splitlines()) != now
    compile(alone, "loss.py", "exec")


SORTING = """
import torch


def first(x, dims):
    strides = x.stride()
    dims.sort(key=lambda i: strides[i], reverse=True)
    return dims


def second(x, dims):
    strides = x.stride()
    return sorted(dims, key=lambda i: strides[i])
"""


def test_fixes_that_were_found_apart_bring_their_helper_once(context: Context) -> None:
    import torch

    found = [tried(PYTHON, SORTING, mark, context) for mark in ("dims.sort(", "return sorted(")]
    fixes = [next(fix for fix, text in some if "def _by_stride(" in text) for some in found]
    registered = Registry().wing(PYTHON)
    assert registered is not None
    draft = EditedFile(SourceFile(PYTHON, SORTING.encode()), load_language(registered.package), context)
    for order in (fixes, fixes[::-1]):
        taken = replace(draft, taken=tuple(order))
        text = taken.now.content.decode()
        assert (text.count("def _by_stride("), text.count("=_by_stride(strides)")) == (1, 2)
        namespace: dict[str, Any] = {}
        exec(text, namespace)
        assert namespace["first"](torch.empty(2, 3), [1, 0]) == namespace["second"](torch.empty(2, 3), [0, 1])[::-1]
        for one in fixes:
            alone = taken.only([one]).now.content.decode()
            assert (alone.count("def _by_stride("), alone.count("=_by_stride(strides)")) == (1, 1)


def test_a_helper_with_a_decorator_stands_once_and_asks_for_nothing_it_imports_itself(context: Context) -> None:
    text = LOSS + LOSS[LOSS.index("\n\ndef second") :].replace("second", "third").replace(" - ", " * ")
    registered = Registry().wing(SCRIPTED)
    assert registered is not None
    draft = EditedFile(SourceFile(SCRIPTED, text.encode()), load_language(registered.package), context)
    (first, _), *_ = tried(SCRIPTED, text, "if not (target", context)
    (last, _), *_ = tried(SCRIPTED, text, text[text.rindex("if not (target") :], context)
    helper = next(edit for edit in first.edits if b"def _warn_unless_same_size(" in edit.text)
    elsewhere = replace(helper, start=last.edits[0].start, end=last.edits[0].start)
    apart = replace(last, edits=tuple(elsewhere if edit == helper else edit for edit in last.edits))
    taken = replace(draft, taken=(first, apart)).now.content.decode()
    assert taken.count("def _warn_unless_same_size(") == 1
    guard = Fix("guard", 1, Safety.UNSAFE, (Edit(0, 0, b""),), "a guard", needs=("torch.fx.x.guard_or_true",))
    assert b"guard_or_true" in helper.text
    assert not set(guard.needs) & set(draft.take([guard]).take([first]).taken[1].needs)


def test_the_new_functions_compile_as_torchscript(context: Context, tmp_path: Path) -> None:
    import importlib.util

    import torch

    ((_, text),) = tried(SCRIPTED, LOSS.replace("size)", "size: list[int])", 1), "if size_prods", context)
    path = tmp_path / "loss.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("loss_of_test", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    scripted = torch.jit.script(module.first)
    assert scripted(torch.empty(2), [3]).numel() == 2
    with pytest.raises(torch.jit.Error, match="more than one"):
        scripted(torch.empty(1), [1])


CPP = """
#include <ATen/core/Tensor.h>
namespace at::native {
Tensor fit(const Tensor& self, SymIntArrayRef sizes) {
  auto x = self;
  auto x_sizes = x.sym_sizes();
  SymDimVector pad(2);
  if (x_sizes[0] < sizes[0]) {
    pad[1] = sizes[0] - x_sizes[0];
  }
  if (x_sizes[0] > sizes[0]) {
    x = x.slice_symint(0, 0, sizes[0]);
  }
  return at::constant_pad_nd_symint(x, pad);
}
Tensor larger(const Tensor& self) {
  TORCH_CHECK(self.dim() == 2 && self.sym_size(0) == self.sym_size(1), "square");
  return at::zeros_symint({std::max(self.sym_size(0), self.sym_size(1))});
}
}
"""


def test_cpp_one_formula_comes_before_two_and_before_defaults(context: Context) -> None:
    texts = [text for _, text in tried(Path("native/Fit.cpp"), CPP, "fit", context)]
    assert "TORCH_GUARD_OR_TRUE(x_sizes[0].sym_lt(sizes[0]))" in texts[0]
    assert "TORCH_GUARD_OR_FALSE(x_sizes[0].sym_gt(sizes[0]))" in texts[0]
    held = next(text for text in texts if "(sizes[0] - x_sizes[0]).max(0)" in text)
    assert texts.index(held) > 0
    assert all(text.count("at::constant_pad_nd_symint") == 1 for text in texts)


def test_cpp_larger_sizes_and_joined_checks(context: Context) -> None:
    texts = [text for _, text in tried(Path("native/Fit.cpp"), CPP, "larger", context)]
    assert any("self.sym_size(0).max(self.sym_size(1))" in text for text in texts)
    joined = "TORCH_SYM_CHECK((self.dim() == 2) ? self.sym_size(0).sym_eq(self.sym_size(1)) : c10::SymBool(false),"
    assert any(joined in text for text in texts)
    assert all("TORCH_GUARD_OR_TRUE(x_sizes" not in text for text in texts), "another function's"


CHECKS = """#include <ATen/ATen.h>
namespace at::native {
template <typename T>
static void channels(const Tensor& weight, const T& C, int64_t groups) {
  TORCH_CHECK(groups > 0, "groups");
  TORCH_CHECK(C % groups == 0, "divisible");
  TORCH_CHECK(!weight.defined() || (weight.dim() == 1 && at::symint::numel<T>(weight) == C), "weight");
}
Tensor pooled(const Tensor& self) {
  TORCH_CHECK((self.dim() == 2 && self.sym_size(0) != 0) || self.sym_size(1) != 0, "not empty");
  TORCH_CHECK(self.sym_size(0) != 0 && self.dim() == 2, "known behind unknown");
  return self;
}
}
"""


def test_cpp_a_check_of_a_template_holds_for_numbers_and_symbols(context: Context) -> None:
    texts = [text for _, text in tried(Path("native/Fit.cpp"), CHECKS, "channels", context)]
    assert len(texts) == 3, "both together, then each"
    assert "TORCH_CHECK(groups > 0" in texts[0]
    assert "TORCH_SYM_CHECK(c10::SymInt(C % groups).sym_eq(0)," in texts[0]
    weight = "(weight.dim() == 1) ? c10::SymInt(at::symint::numel<T>(weight)).sym_eq(C) : c10::SymBool(false)"
    assert f"TORCH_SYM_CHECK((!weight.defined()) ? c10::SymBool(true) : ({weight})," in texts[0]


def test_cpp_conditions_inside_of_conditions_are_joined(context: Context) -> None:
    texts = [text for _, text in tried(Path("native/Fit.cpp"), CHECKS, "pooled", context)]
    one = "((self.dim() == 2) ? self.sym_size(0).sym_ne(0) : c10::SymBool(false)).sym_or(self.sym_size(1).sym_ne(0))"
    assert any(f"TORCH_SYM_CHECK({one}," in text for text in texts)
    assert all("TORCH_SYM_CHECK(self.sym_size(0).sym_ne(0)" not in text for text in texts)


EARLY = """#include <ATen/ATen.h>
namespace at::native {
Tensor normed(const Tensor& self, const Tensor& weight) {
  if (self.sym_numel() == 0) {
    return self.clone();
  }
  return self * weight;
}
Tensor refused(const Tensor& self, const Tensor& weight) {
  if (self.dim() != 1 && self.sym_size(0) != weight.sym_size(0)) {
    TORCH_CHECK_VALUE(false, "sizes");
  }
  return self * weight;
}
}
"""


def test_a_default_may_be_checked_at_run_time(context: Context) -> None:
    text = (
        "import torch\nfrom torch import Tensor\n\n\ndef f(x: Tensor, k):\n    if x.numel() == 0:\n        return x\n"
    )
    texts = [new for _, new in tried(Path("torch/_refs/a.py"), text + "    return x / k\n", "if x.numel()", context)]
    assert any(
        "    if guard_or_false(x.numel() == 0):\n        return x\n    torch._check(x.numel() != 0)\n" in new
        for new in texts
    )
    ordered = text.replace("x.numel() == 0", "x.size(0) < k")
    assert all("torch._check(" not in new for _, new in tried(Path("torch/_refs/a.py"), ordered, "if x.size", context))


CHOICE = """import torch


def meta_ratio(x, n):
    size = x.size(0)
    if n:
        return (n - 1) / (size - 1) if {} else 0
    return {}
"""


@pytest.mark.parametrize(
    ("test", "rare", "usual"), [("size > 1", "size <= 1", "size > 1"), ("size <= 1", "size <= 1", "size > 1")]
)
def test_a_choice_may_have_a_default_that_is_checked(test: str, rare: str, usual: str, context: Context) -> None:
    import torch

    text = CHOICE.format(test, "size").replace(
        "(n - 1) / (size - 1)", "0 and size" if "<" in test else "n / (size - 1)"
    )
    texts = [new for _, new in tried(PYTHON, text, test, context)]
    lines = (
        f"        if guard_or_false({rare}):\n            return %s\n        torch._check({usual})\n        return %s\n"
    )
    lines %= ("0 and size", "0") if "<" in test else ("0", "n / (size - 1)")
    (checked,) = [new for new in texts if lines in new]
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    exec(text, before)
    exec(checked, after)
    for size, n in itertools.product((0, 1, 2, 7), (0, 1, 3)):
        assert before["meta_ratio"](torch.empty(size), n) == after["meta_ratio"](torch.empty(size), n)


def test_a_choice_in_several_lines_has_none(context: Context) -> None:
    text = CHOICE.format("size > 1", "size").replace(" if size > 1", "\\\n if size > 1")
    assert all("torch._check(" not in new for _, new in tried(PYTHON, text, "size > 1", context))


@pytest.mark.parametrize(
    ("choice", "written"),
    [
        ("(n - 1.0) / (size - 1.0) if size > 1 else 0", "(n - 1.0) / MAX(size - 1, 1) * MAX(MIN(size - 1, 1), 0)"),
        ("0 if size <= 2 else n / (size - 2)", "n / MAX(size - 2, 1) * MAX(MIN(size - 2, 1), 0)"),
        ("n / size if size > 0 else 0.0", "n / MAX(size, 1) * MAX(MIN(size, 1), 0)"),
        ("n / (size - 2) if size > 1 else 0", None),
        ("n / (n - 1) if size > 1 else 0", None),
        ("n / (size - 1) if size > 1 else 1", None),
        ("n // (size - 1) if size > 1 else 0", None),
        ("n / (size - 1.5) if size > 1.5 else 0", None),
        ("n / ((size | 2) - 1) if size | 2 > 1 else 0", None),
        ("n / (x.size(0) - 1) if x.size(0) > 1 else 0", None),
    ],
)
def test_a_quotient_or_0_is_arithmetic(choice: str, written: str | None, context: Context) -> None:
    import torch

    text = f"import torch\n\n\ndef meta_ratio(x, n):\n    size = x.size(0)\n    return {choice}\n"
    module = parse(SourceFile(PYTHON, text.encode()))
    (node,) = module.nodes.every(ast.IfExp)
    found = [(fix, apply(text.encode(), fix.edits).decode()) for fix in quotient_or_zero("alt", module, node, context)]
    if written is None:
        assert not found
        return
    ((fix, new),) = found
    assert new.endswith(f"    return {written.replace('MAX', 'torch.sym_max').replace('MIN', 'torch.sym_min')}\n")
    assert fix.safety is Safety.UNSAFE
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    exec(text, before)
    exec(new, after)
    for size, n in itertools.product((0, 1, 2, 3, 7), (0, 1, 3)):
        assert before["meta_ratio"](torch.empty(size), n) == after["meta_ratio"](torch.empty(size), n)


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("if x.numel() == 0:\n    return x\n", 1),
        ("if x.size(0) > 1:\n    return x\n", 0),
        ("if x.numel() == 0:\n    x = x + 1\n", 0),
        ("if x.numel() == 0:\n    return x\nelse:\n    x = x + 1\n", 0),
        ("if x.numel() == 0 and k:\n    return x\n", 0),
        ("if x.shape == k.shape:\n    return x\n", 0),
        ("if k == x.size(0):\n    return x\nx = x / (x.size(0) - k)\n", 1),
        ("if k < x.size(0):\n    return x\nx = x / (x.size(0) - k)\n", 0),
    ],
)
def test_what_the_code_behind_a_branch_can_check(body: str, count: int, context: Context) -> None:
    lines = "".join(f"    {line}\n" for line in f"{body}return x * 2".splitlines())
    text = f"import torch\nfrom torch import Tensor\n\n\ndef f(x: Tensor, k):\n{lines}"
    module = parse(SourceFile(Path("torch/_refs/a.py"), text.encode()))
    assert len(list(checked_default("r", module, module.nodes.ifs[0], context))) == count


EMPTY = "if (TORCH_GUARD_OR_FALSE(self.sym_numel().sym_eq(0))) {"
NOT_EMPTY = 'TORCH_SYM_CHECK(self.sym_numel().sym_ne(0), "f: self.sym_numel() == 0 was taken as false");'
LARGE = 'TORCH_SYM_CHECK(self.sym_size(0).sym_gt(1), "f: self.sym_size(0) > 1 was taken as true");'


@pytest.mark.parametrize(
    ("condition", "written"),
    [
        ("self.sym_numel() == 0) { return self; }", f"{EMPTY} return self; }}\n  {NOT_EMPTY}\n"),
        ("self.sym_numel() == 0) { i += 1; }", f"{EMPTY} i += 1; }} else {{\n    {NOT_EMPTY}\n  }}\n"),
        (
            "self.sym_numel() == 0) { return self; } else { i += 1; }",
            f"{EMPTY} return self; }} else {{ {NOT_EMPTY} i += 1; }}\n",
        ),
        (
            "self.sym_size(0) > 1) { i += 1; } else { return self; }",
            f"if (TORCH_GUARD_OR_TRUE(self.sym_size(0).sym_gt(1))) {{ {LARGE} i += 1; }} else {{ return self; }}\n",
        ),
        (
            "self.sym_numel() == 0) { i += 1; } else { // some\n    i -= 1;\n  }",
            f"{EMPTY} i += 1; }} else {{ // some\n    {NOT_EMPTY}\n    i -= 1;\n  }}\n",
        ),
        ("self.sym_size(i++) == 0) { return self; }", None),
        ("self.sym_numel() == 0) i += 1;", None),
        ("self.sym_numel() == 0) { return self; } else if (i > 0) { i += 1; }", None),
        ("self.sym_size(0) > i) { return self; }", None),
        ("self.sym_numel() == 0 && i > 0) { return self; }", None),
    ],
)
def test_cpp_where_a_default_can_be_checked(condition: str, written: str | None, context: Context) -> None:
    text = (
        f"namespace at::native {{\nTensor f(const Tensor& self, int i) {{\n  if ({condition}\n  return self;\n}}\n}}\n"
    )
    source = SourceFile(Path("native/F.cpp"), text.encode())
    know = knowledge(source, context)
    (function,) = know.model.functions
    found = [comparison(know.types, node, of_sizes=False) for node in every(function.body, "binary_expression")]
    (size,) = (one for one in found if one is not None)
    made = [
        apply(source.content, sorted(fix.edits)).decode()
        for fix in runtime_checked.checked_default("r", know, size, "f")
    ]
    assert [f"int i) {{\n  {written}  return self;" in one for one in made] == ([] if written is None else [True])


@pytest.mark.parametrize(
    ("condition", "written"),
    [
        ("self.sym_size(0) == n", "self.sym_size(0).sym_eq(n)"),
        (
            "self.dim() == 2 || self.sym_size(0) == n",
            "(self.dim() == 2) ? c10::SymBool(true) : self.sym_size(0).sym_eq(n)",
        ),
        ("self.sym_size(0) == n || self.dim() == 2", None),
        ("self.dim() == 2", None),
    ],
)
def test_cpp_which_checks_can_wait(condition: str, written: str | None, context: Context) -> None:
    body = f'  TORCH_CHECK({condition}, "m");\n'
    text = f"namespace at::native {{\nvoid f(const Tensor& self, c10::SymInt n) {{\n{body}}}\n}}\n"
    source = SourceFile(Path("native/F.cpp"), text.encode())
    know = knowledge(source, context)
    (function,) = know.model.functions
    calls = every(function.body, "call_expression")
    fixes = [fix for call in calls for fix in deferred_checks.checked_later("r", know, call, function)]
    made = [apply(source.content, sorted(fix.edits)).decode() for fix in fixes]
    assert [f"TORCH_SYM_CHECK({written}, " in one for one in made] == ([] if written is None else [True])


def test_cpp_a_default_may_be_checked_at_run_time(context: Context) -> None:
    *_, (fix, text) = tried(Path("native/Fit.cpp"), EARLY, "normed", context)
    assert fix.default == "an undecided `self.sym_numel() == 0` is taken as false, which is checked at run time"
    assert (
        """  if (TORCH_GUARD_OR_FALSE(self.sym_numel().sym_eq(0))) {
    return self.clone();
  }
  TORCH_SYM_CHECK(self.sym_numel().sym_ne(0), "normed: self.sym_numel() == 0 was taken as false");
  return self * weight;"""
        in text
    )


def test_cpp_what_is_not_surely_bad_is_refused_at_run_time(context: Context) -> None:
    fix, text = tried(Path("native/Fit.cpp"), EARLY, "refused", context)[0]
    assert fix.default is not None and fix.default.endswith("which is checked at run time")
    assert (
        """  if (self.dim() != 1 && TORCH_GUARD_OR_FALSE(self.sym_size(0).sym_ne(weight.sym_size(0)))) {
    TORCH_CHECK_VALUE(false, "sizes");
  }
  TORCH_SYM_CHECK((self.dim() != 1) ? self.sym_size(0).sym_eq(weight.sym_size(0)) : c10::SymBool(true), "refused: \
self.sym_size(0) != weight.sym_size(0) was taken as false");"""
        in text
    )
    condition = "self.dim() != 1 && self.sym_size(0) != weight.sym_size(0)"
    text = tried(
        Path("native/Fit.cpp"), EARLY.replace(condition, "self.sym_sizes() != weight.sym_sizes()"), "refused", context
    )[0][1]
    assert "if (!TORCH_GUARD_OR_TRUE(c10::sym_equals(self.sym_sizes(), weight.sym_sizes()))) {" in text
    assert "TORCH_SYM_CHECK(c10::sym_equals(self.sym_sizes(), weight.sym_sizes()), " in text
    both = EARLY.replace(condition, f"{condition} && self.sym_size(1) != 2")
    assert all("TORCH_SYM_CHECK" not in text for _, text in tried(Path("native/Fit.cpp"), both, "refused", context))


def test_cpp_equal_shapes_are_checked_in_their_branch(context: Context) -> None:
    text = """namespace at::native {
Tensor f(const Tensor& self, const Tensor& target) {
  if (self.sym_sizes() == target.sym_sizes()) {
    return self * target;
  } else {
    return self;
  }
}
}
"""
    *_, (fix, written) = tried(Path("native/F.cpp"), text, "f", context)
    assert fix.default is not None and fix.default.endswith("is taken as true, which is checked at run time")
    assert (
        """  if (TORCH_GUARD_OR_TRUE(c10::sym_equals(self.sym_sizes(), target.sym_sizes()))) {
    TORCH_SYM_CHECK(c10::sym_equals(self.sym_sizes(), target.sym_sizes()), "f: self.sym_sizes() == target.sym_sizes() \
was taken as true");
    return self * target;
"""
        in written
    )
    both = text.replace("target.sym_sizes()) {", "target.sym_sizes() && self.dim() == 2) {")
    assert all("was taken as true" not in one for _, one in tried(Path("native/F.cpp"), both, "f", context))


FORMULAS = """#include <ATen/ATen.h>
namespace at::native {
Tensor divided(const Tensor& grad, const Tensor& self, c10::SymFloat correction) {
  const auto dof = c10::SymFloat(self.sym_numel()) - correction;
  if (dof <= 0) {
    return grad * 0;
  } else {
    return (c10::SymFloat(2.0) / dof) * grad;
  }
}
Tensor used(const Tensor& grad, const Tensor& self, c10::SymFloat correction) {
  const auto dof = c10::SymFloat(self.sym_numel()) - correction;
  if (dof <= 0) {
    return grad * 0;
  } else {
    return dof * grad;
  }
}
Tensor ordered(const Tensor& U, const Tensor& S, const Tensor& Vh) {
  const auto m = U.sym_size(-2);
  const auto n = Vh.sym_size(-1);
  return m >= n ? at::matmul(U, S.unsqueeze(-1) * Vh) : at::matmul(U * S.unsqueeze(-2), Vh);
}
Tensor unlike(const Tensor& U, const Tensor& S, const Tensor& Vh) {
  const auto m = U.sym_size(-2);
  const auto n = Vh.sym_size(-1);
  return m >= n ? at::matmul(U, S.unsqueeze(-1) + Vh) : at::matmul(U + S.unsqueeze(-2), Vh);
}
}
"""


def test_cpp_a_divisor_is_held_at_0(context: Context) -> None:
    ((fix, text),) = tried(Path("native/Fit.cpp"), FORMULAS, "divided", context)
    assert (fix.rule, fix.safety) == (branchless.NAME, Safety.UNSAFE)
    assert "if (TORCH_GUARD_OR_FALSE(dof.sym_le(0))) {" in text
    assert "(c10::SymFloat(2.0) / dof.max(0)) * grad" in text
    assert tried(Path("native/Fit.cpp"), FORMULAS, "used", context) == []


def test_cpp_the_order_of_a_product_is_free(context: Context) -> None:
    (text,) = [text for _, text in tried(Path("native/Fit.cpp"), FORMULAS, "ordered", context)]
    assert "return TORCH_GUARD_OR_TRUE(m.sym_ge(n)) ? at::matmul(U, S.unsqueeze(-1) * Vh)" in text
    assert tried(Path("native/Fit.cpp"), FORMULAS, "unlike", context) == []


def test_a_demangled_name_means_the_overload_it_fits(context: Context) -> None:
    text = "Tensor f(const Tensor& y, const Scalar& dx, int64_t d) { return y; }\n"
    text += "Tensor f(const Tensor& y, const Tensor& x, int64_t d) { return x; }\n"
    source = SourceFile(Path("native/F.cpp"), text.encode())
    wing = Registry().wing(source.path)
    assert wing is not None
    extent = load_language(wing.package).extent
    for mangled, piece in (
        ("at::native::f(at::Tensor const&, at::Tensor const&, long)", "return x"),
        ("at::native::f(at::Tensor const&, c10::Scalar const&, long)", "return y"),
        ("at::native::f(at::Tensor const&, ..., long)", "return y"),
    ):
        found = extent(source, 0, mangled)
        assert found is not None and piece in text[slice(*found)]

"""Tests of names and types at a place: scopes, shadowing, and declarations that resemble functions."""

from __future__ import annotations

from pathlib import Path

import pytest
from goldens import installed_torch
from symfix.codemods.model.source_file import SourceFile
from symfix.cpp.analysis.file.inference import Inference
from symfix.cpp.syntax.model import Model
from symfix.cpp.syntax.tree import Tree, walk
from symfix.cpp.syntax.types import Type, read_type, symbolic_text

SCOPES = """
using namespace at;
void f(int64_t n, const Tensor& t) {
  use(n);
  { Tensor n = t; use(n); }
  auto g = [](double n) { use(n); };
  for (auto n : t.sizes()) { use(n); }
  use(n);
}
void h(bool n) { use(n); DimVector v(sizes); use(v); }
"""


def model_of(text: str) -> tuple[Model, Inference]:
    model = Model(Tree(SourceFile(Path("f.cpp"), text.encode()).content))
    return model, Inference(model, installed_torch())


def test_a_name_is_the_innermost_declaration_before_its_use() -> None:
    model, types = model_of(SCOPES)
    calls = [node for node in walk(model.tree.root) if node.type == "call_expression" and node.text.startswith(b"use")]
    kinds = [types.type_of(call.child_by_field_name("arguments").named_children[0]) for call in calls]
    wanted = [Type.INT, Type.TENSOR, Type.FLOAT, Type.INT, Type.INT, Type.BOOL, Type.INT_VEC]
    assert kinds == wanted


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("t.size(0)", Type.INT),
        ("t.sizes().slice(1)", Type.INT_REF),
        ("t.sizes().vec()", Type.INT_VEC),
        ("t.sizes().size()", Type.UNSIGNED),
        ("t.sizes()[0] * 2", Type.INT),
        ("t.sym_size(0) + 1", Type.SYM_INT),
        ("t.numel() * 0.5", Type.FLOAT),
        ("t.transpose(0, 1)", Type.TENSOR),
        ("t + 1", Type.TENSOR),
        ("std::get<1>(t.sort())", Type.TENSOR),
        ("list[0]", Type.TENSOR),
        ("list.size()", Type.UNSIGNED),
        ("*maybe", Type.TENSOR),
        ("t.dim() == 0 && t.defined()", Type.BOOL),
        ("somebody(t)", Type.UNKNOWN),
    ],
)
def test_types_of_expressions(expression: str, kind: Type) -> None:
    given = "const Tensor& t, TensorList list, const std::optional<Tensor>& maybe"
    text = f"using namespace at; void f({given}) {{ auto x = {expression}; }}"
    model, types = model_of(text)
    declarator = next(node for node in walk(model.tree.root) if node.type == "init_declarator")
    value = declarator.child_by_field_name("value")
    assert value is not None
    assert types.type_of(value) is kind


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        ("", Type.UNKNOWN),
        ("using namespace at;", Type.TENSOR),
        ("using namespace torch;", Type.TENSOR),
        ("using at::Tensor;", Type.TENSOR),
        ("using ::torch::Tensor;", Type.TENSOR),
        ("typedef at::Tensor Tensor;", Type.TENSOR),
        ("using namespace torch::stable;", Type.UNKNOWN),
        ("using torch::stable::Tensor;", Type.UNKNOWN),
        ("using Tensor = mine::Tensor;", Type.UNKNOWN),
        ("typedef mine::Tensor Tensor;", Type.UNKNOWN),
        ("struct Tensor;", Type.UNKNOWN),
        ("namespace at = mine; using at::Tensor;", Type.UNKNOWN),
        ("using namespace at; namespace inner { struct Tensor; }", Type.TENSOR),
        ("using namespace mine; namespace mine { struct Tensor; }", Type.UNKNOWN),
        ("using Tensor = Tensor;", Type.UNKNOWN),
        ("namespace at::native {", Type.TENSOR),
        ("namespace torch::autograd {", Type.TENSOR),
        ("namespace torch::executor {", Type.UNKNOWN),
        ("using namespace at; template <class Tensor>", Type.UNKNOWN),
    ],
)
def test_whose_tensor_it_is(head: str, kind: Type) -> None:
    model, _ = model_of(f"{head}\nvoid f(const Tensor& t) {{ }}" + "\n}" * (head.count("{") - head.count("}")))
    (function,) = model.functions
    assert function.parameters[0].type is kind


@pytest.mark.parametrize(
    ("text", "kind", "twin"),
    [
        ("const int64_t", Type.INT, "const c10::SymInt"),
        ("std::vector<int64_t>", Type.INT_VEC, "std::vector<c10::SymInt>"),
        ("at::SmallBuffer<int64_t, 5>", Type.INT_VEC, "c10::SymDimVector"),
        ("at::IntArrayRef", Type.INT_REF, "at::SymIntArrayRef"),
        ("const std::optional<at::Tensor>&", Type.OPTIONAL_TENSOR, None),
        ("const Tensor*", Type.UNKNOWN, None),
        ("float", Type.UNKNOWN, None),
    ],
)
def test_types_by_their_text(text: str, kind: Type, twin: str | None) -> None:
    assert read_type(text) is kind
    assert symbolic_text(text, kind) == twin

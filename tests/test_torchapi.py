"""Tests of TorchApi on the installed torch, compared with the declarations in its headers."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from symfix.codemods.torchapi import Argument, Kernel, OverloadSignature, TorchApi

_RUNS_IN_A_CPU_BUILD = re.compile(r"Composite|CPU\Z|Meta\Z")


@pytest.fixture(scope="module")
def api() -> TorchApi:
    return TorchApi.load()


@pytest.fixture(scope="module")
def declared(api: TorchApi) -> dict[str, set[tuple[str, ...]]]:
    """Return the C++ functions of ``ATen/ops``: name → parameter lists (type and name, without default)."""
    found: dict[str, set[tuple[str, ...]]] = {}
    for header in (api.include_dirs[0] / "ATen" / "ops").glob("*.h"):
        if not header.name.endswith("_ops.h"):
            for line in re.findall(r"^(?:inline|TORCH_API) .*? (\w+)\((.*)\) ?[{;]", header.read_text(), re.MULTILINE):
                found.setdefault(line[0], set()).add(tuple(_parameters(line[1])))
    return found


def _parameters(text: str) -> Iterator[str]:
    depth, start = 0, 0
    for at, character in enumerate(text + ","):
        depth += (character in "<({") - (character in ">)}")
        if character == "," and depth == 0:
            if text[start:at].strip():
                yield text[start:at].partition("=")[0].strip()
            start = at + 1


def test_every_function_is_declared_with_these_arguments(
    api: TorchApi, declared: dict[str, set[tuple[str, ...]]]
) -> None:
    checked = 0
    for name in declared:
        for operator in api.functions(name):
            if operator.manual:
                continue
            names = tuple(argument.name for argument in operator.arguments)
            for cpp_name in filter(None, (operator.cpp_name, operator.symint_name)):
                signatures = {tuple(_last_words(signature)) for signature in declared[cpp_name]}
                assert names in signatures, f"at::{cpp_name}({', '.join(names)})"
                checked += 1
    assert checked > 4000


def _last_words(signature: tuple[str, ...]) -> Iterator[str]:
    return (re.split(r"[\s&*]+", parameter)[-1] for parameter in signature)


def test_every_kernel_of_a_cpu_build_is_declared_with_this_signature(
    api: TorchApi, declared: dict[str, set[tuple[str, ...]]]
) -> None:
    checked = 0
    for name, signatures in declared.items():
        for kernel in api.kernels(name):
            if not kernel.structured and any(map(_RUNS_IN_A_CPU_BUILD.search, kernel.keys)):
                assert tuple(f"{kind} {own}" for kind, own in kernel.parameters) in signatures, name
                checked += 1
    assert checked > 1500


def _overload(operators: tuple[OverloadSignature, ...], overload: str) -> OverloadSignature:
    return next(operator for operator in operators if operator.overload == overload and not operator.faithful)


def test_a_method_has_the_arguments_without_self(api: TorchApi) -> None:
    narrow = _overload(api.methods("narrow_symint"), "")
    assert narrow == _overload(api.methods("narrow"), "")
    assert [argument.type for argument in narrow.method_arguments] == ["int", "SymInt", "SymInt"]
    assert [argument.symbolic for argument in narrow.arguments] == [False, False, True, True]
    where = _overload(api.methods("where"), "self")
    assert [argument.name for argument in where.method_arguments] == ["condition", "other"]


def test_a_name_is_a_method_a_function_or_both(api: TorchApi) -> None:
    assert api.methods("view") and not api.functions("view")
    assert api.functions("empty") and not api.methods("empty")
    assert api.functions("expand_copy") and api.methods("expand") and not api.functions("expand")
    assert api.functions("no_such_operator") == api.methods("no_such_operator") == ()


def test_tensor_options_are_one_argument_and_four_in_the_faithful_signature(api: TorchApi) -> None:
    grouped, faithful = (one for one in api.functions("empty_symint") if one.overload == "memory_format")
    assert grouped.arguments[:2] == (Argument("size", "SymInt[]", None), Argument("options", "TensorOptions", "{}"))
    assert grouped.tensor_options and not faithful.tensor_options
    assert [argument.name for argument in faithful.arguments[1:5]] == ["dtype", "layout", "device", "pin_memory"]


def test_out_comes_first_and_in_outf_last(api: TorchApi) -> None:
    (out,) = (one for one in api.functions("empty_symint_out") if one.overload == "out")
    (outf,) = (one for one in api.functions("empty_outf") if one.overload == "out")
    assert (out.cpp_name, out.symint_name, out.arguments[0].name) == ("empty_out", "empty_symint_out", "out")
    assert (outf.cpp_name, outf.symint_name, outf.arguments[-1].name) == ("empty_outf", "empty_symint_outf", "out")
    assert (outf.faithful, out.faithful) == (True, False)


def test_an_operator_without_symint_has_no_symint_form(api: TorchApi) -> None:
    add = _overload(api.functions("add"), "Tensor")
    assert (add.symbolic, add.symint_name, add.structured) == (False, None, True)


def test_kernels_have_the_signature_torch_calls_them_with(api: TorchApi) -> None:
    (kernel,) = api.kernels("cross_entropy_loss_symint")
    assert (kernel.namespace, kernel.keys, kernel.composite) == ("at::native", ("CompositeImplicitAutograd",), True)
    assert kernel.symint and ("c10::SymInt", "ignore_index") in kernel.parameters
    assert kernel.operator.name == "cross_entropy_loss"
    assert (kernel.operator, kernel.returns) == (api.functions("cross_entropy_loss")[0], "at::Tensor")
    (plain,) = api.kernels("repeat")
    assert not plain.symint and ("at::IntArrayRef", "repeats") in plain.parameters


def test_one_kernel_name_may_serve_several_operators_and_keys(api: TorchApi) -> None:
    kernels = {kernel.operator.overload: kernel for kernel in api.kernels("where")}
    assert "CPU" in kernels["self"].keys and not kernels["self"].composite
    assert kernels["Scalar"].composite and kernels["ScalarOther"].composite


def test_structured_kernels_and_their_meta_functions(api: TorchApi) -> None:
    (meta,) = api.kernels("index_Tensor")
    assert (meta.namespace, meta.structured, meta.keys, meta.returns) == ("at::meta", True, ("Meta",), "void")
    (implementation,) = api.kernels("index_out")
    assert implementation.structured
    assert [own for _, own in implementation.parameters] == ["self", "sizes", "strides", "out"]


def test_kernels_that_torchgen_writes_itself_are_left_out(api: TorchApi) -> None:
    (operator,) = (one for one in api.functions("new_zeros_out") if one.overload == "out")
    (_, generated), *_ = operator.kernels
    assert api.kernels(generated) == ()
    assert api.kernels("no_such_kernel") == ()


def test_it_is_cheap_to_pickle_and_answers_the_same(api: TorchApi) -> None:
    pickled = pickle.dumps(api)
    again: TorchApi = pickle.loads(pickled)
    assert len(pickled) < 4096
    assert again.functions("zeros") == api.functions("zeros")
    kernel: Kernel = pickle.loads(pickle.dumps(api.kernels("repeat")[0]))
    assert kernel == api.kernels("repeat")[0]


def test_loading_imports_neither_torch_nor_torchgen() -> None:
    program = (
        "import sys; from symfix.codemods.torchapi import TorchApi; api = TorchApi.load();"
        "assert api.functions('empty') and api.has('torch.sym_min') and api.kernels('repeat');"
        "sys.exit(any(name.split('.')[0] in ('torch', 'torchgen', 'yaml') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_it_says_which_torch_it_is(api: TorchApi) -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+\w*", api.version)
    assert api.release >= (2, 8)
    assert api.torch_root is None and api.torch_python.exists()
    assert (api.package / "version.py").is_file()
    assert (api.include_dirs[0] / "ATen" / "ATen.h").is_file()

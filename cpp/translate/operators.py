"""Calls of operators: the overload that C++ selects, and its Python call."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ...codemods.torchapi import Argument, DeclaredSchema, OverloadSignature, SchemaError, TorchApi, read_schema
from .kinds import (
    BRACES,
    DEVICE,
    DTYPE,
    LAYOUT,
    NAMES,
    OPTIONS,
    UNKNOWN,
    CppKind,
    fit,
    kind_of_schema,
    list_of,
    tuple_of,
)
from .values import Level, PythonExpression, Untranslatable

_FUNC = re.compile(r"^- func: (.*\S)", re.MULTILINE)
_METHOD = re.compile(r"^    def (\w+)\(", re.MULTILINE)
_MEMORY = {"contiguous_format": "torch.contiguous_format", "preserve_format": "torch.preserve_format"}
_REDUCTIONS = {"None": "0", "Mean": "1", "Sum": "2"}


@dataclass(frozen=True)
class Schemas:
    """The operators of the tree that contains the C++."""

    api: TorchApi
    target: TorchApi
    """API of the torch that runs the Python."""
    _declared: dict[str, DeclaredSchema] = field(default_factory=dict, compare=False)

    @cached_property
    def _texts(self) -> dict[str, str]:
        yaml = (self.api.place.native / "native_functions.yaml").read_text()
        return {text.partition("(")[0]: text for text in _FUNC.findall(yaml)}

    @cached_property
    def _in_python(self) -> frozenset[str]:
        """Return the methods that a Tensor has in Python, which are fewer than in C++."""
        stub = (self.target.package / "_C" / "__init__.pyi").read_text()
        return frozenset(_METHOD.findall(stub[stub.index("class TensorBase") :]))

    def declared(self, full_name: str) -> DeclaredSchema | None:
        """Return the schema of an overload such as ``hsplit.int``, as written, or None."""
        if full_name not in self._declared and full_name in self._texts:
            try:
                self._declared[full_name] = read_schema(self._texts[full_name])
            except SchemaError:
                return None
        return self._declared.get(full_name)

    def function(self, name: str, arguments: Sequence[PythonExpression]) -> PythonExpression:
        """Return ``at::name(arguments)``. Raise Untranslatable."""
        operator = _chosen(
            name, self.api.functions(name), [one.arguments for one in self.api.functions(name)], arguments
        )
        siblings = {one.overload for one in self.api.functions(name) if not _writes_out(one)}
        certain = len(siblings) == 1 and not _writes_out(operator)
        overload = "" if certain else f".{operator.overload or 'default'}"
        listed = self._listed(operator, operator.arguments, arguments)
        if "ScalarType" in operator.returns:
            # Through the dispatcher, Python would get the number of a dtype.
            return PythonExpression(f"torch.{operator.name}({listed})", returned(operator), fresh=True)
        return PythonExpression(f"aten.{operator.name}{overload}({listed})", returned(operator), fresh=True)

    def kernel(self, operator: OverloadSignature, arguments: Sequence[PythonExpression]) -> PythonExpression:
        """Return a direct call of a kernel as a call of its operator. Raise Untranslatable."""
        if operator.tensor_options or len(arguments) > len(operator.arguments):
            raise Untranslatable(f"the kernel of `{operator.name}`, called by itself")
        listed = self._listed(operator, operator.arguments, arguments)
        return PythonExpression(
            f"aten.{operator.name}.{operator.overload or 'default'}({listed})", returned(operator), fresh=True
        )

    def method(
        self, holder: PythonExpression, name: str, arguments: Sequence[PythonExpression]
    ) -> PythonExpression | None:
        """Return ``holder.name(arguments)``, or None if Tensors have no such method. Raise Untranslatable."""
        found = self.api.methods(name)
        if not found:
            return None
        operator = _chosen(name, found, [one.method_arguments for one in found], arguments)
        listed = self._listed(operator, operator.method_arguments, arguments)
        if operator.name in ("mT", "mH", "H", "T"):
            return PythonExpression(f"{holder.atom}.{operator.name}", returned(operator))
        if operator.name not in self._in_python:
            words = ", ".join(filter(None, (holder.inside(Level.TERNARY), listed)))
            return PythonExpression(
                f"aten.{operator.name}.{operator.overload or 'default'}({words})", returned(operator), fresh=True
            )
        return PythonExpression(f"{holder.atom}.{operator.name}({listed})", returned(operator), fresh=True)

    def _listed(self, operator: OverloadSignature, asked: Sequence[Argument], given: Sequence[PythonExpression]) -> str:
        full_name = f"{operator.name}.{operator.overload}" if operator.overload else operator.name
        schema = self.declared(full_name)
        if schema is None:
            raise Untranslatable(f"the schema of {full_name} is not in the tree's native_functions.yaml")
        named = {one.name for one in schema.arguments if one.keyword_only}
        words: list[str] = []
        keywords: list[str] = []
        for argument, value in zip(asked, given, strict=False):
            if argument.type == "TensorOptions":
                keywords += options_words(value)
            elif argument.name in named:
                keywords.append(f"{argument.name}={passed(value, argument.type)}")
            else:
                words.append(passed(value, argument.type))
        return ", ".join([*words, *keywords])


def options_words(value: PythonExpression) -> list[str]:
    """Return TensorOptions as the keyword arguments of a call."""
    if value.fields is not None:
        return [f"{name}={text}" for name, text in value.fields]
    if value.kind is BRACES:
        return []
    name = {DTYPE: "dtype", DEVICE: "device", LAYOUT: "layout"}.get(value.kind)
    return [f"{name}={value.inside(Level.TERNARY)}"] if name else [f"**{value.atom}"]


def passed(value: PythonExpression, type_text: str) -> str:
    """Return the text of a value as an argument of a schema's type."""
    if value.kind is BRACES and kind_of_schema(type_text).name != "list" and not value.parts:
        return "None"
    wanted = kind_of_schema(type_text)
    wanted = wanted.held if wanted.name == "optional" else wanted
    if wanted.name == "list" and value.kind == wanted.held and "[1]" not in type_text:
        return f"[{value.text}]"
    return value.inside(Level.TERNARY)


def returned(operator: OverloadSignature) -> CppKind:
    """Return the kind of an operator's result."""
    kinds = tuple(map(kind_of_schema, operator.returns))
    kinds = tuple(list_of(kind.held) if kind.name == "list" else kind for kind in kinds)
    return kinds[0] if len(kinds) == 1 else tuple_of(kinds)


def default_text(argument_type: str, default: str) -> str:
    """Return a schema's default in Python."""
    if default in _MEMORY:
        return _MEMORY[default]
    if default.startswith("["):
        parts = [part.strip() for part in default[1:-1].split(",") if part.strip()]
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
    if default in _REDUCTIONS and kind_of_schema(argument_type).name == "integer":
        return _REDUCTIONS[default]
    return default


def _chosen(
    name: str,
    operators: Sequence[OverloadSignature],
    asked: Sequence[Sequence[Argument]],
    given: Sequence[PythonExpression],
) -> OverloadSignature:
    """Return the overload that C++ selects. Raise Untranslatable."""
    unknown = next((value for value in given if value.kind is UNKNOWN), None)
    if unknown is not None:
        raise Untranslatable(f"of what kind `{unknown.text}` is, which `{name}` is called with")
    rated: dict[tuple[str, str], tuple[int, OverloadSignature]] = {}
    for operator, arguments in zip(operators, asked, strict=True):
        score = _score(arguments, given)
        key = operator.name, operator.overload
        if score is not None and (key not in rated or score < rated[key][0]):
            rated[key] = score, operator
    if not rated:
        kinds = ", ".join(str(value.kind) for value in given)
        raise Untranslatable(f"no overload of `{name}` takes ({kinds})")
    best = min(score for score, _ in rated.values())
    first, *others = [operator for score, operator in rated.values() if score == best]
    if others:
        raise Untranslatable(
            f"which overload of `{name}` is called: {first.overload or 'default'} or {others[0].overload}"
        )
    return first


def _score(asked: Sequence[Argument], given: Sequence[PythonExpression]) -> int | None:
    if len(given) > len(asked) or any(one.default is None for one in asked[len(given) :]):
        return None
    total = 0
    for argument, value in zip(asked, given, strict=False):
        if kind_of_schema(argument.type) in (NAMES, list_of(NAMES, owned=False)) or "Dimname" in argument.type:
            return None
        one = _fit_parts(value, argument.type)
        if one is None:
            return None
        total += one
    return total


def _fit_parts(value: PythonExpression, type_text: str) -> int | None:
    wanted = kind_of_schema(type_text)
    wanted = wanted.held if wanted.name == "optional" else wanted
    if value.kind is BRACES and value.parts and wanted.name == "list":
        fits = [fit(part.kind, str_of(wanted.held)) for part in value.parts]
        return None if None in fits else 1
    if value.kind is BRACES and value.parts and wanted is not OPTIONS:
        return None
    return fit(value.kind, type_text)


def str_of(kind: CppKind) -> str:
    """Return a schema's type of a kind."""
    return {"integer": "int", "Scalar": "Scalar", "Tensor": "Tensor", "bool": "bool", "float": "float"}.get(
        kind.name, kind.name
    )


def _writes_out(operator: OverloadSignature) -> bool:
    return operator.cpp_name.endswith(("_out", "_outf"))

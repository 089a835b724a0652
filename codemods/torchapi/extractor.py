"""Extraction of the operators of one torch with its own torchgen, printed as lines of JSON.

This file runs as a script in a child process: ``extractor.py TORCHGEN_DIR NATIVE_FUNCTIONS_YAML TAGS_YAML``. It imports
nothing of symfix. The first line of the output is the index, every other line is one row. `schema` turns rows into
values.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

NO_YAML = 3
UNREADABLE = 4


def main(torchgen: Path, native: Path, tags: Path) -> int:
    """Print the rows, or one line on stderr. Return a status that identifies the cause of a failure."""
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != Path(__file__).resolve().parent]
    try:
        yaml = importlib.import_module("yaml")
    except ModuleNotFoundError:
        print("PyYAML is not installed", file=sys.stderr)
        return NO_YAML
    _place(torchgen)
    gen = importlib.import_module("torchgen.gen")
    try:
        parsed = gen.parse_native_yaml(str(native), str(tags))
    except (yaml.YAMLError, AssertionError, LookupError, RuntimeError, TypeError, ValueError) as error:
        print(_one_line(error), file=sys.stderr)
        return UNREADABLE
    groups = gen.get_grouped_native_functions(parsed.native_functions)
    _print(_Extraction(parsed.backend_indices), groups)
    return 0


def _place(torchgen: Path) -> None:
    """Make ``import torchgen`` load this folder, since PyPI has an unrelated package of the same name."""
    spec = importlib.util.spec_from_file_location(
        "torchgen", torchgen / "__init__.py", submodule_search_locations=[str(torchgen)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{torchgen} is no package")
    module = importlib.util.module_from_spec(spec)
    sys.modules["torchgen"] = module
    spec.loader.exec_module(module)


def _print(extraction: _Extraction, groups: Iterable[Any]) -> None:
    operators: list[Any] = []
    kernels: list[Any] = []
    for group in groups:
        meta, functions = extraction.members(group)
        for function in functions:
            first = len(operators)
            operators += extraction.operators(function)
            kernels += ([*row, first] for row in extraction.kernels(function, group))
            if meta is not None and function is group.out:
                kernels.append([*meta, first])
    index: dict[str, Any] = {"functions": {}, "methods": {}, "kernels": {}}
    for number, row in enumerate(operators):
        for variant in row[5]:
            index[variant + "s"].setdefault(row[2], []).append(number)
    for number, row in enumerate(kernels):
        index["kernels"].setdefault(row[0], []).append(number + len(operators))
    for line in (index, *operators, *kernels):
        print(json.dumps(line, separators=(",", ":")))


class _Extraction:
    """Rows of one parsed yaml."""

    def __init__(self, indices: Any) -> None:
        self._indices = {key.name: index for key, index in indices.items()}

    def members(self, group: Any) -> tuple[list[Any] | None, list[Any]]:
        """Return the meta function of a structured group, and the functions of any group."""
        model = importlib.import_module("torchgen.model")
        if isinstance(group, model.NativeFunction):
            return None, [group]
        row = None
        if group.structured:
            meta, structured = _api("meta"), _api("structured")
            with _context(group):
                row = [meta.name(group), "at::meta", ["Meta"], False, True, "void"]
                row.append(_parameters(structured.meta_arguments(group)))
        return row, list(group.functions())

    def operators(self, function: Any) -> Iterator[list[Any]]:
        """Yield one row for the plain C++ signature, and one for the faithful signature if the two differ."""
        with _context(function):
            signatures = _api("types").CppSignatureGroup.from_native_function(function, method=False)
            for signature in (signatures.signature, signatures.faithful_signature):
                if signature is not None:
                    yield self._operator(function, signature)

    def _operator(self, function: Any, signature: Any) -> list[Any]:
        schema = function.func
        return [
            str(schema.name.name),
            schema.name.overload_name,
            signature.name(),
            [_argument(binding) for binding in signature.arguments()],
            [str(value.type) for value in schema.returns],
            sorted(variant.name for variant in function.variants),
            schema.has_symint(),
            any(_is_options(binding.argument) for binding in signature.arguments()),
            bool(function.structured or function.structured_delegate),
            [[key, entry.kernel] for key, entry in self._entries(function)],
            signature.faithful,
            function.manual_cpp_binding,
        ]

    def kernels(self, function: Any, group: Any) -> Iterator[list[Any]]:
        """Yield the hand-written kernels, each once, with all keys it is registered for."""
        if "generated" in function.tags:
            return
        merged: dict[tuple[str, str, bool], list[str]] = {}
        for key, entry in self._entries(function):
            namespace = getattr(entry, "cpp_namespace", "at::native")
            merged.setdefault((entry.kernel, namespace, bool(entry.structured)), []).append(key)
        with _context(function):
            for (name, namespace, is_structured), keys in merged.items():
                symint = "_symint" in name and function.func.has_symint()
                if is_structured:
                    returns, parameters = "void", _parameters(_api("structured").impl_arguments(group))
                else:
                    signature = _api("types").NativeSignature(function.func, prefix="", symint=symint)
                    returns = signature.returns_type().cpp_type()
                    parameters = _parameters(signature.arguments())
                yield [name, namespace, keys, symint, is_structured, returns, parameters]

    def _entries(self, function: Any) -> Iterator[tuple[str, Any]]:
        for key, index in self._indices.items():
            entry = index.get_kernel(function)
            if entry is not None:
                yield key, entry


def _context(function: Any) -> Any:
    return importlib.import_module("torchgen.context").native_function_manager(function)


def _api(name: str) -> Any:
    return importlib.import_module("torchgen.api." + name)


def _parameters(bindings: Iterable[Any]) -> list[list[str]]:
    return [[binding.nctype.cpp_type(), binding.name] for binding in bindings]


def _argument(binding: Any) -> list[str | None]:
    argument = getattr(binding.argument, "argument", binding.argument)
    if _is_options(argument):
        return [binding.name, "TensorOptions", binding.default]
    return [binding.name, str(argument.type), None if binding.default is None else argument.default]


def _is_options(argument: Any) -> bool:
    return type(argument).__name__ == "TensorOptionsArguments"


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:400] or type(error).__name__


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:4])))

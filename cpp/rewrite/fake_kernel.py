"""Draft of a fake kernel in C++ and in Python: the allocations of a kernel, with symbolic sizes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from tree_sitter import Node

from ...codemods.model.edit import apply
from ...codemods.model.rule import Context
from ..analysis.operators.allocations import Allocations
from ..analysis.operators.argument_widening import widened
from ..analysis.operators.operators import OwnKernel, OwnOperator
from ..analysis.propagation.promotions import analyse
from ..syntax.declarations import Function
from ..syntax.tree import arguments
from ..syntax.types import Type
from .emit import emit

_DTYPES = {
    "kFloat": "torch.float32", "kDouble": "torch.float64", "kHalf": "torch.float16", "kBFloat16": "torch.bfloat16",
    "kInt": "torch.int32", "kLong": "torch.int64", "kByte": "torch.uint8", "kBool": "torch.bool",
}  # fmt: skip


def scaffold(operator: OwnOperator, kernel: OwnKernel, made: Allocations, context: Context) -> str:
    """Return the text of a meta kernel and its registration, with a Python version as a comment if there is one."""
    space, _, name = operator.name.partition("::")
    function = f"{name.replace('.', '_')}_meta"
    text = _function(kernel, function, made)
    spaces = [part for one in kernel.function.namespaces for part in one.split("::") if part]
    opened = "".join(f"namespace {one} {{\n" for one in spaces)
    closed = "}\n" * len(spaces)
    path = "::".join([*spaces, function])
    registered = f'TORCH_LIBRARY_IMPL({space}, Meta, m) {{\n  m.impl("{name}", &{path});\n}}\n'
    whole = _symbolic(kernel, f"{opened}{text}{closed}{registered}", function, context)
    python = _python(operator, kernel, made)
    return (f"// In Python:\n{python}" if python else "") + whole


def _integers(function: Function) -> list[str]:
    return [one.name for one in function.parameters if one.name and one.type in (Type.INT, Type.INT_REF)]


def widened_schema(operator: OwnOperator, kernel: OwnKernel) -> str | None:
    """Return the schema that the draft requires, as written, or None if it is the present one."""
    text, names = operator.schema.text, _integers(kernel.function)
    pairs = zip(operator.schema.arguments, kernel.function.parameters, strict=False)
    for argument, parameter in reversed(list(pairs)):
        if parameter.name in names and argument.widened is not None:
            text = text[: argument.start] + argument.widened + text[argument.end :]
    return None if text == operator.schema.text else text


def _function(kernel: OwnKernel, name: str, made: Allocations) -> str:
    tree, own = kernel.know.model.tree, kernel.function
    head = kernel.source.content[own.node.start_byte : own.body.start_byte].decode()
    head = re.sub(rf"\b{re.escape(own.name)}\b(?=\s*\()", name, head, count=1)
    lines = [tree.text(one) for one in made.declarations]
    lines.append(f"return {tree.text(made.returned)};")
    return f"{head.strip()} {{\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


def _symbolic(kernel: OwnKernel, text: str, name: str, context: Context) -> str:
    """Return the text with symbolic sizes, as the rules rewrite it behind the kernel."""
    content = kernel.source.content.rstrip() + b"\n\n"
    source = replace(kernel.source, content=content + text.encode(), project=b"")
    for _ in range(2):
        know = analyse(source, context).know
        found = next((one for one in know.model.functions if one.name == name), None)
        if found is None:
            break
        integers = _integers(found)
        signature = widened(found, integers) if integers else None
        wanted = () if signature is None else ((found.node.start_byte, signature),)
        analysis = analyse(source, context, wanted=wanted)
        edits = {
            edit
            for promotion in analysis.promotions
            for edit in emit(promotion, source.content)
            if all(seed.call.start_byte >= len(content) for seed in promotion.seeds)
        }
        if not edits:
            break
        source = replace(source, content=apply(source.content, sorted(edits)))
    return source.content[len(content) :].decode()


def _python(operator: OwnOperator, kernel: OwnKernel, made: Allocations) -> str | None:
    """Return the Python version as a comment, or None if a part has no simple translation."""
    try:
        lines = []
        for one in made.declarations:
            declarator = one.child_by_field_name("declarator")
            name = None if declarator is None else declarator.child_by_field_name("declarator")
            value = None if declarator is None else declarator.child_by_field_name("value")
            if name is None or value is None:
                raise _Untranslated
            lines.append(f"{(name.text or b'').decode()} = {_translated(kernel, value)}")
        lines.append(f"return {_translated(kernel, made.returned)}")
    except _Untranslated:
        return None
    base = operator.name.partition(".")[0]
    names = ", ".join(one.name for one in kernel.function.parameters)
    head = [f'@torch.library.register_fake("{operator.name}")', f"def {base.rpartition('::')[2]}_fake({names}):"]
    return "".join(f"//   {line}\n" for line in (*head, *(f"    {line}" for line in lines)))


class _Untranslated(Exception):
    pass


def _translated(kernel: OwnKernel, node: Node) -> str:
    know = kernel.know
    text = know.model.tree.text(node)
    match node.type:
        case "number_literal":
            return text.rstrip("lLuU")
        case "identifier":
            return text
        case "true" | "false":
            return text.capitalize()
        case "parenthesized_expression":
            return f"({_translated(kernel, node.named_children[0])})"
        case "initializer_list":
            values = [_translated(kernel, one) for one in arguments(node)]
            return f"({', '.join(values)}{',' if len(values) == 1 else ''})"
        case "binary_expression":
            sign, left, right = (node.child_by_field_name(name) for name in ("operator", "left", "right"))
            if sign is None or left is None or right is None or sign.type not in ("+", "-", "*", "/", "%"):
                raise _Untranslated
            word = {"/": "//"}.get(sign.type, sign.type)
            return f"{_translated(kernel, left)} {word} {_translated(kernel, right)}"
        case "call_expression":
            return _called(kernel, node)
    raise _Untranslated


def _called(kernel: OwnKernel, call: Node) -> str:
    types = kernel.know.types
    method, passed = types.receiver(call), arguments(call)
    if method is not None and types.is_tensor(method[0]) and method[1] in ("size", "sizes", "numel", "dim"):
        receiver = _translated(kernel, method[0])
        if method[1] == "size" and len(passed) == 1:
            return f"{receiver}.shape[{_translated(kernel, passed[0])}]"
        return f"{receiver}.shape" if method[1] == "sizes" else f"{receiver}.{method[1]}()"
    if types.callee(call) in ("std::make_tuple", "std::tuple", "make_tuple"):
        return ", ".join(_translated(kernel, one) for one in passed)
    operators = [one for one in types.operators(call) if one.tensor_options]
    if not operators or not passed:
        raise _Untranslated
    name = operators[0].name
    if method is not None:
        return f"{_translated(kernel, method[0])}.{name}({', '.join(_options(kernel, passed))})"
    return f"torch.{name}({', '.join(_options(kernel, passed))})"


def _options(kernel: OwnKernel, passed: list[Node]) -> Iterator[str]:
    types = kernel.know.types
    for one in passed:
        if types.type_of(one).value != "TensorOptions":
            yield _translated(kernel, one)
            continue
        text = re.sub(r"\s", "", kernel.know.model.tree.text(one))
        base = re.fullmatch(r"(\w+)\.options\(\)(?:\.dtype\((?:at|torch|c10)::(k\w+)\))?", text)
        if base is None or (base[2] and base[2] not in _DTYPES):
            raise _Untranslated
        yield f"dtype={_DTYPES[base[2]] if base[2] else base[1] + '.dtype'}"
        yield f"device={base[1]}.device"

"""Translation of a composite operator's C++ function to the text of a Python decomposition."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from ...codemods.torchapi import DeclaredSchema, Kernel, TorchApi
from .conversions import converted
from .expressions import Expressions
from .kinds import INT, NULL, TENSOR, UNKNOWN, CppKind, annotation, read_kind
from .names import VariableScopes
from .operators import Schemas, default_text
from .statements import Body
from .tree_index import Definition, Parameter, Sources, same_kinds
from .values import Level, PythonExpression, Untranslatable, call
from .write_sets import assigned, changed_lists, only_out

_COMPOSING = ("CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")
"""Dispatch keys of kernels that consist of other operators. An operator without a key has the first."""
_DEEPEST = 8
"""Limit on the nesting of helper calls."""


@dataclass(frozen=True)
class Translation:
    """A decomposition of ``operator`` (``aten.hsplit.int``). ``text`` defines ``name``, below its helpers.

    The text uses ``torch``, ``aten``, ``Tensor``, ``DispatchKey`` and the other imports of torch's own file of
    decompositions. ``needs`` are modules that this file does not import. ``path`` is the C++ file.
    """

    operator: str
    name: str
    text: str
    needs: tuple[str, ...]
    path: Path


@dataclass
class Translator:
    """Translator of composites from ``sources``, which belong to the operators of ``tree``, for the torch ``target``.

    ``taken`` are the names in the file of decompositions.
    """

    tree: TorchApi
    target: TorchApi
    sources: Sources
    taken: Collection[str] = ()
    schemas: Schemas = field(init=False)
    _installed: Schemas = field(init=False)

    def __post_init__(self) -> None:
        self.schemas = Schemas(self.tree, self.target)
        self._installed = Schemas(self.target, self.target)

    def translate(self, operator: str) -> Translation:
        """Return the decomposition of an overload. Raise Untranslatable with the construct that is not supported."""
        _, packet, overload = operator.split(".")
        full_name = packet if overload == "default" else f"{packet}.{overload}"
        schema, installed = self.schemas.declared(full_name), self._installed.declared(full_name)
        if schema is None:
            raise Untranslatable(f"the tree has no operator {full_name}")
        if installed is None or installed.arguments != schema.arguments:
            raise Untranslatable(f"the schema of {full_name} is another one in the installed torch")
        kernel = self._kernel(packet, overload)
        definition = self._definition(kernel)
        key = next(key for key in _COMPOSING if key in kernel.keys)
        return _Unit(self, operator, key, schema, definition).translation()

    def _kernel(self, packet: str, overload: str) -> Kernel:
        wanted = "" if overload == "default" else overload
        for operator in self.tree.functions(packet) or self.tree.methods(packet):
            if (operator.name, operator.overload) != (packet, wanted):
                continue
            names = {name for key, name in operator.kernels if key in _COMPOSING} or {packet}
            for kernel in [one for name in names for one in self.tree.kernels(name)]:
                same = (kernel.operator.name, kernel.operator.overload) == (packet, wanted)
                if same and any(key in kernel.keys for key in _COMPOSING):
                    return kernel
        raise Untranslatable(f"the tree does not compose {packet}.{overload} of other operators")

    def _definition(self, kernel: Kernel) -> Definition:
        kinds = [read_kind(text) for text, _ in kernel.parameters]
        found = [
            one
            for one in self.sources.definitions(kernel.name)
            if same_kinds([parameter.kind for parameter in one.parameters], kinds)
        ]
        if len(found) != 1:
            raise Untranslatable(f"the C++ function {kernel.name} is found {len(found)} times")
        return found[0]


@dataclass
class _Helper:
    """A function of the tree that the translation calls. ``left_out`` are parameters that are always None."""

    name: str
    result: CppKind
    left_out: frozenset[int]


_Key = tuple[int, frozenset[int], bool]
"""Position of a helper, its parameters that are always None, and whether the caller ends by returning its result."""


@dataclass
class _Unit:
    """One translation: the operator's own function and the helpers that it calls."""

    translator: Translator
    operator: str
    key: str
    schema: DeclaredSchema
    definition: Definition
    texts: list[str] = field(default_factory=list)
    helpers: dict[_Key, _Helper] = field(default_factory=dict)
    depth: int = 0
    names: set[str] = field(default_factory=set)

    def translation(self) -> Translation:
        """Return the complete text."""
        name = next(one for one in (self._base, f"_{self._base}") if one not in self.translator.taken)
        names = VariableScopes()
        listed = self._signature(names)
        result = self.definition.result
        body = self._body(self.definition, names, result, comments=True)
        returns = self.schema.returns.strip()
        said = _returned(returns)
        head = f"def {name}({', '.join(listed)}){f' -> {said}' if said else ''}:"
        decorator = f"@{self.operator}.py_impl(DispatchKey.{self.key})"
        self.texts.append("\n".join([decorator, head, *body]))
        text = "\n\n\n".join(self.texts) + "\n"
        needs = tuple(module for module in ("math", "warnings") if re.search(rf"\b{module}\.", text))
        return Translation(self.operator, name, text, needs, self.definition.path)

    @property
    def _base(self) -> str:
        """Return the common prefix of the translation's names, which is unique to the overload."""
        return "_".join(filter(None, (self.schema.name, self.schema.overload)))

    def _signature(self, names: VariableScopes) -> list[str]:
        """Return the parameters of the schema. The body refers to them by their C++ names."""
        listed: list[str] = []
        keyword_only = False
        parameters = self.definition.parameters
        if len(parameters) != len(self.schema.arguments):
            raise Untranslatable(f"{len(parameters)} parameters in C++, {len(self.schema.arguments)} in the schema")
        for argument, parameter in zip(self.schema.arguments, parameters, strict=True):
            said = annotation(argument.type)
            if said is None:
                raise Untranslatable(f"an argument of type {argument.type}")
            if argument.keyword_only and not keyword_only:
                listed.append("*")
                keyword_only = True
            variable = names.declare(parameter.name or argument.name, parameter.kind, wanted=argument.name)
            if variable.text != argument.name:
                raise Untranslatable(f"an argument called `{argument.name}`")
            default = "" if argument.default is None else f" = {default_text(argument.type, argument.default)}"
            listed.append(f"{argument.name}: {said}{default}")
        return listed

    def _body(
        self, definition: Definition, names: VariableScopes, result: CppKind, comments: bool, last: bool = False
    ) -> list[str]:
        if definition.declared.around.template:
            raise Untranslatable(f"the template `{definition.declared.name}`")
        node = definition.declared.body
        assert node is not None
        if definition.tree.trusted(node) is not None or (node.has_error and not _only_missing(definition, node)):
            raise Untranslatable(f"`{definition.declared.name}` does not parse")
        unknown = next((one for one in definition.parameters if one.kind is UNKNOWN), None)
        if unknown is not None:
            raise Untranslatable(f"a parameter of type `{unknown.type_text}`")
        expressions = Expressions(
            definition.tree, self.translator.schemas, names, partial(self._helper, definition.path)
        )
        body = Body(expressions, result, comments, changed=frozenset(changed_lists(node)))
        written = assigned(node) | body.changed
        for one in definition.parameters:
            hidden = one.kind is TENSOR and (last or only_out(node, one.name))
            if one.writes and one.name in written and not hidden:
                raise Untranslatable(f"`{definition.declared.name}` writes to its parameter `{one.name}`")
            if one.kind.name == "list" and one.kind.owned and one.name in body.changed:
                variable = names.find(one.name)
                if variable is not None:
                    body.write(f"{variable.text} = list({variable.text})")
        body.block(node)
        if not body.lines:
            body.write("pass")
        return body.lines

    def _helper(self, near: Path, name: str, given: Sequence[PythonExpression], last: bool) -> PythonExpression | None:
        """Return a call of a translated function of the tree, or None if the tree defines none or several."""
        unqualified = name.rpartition("::")[2]
        if not given:
            number = self.translator.sources.constant(unqualified, near)
            if number is not None:
                return PythonExpression(str(number), INT, low=number)
        definition = self._defined(unqualified, given, near)
        if definition is None:
            return None
        kernel = self._composite(unqualified, definition)
        if kernel is not None:
            return self.translator.schemas.kernel(kernel.operator, given)
        none = frozenset(
            number for number, one in enumerate(given) if one.text == "None" and self._stays(definition, number)
        )
        last = last and any(one.writes for one in definition.parameters)
        key = definition.declared.node.start_byte, none, last
        if key not in self.helpers:
            self._translate(definition, none, key)
        helper = self.helpers[key]
        words = [
            converted(one, parameter.kind).inside(Level.TERNARY)
            for number, (one, parameter) in enumerate(zip(given, definition.parameters, strict=False))
            if number not in none
        ]
        return call(f"{helper.name}({', '.join(words)})", helper.result)

    def _stays(self, definition: Definition, number: int) -> bool:
        node = definition.declared.body
        return node is not None and definition.parameters[number].name not in assigned(node)

    def _composite(self, name: str, definition: Definition) -> Kernel | None:
        """Return the operator that has a function as its composite kernel, or None. The operator is called instead."""
        kinds = [parameter.kind for parameter in definition.parameters]
        for kernel in self.translator.tree.kernels(name):
            if kernel.composite and same_kinds([read_kind(text) for text, _ in kernel.parameters], kinds):
                return kernel
        return None

    def _defined(self, name: str, given: Sequence[PythonExpression], near: Path) -> Definition | None:
        found = [one for one in self.translator.sources.definitions(name) if _takes(one, given)]
        own = [one for one in found if one.path == near]
        best = own or found
        exact = [one for one in best if _takes_exactly(one, given)]
        best = exact or best
        symbolic = [one for one in best if any("SymInt" in parameter.type_text for parameter in one.parameters)]
        best = symbolic if len(best) > 1 else best
        return best[0] if len(best) == 1 else None

    def _translate(self, definition: Definition, none: frozenset[int], key: _Key) -> None:
        if self.depth == _DEEPEST:
            raise Untranslatable("helpers that call one another too deeply")
        base = f"_{self._base.strip('_')}_{_snake(definition.declared.unqualified)}"
        used = self.names | set(self.translator.taken)
        name = next(one for one in (base, *(f"{base}_{n}" for n in range(2, 20))) if one not in used)
        self.names.add(name)
        names = VariableScopes()
        listed = []
        for number, one in enumerate(definition.parameters):
            if number in none:
                names.blocks[-1][one.name] = PythonExpression("None", one.kind)
                continue
            variable = names.declare(one.name or f"unused_{number}", one.kind)
            default = f" = {self._default(definition, one)}" if one.default else ""
            said = _annotated(one.kind)
            listed.append(f"{variable.text}: {said}{default}" if said else f"{variable.text}{default}")
        self.helpers[key] = _Helper(name, definition.result, none)
        self.depth += 1
        body = self._body(definition, names, definition.result, comments=False, last=key[2])
        self.depth -= 1
        said = _annotated(definition.result)
        head = f"def {name}({', '.join(listed)}){f' -> {said}' if said else ''}:"
        self.texts.append("\n".join([head, *body]))

    def _default(self, definition: Definition, parameter: Parameter) -> str:
        text = parameter.default
        if text in ("true", "false"):
            return text.capitalize()
        if re.fullmatch(r"-?\d+(\.\d+)?", text):
            return text
        if text.endswith(("nullopt", "{}")):
            return "None"
        if re.fullmatch(r'"[^"\\]*"', text):
            return text
        raise Untranslatable(f"the default `{text}` of `{definition.declared.name}`")


def _only_missing(definition: Definition, node: object) -> bool:
    from ..syntax.tree import doubts

    return not list(doubts(node))  # type: ignore[arg-type]


def _takes(one: Definition, given: Sequence[PythonExpression]) -> bool:
    if len(given) > len(one.parameters) or any(not left.default for left in one.parameters[len(given) :]):
        return False
    return all(_convertible(value, parameter.kind) for value, parameter in zip(given, one.parameters, strict=False))


def _takes_exactly(one: Definition, given: Sequence[PythonExpression]) -> bool:
    kinds = [parameter.kind for parameter in one.parameters[: len(given)]]
    return same_kinds([value.kind for value in given], kinds)


def _convertible(value: PythonExpression, kind: CppKind) -> bool:
    if kind is UNKNOWN:
        return True
    if value.kind is NULL:
        return kind.name == "optional"
    try:
        converted(value, kind)
    except Untranslatable:
        return False
    return True


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda found: f"_{found[1].lower()}", name).lower().strip("_")


_WORDS = {"Tensor": "Tensor", "integer": "int", "float": "float", "bool": "bool", "Scalar": "torch.types.Number",
          "string": "str", "ScalarType": "torch.dtype", "nothing": "None"}  # fmt: skip


def _annotated(kind: CppKind) -> str:
    if kind.name in _WORDS:
        return _WORDS[kind.name]
    inner = [_annotated(one) for one in kind.inner]
    if not all(inner):
        return ""
    if kind.name == "optional":
        return f"{inner[0]} | None"
    if kind.name == "list":
        return f"{'list' if kind.owned else 'Sequence'}[{inner[0]}]" if kind.owned else ""
    return f"tuple[{', '.join(inner)}]" if kind.name == "tuple" else ""


def _returned(text: str) -> str:
    parts = [part.strip() for part in text.strip("()").split(",")] if text.startswith("(") else [text]
    words = [annotation(part.split(" ")[0]) for part in parts]
    if not all(words):
        return ""
    return words[0] or "" if len(words) == 1 else f"tuple[{', '.join(word or '' for word in words)}]"

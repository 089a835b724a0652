"""Type inference for expressions, from declarations, operator schemas and the file's own functions."""

from __future__ import annotations

import re

from tree_sitter import Node

from ....codemods.torchapi import OverloadSignature, TorchApi
from ...syntax.declarations import Function, Variable
from ...syntax.headers import HeaderFunction, HeaderIndex
from ...syntax.model import Model
from ...syntax.structs import Field, Struct, bare_type
from ...syntax.tree import arguments, every
from ...syntax.types import ELEMENT, HALVES, HELD, Type, binary_type, literal_type, read_type, tuple_types, unary_type
from .methods import (
    CONCRETE,
    IN_PARTS,
    RANGES,
    TENSOR_METHODS,
    TENSOR_WRAPPERS,
    list_method,
    made_type,
    schema_type,
)
from .overloads import as_kernel, required, resolve_overload, takes
from .saved_data_syntax import READERS, is_context, slot

_CONSTANT_OPTION = re.compile(
    r"(?:(?:at|torch|c10|ScalarType|DeviceType)::)*(?:k[A-Z]\w*|(?:ScalarType|DeviceType|Layout)::\w+)\Z"
)
TRANSPARENT = frozenset({"std::move", "std::forward", "std::as_const"})


class Inference:
    """Types of the expressions of one file, UNKNOWN if there is not enough evidence."""

    def __init__(self, model: Model, api: TorchApi) -> None:
        self.model = model
        self.api = api
        self.headers = HeaderIndex(api.include_dirs)
        self._known: dict[int, Type] = {}

    def type_of(self, node: Node) -> Type:
        """Return the type of an expression before any promotion."""
        known = self._known.get(node.id)
        if known is None:
            self._known[node.id] = Type.UNKNOWN
            known = self._known[node.id] = self._infer(node)
        return known

    def named_type(self, node: Node) -> Type:
        """Return the type that a type node, or the callee of a construction, names. Return UNKNOWN for a function."""
        if node.type == "identifier" and self.model.resolved[node] is not None:
            return Type.UNKNOWN
        return self.model.names.read(self.model.tree.text(node), node)

    def receiver(self, call: Node) -> tuple[Node, str] | None:
        """Return the receiver and the name of a method call, or None for any other call."""
        function = call.child_by_field_name("function")
        if function is None or function.type != "field_expression":
            return None
        receiver, name = function.child_by_field_name("argument"), function.child_by_field_name("field")
        return None if receiver is None or name is None else (receiver, (name.text or b"").decode())

    def is_tensor(self, receiver: Node) -> bool:
        """Return whether a method called on this receiver is a Tensor's."""
        return self.type_of(receiver) in (Type.TENSOR, Type.OPTIONAL_TENSOR)

    def callee(self, call: Node) -> str:
        """Return the name of a called free function without template arguments.

        Return an empty string for a method call.
        """
        function = call.child_by_field_name("function")
        if function is None or function.type == "field_expression":
            return ""
        return re.sub(r"<.*", "", self.model.tree.text(function), flags=re.DOTALL).strip().removeprefix("::")

    def own_functions(self, call: Node) -> list[Function]:
        """Return the functions or the lambda of this file that a free call may reach."""
        function = call.child_by_field_name("function")
        if function is not None and function.type == "lambda_expression":
            called = self.model.lambda_at(function)
            return [] if called is None else [called]
        if function is None or function.type not in ("identifier", "qualified_identifier"):
            return []
        if function.type == "identifier":
            variable = self.model.resolved[function]
            if variable is not None:
                held = self.model.lambda_of(variable)
                return [] if held is None else [held]
        name = self.callee(call)
        qualifier, _, last = name.rpartition("::")
        if qualifier.split("::")[0] in ("std", "c10"):
            return []
        passed = arguments(call)
        found = [
            own
            for own in self.model.named(last)
            if len(passed) <= len(own.parameters) and (not qualifier or "::".join(own.namespaces).endswith(qualifier))
        ]
        if len(found) < 2:
            return found
        return resolve_overload(
            [(own, required(self.model, self.api, own)) for own in found], [self.type_of(value) for value in passed]
        )

    def struct_of(self, node: Node) -> Struct | None:
        """Return the plain struct of this file that is the type of an expression, or None for any other."""
        structs = self.model.structs
        seen: set[int] = set()
        while structs and node.id not in seen:
            seen.add(node.id)
            if node.type == "parenthesized_expression" and node.named_children:
                node = node.named_children[0]
                continue
            if node.type == "compound_literal_expression":
                written = node.child_by_field_name("type")
                return None if written is None else structs.get(bare_type(self.model.tree.text(written)))
            if node.type == "identifier":
                variable = self.model.resolved[node]
                if variable is None or variable.how in IN_PARTS:
                    return None
                if variable.type is not Type.AUTO:
                    return structs.get(bare_type(variable.type_text))
                if len(variable.initializers) != 1:
                    return None
                node = variable.initializers[0]
                continue
            if node.type != "call_expression":
                return None
            passed = arguments(node)
            if self.callee(node) not in TRANSPARENT or len(passed) != 1:
                own = self.own_functions(node)
                found = {id(one): one for one in (self.struct_returned(function) for function in own)}
                return next(iter(found.values())) if len(found) == 1 else None
            node = passed[0]
        return None

    def struct_returned(self, function: Function) -> Struct | None:
        """Return the plain struct of this file that a function returns, or None for any other."""
        written = function.returns_node
        return None if written is None else self.model.structs.get(bare_type(self.model.tree.text(written)))

    def field_of(self, node: Node) -> Field | None:
        """Return the member that a field expression names, or None if it is unknown."""
        holder, name = node.child_by_field_name("argument"), node.child_by_field_name("field")
        if node.type != "field_expression" or holder is None or name is None:
            return None
        struct = self.struct_of(holder)
        return None if struct is None else struct.field(self.model.tree.text(name))

    def returned(self, call: Node) -> tuple[Type, ...]:
        """Return the types that a call returns, one for each element of a tuple. The result is empty if unknown."""
        if call.type == "identifier":
            held = self.model.resolved[call]
            return self.returned(held.initializers[0]) if held is not None and len(held.initializers) == 1 else ()
        if call.type != "call_expression":
            return ()
        own = [function.parts for function in self.own_functions(call)]
        if own:
            answers = {tuple(self.named_type(part) for part in parts) for parts in own}
        else:
            method = self.receiver(call) is not None
            fitting = [one for one in self.operators(call) if takes(one, len(arguments(call)), is_method=method)]
            answers = {tuple(map(schema_type, operator.returns)) for operator in fitting}
            answers = answers or {tuple_types(one.returns) for one in self.helpers(call) if not one.symbolic}
        return answers.pop() if len(answers) == 1 else ()

    def operators(self, call: Node) -> tuple[OverloadSignature, ...]:
        """Return the operators that a Tensor method call or an ``at::`` call may mean, all overloads."""
        method = self.receiver(call)
        if method is not None:
            return self.api.methods(method[1]) if self.is_tensor(method[0]) else ()
        qualifier, _, name = self.callee(call).rpartition("::")
        if not qualifier:
            return self.api.functions(name) if self._finds_operators(call, name) else ()
        if not self.model.names.is_outermost(qualifier.partition("::")[0], call):
            return ()
        if qualifier in ("at", "torch"):
            return self.api.functions(name)
        if qualifier in ("native", "at::native"):
            kernels = self.api.kernels(name) or self.api.kernels(f"{name}_symint")
            return tuple(as_kernel(kernel) for kernel in kernels)
        return ()

    def _finds_operators(self, call: Node, name: str) -> bool:
        """Return whether an unqualified name means a torch operator.

        It does in torch's namespaces, or with a Tensor argument.
        """
        function = call.child_by_field_name("function")
        if function is None or (function.type == "identifier" and self.model.resolved[function] is not None):
            return False
        if self.model.is_hidden(name, call):
            return False
        of_tensors = {Type.TENSOR, Type.OPTIONAL_TENSOR, Type.TENSORS}
        return self.model.names.in_torch(call) or any(self.type_of(value) in of_tensors for value in arguments(call))

    def _infer(self, node: Node) -> Type:
        tree = self.model.tree
        match node.type:
            case "identifier" | "type_identifier":
                return self._variable(node)
            case "template_type" if (node.text or b"").startswith(b"static_cast"):
                return self._cast(node)  # of DimVector shape(static_cast<size_t>(n));, which reads as a declaration
            case "qualified_identifier":
                return Type.OPTIONS if _CONSTANT_OPTION.match(tree.text(node)) else Type.UNKNOWN
            case "number_literal":
                return Type.INT if (node.text or b"").isdigit() else literal_type(tree.text(node))
            case "true" | "false":
                return Type.BOOL
            case "parenthesized_expression" | "condition_clause" if node.named_children:
                return self.type_of(node.named_children[-1])
            case "comma_expression":
                right = node.child_by_field_name("right")
                return Type.UNKNOWN if right is None else self.type_of(right)
            case "unary_expression" | "pointer_expression":
                return self._unary(node)
            case "binary_expression":
                return self._binary(node)
            case "assignment_expression":
                left = node.child_by_field_name("left")
                return Type.UNKNOWN if left is None else self.type_of(left)
            case "conditional_expression":
                return self._conditional(node)
            case "field_expression":
                field = self.field_of(node)
                return self._half(node) if field is None else field.type
            case "subscript_expression":
                base = node.child_by_field_name("argument")
                kind = Type.UNKNOWN if base is None else self.type_of(base)
                return Type.TENSOR if kind is Type.TENSOR else ELEMENT.get(kind, Type.UNKNOWN)
            case "call_expression":
                return self._call(node)
            case "compound_literal_expression" | "cast_expression":
                target = node.child_by_field_name("type")
                return Type.UNKNOWN if target is None else self.model.names.read(tree.text(target), target)
        return Type.UNKNOWN

    def _variable(self, node: Node) -> Type:
        variable = self.model.resolved[node]
        if variable is None:
            return Type.OPTIONS if _CONSTANT_OPTION.match(self.model.tree.text(node)) else Type.UNKNOWN
        if variable.how == "structured-binding" and len(variable.initializers) == 1:
            struct = self.struct_of(variable.initializers[0])
            if struct is not None and variable.position < len(struct.fields):
                return struct.fields[variable.position].type
            types = self.returned(variable.initializers[0])
            return types[variable.position] if variable.position < len(types) else Type.UNKNOWN
        if variable.how == "c-array":
            return self._pointer(variable)
        if variable.type is not Type.AUTO or not variable.initializers:
            return variable.type
        self._follow_chain(variable)
        kind = self.type_of(variable.initializers[0])
        counts = variable.how == "range" and self.callee(variable.initializers[0]) in RANGES
        return ELEMENT.get(kind, Type.UNKNOWN) if variable.how == "range" and not counts else kind

    def _pointer(self, variable: Variable) -> Type:
        """Return the pointee type of a variable declared with a ``*`` if it is TensorImpl, else UNKNOWN."""
        kind = self.model.names.read(variable.type_text, variable.node)
        if kind is Type.AUTO and len(variable.initializers) == 1:
            kind = self.type_of(variable.initializers[0])
        around = variable.node.parent
        is_pointer = around is not None and around.type == "pointer_declarator"
        return kind if is_pointer and kind is Type.TENSOR_IMPL else Type.UNKNOWN

    def _follow_chain(self, variable: Variable) -> None:
        """Infer the types of the deduced variables that this one is made from, the first of them first.

        Recursion over such chains could exceed the stack.
        """
        order: list[Node] = []
        waiting = [variable]
        while waiting:
            value = waiting.pop().initializers[0]
            if value.id in self._known:
                continue
            self._known[value.id] = Type.UNKNOWN
            order.append(value)
            for name in every(value, "identifier"):
                held = self.model.resolved[name]
                if held is not None and held.type is Type.AUTO and held.initializers:
                    waiting.append(held)
        for value in order:
            del self._known[value.id]
        for value in reversed(order):
            self.type_of(value)

    def _cast(self, node: Node) -> Type:
        """Return the type that ``static_cast<…>`` names."""
        return self.model.names.read(re.sub(r"^static_cast\s*<|>\s*$", "", self.model.tree.text(node)), node)

    def _half(self, node: Node) -> Type:
        """Return the type of ``pair.first`` or ``pair.second``."""
        holder, name = node.child_by_field_name("argument"), node.child_by_field_name("field")
        half = None if name is None else HALVES.get(name.text or b"")
        kinds = () if holder is None or half is None else self.returned(holder)
        return kinds[half] if half is not None and len(kinds) == len(HALVES) else Type.UNKNOWN

    def _unary(self, node: Node) -> Type:
        operand = node.child_by_field_name("argument")
        kind = Type.UNKNOWN if operand is None else self.type_of(operand)
        return unary_type(self.model.tree.text(node.children[0]), kind)

    def _binary(self, node: Node) -> Type:
        left, right, sign = (node.child_by_field_name(name) for name in ("left", "right", "operator"))
        if left is None or right is None or sign is None:
            return Type.UNKNOWN
        kinds = {self.type_of(left), self.type_of(right)}
        operator = self.model.tree.text(sign)
        if operator not in ("&&", "||") and Type.TENSOR in kinds:
            own_operator = Type.UNKNOWN in kinds and not self.model.names.in_torch(node)
            return Type.UNKNOWN if own_operator or Type.STREAM in kinds else Type.TENSOR
        return binary_type(operator, kinds)

    def _conditional(self, node: Node) -> Type:
        branches = (node.child_by_field_name("consequence"), node.child_by_field_name("alternative"))
        kinds = [self.type_of(branch) for branch in branches if branch is not None]
        if set(kinds) == {Type.INT, Type.SYM_INT}:
            return Type.SYM_INT
        return kinds[0] if len(set(kinds)) == 1 else Type.UNKNOWN

    def _call(self, node: Node) -> Type:
        method = self.receiver(node)
        if method is not None:
            return self._method(node, *method)
        function = node.child_by_field_name("function")
        name = self.callee(node)
        passed = arguments(node)
        if function is None:
            return Type.UNKNOWN
        if name == "static_cast":
            return self._cast(function)
        if passed and (name in TRANSPARENT or name in ("std::max", "std::min")):
            kinds = {self.type_of(argument) for argument in passed}
            return Type.SYM_INT if Type.SYM_INT in kinds else self.type_of(passed[0])
        if name in ("at::dtype", "at::device", "at::layout", "torch::dtype", "torch::device"):
            return Type.OPTIONS
        if name in ("std::abs", "std::max_element", "std::min_element", *RANGES) and passed:
            return self.type_of(passed[-1 if name in RANGES else 0])
        if name == "std::get" and passed:
            index = re.search(r"<\s*(\d+)\s*>", self.model.tree.text(function))
            types = self.returned(passed[0])
            return types[int(index[1])] if index and int(index[1]) < len(types) else Type.UNKNOWN
        if function.type != "identifier" and (made := made_type(self.model.tree.text(function))) is not Type.UNKNOWN:
            return made
        constructed = self.named_type(function)
        if constructed not in (Type.UNKNOWN, Type.AUTO):
            return constructed
        own = {function.returns for function in self.own_functions(node)}
        if own:
            return own.pop() if len(own) == 1 and Type.AUTO not in own else Type.UNKNOWN
        types = self.returned(node)
        return types[0] if len(types) == 1 else self._helped(node)

    def helpers(self, call: Node) -> list[HeaderFunction]:
        """Return the non-template functions of torch's headers that a call, or its ``_symint`` version, may mean."""
        qualifier, _, name = self.callee(call).rpartition("::")
        outermost = qualifier.partition("::")[0]
        known = self.headers.overloads(name) + self.headers.overloads(f"{name}_symint") if name else ()
        if not known or outermost not in ("", "at", "c10", "native", "torch") or self.own_functions(call):
            return []
        if not (self.model.names.is_outermost(outermost, call) if outermost else self._finds_operators(call, name)):
            return []
        return [one for one in known if not one.template and one.takes(len(arguments(call)))]

    def methods_of_impl(self, call: Node) -> list[HeaderFunction]:
        """Return the methods of TensorImpl that a call on one may mean."""
        receiver, name = self.receiver(call) or (call, "")
        known = self.headers.overloads(f"TensorImpl::{name}") if name else ()
        of_impl = bool(known) and self.type_of(receiver) is Type.TENSOR_IMPL
        return [one for one in known if of_impl and one.takes(len(arguments(call)))]

    def _helped(self, call: Node) -> Type:
        """Return the result type of a header helper in its present form, on plain integers."""
        answers = {read_type(one.returns) for one in self.helpers(call) if not one.symbolic}
        return answers.pop() if len(answers) == 1 else Type.UNKNOWN

    def _method(self, node: Node, receiver: Node, name: str) -> Type:
        if name == "get_saved_variables":
            return Type.TENSORS if is_context(self.model, receiver) else Type.UNKNOWN
        if name in READERS and slot(self.model, receiver) is not None:
            return READERS[name]
        kind = self.type_of(receiver)
        if kind in (Type.TENSOR, Type.OPTIONAL_TENSOR):
            if name in CONCRETE:
                return CONCRETE[name][1]
            if name in TENSOR_METHODS:
                return TENSOR_METHODS[name]
            if name in TENSOR_WRAPPERS:
                return Type.TENSOR
            types = self.returned(node)
            return types[0] if len(types) == 1 else Type.UNKNOWN
        if kind in ELEMENT or kind in (Type.STORAGE, Type.OPTIONS, Type.SCALAR):
            return list_method(kind, name)
        if kind is Type.SYM_INT and name in ("max", "min"):
            return Type.SYM_INT
        if kind is Type.SYM_INT and name.startswith("sym_"):
            return Type.SYM_BOOL
        if kind in HELD:
            return HELD[kind] if name in ("value", "value_or") else Type.UNKNOWN
        return Type.UNKNOWN

"""Loops whose steps each take one row out of tensors, or one number that Python reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...syntax.module import Module
from ...syntax.tree import FunctionDefinition, literal
from ..types.cannot_rewrite import CannotRewrite
from .blocks import is_read_behind, stored

StepLoop = ast.For | ast.ListComp | ast.GeneratorExp
_COPIES = frozenset({"cpu", "detach", "numpy"})
_MAKERS = frozenset("zeros ones empty full new_zeros new_ones new_empty new_full".split())  # noqa: SIM905
_COUNTING = frozenset("bincount count_nonzero argmax argmin argsort nonzero bucketize searchsorted randint".split())  # noqa: SIM905
_TRUTHS = frozenset("eq ne lt le gt ge isnan isinf isfinite bool logical_not logical_and logical_or".split())  # noqa: SIM905
_CASTS = frozenset("long int to cpu detach flatten squeeze".split())  # noqa: SIM905


@dataclass(frozen=True)
class Part:
    """A part of a tensor that one step takes."""

    tensor: ast.expr
    dimension: int = 0
    """The dimension along which the steps go."""
    is_number: bool = False
    """True for a number of Python's, read out of the tensor."""
    is_kept: bool = False
    """True for a slice of length one: ``x[i : i + 1]``."""
    rest: tuple[ast.expr, ...] = ()
    """The indexes behind the step's: ``x[i, 1:]``."""
    is_whole: bool = False
    """True for a value that was computed of all rows: it is as long as there are steps."""
    lengths: ast.expr | None = None
    """The tensor of the lengths, if each step takes a run of rows: ``x.split(lengths.tolist())``."""

    @property
    def is_row(self) -> bool:
        """Return whether the part is a row or number, no run of rows, no slice and no row in part."""
        return not (self.dimension or self.rest or self.is_kept or self.lengths is not None)


@dataclass(frozen=True)
class RowSteps:
    """The steps of a loop, with what each gives to names."""

    module: Module
    node: StepLoop
    body: Sequence[ast.stmt]
    """The statements of a step behind those that only name a part; empty for a comprehension."""
    index: str
    """The name of the step's number; empty for none."""
    limit: ast.expr | None
    """The number of steps, if the loop is over a range."""
    names: Mapping[str, Part] = field(default_factory=dict)

    @property
    def bound(self) -> set[str]:
        """Return the names that a step binds."""
        if isinstance(self.node, ast.For):
            return {*stored([self.node])}
        return {*stored([one.target for one in self.node.generators])}

    def part(self, node: ast.expr) -> Part | None:
        """Return the part of a tensor that an expression takes in each step, or None."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.Call):
            return self._number(node)
        if not isinstance(node, ast.Subscript) or not self.index or not self._is_outer(node.value):
            return None
        listed = _listed(self.module, node.value)
        tensor = node.value if listed is None else listed
        places = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        at = next((number for number, one in enumerate(places) if not _is_whole(one)), None)
        if at is None:
            return None
        kept, rest = self._is_one(places[at]), tuple(places[at + 1 :])
        if not (kept or self.is_index(places[at])) or (listed is not None and (at or kept or rest)):
            return None
        if any(self.bound & _names(one) for one in rest):
            return None
        return Part(tensor, at, is_number=listed is not None, is_kept=kept, rest=rest)

    def is_index(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id == self.index != ""

    def number(self, node: ast.expr) -> Part | None:
        """Return the part that is read as a number where an expression is a count or an index, or None."""
        part = self.part(node)
        return part if part is not None and part.is_row else None

    def parts(self, node: ast.AST) -> Iterator[tuple[ast.expr, Part]]:
        """Yield the largest expressions inside a node that take a part."""
        part = self.part(node) if isinstance(node, ast.expr) else None
        if part is not None and isinstance(node, ast.expr):
            yield node, part
            return
        for child in ast.iter_child_nodes(node):
            yield from self.parts(child)

    def text(self, node: ast.expr) -> str:
        start, end = self.module.grouped_span(node)
        return self.module.source.content[start:end].decode()

    @property
    def count(self) -> str:
        """Return the text of the number of steps."""
        if self.limit is not None:
            return self.text(self.limit)
        return f"{self.text(self.giver)}.size(0)"

    @property
    def giver(self) -> ast.expr:
        """Return the tensor of which the loop takes each row or number."""
        return next(iter(self.names.values())).tensor

    def whole(self, part: Part) -> str:
        """Return the text of the rows of all steps: the tensor, cut where nothing says that it has as many."""
        text = self.text(part.tensor)
        if part.is_whole or self.has_all(part):
            return text
        return f"{text}.narrow({part.dimension}, 0, {self.count})"

    def has_all(self, part: Part) -> bool:
        """Return whether a tensor certainly has as many rows as there are steps."""
        if self.limit is None and not self.index:
            return True
        steps = f"{_plain(self.giver)}#0" if self.limit is None else size_named(self.module, self.limit)
        return size_of(self.module, part.tensor, part.dimension) == steps

    def _number(self, node: ast.Call) -> Part | None:
        read: ast.expr | None = None
        if isinstance(node.func, ast.Attribute) and node.func.attr == "item" and not node.args:
            read = node.func.value
        elif self.module.names.meaning(node.func) == "builtins.int" and len(node.args) == 1 and not node.keywords:
            read = node.args[0]
        part = None if read is None else self.number(read)
        return None if part is None else replace(part, is_number=True)

    def _is_outer(self, node: ast.expr) -> bool:
        return not _names(node) & self.bound

    def _is_one(self, node: ast.expr) -> bool:
        """Return whether an index is ``i : i + 1``."""
        if not isinstance(node, ast.Slice) or node.lower is None or node.step is not None:
            return False
        upper = node.upper
        return (
            self.is_index(node.lower)
            and isinstance(upper, ast.BinOp)
            and isinstance(upper.op, ast.Add)
            and self.is_index(upper.left)
            and literal(upper.right) == 1
        )


def steps_of(module: Module, node: StepLoop) -> RowSteps | None:
    """Return the steps of a loop over a range, over rows or over numbers, or None for another loop.

    Raises CannotRewrite where what a step binds is read behind the loop.
    """
    if isinstance(node, ast.For):
        target, iterable, body = node.target, node.iter, list(node.body)
        if node.orelse or node.type_comment:
            return None
    else:
        generator = node.generators[0]
        target, iterable, body = generator.target, generator.iter, []
        if len(node.generators) > 1 or generator.ifs or generator.is_async:
            return None
    found = RowSteps(module, node, body, *_heads(module, target, iterable))
    if not found.index and not found.names:
        return None
    names = dict(found.names)
    while len(body) > 1:
        name, part = _named(found, body[0])
        if part is None:
            break
        names[name] = part
        found = replace(found, body=body[1:], names=dict(names))
        body = body[1:]
    if isinstance(node, ast.For):
        late = sorted(one for one in found.bound & {found.index, *names} if is_read_behind(module, node, one))
        if late:
            raise CannotRewrite("number-of-step", f"at line {node.lineno} `{late[0]}` is read behind the loop")
    return found


def _named(steps: RowSteps, statement: ast.stmt) -> tuple[str, Part | None]:
    """Return the name and part of a statement that only gives a part a name."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not isinstance(target, ast.Name) or not isinstance(statement, ast.Assign):
        return "", None
    assert isinstance(steps.node, ast.For)
    stores = [one for one in ast.walk(steps.node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
    single = sum(one.id == target.id for one in stores) == 1
    return target.id, steps.part(statement.value) if single else None


def _heads(module: Module, target: ast.expr, iterable: ast.expr) -> tuple[str, ast.expr | None, dict[str, Part]]:
    """Return the name of the step's number, the number of steps, and the parts that the head of a loop names."""
    meaning = module.names.meaning(iterable.func) if isinstance(iterable, ast.Call) else None
    given = list(iterable.args) if isinstance(iterable, ast.Call) and not iterable.keywords else []
    places = list(target.elts) if isinstance(target, ast.Tuple) else []
    if meaning == "builtins.range" and len(given) == 1 and isinstance(target, ast.Name):
        return target.id, given[0], {}
    if meaning == "builtins.enumerate" and len(given) == 1 and len(places) == 2 and isinstance(places[0], ast.Name):
        index, _, names = _heads(module, places[1], given[0])
        return (places[0].id, None, names) if names and not index else ("", None, {})
    if meaning == "builtins.zip" and len(given) == len(places) > 1:
        found: dict[str, Part] = {}
        for place, one in zip(places, given, strict=True):
            index, _, names = _heads(module, place, one)
            if index or len(names) != 1:
                return "", None, {}
            found |= names
        return "", None, found
    if not isinstance(target, ast.Name):
        return "", None, {}
    listed = _listed(module, iterable)
    if listed is not None:
        return "", None, {target.id: Part(listed, is_number=True)}
    run = _run(module, iterable)
    if run is not None:
        return "", None, {target.id: run}
    plain = isinstance(iterable, (ast.Name, ast.Attribute))
    return "", None, {target.id: Part(iterable)} if plain else {}


def _run(module: Module, node: ast.expr) -> Part | None:
    """Return the run of rows that a step takes of ``x.split(lengths.tolist())``, or None."""
    made = _made(module, node)
    if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Attribute) or made.func.attr != "split":
        return None
    of_torch = module.names.meaning(made.func) == "torch.split"
    given = made.args if of_torch else [made.func.value, *made.args]
    places = [literal(one.value) for one in made.keywords if one.arg == "dim"] or [literal(one) for one in given[2:]]
    if len(made.keywords) + len(given) != 2 + len(places) or places not in ([], [0]):
        return None
    lengths = _listed(module, given[1])
    return None if lengths is None else Part(given[0], lengths=lengths)


def is_listing(module: Module, node: ast.expr) -> bool:
    """Return whether an expression is a list of the numbers, or of runs of the rows, of a tensor."""
    return _listed(module, node) is not None or _run(module, node) is not None


def listings(module: Module, statements: Sequence[ast.stmt]) -> list[ast.Assign]:
    """Return the statements that make lists of numbers which nothing but ``statements`` reads."""
    function = module.function_of(statements[0])
    if function is None:
        return []
    inside = {id(one) for statement in statements for one in ast.walk(statement)}
    names = [one for one in ast.walk(function.node) if isinstance(one, ast.Name)]
    here = {one.id for one in names if id(one) in inside}
    outside = {one.id for one in names if isinstance(one.ctx, ast.Load) and id(one) not in inside}
    found = []
    for one in function.nodes.assigns:
        target = one.targets[0] if len(one.targets) == 1 else None
        name = target.id if isinstance(target, ast.Name) and id(one) not in inside else ""
        if name in here - outside and name in function.assigned_once and is_listing(module, one.value):
            found.append(one)
    return found


def _listed(module: Module, node: ast.expr) -> ast.expr | None:
    """Return the tensor of which an expression is the list of numbers, or None."""
    made = _made(module, node)
    if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Attribute) or made.args or made.keywords:
        return None
    if made.func.attr != "tolist":
        return None
    tensor = made.func.value
    while isinstance(tensor, ast.Call) and isinstance(tensor.func, ast.Attribute) and tensor.func.attr in _COPIES:
        tensor = tensor.func.value
    return tensor


def _made(module: Module, node: ast.expr) -> ast.expr:
    """Return the value of a name that one assignment gives it, or the expression itself."""
    function = module.function_of(node)
    if not isinstance(node, ast.Name) or function is None or node.id in {one.arg for one in function.arguments}:
        return node
    return function.assigned_once.get(node.id, node)


def size_named(module: Module, node: ast.expr) -> str:
    """Return ``x#0`` for the first size of ``x``, however it is written; else the text of a number."""
    if isinstance(node, ast.Call):
        plain = isinstance(node.func, ast.Attribute) and node.func.attr == "size" and len(node.args) == 1
        place = literal(node.args[0]) if plain else None
        if isinstance(node.func, ast.Attribute) and place is not None and place >= 0:
            return _unless_rebound(module, node.func.value, place, node)
        if module.names.meaning(node.func) == "builtins.len" and len(node.args) == 1:
            return _unless_rebound(module, node.args[0], 0, node)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
        place = literal(node.slice)
        if place is not None and place >= 0:
            return _unless_rebound(module, node.value.value, place, node)
    made = _made(module, node)
    if made is not node:
        return size_named(module, made)
    return _unpacked(module, node) if isinstance(node, ast.Name) else _plain(node)


def _unpacked(module: Module, name: ast.Name) -> str:
    """Return the size that ``b, t = x.shape`` gives a name."""
    function = module.function_of(name)
    assigns = () if function is None else function.nodes.assigns
    bound = [] if function is None else [one for one in function.nodes.stored if one == name.id]
    for one in assigns if len(bound) == 1 else ():
        target = one.targets[0]
        if not isinstance(target, ast.Tuple) or any(isinstance(each, ast.Starred) for each in target.elts):
            continue
        at = next((at for at, each in enumerate(target.elts) if isinstance(each, ast.Name) and each.id == name.id), -1)
        value = one.value
        if at < 0:
            continue
        if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice) and value.slice.lower is None:
            value = value.value
        if isinstance(value, ast.Attribute) and value.attr == "shape":
            return _unless_rebound(module, value.value, at, name)
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "size":
            return _unless_rebound(module, value.func.value, at, name)
    return name.id


def _unless_rebound(module: Module, tensor: ast.expr, place: int, node: ast.expr) -> str:
    """Return the name of a size, unless the name of its tensor gets another value later."""
    function = module.function_of(node)
    return f"{_plain(tensor)}#{place}" if _is_bound_once(function, tensor) else _plain(node)


def _is_bound_once(function: FunctionDefinition | None, tensor: ast.expr) -> bool:
    if not isinstance(tensor, ast.Name) or function is None:
        return False
    stores = sum(one == tensor.id for one in function.nodes.stored)
    return stores + (tensor.id in {one.arg for one in function.arguments}) == 1


def size_of(module: Module, tensor: ast.expr, place: int) -> str:
    """Return the name of a size of a tensor: by what it was made with, if that is seen."""
    made = _made(module, tensor)
    if isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute):
        if made.func.attr in _MAKERS:
            sizes = _sizes(made, made.func.attr.endswith("full"))
            if place < len(sizes):
                return size_named(module, sizes[place])
        if made.func.attr.endswith("_like") and made.args:
            return size_of(module, made.args[0], place)
    if not _is_bound_once(module.function_of(tensor), tensor):
        return f"{_plain(tensor)}##{place}"
    return f"{_plain(tensor)}#{place}"


def _sizes(made: ast.Call, filled: bool) -> list[ast.expr]:
    first = made.args[0] if made.args else None
    if isinstance(first, (ast.Tuple, ast.List)):
        return list(first.elts)
    return [] if filled or any(isinstance(one, ast.Starred) for one in made.args) else list(made.args)


def is_never_negative(module: Module, node: ast.expr) -> bool:
    """Return whether the numbers of a tensor are counts or indexes by the call that makes them."""
    made = _made(module, node)
    while isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) and made.func.attr in _CASTS:
        made = _made(module, made.func.value)
    if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Attribute):
        return False
    name, receiver = made.func.attr, made.func.value
    if name == "sum":
        called = isinstance(receiver, ast.Call) and isinstance(receiver.func, ast.Attribute)
        return isinstance(receiver, ast.Compare) or (called and receiver.func.attr in _TRUTHS)  # type: ignore[attr-defined]
    least = next((one.value for one in made.keywords if one.arg == "min"), made.args[0] if made.args else None)
    lowest = None if least is None else literal(least)
    return name in _COUNTING or (name in ("clamp", "clamp_min", "clip") and lowest is not None and lowest >= 0)


def _is_whole(node: ast.expr) -> bool:
    return isinstance(node, ast.Slice) and node.lower is node.upper is node.step is None


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _plain(node: ast.expr) -> str:
    return ast.unparse(node)

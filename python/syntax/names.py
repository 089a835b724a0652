"""What a name means at a place: which scope binds it, and which import it comes from."""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property

from .scopes import Scopes
from .tree import COMPREHENSIONS, DEFINITIONS, Function, FunctionNode, Survey, imported_names

_IMPORTS = (ast.Import, ast.ImportFrom)


class Names:
    """The names of a module. One that no scope of the file binds is a builtin.

    A local import further down, ``except … as``, captures of ``match``, ``global`` and ``nonlocal`` mean what they mean
    to the interpreter.
    """

    def __init__(self, tree: ast.Module, content: bytes, survey: Survey) -> None:
        self._tree = tree
        self._content = content
        self._survey = survey
        self._parents = survey.parents
        self.scopes = Scopes(survey)
        self._owners: dict[tuple[str, ast.AST | None], ast.AST | None] = {}
        self._scopes_at: dict[ast.AST, tuple[ast.AST, ...]] = {}

    @cached_property
    def _starred(self) -> bool:
        """``from x import *`` may bind any name, a builtin's too."""
        return b"import *" in self._content

    def chain(self, place: ast.AST) -> Iterator[ast.AST]:
        """The scopes whose names are seen at ``place``, innermost first, without the module."""
        inside = False
        for scope in self._scopes(place):
            if not (inside and isinstance(scope, ast.ClassDef)):
                yield scope
            inside = True

    def _scopes(self, place: ast.AST) -> Iterator[ast.AST]:
        """The scopes around ``place``, innermost first, those of classes among them."""
        before = below = place
        while not isinstance(below, ast.stmt):
            at = self._parents.get(below)
            if at is None:
                return
            if _of_expression(at, below, before):
                yield at
            before, below = below, at
        yield from self._around(below)

    def _around(self, statement: ast.stmt) -> tuple[ast.AST, ...]:
        """The same of a statement: the functions and classes in whose bodies it stands."""
        climbed: list[ast.AST] = []
        at: ast.AST | None = statement
        while at is not None and at not in self._scopes_at:
            climbed.append(at)
            at = self._parents.get(at)
        found = () if at is None else self._scopes_at[at]
        for below in reversed(climbed):
            above = self._parents.get(below)
            if isinstance(below, ast.stmt) and isinstance(above, DEFINITIONS):
                found = (above, *found)
            self._scopes_at[below] = found
        return found

    def owner(self, name: str, place: ast.AST) -> ast.AST | None:
        """The scope that binds ``name`` at ``place``: its node, the module's tree, or None for a builtin."""
        seen = name, next(self._scopes(place), None)
        if seen not in self._owners:
            self._owners[seen] = self._owner(name, self.chain(place))
        return self._owners[seen]

    def _owner(self, name: str, scopes: Iterable[ast.AST]) -> ast.AST | None:
        for scope in scopes:
            if name in self.scopes.local(scope):
                return scope
            if name in self.scopes.declared_global(scope):
                break
        return self._tree if name in self.scopes.of_module or self._starred else None

    def functions_around(self, place: ast.AST) -> list[FunctionNode]:
        """The functions whose names are seen at ``place``, innermost first."""
        return [one for one in self.chain(place) if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))]

    def free(self, name: str, place: ast.AST) -> bool:
        """Whether ``name`` can be imported for ``place`` without shadowing anything."""
        if self.owner(name, place) is not None:
            return False
        around = self.functions_around(place)
        return not around or not self.scopes.mentions(around[-1], name)

    def imported_at(self, place: ast.AST, wanted: set[str]) -> list[tuple[str, str]]:
        """Names at ``place`` for what is ``wanted``, and their meanings, by imports that have surely run.

        An import counts at the top of the file or straight in the body of a function around, before the place; those
        of the innermost function come first.
        """
        around = self.functions_around(place)
        start = (place.lineno, place.col_offset) if isinstance(place, (ast.expr, ast.stmt)) else (0, 0)
        ran: list[tuple[ast.AST, list[ast.stmt]]] = [(scope, _imports_before(start, scope.body)) for scope in around]
        at_top = self.running_at_top
        ran.append((self._tree, at_top if around else _imports_before(start, at_top)))
        return [
            (local, meaning)
            for scope, statements in ran
            if statements
            for local, meaning in imported_names(statements).items()
            if meaning in wanted and self.owner(local, place) is scope
            if self.meaning_of_name(local, place) == meaning
        ]

    @cached_property
    def running_at_top(self) -> list[ast.stmt]:
        """The import statements that run when the module is imported, not those for type checkers."""
        found: list[ast.stmt] = []
        for statement in self._tree.body:
            if isinstance(statement, _IMPORTS):
                found.append(statement)
            elif isinstance(statement, ast.Try) and all(handler.body for handler in statement.handlers):
                found += [one for one in statement.body if isinstance(one, _IMPORTS)]
        return found

    @cached_property
    def imports(self) -> dict[str, str]:
        """What the names imported outside functions mean."""
        return imported_names(self._survey.outside.imports)

    @cached_property
    def assigned_at_top(self) -> dict[str, ast.expr]:
        """The values of names that only one assignment, at the top of the module, binds."""
        found = {
            target.id: statement.value
            for statement in self._tree.body
            if isinstance(statement, ast.Assign)
            for target in statement.targets
            if isinstance(target, ast.Name) and self._stores_at_top[target.id] == 1
        }
        return {name: value for name, value in found.items() if name not in self.scopes.rebound_globals}

    @cached_property
    def _stores_at_top(self) -> Counter[str]:
        return Counter(self._survey.outside.stored)

    @cached_property
    def defined_at_top(self) -> dict[str, Function]:
        """The functions whose names only one ``def``, at the top of the module, binds."""
        names = Counter(one.node.name for one in self._survey.functions if one.outer is None and one.owner is None)
        return {
            one.node.name: one
            for one in self._survey.functions
            if one.outer is None
            and one.owner is None
            and names[one.node.name] == 1
            and not self._stores_at_top[one.node.name]
            and one.node.name not in self.imports
            and one.node.name not in self.scopes.rebound_globals
        }

    @cached_property
    def bound(self) -> frozenset[str]:
        """Names bound at the top by other means than an import."""
        return self._survey.outside.bound

    def meaning(self, node: ast.expr) -> str | None:
        """The dotted name an expression such as ``np.prod`` or ``guard_or_false`` stands for, imports resolved.

        A builtin is ``builtins.NAME``; something the file itself defines is None, and so is a name that is bound
        twice in different ways.
        """
        if isinstance(node, ast.Attribute):
            value = self.meaning(node.value)
            return f"{value}.{node.attr}" if value else None
        return self.meaning_of_name(node.id, node) if isinstance(node, ast.Name) else None

    def meanings(self, names: Iterable[str], place: ast.AST) -> dict[str, str | None]:
        """The dotted names that ``names`` stand for at ``place``, as `meaning` has them."""
        return {name: self.meaning_of_name(name, place) for name in names}

    def meaning_of_name(self, name: str, place: ast.AST) -> str | None:
        """The dotted name that ``name`` stands for at ``place``, as `meaning` has it."""
        owner = self.owner(name, place)
        if owner is None:
            return f"builtins.{name}" if hasattr(builtins, name) else None
        if owner is self._tree:
            rebound = name in self.bound or name in self.scopes.rebound_globals
            return None if rebound else self.imports.get(name)
        function = self._function_by_node.get(owner)
        if function is None or name in function.bound or name in self.scopes.rebound_outer:
            return None
        return function.imports.get(name)

    @cached_property
    def _function_by_node(self) -> dict[ast.AST, Function]:
        return {function.node: function for function in self._survey.functions}


def _of_expression(at: ast.AST, below: ast.AST, before: ast.AST) -> bool:
    """Whether ``at`` is a lambda or a comprehension whose names are seen in its child ``below``, above ``before``."""
    if isinstance(at, ast.Lambda):
        return below is at.body
    if isinstance(at, COMPREHENSIONS):
        first = at.generators[0]
        return not (below is first and before is first.iter)
    return False


def _imports_before(start: tuple[int, int], statements: Iterable[ast.stmt]) -> list[ast.stmt]:
    """The imports that begin before a line and column."""
    return [one for one in statements if isinstance(one, _IMPORTS) and (one.lineno, one.col_offset) < start]

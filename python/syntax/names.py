"""Name resolution: the scope that binds a name at a place, and the import it comes from."""

from __future__ import annotations

import ast
import builtins
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from ...codemods.model.lock_free_property import lazily
from .tree import (
    COMPREHENSIONS,
    DEFINITIONS,
    FunctionDefinition,
    FunctionNode,
    Survey,
    bound_by_import,
    imported_names,
    stored_in,
)

_DECLARATIONS = (ast.Global, ast.Nonlocal)
_IMPORTS = (ast.Import, ast.ImportFrom)


class Scopes:
    """The names that modules, definitions, lambdas and comprehensions bind in their own scopes.

    The rules are those of the interpreter's symbol table, with which the tests compare them. The table itself is not
    used, since it parses the text again. The names of a scope are computed at the first lookup.
    """

    def __init__(self, survey: Survey) -> None:
        self._survey = survey
        self._local: dict[ast.AST, frozenset[str]] = {}
        self._mentioned: dict[ast.AST, frozenset[str]] = {}

    def local(self, scope: ast.AST) -> frozenset[str]:
        """Return the names that a definition, a lambda or a comprehension binds in its own scope."""
        if scope not in self._local:
            self._local[scope] = frozenset(self._bound_by(scope))
        return self._local[scope]

    def _bound_by(self, scope: ast.AST) -> Iterator[str]:
        if isinstance(scope, COMPREHENSIONS):
            for generator in scope.generators:
                yield from stored_in(generator.target)
        elif isinstance(scope, ast.Lambda):
            yield from _parameters(scope.args)
            yield from (one.target.id for one in self._walruses if self._home(one) is scope)
        elif isinstance(scope, DEFINITIONS):
            bound = self._survey.inside[scope].own
            yield from bound - self._declared(scope, *_DECLARATIONS)
            yield from (one.name for one in getattr(scope, "type_params", ()))
            if not isinstance(scope, ast.ClassDef):
                yield from _parameters(scope.args)

    def declared_global(self, scope: ast.AST) -> frozenset[str]:
        """Return the names that the body of a definition declares ``global``."""
        return self._declared(scope, ast.Global)

    @lazily
    def of_module(self) -> frozenset[str]:
        """Return the names bound at the top of the file, or in a function that declares them ``global``."""
        return self._survey.outside.own | self.rebound_globals

    @lazily
    def rebound_globals(self) -> frozenset[str]:
        """Return the names of the module that a function or a class binds by ``global``."""
        return self._rebound(ast.Global)

    @lazily
    def rebound_outer(self) -> frozenset[str]:
        """Return the names that a nested function binds by ``nonlocal``, or a comprehension by ``:=``."""
        of_comprehensions = (one.target.id for one in self._walruses if self._in_comprehension(one))
        return self._rebound(ast.Nonlocal).union(of_comprehensions)

    def mentions(self, scope: FunctionNode, name: str) -> bool:
        """Return whether a function, or one nested in it, uses, binds or declares ``name``."""
        if scope not in self._mentioned:
            self._mentioned[scope] = frozenset(_mentioned(scope))
        return name in self._mentioned[scope]

    @lazily
    def _rebinding(self) -> tuple[ast.Global | ast.Nonlocal | ast.NamedExpr, ...]:
        return self._survey.nodes.every(ast.Global, ast.Nonlocal, ast.NamedExpr)

    @lazily
    def _walruses(self) -> list[ast.NamedExpr]:
        return [one for one in self._rebinding if isinstance(one, ast.NamedExpr)]

    @lazily
    def _declaring(self) -> dict[ast.AST, list[ast.Global | ast.Nonlocal]]:
        """Return the definitions whose own bodies contain ``global`` or ``nonlocal``, with these declarations."""
        found: dict[ast.AST, list[ast.Global | ast.Nonlocal]] = defaultdict(list)
        for one in self._rebinding:
            if isinstance(one, ast.NamedExpr):
                continue
            at = self._survey.parents[one]
            while not isinstance(at, (*DEFINITIONS, ast.Module)):
                at = self._survey.parents[at]
            if not isinstance(at, ast.Module):
                found[at].append(one)
        return dict(found)

    def _declared(self, scope: ast.AST, *kinds: type[ast.Global | ast.Nonlocal]) -> frozenset[str]:
        declarations = self._declaring.get(scope, ())
        return frozenset(name for one in declarations if isinstance(one, kinds) for name in one.names)

    def _rebound(self, kind: type[ast.Global | ast.Nonlocal]) -> frozenset[str]:
        bound = (self._declared(one, kind) & self._survey.inside[one].own for one in self._declaring)
        return frozenset[str]().union(*bound)

    def _home(self, walrus: ast.NamedExpr) -> ast.AST:
        """Return the lambda or the statement in whose scope a ``:=`` binds its name."""
        below: ast.AST = walrus
        while not isinstance(below, ast.stmt):
            above = self._survey.parents[below]
            if isinstance(above, ast.Lambda) and below is above.body:
                return above
            below = above
        return below

    def _in_comprehension(self, walrus: ast.NamedExpr) -> bool:
        at = self._survey.parents[walrus]
        while not isinstance(at, (ast.stmt, ast.Lambda, *COMPREHENSIONS)):
            at = self._survey.parents[at]
        return isinstance(at, COMPREHENSIONS)


class Names:
    """The names of a module. A name that no scope of the file binds is a builtin.

    Later local imports, ``except … as``, captures of ``match``, ``global`` and ``nonlocal`` have the interpreter's
    meaning.
    """

    def __init__(self, tree: ast.Module, survey: Survey) -> None:
        self._tree = tree
        self._survey = survey
        self._parents = survey.parents
        self.scopes = Scopes(survey)
        self._owners: dict[tuple[str, ast.AST | None], ast.AST | None] = {}
        self._scopes_at: dict[ast.AST, tuple[ast.AST, ...]] = {}
        self._meanings: dict[ast.expr, str | None] = {}
        self._variables: dict[FunctionDefinition, frozenset[str]] = {}

    @lazily
    def _starred(self) -> bool:
        """Return whether the file has ``from x import *``, which may bind any name, including a builtin's."""
        return any(alias.name == "*" for statement in self._survey.nodes.imports for alias in statement.names)

    def chain(self, place: ast.AST) -> Iterator[ast.AST]:
        """Yield the scopes whose names are visible at ``place``, innermost first, without the module."""
        inside = False
        for scope in self._scopes(place):
            if not (inside and isinstance(scope, ast.ClassDef)):
                yield scope
            inside = True

    def _scopes(self, place: ast.AST) -> Iterator[ast.AST]:
        """Yield the scopes around ``place``, innermost first, including those of classes."""
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
        """Return the scopes around a statement: the functions and classes whose bodies contain it."""
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
        """Return the scope that binds ``name`` at ``place``: its node, the module's tree, or None for a builtin."""
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
        """Return the functions whose names are visible at ``place``, innermost first."""
        return [one for one in self.chain(place) if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))]

    def free(self, name: str, place: ast.AST) -> bool:
        """Return whether ``name`` can be imported for ``place`` without shadowing anything."""
        if self.owner(name, place) is not None:
            return False
        around = self.functions_around(place)
        return not around or not self.scopes.mentions(around[-1], name)

    def imported_at(self, place: ast.AST, wanted: set[str]) -> list[tuple[str, str]]:
        """Return the names at ``place`` for ``wanted`` meanings, with these, from imports that have definitely run.

        An import counts at the top of the file or directly in the body of an enclosing function, before the place.
        Those of the innermost function come first.
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

    @lazily
    def running_at_top(self) -> list[ast.stmt]:
        """Return the import statements that run when the module is imported, without those for type checkers."""
        found: list[ast.stmt] = []
        for statement in self._tree.body:
            if isinstance(statement, _IMPORTS):
                found.append(statement)
            elif isinstance(statement, ast.Try) and all(handler.body for handler in statement.handlers):
                found += [one for one in statement.body if isinstance(one, _IMPORTS)]
        return found

    @lazily
    def _imported_at_top(self) -> frozenset[str]:
        return self.scopes.of_module - self._survey.bound_within

    @lazily
    def imports(self) -> dict[str, str]:
        """Return the meanings of the names imported outside functions."""
        return imported_names(self._survey.outside.imports)

    @lazily
    def assigned_at_top(self) -> dict[str, ast.expr]:
        """Return the values of names that only one assignment, at the top of the module, binds."""
        found = {
            target.id: statement.value
            for statement in self._tree.body
            if isinstance(statement, ast.Assign)
            for target in statement.targets
            if isinstance(target, ast.Name) and self._stores_at_top[target.id] == 1
        }
        return {name: value for name, value in found.items() if name not in self.scopes.rebound_globals}

    @lazily
    def _stores_at_top(self) -> Counter[str]:
        return Counter(self._survey.outside.stored)

    @lazily
    def defined_at_top(self) -> dict[str, FunctionDefinition]:
        """Return the functions whose names only one ``def``, at the top of the module, binds."""
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

    @lazily
    def bound(self) -> frozenset[str]:
        """Return the names bound at the top by other means than an import."""
        return self._survey.outside.bound

    def meaning(self, node: ast.expr) -> str | None:
        """Return the dotted name of an expression such as ``np.prod`` or ``guard_or_false``, with imports resolved.

        A builtin is ``builtins.NAME``. The result is None for a name that the file itself defines, and for a name that
        is bound twice in different ways.
        """
        known = self._meanings.get(node, "")
        if known != "":
            return known
        found = None
        if isinstance(node, ast.Attribute):
            value = self.meaning(node.value)
            found = f"{value}.{node.attr}" if value else None
        elif isinstance(node, ast.Name):
            found = self.meaning_of_name(node.id, node)
        self._meanings[node] = found
        return found

    def spellings(self, names: frozenset[str]) -> frozenset[str]:
        """Return the possible last words of an expression whose meaning ends in one of the ``names``."""
        imported = (alias for statement in self._survey.nodes.imports for alias in statement.names)
        return names.union(one.asname for one in imported if one.asname and one.name.rpartition(".")[2] in names)

    def variables(self, function: FunctionDefinition) -> frozenset[str]:
        """Return the names that a function binds itself, and not only by imports. They have no meaning anywhere in its
        body.

        Another binding inside the body, by a comprehension or a lambda, is no import either.
        """
        if function not in self._variables:
            self._variables[function] = self.scopes.local(function.node) & function.bound
        return self._variables[function]

    def meanings(self, names: Iterable[str], place: ast.AST) -> dict[str, str | None]:
        """Return the dotted names of ``names`` at ``place``, as `meaning` defines them."""
        return {name: self.meaning_of_name(name, place) for name in names}

    def meaning_of_name(self, name: str, place: ast.AST) -> str | None:
        """Return the dotted name of ``name`` at ``place``, as `meaning` defines it."""
        owner: ast.AST | None = self._tree if name in self._imported_at_top or self._starred else None
        if name in self._survey.bound_within:  # otherwise it has the same meaning everywhere
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

    @lazily
    def _function_by_node(self) -> dict[ast.AST, FunctionDefinition]:
        return {function.node: function for function in self._survey.functions}


def _of_expression(at: ast.AST, below: ast.AST, before: ast.AST) -> bool:
    """Return whether ``at`` is a lambda or comprehension with names visible in its child ``below``.

    ``before`` is the child of ``below`` on the path to the place.
    """
    if isinstance(at, ast.Lambda):
        return below is at.body
    if isinstance(at, COMPREHENSIONS):
        first = at.generators[0]
        return not (below is first and before is first.iter)
    return False


def _imports_before(start: tuple[int, int], statements: Iterable[ast.stmt]) -> list[ast.stmt]:
    """Return the imports that begin before a line and column."""
    return [one for one in statements if isinstance(one, _IMPORTS) and (one.lineno, one.col_offset) < start]


def _parameters(spec: ast.arguments) -> Iterator[str]:
    extra = [one for one in (spec.vararg, spec.kwarg) if one]
    return (one.arg for one in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs, *extra))


def _mentioned(scope: FunctionNode) -> Iterator[str]:
    for node in ast.walk(scope):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, _IMPORTS):
            yield from bound_by_import(node)
        elif isinstance(node, _DECLARATIONS):
            yield from node.names
        elif isinstance(node, ast.MatchMapping) and node.rest:
            yield node.rest
        elif isinstance(node, (*DEFINITIONS, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node is not scope:
            yield node.name or ""

"""Which names each scope binds for itself: modules, classes, functions, lambdas and comprehensions.

The rules are those of the interpreter's symbol table, with which the tests compare them. The table itself is not asked,
since it parses the text once more.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cached_property

from .tree import COMPREHENSIONS, DEFINITIONS, FunctionNode, Nodes, Survey, stored_in

_DECLARATIONS = (ast.Global, ast.Nonlocal)


class Scopes:
    """The names that the scopes of one file bind; of each scope they are found when they are first asked for."""

    def __init__(self, survey: Survey) -> None:
        self._survey = survey
        self._local: dict[ast.AST, frozenset[str]] = {}
        self._mentioned: dict[ast.AST, frozenset[str]] = {}

    def local(self, scope: ast.AST) -> frozenset[str]:
        """The names that a definition, a lambda or a comprehension binds for itself."""
        if scope not in self._local:
            self._local[scope] = frozenset(self._bound_by(scope))
        return self._local[scope]

    def _bound_by(self, scope: ast.AST) -> Iterator[str]:
        if isinstance(scope, COMPREHENSIONS):
            for generator in scope.generators:
                yield from stored_in(generator.target)
        elif isinstance(scope, ast.Lambda):
            yield from _parameters(scope.args)
            yield from (one.target.id for one in self._survey.nodes.every(ast.NamedExpr) if self._home(one) is scope)
        elif isinstance(scope, DEFINITIONS):
            bound = self._bound_in(self._survey.inside[scope])
            yield from bound - self._declared(scope, *_DECLARATIONS)
            yield from (one.name for one in getattr(scope, "type_params", ()))
            if not isinstance(scope, ast.ClassDef):
                yield from _parameters(scope.args)

    def declared_global(self, scope: ast.AST) -> frozenset[str]:
        """The names that ``global`` in the body of a definition gives to the module."""
        return self._declared(scope, ast.Global) if scope in self._declaring else frozenset()

    @cached_property
    def of_module(self) -> frozenset[str]:
        """The names bound at the top of the file, or in a function that declares them ``global``."""
        return self._bound_in(self._survey.outside) | self.rebound_globals

    @cached_property
    def rebound_globals(self) -> frozenset[str]:
        """Names of the module that a function or a class binds by ``global``."""
        return self._rebound(ast.Global)

    @cached_property
    def rebound_outer(self) -> frozenset[str]:
        """Names that a nested function binds by ``nonlocal``, or a comprehension by ``:=``."""
        walruses = self._survey.nodes.every(ast.NamedExpr)
        return self._rebound(ast.Nonlocal).union(one.target.id for one in walruses if self._in_comprehension(one))

    def mentions(self, scope: FunctionNode, name: str) -> bool:
        """Whether a function, or one nested in it, uses, binds or declares ``name``."""
        if scope not in self._mentioned:
            self._mentioned[scope] = frozenset(_mentioned(scope))
        return name in self._mentioned[scope]

    @cached_property
    def _declaring(self) -> frozenset[ast.AST]:
        """The definitions whose own bodies hold a declaration."""
        return frozenset(scope for scope, nodes in self._survey.inside.items() if nodes.every(*_DECLARATIONS))

    def _declared(self, scope: ast.AST, *kinds: type[ast.Global | ast.Nonlocal]) -> frozenset[str]:
        return frozenset(name for one in self._survey.inside[scope].every(*kinds) for name in one.names)

    def _rebound(self, kind: type[ast.Global | ast.Nonlocal]) -> frozenset[str]:
        bound = (self._declared(one, kind) & self._bound_in(self._survey.inside[one]) for one in self._declaring)
        return frozenset[str]().union(*bound)

    def _bound_in(self, nodes: Nodes) -> frozenset[str]:
        """The names that the nodes of one body bind, declared or not."""
        stored = frozenset(nodes.stored)
        others = Counter(self._of_inner_scopes(nodes))
        if others:
            counts = Counter(nodes.stored)
            stored = frozenset(name for name in stored if counts[name] > others[name])
        imported = {one.asname or one.name.split(".")[0] for statement in nodes.imports for one in statement.names}
        return stored.union(nodes.named, nodes.deleted, imported - {"*"})

    def _of_inner_scopes(self, nodes: Nodes) -> Iterator[str]:
        """The names that comprehensions and lambdas among ``nodes`` store for themselves."""
        for generator in nodes.every(ast.comprehension):
            yield from stored_in(generator.target)
        for walrus in nodes.every(ast.NamedExpr):
            if isinstance(self._home(walrus), ast.Lambda):
                yield walrus.target.id

    def _home(self, walrus: ast.NamedExpr) -> ast.AST:
        """The lambda or the statement whose scope a ``:=`` binds its name in."""
        below, at = self._step(walrus)
        while not (isinstance(at, ast.Lambda) and below is at.body) and not isinstance(at, ast.stmt):
            below, at = self._step(at)
        return at

    def _in_comprehension(self, walrus: ast.NamedExpr) -> bool:
        at = self._survey.parents[walrus]
        while not isinstance(at, (ast.stmt, ast.Lambda, *COMPREHENSIONS)):
            at = self._survey.parents[at]
        return isinstance(at, COMPREHENSIONS)

    def _step(self, node: ast.AST) -> tuple[ast.AST, ast.AST]:
        return node, self._survey.parents[node]


def _parameters(spec: ast.arguments) -> Iterator[str]:
    extra = [one for one in (spec.vararg, spec.kwarg) if one]
    return (one.arg for one in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs, *extra))


def _mentioned(scope: FunctionNode) -> Iterator[str]:
    for node in ast.walk(scope):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.alias):
            yield node.asname or node.name.split(".")[0]
        elif isinstance(node, _DECLARATIONS):
            yield from node.names
        elif isinstance(node, ast.MatchMapping) and node.rest:
            yield node.rest
        elif isinstance(node, (*DEFINITIONS, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node is not scope:
            yield node.name or ""

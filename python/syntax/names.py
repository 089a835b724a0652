"""What a name means at a place: which scope binds it, by Python's own symbol table, and which import it comes from."""

from __future__ import annotations

import ast
import builtins
import symtable
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from .tree import Function, FunctionNode, Survey, imported_names

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_SCOPES = (*_DEFINITIONS, ast.Lambda)
_IMPORTS = (ast.Import, ast.ImportFrom)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


class Names:
    """The names of a module. One that no scope of the file binds is a builtin.

    For functions and classes ``symtable`` decides, so a local import further down, ``except … as``, captures of
    ``match``, ``global`` and ``nonlocal`` mean what they mean to the interpreter.
    """

    def __init__(self, tree: ast.Module, content: bytes, survey: Survey) -> None:
        self._tree = tree
        self._content = content
        self._survey = survey
        self._parents = survey.parents
        self._locals: dict[ast.AST, frozenset[str]] = {}
        self._owners: dict[tuple[str, ast.AST | None], ast.AST | None] = {}
        self._globals: dict[ast.AST, frozenset[str]] = {}
        self._mentioned: dict[ast.AST, set[str]] = {}
        self._scopes_at: dict[ast.AST, tuple[ast.AST, ...]] = {}

    @cached_property
    def _top(self) -> symtable.SymbolTable | None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            try:
                return symtable.symtable(self._content, "<source>", "exec")  # type: ignore[arg-type]
            except (SyntaxError, ValueError):  # ``ast`` reads some texts that do not compile
                return None

    @cached_property
    def _tables(self) -> dict[tuple[str, int], list[symtable.SymbolTable]]:
        found: dict[tuple[str, int], list[symtable.SymbolTable]] = {}
        pending = [self._top] if self._top else []
        while pending:
            for table in pending.pop().get_children():
                found.setdefault((table.get_name(), table.get_lineno()), []).append(table)
                pending.append(table)
        return found

    def _symbols(self, node: ast.AST) -> Iterator[symtable.Symbol]:
        if isinstance(node, _DEFINITIONS):
            for table in self._tables.get((node.name, node.lineno), ()):
                yield from table.get_symbols()

    def local(self, scope: ast.AST) -> frozenset[str]:
        """The names that a scope binds for itself."""
        if scope not in self._locals:
            self._locals[scope] = frozenset(self._bound_by(scope))
        return self._locals[scope]

    def _bound_by(self, scope: ast.AST) -> Iterator[str]:
        if isinstance(scope, ast.Lambda):
            spec = scope.args
            extra = [one for one in (spec.vararg, spec.kwarg) if one]
            yield from (one.arg for one in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs, *extra))
        elif isinstance(scope, _COMPREHENSIONS):
            for generator in scope.generators:
                yield from (one.id for one in ast.walk(generator.target) if isinstance(one, ast.Name))
        else:
            for symbol in self._symbols(scope):
                if symbol.is_local():
                    yield symbol.get_name()

    @cached_property
    def of_module(self) -> frozenset[str]:
        """The names bound at the top of the file, or in a function that declares them ``global``."""
        top = self._top.get_symbols() if self._top else []
        bound = {one.get_name() for one in top if one.is_assigned() or one.is_imported() or one.is_namespace()}
        return frozenset(bound) | self.rebound_globals

    @cached_property
    def rebound_globals(self) -> frozenset[str]:
        """Names of the module that a function or a class binds by ``global``."""
        return self._declared(b"global ", symtable.Symbol.is_declared_global)

    @cached_property
    def rebound_outer(self) -> frozenset[str]:
        """Names that a nested function binds by ``nonlocal``, or a comprehension by ``:=``."""
        return self._declared(b"", symtable.Symbol.is_nonlocal)

    def _declared(self, word: bytes, declared: Callable[[symtable.Symbol], bool]) -> frozenset[str]:
        if word not in self._content:
            return frozenset()
        symbols = (one for tables in self._tables.values() for table in tables for one in table.get_symbols())
        return frozenset(
            one.get_name()
            for one in symbols
            if declared(one) and (one.is_assigned() or one.is_imported() or one.is_namespace())
        )

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
            if isinstance(below, ast.stmt) and isinstance(above, _DEFINITIONS):
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
            if name in self.local(scope):
                return scope
            if name in self._global_in(scope):
                break
        return self._tree if name in self.of_module or self._starred or self._top is None else None

    def _global_in(self, scope: ast.AST) -> frozenset[str]:
        if not self._says_global:
            return frozenset()
        if scope not in self._globals:
            self._globals[scope] = frozenset(one.get_name() for one in self._symbols(scope) if one.is_declared_global())
        return self._globals[scope]

    @cached_property
    def _says_global(self) -> bool:
        return b"global " in self._content

    def _mentions(self, scope: FunctionNode, name: str) -> bool:
        """Whether a function, or one nested in it, uses or declares ``name``."""
        if scope not in self._mentioned:
            walked = list(ast.walk(scope))
            declared = {one.get_name() for node in walked if isinstance(node, _SCOPES) for one in self._symbols(node)}
            self._mentioned[scope] = declared | {one.id for one in walked if isinstance(one, ast.Name)}
        return name in self._mentioned[scope]

    def functions_around(self, place: ast.AST) -> list[FunctionNode]:
        """The functions whose names are seen at ``place``, innermost first."""
        return [one for one in self.chain(place) if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))]

    def free(self, name: str, place: ast.AST) -> bool:
        """Whether ``name`` can be imported for ``place`` without shadowing anything."""
        if self.owner(name, place) is not None:
            return False
        around = self.functions_around(place)
        return not around or not self._mentions(around[-1], name)

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
        return {name: value for name, value in found.items() if name not in self.rebound_globals}

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
            and one.node.name not in self.rebound_globals
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
            rebound = name in self.bound or name in self.rebound_globals
            return None if rebound else self.imports.get(name)
        function = self._function_by_node.get(owner)
        if function is None or name in function.bound or name in self.rebound_outer:
            return None
        return function.imports.get(name)

    @cached_property
    def _function_by_node(self) -> dict[ast.AST, Function]:
        return {function.node: function for function in self._survey.functions}


def _of_expression(at: ast.AST, below: ast.AST, before: ast.AST) -> bool:
    """Whether ``at`` is a lambda or a comprehension whose names are seen in its child ``below``, above ``before``."""
    if isinstance(at, ast.Lambda):
        return below is at.body
    if isinstance(at, _COMPREHENSIONS):
        first = at.generators[0]
        return not (below is first and before is first.iter)
    return False


def _imports_before(start: tuple[int, int], statements: Iterable[ast.stmt]) -> list[ast.stmt]:
    """The imports that begin before a line and column."""
    return [one for one in statements if isinstance(one, _IMPORTS) and (one.lineno, one.col_offset) < start]

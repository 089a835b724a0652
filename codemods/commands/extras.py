"""Packages of extras: one line for each that is missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import click

from ..engine.registry import missing_formatter
from ..engine.run import CheckRequest
from ..model.outcome import Changed, Outcome


@contextmanager
def required(extra: str, package: str, what: str = "") -> Iterator[None]:
    """Raise ClickException if the imports in the block lack the package of an extra. ``what`` needs it."""
    try:
        yield
    except ImportError as error:
        if (error.name or "").startswith("symfix"):
            raise
        said = f"{what or f'symfix {extra}'} needs {package}: pip install 'symfix[{extra}]'"
        raise click.ClickException(said) from None


def say_missing_formatters(outcomes: Iterable[Outcome], question: CheckRequest) -> None:
    """Print a line for each formatter that is not installed and would have wrapped a changed line."""
    missing: dict[str, int] = {}
    for outcome in outcomes:
        wing = question.registry.wing(outcome.source.path) if isinstance(outcome, Changed) else None
        if isinstance(outcome, Changed) and wing is not None:
            source = outcome.source
            name = missing_formatter(wing.package, source.path, source.content, outcome.after)
            missing[name] = missing.get(name, 0) + 1
    for name, count in sorted(missing.items()):
        if name:
            files = f"{count} file{'s' if count > 1 else ''}"
            click.echo(f"symfix: long lines in {files} need {name}: pip install 'symfix[format]'", err=True)

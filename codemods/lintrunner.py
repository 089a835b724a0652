"""An adapter for lintrunner: ``python -m symfix.codemods.lintrunner [RULE OPTIONS] -- @{{PATHSFILE}}``.

It prints messages and always ends with 0: what went wrong is a message too.
"""

from __future__ import annotations

import sys

if __name__ == "__main__":
    if not (sys.flags.isolated or getattr(sys.flags, "safe_path", False)):
        # `python -m` puts the folder it is started in first: what is looked at may hold a module of any name.
        del sys.path[0]
    # Before what takes long to import: Ctrl-C may come at any time.
    from .system.sigint import install

    install()

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from .commands.options import BASELINE, RULES, SCHEMAS
from .reports.lintrunner import failure, messages
from .system import streams


@click.command(params=[*RULES, *SCHEMAS, BASELINE[0]])
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
def lint(**words: Any) -> None:
    """Print a message for each finding in PATHS, and one with the new text of each file."""
    from .commands.arguments import Examination
    from .commands.check_session import examine, only_new

    baseline = words.pop("baseline")
    asked = Examination(**words)
    if asked.paths:
        sys.stdout.writelines(messages(only_new(examine(asked), baseline, asked).outcomes))


def main(arguments: Sequence[str]) -> None:
    """Run on the words of a command line. A word ``@FILE`` is replaced by the lines of that file."""
    try:
        lint.main([word for argument in arguments for word in _expanded(argument)], standalone_mode=False)
    except click.ClickException as error:
        sys.stdout.write(failure(error.format_message()))
    except Exception as error:
        sys.stdout.write(failure(f"{type(error).__name__}: {error}"))


def _expanded(word: str) -> list[str]:
    if not word.startswith("@"):
        return [word]
    return [line for line in os.fsdecode(Path(word[1:]).read_bytes()).split("\n") if line]


if __name__ == "__main__":
    streams.prepare()
    try:
        main(sys.argv[1:])
        sys.stdout.flush()
    except OSError as error:
        click.echo(f"symfix: {streams.complaint(error) or error}", err=True)
        sys.exit(2)

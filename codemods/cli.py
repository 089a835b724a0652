"""The command line: words in, values out. Whatever a command needs is imported when that command runs."""

from __future__ import annotations

import os
import sys

if __name__ == "__main__" and not (sys.flags.isolated or getattr(sys.flags, "safe_path", False)):
    # `python -m` puts the folder it is started in first: what is looked at may hold a module of any name.
    del sys.path[0]
if __name__ == "__main__" or os.path.basename(sys.argv[0]) in ("symfix", "symfix.exe"):  # noqa: PTH119
    # Before what takes long to import: Ctrl-C may come at any time.
    from .interrupting import install

    install()

import re
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import interrupting, streams

if TYPE_CHECKING:
    from .config import Kind

Command = Callable[..., Any]
FILE = click.Path(path_type=Path)


def _release(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int, int] | None:
    if value is None:
        return None
    major, dot, minor = str(value).partition(".")
    if not (dot and major.isdigit() and minor.isdigit()):
        raise click.BadParameter(f"{value!r} is not a release such as 2.8", ctx, param)
    return int(major), int(minor)


def _names(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    return None if value is None else tuple(name.strip() for name in value.split(",") if name.strip())


def _series_name(ctx: click.Context, param: click.Parameter, value: str) -> str:
    # It is a folder's name and part of the names of branches.
    if not re.fullmatch(r"[A-Za-z0-9](?:[\w-]|\.(?!\.|lock$))*(?<!\.)", value, re.ASCII):
        raise click.BadParameter(f"{value!r} is no name: letters, digits, '-', '_' and single dots", ctx, param)
    return value


def _configure(ctx: click.Context, param: click.Parameter, value: Path | None) -> None:
    from .config import UNASKED, ConfigError, load

    try:
        # A key is spelled as the option is, whatever the parameter behind it is called.
        options = {
            option.opts[0].lstrip("-").replace("-", "_"): option for option in _ALL_COMMON if option.expose_value
        }
        kinds = {key: _kind(option) for key, option in options.items()}
        settings = load(value, kinds)
    except ConfigError as error:
        raise click.UsageError(str(error)) from None
    for line in settings.passed_over:
        click.echo(f"symfix: {line}", err=True)
    ctx.meta[UNASKED] = settings.unasked
    defaults = {options[key].name: word for key, word in settings.options.items()}
    ctx.default_map = {**defaults, **(ctx.default_map or {})}


def _kind(option: click.Option) -> Kind:
    if option.is_flag:
        return "flag"
    if isinstance(option.type, (click.IntRange, click.FloatRange)):
        return "number"
    if option.type is FILE:
        return "path"
    if option.callback is _names:
        return "names"
    return "commands" if option.multiple else "text"


_TARGET = [
    click.Option(
        ["--torch-root"], type=FILE, metavar="DIR",
        help="A PyTorch source tree. To read its schemas its own torchgen is run, where the installed one is of "
        "another release.",
    ),
    click.Option(
        ["--torch-python"], type=FILE, metavar="EXE", help="The interpreter whose torch counts; it is run [this one]."
    ),
    click.Option(["--min-torch"], callback=_release, metavar="X.Y", help="The oldest torch the result must run on."),
    click.Option(
        ["--config"], type=FILE, metavar="FILE", is_eager=True, expose_value=False, callback=_configure,
        help="A pyproject.toml with [tool.symfix] [the nearest one of this repository].",
    ),
]  # fmt: skip
_SCHEMAS = [
    *_TARGET,
    click.Option(
        ["--installed-torchgen"], is_flag=True,
        help="Read the schemas of --torch-root by the installed torchgen or not at all; nothing of the tree is run.",
    ),
]  # fmt: skip
_RULES = [
    click.Option(["--select"], callback=_names, metavar="RULE,…", help="Only these rules."),
    click.Option(["--ignore"], callback=_names, default="", metavar="RULE,…", help="Not these rules."),
    click.Option(["--unsafe-fixes"], is_flag=True, help="Also fixes by which an undecided size takes a stated path."),
    click.Option(["--all-functions"], is_flag=True, help="Every function sees symbolic sizes (out-of-tree code)."),
    click.Option(["--jobs", "-j"], type=click.IntRange(1), metavar="N", help="Processes [one for each processor]."),
    click.Option(["--stdin-filename"], type=FILE, metavar="FILE", help="The name of '-': its suffix counts."),
]  # fmt: skip
_STYLES = ["text", "json", "json-lines", "github", "sarif"]
_FORMAT = [
    click.Option(
        ["--format", "style"], type=click.Choice(_STYLES), default="text", show_default=True,
        help="How findings are printed.",
    ),
    click.Option(["--statistics"], is_flag=True, help="Counts by rule and reason instead of places."),
]  # fmt: skip
_FIX_FORMAT = [
    click.Option(
        ["--format", "style"], type=click.Choice([*_STYLES, "junit"]), default="text", show_default=True,
        help="How findings are printed; junit: how the verification is.",
    ),
    *_FORMAT[1:],
]  # fmt: skip
_BASELINE = [
    click.Option(["--baseline"], type=FILE, metavar="FILE", help="Report only findings that this file does not know."),
    click.Option(["--write-baseline"], type=FILE, metavar="FILE", help="Note every finding of today there."),
]
_PROOF = [
    click.Option(
        ["--repro"], type=FILE, multiple=True, metavar="SCRIPT",
        help="A Python script that exits 0 when the operator works; run before and after.",
    ),
    click.Option(
        ["--test", "tests"], multiple=True, metavar="COMMAND",
        help="A command of yours, such as 'pytest tests/test_mine.py'; run before and after.",
    ),
    click.Option(
        ["--build", "builds"], multiple=True, metavar="COMMAND",
        help="How to build your own project; done before and after in scratch copies, where --test runs then.",
    ),
    click.Option(
        ["--timeout"], type=click.FloatRange(1), metavar="SECONDS",
        help="For each --build, and each --test of a project [3600].",
    ),
    click.Option(
        ["--op", "operators"], multiple=True, metavar="NAME",
        help="One of torch's own operator tests (OpInfo), such as nn.functional.cross_entropy "
        "[those that reach the change, unless there is a --repro or --test].",
    ),
    click.Option(["--evidence"], type=FILE, metavar="DIR", help="Where the evidence is kept [the cache folder]."),
    click.Option(
        ["--sandbox"], type=click.Choice(["try", "require"]), default="try", show_default=True,
        help="Children without network, and behind bubblewrap if it is installed: where that works, or not at all.",
    ),
]  # fmt: skip
_ALL_COMMON = [
    *_SCHEMAS,
    *_RULES,
    *_FORMAT,
    _BASELINE[0],
    *(o for o in _PROOF if o.name in ("builds", "tests", "timeout", "sandbox")),
]


def rule_options() -> list[click.Option]:
    """The options that choose rules, for another command that takes the same ones."""
    return list(_RULES)


def baseline_option() -> click.Option:
    """The option that names what is known already."""
    return _BASELINE[0]


def target_options() -> list[click.Option]:
    """The options that say which torch counts, and how its schemas are read."""
    return list(_SCHEMAS)


def _with(*groups: list[click.Option]) -> Callable[[click.Command], click.Command]:
    def add(command: click.Command) -> click.Command:
        command.params += [option for group in groups for option in group]
        return command

    return add


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="symfix", message="symfix %(version)s")
def main_group() -> None:
    """Make PyTorch operators work with symbolic shapes.

    \b
    Exit: 0 clean or everything fixed, 1 findings or would change,
          2 usage or internal error, 3 verification failed and rolled back.
    """


PATHS = click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True))


@_with(_RULES, _FORMAT, _BASELINE, _SCHEMAS)
@main_group.command()
@PATHS
def check(**words: Any) -> int:
    """Print findings; write nothing."""
    from .commands.rewriting import check

    return check(words)


@_with(_RULES, _SCHEMAS)
@main_group.command()
@PATHS
def diff(**words: Any) -> int:
    """Print a patch for `git apply` on stdout, everything else on stderr."""
    from .commands.rewriting import diff

    return diff(words)


@_with(_RULES, _FIX_FORMAT, _PROOF, _SCHEMAS)
@main_group.command()
@PATHS
@click.option("--verify", "verifying", is_flag=True, help="Build and run before and after; write what is not worse.")
@click.option("--interactive", "-i", is_flag=True, help="Ask about each fix, with the keys of `git add -p`.")
@click.option("--allow-dirty", is_flag=True, help="Also where git could not bring the file back.")
@click.option(
    "--add-ignore", metavar="REASON", help="Change no code; write a comment beside each finding that keeps it out."
)
def fix(**words: Any) -> int:
    """Apply the fixes; '-' reads stdin and prints the fixed text."""
    from .commands.rewriting import fix

    return fix(words)


@main_group.command()
@click.argument("name", required=False)
def rule(name: str | None) -> int:
    """List the rules, or explain one."""
    from .commands.rule import rule

    return rule(name)


@_with(_PROOF, _TARGET)
@main_group.command()
@click.argument("paths", nargs=-1, type=FILE)
@click.option("--base", default="HEAD", show_default=True, metavar="REV", help="What the files are compared with.")
@click.option("--jobs", "-j", type=click.IntRange(1), metavar="N", help="Compilers and children at a time [2].")
@click.option("--format", "style", type=click.Choice(["text", "json", "junit"]), default="text", show_default=True)
def verify(**words: Any) -> int:
    """Prove the change between a revision and the files on disk."""
    from .commands.proving import verify

    return verify(words)


@main_group.command()
@click.argument("operators", nargs=-1, metavar="[OP]...")
@click.option(
    "--protocol", type=click.Choice(["unbacked", "backed"]), default="unbacked", show_default=True,
    help="Sizes without a hint, as PyTorch's own test has them, or with one.",
)  # fmt: skip
@click.option("--every-sample", is_flag=True, help="Do not stop at an operator's first failing sample.")
@click.option("--samples", type=click.IntRange(1), metavar="N", help="At most so many samples of an operator [all].")
@click.option("--fresh", is_flag=True, help="Forget what an earlier sweep of the same torch found out.")
@click.option("--jobs", "-j", type=click.IntRange(1), metavar="N", help="Processes [2].")
@click.option("--torch-python", type=FILE, metavar="EXE", help="The interpreter whose torch counts [this one].")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--page", type=FILE, metavar="FILE", help="Also write an HTML page to look at.")
def hunt(**words: Any) -> int:
    """Find which operators fail on symbolic sizes, in which mode, at which line [OP: all that torch tests]."""
    from .commands.hunting import hunt

    return hunt(words)


@main_group.command()
@click.argument("targets", nargs=-1, metavar="[OP|PATH]...")
@click.option("--all", "everything", is_flag=True, help="Every operator that fails torch's unbacked test.")
@click.option(
    "--output", type=FILE, default=Path("symfix-repairs"), show_default=True, metavar="DIR",
    help="Where the patches, their evidence and what is left go.",
)  # fmt: skip
@click.option("--torch-root", type=FILE, metavar="DIR", help="A PyTorch source tree, to repair C++ too.")
@click.option("--torch-python", type=FILE, metavar="EXE", help="The interpreter whose torch counts [this one].")
@click.option("--jobs", "-j", type=click.IntRange(1), metavar="N", help="Compilers and children at a time [2].")
@click.option("--fresh", is_flag=True, help="Forget what an earlier run of the same torch found out.")
def repair(**words: Any) -> int:
    """Find failing operators, try fixes at the place, keep what is proven."""
    from .commands.repairing import repair

    return repair(words)


@main_group.command()
@click.argument("paths", nargs=-1, required=True, type=FILE)
@click.option("--check", is_flag=True, help="Only report what is stale; exit 1 if anything is.")
@click.option("--jobs", "-j", type=click.IntRange(1), metavar="N", help="Processes [2].")
@click.option("--torch-python", type=FILE, metavar="EXE", help="The interpreter whose torch counts [this one].")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
def xfails(**words: Any) -> int:
    """Remove entries of expected-failure lists whose tests pass by now, each put to its test; never a skip."""
    from .commands.expecting import xfails

    return xfails(words)


@main_group.group()
def series() -> None:
    """Small pull requests: plan them, build commits and patches, send each by hand."""


_WHICH = [
    click.Option(
        ["--name"], default="main", show_default=True, metavar="NAME", callback=_series_name,
        help="Which series; in branch names.",
    ),
    click.Option(["--folder"], type=FILE, metavar="DIR", help="Where it is kept [symfix/NAME in git's own folder]."),
    click.Option(["--repository"], type=FILE, metavar="DIR", help="A checkout of the repository [this one]."),
]  # fmt: skip


@_with(_WHICH, _RULES, _SCHEMAS)
@series.command("plan")
@PATHS
@click.option("--most-files", type=click.IntRange(1, 25), default=25, show_default=True, metavar="N", help="In each.")
@click.option(
    "--most-lines", type=click.IntRange(1, 1500), default=400, show_default=True, metavar="N", help="Changed."
)
def series_plan(**words: Any) -> int:
    """Say which fixes of the paths, or which repairs of a folder by `symfix repair`, belong together."""
    from .commands.serial import plan_series

    return plan_series(words)


@_with(_WHICH)
@series.command("build")
@click.option("--base", metavar="REV", help="What to build on [the commit that was planned for].")
@click.option("--decisions", type=FILE, metavar="FILE", help="What a reviewer left out, as the page exported it.")
@click.option("--no-verify", is_flag=True, help="Build everything, proven or not.")
@click.option("--unproven", is_flag=True, help="Also what the verification can say nothing about.")
@click.option("--no-page", is_flag=True, help="Without the page to review.")
@click.option("--jobs", "-j", type=click.IntRange(1), metavar="N", help="Compilers and children at a time [2].")
@click.option("--torch-python", type=FILE, metavar="EXE", help="The interpreter whose torch counts [this one].")
@click.option("--sandbox", type=click.Choice(["try", "require"]), default="try", show_default=True)
def series_build(**words: Any) -> int:
    """Make a branch and a patch for each, verified alone and together; the checkout is never touched."""
    from .commands.serial import build_series

    return build_series(words)


@_with(_WHICH)
@series.command("status")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
def series_status(**words: Any) -> int:
    """Print where each stands."""
    from .commands.serial import show_status

    return show_status(words)


@_with(_WHICH)
@series.command("send")
@click.argument("requests", nargs=-1, required=True, metavar="NUMBER|ID|BRANCH...")
@click.option("--remote", default="origin", show_default=True, metavar="NAME", help="Where the branches are pushed.")
@click.option("--repo", metavar="OWNER/NAME", help="Where the pull requests are opened [as gh finds it].")
@click.option("--owner", metavar="NAME", help="Whose fork has the branches.")
@click.option("--onto", default="main", show_default=True, metavar="BRANCH", help="What they are to be merged into.")
@click.option("--ghstack", is_flag=True, help="By ghstack instead of gh.")
@click.option("--ready", is_flag=True, help="No drafts.")
@click.option("--dry-run", is_flag=True, help="Print the commands; call neither gh nor ghstack nor git push.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def series_send(**words: Any) -> int:
    """Open draft pull requests: at most 5 at once, one in 30 s, none twice."""
    from .commands.serial import send_series

    return send_series(words)


@_with(_TARGET)
@main_group.command()
def doctor(**words: Any) -> int:
    """Say what is here: torch, compiler, headers, clang-format."""
    from .commands.doctor import doctor

    return doctor(words)


def main() -> None:
    """Entry point: every way out goes through one of the four exit codes."""
    interrupting.install()
    streams.prepare()
    try:
        code = main_group.main(standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        code = 2
    except click.Abort:
        click.echo("symfix: interrupted; every file is either as it was or whole", err=True)
        code = 2
    except BrokenPipeError:
        # Whoever read us has gone; the interpreter must not complain about it when it flushes at exit.
        streams.give_up_stdout()
        code = 2
    except Exception as error:
        code = 2
        said = streams.complaint(error)
        if said:
            click.echo(f"symfix: {said}", err=True)
        else:
            traceback.print_exc()
            click.echo("symfix: this is a bug of symfix, please report it; every file is as it was or whole", err=True)
    sys.exit(code)


if __name__ == "__main__":
    main()

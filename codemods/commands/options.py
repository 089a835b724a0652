"""Options that several commands share, with defaults from the configuration."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .shell_completion import operators, rules

if TYPE_CHECKING:
    from ..system.config import Kind

FILE = click.Path(path_type=Path)


def _release(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int, int] | None:
    if value is None:
        return None
    major, dot, minor = str(value).partition(".")
    if not (dot and major.isdigit() and minor.isdigit()):
        raise click.BadParameter(f"{value!r} is not a release such as 2.8", ctx, param)
    return int(major), int(minor)


def _shapes(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> dict[str, tuple[tuple[int, ...], str]]:
    found = {}
    for one in value:
        name, given, rest = one.partition("=")
        sizes, _, kind = rest.partition(":")
        numbers = [size.strip() for size in sizes.split(",") if size.strip()]
        if not (given and name.isidentifier() and all(map(str.isdecimal, numbers))):
            raise click.BadParameter(f"{one!r} is not such as x=2,7,16 or x=2,7:int64", ctx, param)
        found[name] = tuple(map(int, numbers)), kind.removeprefix("torch.") or "float32"
    return found


def _dynamic(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> dict[str, tuple[tuple[int, str], ...]]:
    found = {}
    for one in value:
        name, given, rest = one.partition("=")
        pairs = [size.partition(":")[::2] for size in rest.split(",")]
        if not (given and name.isidentifier() and all(at.strip().isdecimal() and size.strip() for at, size in pairs)):
            raise click.BadParameter(f"{one!r} is not such as x=0:batch,1:length", ctx, param)
        found[name] = tuple((int(at), size.strip()) for at, size in pairs)
    return found


def _names(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    return None if value is None else tuple(name.strip() for name in value.split(",") if name.strip())


def _series_name(ctx: click.Context, param: click.Parameter, value: str) -> str:
    # The name becomes a folder's name and a part of branch names.
    if not re.fullmatch(r"[A-Za-z0-9](?:[\w-]|\.(?!\.|lock$))*(?<!\.)", value, re.ASCII):
        raise click.BadParameter(f"{value!r} is no name: letters, digits, '-', '_' and single dots", ctx, param)
    return value


def _configure(ctx: click.Context, param: click.Parameter, value: Path | None) -> None:
    from ..system.config import UNASKED, ConfigError, load

    if ctx.resilient_parsing:  # words are being completed
        return
    try:
        # A key is spelled like its option, which may differ from the parameter's name.
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


TARGET = [
    click.Option(
        ["--torch-root"], type=FILE, metavar="DIR",
        help="A PyTorch source tree. Its own torchgen is run to read its schemas, if the installed one is of "
        "another release.",
    ),
    click.Option(
        ["--torch-python"], type=FILE, metavar="EXE", help="The interpreter of the target torch; it is run [this one]."
    ),
    click.Option(["--min-torch"], callback=_release, metavar="X.Y", help="The oldest torch the result must run on."),
    click.Option(
        ["--config"], type=FILE, metavar="FILE", is_eager=True, expose_value=False, callback=_configure,
        help="A pyproject.toml with [tool.symfix] [the nearest one of this repository].",
    ),
]  # fmt: skip
SCHEMAS = [
    *TARGET,
    click.Option(
        ["--installed-torchgen"], is_flag=True,
        help="Read the schemas of --torch-root with the installed torchgen, or fail; run nothing of the tree.",
    ),
]  # fmt: skip
QUIET = click.Option(["--quiet", "-q"], is_flag=True, help="Print results and errors only: no progress, no summary.")
CHILDREN_HELP = "Processes at a time [one for each processor, as far as memory goes]."
EXECUTOR = click.Option(
    ["--executor"], metavar="dask://HOST:PORT",
    help="Work on the workers of a dask cluster, which have the same torch and symfix; see docs/use/cluster.md.",
)  # fmt: skip
DRAWN = [
    click.Option(
        ["--fuzz", "examples"], type=click.IntRange(1), metavar="N",
        help="Draw N calls of each operator that passes, with views around it, and take the new places.",
    ),
    click.Option(
        ["--seed"], type=int, default=0, show_default=True, help="With --fuzz: the same seed draws the same calls.",
    ),
    click.Option(
        ["--minutes"], type=click.FloatRange(0, min_open=True), default=60.0, show_default=True,
        help="With --fuzz: draw for no further operator after so many minutes.",
    ),
]  # fmt: skip
TORCHSCRIPT = click.Option(
    ["--drop-torchscript"],
    is_flag=True,
    help="Accept that TorchScript no longer compiles a function that it compiled (out-of-tree Python).",
)
RULES = [
    click.Option(["--select"], callback=_names, metavar="RULE,…", shell_complete=rules, help="Only these rules."),
    click.Option(
        ["--ignore"], callback=_names, default="", metavar="RULE,…", shell_complete=rules, help="Not these rules."
    ),
    click.Option(["--unsafe-fixes"], is_flag=True, help="Also fixes that change something; each one states what."),
    click.Option(["--all-functions"], is_flag=True, help="Assume symbolic sizes in every function (out-of-tree code)."),
    click.Option(
        ["--modules"], is_flag=True,
        help="Assume symbolic sizes in what `forward` of a module calls (out-of-tree Python).",
    ),
    TORCHSCRIPT,
    click.Option(
        ["--exclude"], callback=_names, default="", metavar="GLOB,…",
        help="In folders, pass over files and folders whose path ends so, such as 'legacy' or 'csrc/*.h'.",
    ),
    click.Option(
        ["--jobs", "-j"], type=click.IntRange(1), metavar="N", help="Processes at a time [one for each processor]."
    ),
    click.Option(["--stdin-filename"], type=FILE, metavar="FILE", help="The name of '-'; its suffix is the language."),
    QUIET,
]  # fmt: skip
SINCE = click.Option(["--since"], metavar="REV", help="Only files that differ from this revision of git.")
SELECTION = [
    option for option in RULES if option.name in ("select", "ignore", "all_functions", "modules", "drop_torchscript")
]
_STYLES = ["text", "json", "json-lines", "github", "sarif"]
FORMAT = [
    click.Option(
        ["--format", "style"], type=click.Choice(_STYLES), default="text", show_default=True,
        help="How findings are printed.",
    ),
    click.Option(["--statistics"], is_flag=True, help="Counts by rule and reason instead of places."),
    click.Option(["--show-left"], is_flag=True, help="Also print each place that is left, with the reason."),
]  # fmt: skip
FIX_FORMAT = [
    click.Option(
        ["--format", "style"], type=click.Choice([*_STYLES, "junit"]), default="text", show_default=True,
        help="How findings are printed; junit prints the verification.",
    ),
    *FORMAT[1:],
]  # fmt: skip
BASELINE = [
    click.Option(
        ["--baseline"], type=FILE, metavar="FILE", help="Report only findings that this file does not record."
    ),
    click.Option(["--write-baseline"], type=FILE, metavar="FILE", help="Record all current findings in this file."),
]
PROOF = [
    click.Option(
        ["--repro"], type=FILE, multiple=True, metavar="SCRIPT",
        help="A Python script that exits 0 when the operator works; run before and after.",
    ),
    click.Option(
        ["--call", "calls"], multiple=True, metavar="CODE",
        help="A call, such as 'import mine; torch.ops.mine.f(torch.ones(3), 5)': run before and after eagerly; of an "
        "operator also by torch.library.opcheck and with symbols, of a function by torch's tracers.",
    ),
    click.Option(
        ["--test", "tests"], multiple=True, metavar="COMMAND",
        help="A command, such as 'pytest tests/test_mine.py'; run before and after.",
    ),
    click.Option(
        ["--build", "builds"], multiple=True, metavar="COMMAND",
        help="How to build your project; run before and after in scratch copies, in which --test runs.",
    ),
    click.Option(
        ["--timeout"], type=click.FloatRange(1), metavar="SECONDS",
        help="Limit for each --build and each --test of a project [3600].",
    ),
    click.Option(
        ["--op", "operators"], multiple=True, metavar="NAME", shell_complete=operators,
        help="One of torch's own operator tests (OpInfo), such as nn.functional.cross_entropy "
        "[those that reach the change, unless there is a --repro or --test].",
    ),
    click.Option(["--evidence"], type=FILE, metavar="DIR", help="Folder for the evidence [the cache folder]."),
    click.Option(
        ["--sandbox"], type=click.Choice(["try", "require"]), default="try", show_default=True,
        help="Run tests without network, and in bubblewrap if it is installed; 'require' refuses to run without.",
    ),
]  # fmt: skip
EXPORTING = [
    EXECUTOR,
    QUIET,
    click.Option(
        ["--backend", "ways"], type=click.Choice(["export", "strict", "compile"]), multiple=True,
        help="torch.export non-strict, strict, or torch.compile(fullgraph=True); may be repeated "
        "[export; with --unbacked: compile].",
    ),
    click.Option(["--unbacked"], is_flag=True, help="Sizes without a hint: one program for all, 0 and 1 too."),
    click.Option(
        ["--output"], type=FILE, default=Path("symfix-export"), show_default=True, metavar="DIR",
        help="Folder for the patches and their evidence.",
    ),
    click.Option(
        ["--prefer"], type=click.Choice(["where", "cond"]),
        help="Where a tensor's values decide: what to try first [by what the sides cost, and whether they may raise].",
    ),
    click.Option(["--page"], type=FILE, metavar="FILE", help="Also write an HTML report."),
    click.Option(["--format", "style"], type=click.Choice(["text", "json"]), default="text", show_default=True),
    click.Option(
        ["--timeout"], type=click.FloatRange(1), metavar="SECONDS", help="Limit for each try of a target [900]."
    ),
    click.Option(
        ["--search-time"], type=click.FloatRange(1), metavar="SECONDS",
        help="Limit for the search; what passes then is proven [none].",
    ),
    click.Option(["--jobs", "-j"], type=click.IntRange(1), metavar="N", help=CHILDREN_HELP),
    click.Option(
        ["--torch-python"], type=FILE, metavar="EXE", help="The interpreter that runs the model [this one]."
    ),
    click.Option(["--min-torch"], callback=_release, metavar="X.Y", help="The oldest torch the result must run on."),
]  # fmt: skip
DESCRIBING = [
    click.Option(
        ["--shape", "shapes"], multiple=True, metavar="X=2,7:int64", callback=_shapes,
        help="TARGET is a model, or a class of one; an input of it, by its name: sizes and dtype [float32].",
    ),
    click.Option(
        ["--dynamic"], multiple=True, metavar="X=0:batch,…", callback=_dynamic,
        help="With --shape: the dynamic dimensions of an input; the same name is the same size.",
    ),
]  # fmt: skip
_ALL_COMMON = [
    *SCHEMAS,
    *RULES,
    *FORMAT,
    BASELINE[0],
    *(o for o in PROOF if o.name in ("builds", "tests", "timeout", "sandbox")),
]
WHICH = [
    click.Option(
        ["--name"], default="main", show_default=True, metavar="NAME", callback=_series_name,
        help="Which series; in branch names.",
    ),
    click.Option(["--folder"], type=FILE, metavar="DIR", help="Where it is kept [symfix/NAME in git's own folder]."),
    click.Option(["--repository"], type=FILE, metavar="DIR", help="A checkout of the repository [this one]."),
]  # fmt: skip

"""The command line. What a command needs is imported when that command runs."""

from __future__ import annotations

import os
import sys

if __name__ == "__main__" and not (sys.flags.isolated or getattr(sys.flags, "safe_path", False)):
    # `python -m` puts the working folder first on the path. An examined project may contain a module of any name.
    del sys.path[0]
if __name__ == "__main__" or os.path.basename(sys.argv[0]) in ("symfix", "symfix.exe"):  # noqa: PTH119
    # Before the slow imports, since Ctrl-C may come at any time.
    from .system.sigint import install

    install()

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from .commands import shell_completion
from .commands.examples import SectionedGroup, WordBeforeCommand
from .commands.options import (
    BASELINE,
    CHILDREN_HELP,
    DESCRIBING,
    DRAWN,
    EXECUTOR,
    EXPORTING,
    FILE,
    FIX_FORMAT,
    FORMAT,
    PROOF,
    QUIET,
    RULES,
    SCHEMAS,
    SELECTION,
    SINCE,
    TARGET,
    TORCHSCRIPT,
    WHICH,
)
from .system import sigint, streams


def _with(*groups: list[click.Option]) -> Callable[[click.Command], click.Command]:
    def add(command: click.Command) -> click.Command:
        command.params += [option for group in groups for option in group]
        return command

    return add


@click.group(cls=SectionedGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="symfix", message="symfix %(version)s")
def main_group() -> None:
    """Make PyTorch operators work with symbolic shapes.

    \b
    Exit: 0 clean or everything fixed, 1 findings or would change,
          2 usage or internal error, 3 a fix made something worse and was not written.
    """


CHILDREN = click.option("--jobs", "-j", type=click.IntRange(1), metavar="N", help=CHILDREN_HELP)
PATHS = click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True))


@_with([SINCE], RULES, FORMAT, BASELINE, SCHEMAS, [EXECUTOR])
@main_group.command()
@PATHS
def check(**words: Any) -> int:
    """Print findings; write nothing."""
    from .commands.arguments import CheckArguments
    from .commands.fix import check

    return check(CheckArguments(**words))


@_with([SINCE], RULES, SCHEMAS)
@main_group.command()
@PATHS
def diff(**words: Any) -> int:
    """Print a patch for `git apply`.

    The patch goes to stdout, everything else to stderr.
    """
    from .commands.arguments import Examination
    from .commands.fix import diff

    return diff(Examination(**words))


@_with([SINCE], RULES, FIX_FORMAT, PROOF, SCHEMAS)
@main_group.command()
@PATHS
@click.option(
    "--verify", "verifying", is_flag=True, help="Build and test before and after; write only confirmed fixes."
)
@click.option("--interactive", "-i", is_flag=True, help="Ask about each fix, with the keys of `git add -p`.")
@click.option("--allow-dirty", is_flag=True, help="Write even if git cannot restore the file.")
@click.option("--add-ignore", metavar="REASON", help="Change no code; add a suppressing comment to each finding.")
@click.option(
    "--target",
    "targets",
    multiple=True,
    metavar="TARGET",
    help="With --unsafe-fixes: write only what the export of this target proves, as in symfix export.",
)
def fix(**words: Any) -> int:
    """Apply the fixes; '-' reads stdin and prints the fixed text."""
    from .commands.arguments import FixArguments
    from .commands.fix import fix

    return fix(FixArguments(**words))


@main_group.command()
@click.argument("name", required=False, shell_complete=shell_completion.rules)
def rule(name: str | None) -> int:
    """List the rules, or explain one."""
    from .commands.rule import rule

    return rule(name)


@_with(PROOF, TARGET, [EXECUTOR, QUIET, TORCHSCRIPT])
@main_group.command()
@click.argument("paths", nargs=-1, type=FILE)
@click.option("--base", default="HEAD", show_default=True, metavar="REV", help="What the files are compared with.")
@click.option(
    "--diff",
    "patch",
    type=FILE,
    metavar="FILE",
    help="Prove this patch ('-' for stdin) in a copy of the files on disk.",
)
@CHILDREN
@click.option("--format", "style", type=click.Choice(["text", "json", "junit"]), default="text", show_default=True)
def verify(**words: Any) -> int:
    """Prove the change between a revision and the files on disk."""
    from .commands.arguments import Verify
    from .commands.verify import verify

    return verify(Verify(**words))


@_with(DRAWN, [EXECUTOR, QUIET])
@main_group.command()
@click.argument("operators", nargs=-1, metavar="[OP]...", shell_complete=shell_completion.operators)
@click.option(
    "--protocol", type=click.Choice(["unbacked", "backed", "backward", "inductor", "dynamic", "hop"]),
    default="unbacked", show_default=True,
    help="Sizes without a hint, as in PyTorch's own test; with one; without one, and the gradients too; without one, up"
    " to Inductor's generated code; marked dynamic, where none may become a constant; without one, for higher-order"
    " operators (hop_db) in place of operators.",
)  # fmt: skip
@click.option("--modules", is_flag=True, help="Torch's modules (module_db) in place of its operators.")
@click.option("--every-sample", is_flag=True, help="Do not stop at an operator's first failing sample.")
@click.option(
    "--samples",
    type=click.IntRange(1),
    metavar="N",
    help="Maximum number of samples for each operator [all; backed, dynamic, inductor: 24].",
)
@click.option("--fresh", is_flag=True, help="Ignore the results of earlier runs with the same torch.")
@click.option("--stored", is_flag=True, help="Run nothing: print what an interrupted run has found so far.")
@CHILDREN
@click.option("--torch-python", type=FILE, metavar="EXE", help="The interpreter of the target torch [this one].")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--page", type=FILE, metavar="FILE", help="Also write an HTML report.")
def hunt(**words: Any) -> int:
    """Find which operators fail on symbolic sizes, and where.

    Each failure has its mode and its line. OP is a name, a name before a dot (fft), or a pattern ('masked.*'); without
    one, all that torch tests.
    """
    from .commands.arguments import Hunt
    from .commands.hunt import hunt

    return hunt(Hunt(**words))


@_with(DRAWN, [EXECUTOR, QUIET])
@main_group.command()
@click.argument("targets", nargs=-1, metavar="[OP|PATH]...", shell_complete=shell_completion.operators)
@click.option("--all", "everything", is_flag=True, help="Every operator (or module) that fails.")
@click.option(
    "--protocol", type=click.Choice(["unbacked", "backed", "backward", "inductor", "dynamic", "hop"]),
    default="unbacked", show_default=True,
    help="Sizes without a hint, as in PyTorch's own test; sizes with a hint; gradients too; Inductor's generated code;"
    " sizes marked dynamic, which must not become constants; or higher-order operators (hop_db).",
)  # fmt: skip
@click.option("--modules", is_flag=True, help="Torch's modules (module_db) in place of its operators.")
@click.option(
    "--output", type=FILE, default=Path("symfix-repairs"), show_default=True, metavar="DIR",
    help="Folder for the patches, their evidence and the unrepaired operators.",
)  # fmt: skip
@click.option("--torch-root", type=FILE, metavar="DIR", help="A PyTorch source tree, to repair C++ too.")
@click.option("--torch-python", type=FILE, metavar="EXE", help="The interpreter of the target torch [this one].")
@CHILDREN
@click.option("--fresh", is_flag=True, help="Ignore the results of earlier runs with the same torch.")
def repair(**words: Any) -> int:
    """Try fixes where operators fail, and write proven patches."""
    from .commands.arguments import RepairArguments
    from .commands.repair import repair

    return repair(RepairArguments(**words))


@_with([QUIET])
@main_group.command()
@click.argument("operators", nargs=-1, metavar="[OP]...")
@click.option("--argument", "arguments", multiple=True, metavar="NAME", help="An int that is a size [what is found].")
@click.option("--torch-root", type=FILE, metavar="DIR", help="The PyTorch source tree; its own torchgen is run.")
@click.option("--torch-python", type=FILE, metavar="EXE", help="The interpreter of the installed torch [this one].")
@click.option(
    "--verify", "verifying", is_flag=True,
    help="Generate, compile and run twins before and after; go on only if that is proven.",
)  # fmt: skip
@click.option("--write", "writing", is_flag=True, help="Write all files of the tree, or none, instead of a patch.")
@click.option("--allow-dirty", is_flag=True, help="Write even if git cannot restore a file.")
def widen(**words: Any) -> int:
    """Turn int arguments that are sizes into SymInts.

    Schemas, kernels, callers and formulas change together. Without OP, print the arguments that are sizes.
    """
    from .commands.arguments import Widen
    from .commands.widen import widen

    return widen(Widen(**words))


@_with(EXPORTING, DESCRIBING)
@main_group.command(cls=WordBeforeCommand)
@click.argument("targets", nargs=-1, metavar="[TARGET]... | -- COMMAND...")
@click.option("--init", type=FILE, metavar="FILE", help="Write a target to begin with, and stop.")
@click.option(
    "--report", type=FILE, metavar="FILE", help="Only write what torch.export.draft_export finds, as JSON, and stop."
)
def export(**words: Any) -> int:
    """Find why a model does not export, and write a proven patch.

    TARGET is script.py, script.py:function or module:function (function: target); it returns a dict with the model,
    a call of it and its dynamic dimensions. No file of yours and no installed package is changed.

    With --shape, TARGET is the model itself: a function, or a class that needs no arguments.

    COMMAND is your own, such as python export.py: it runs as it is, and the first torch.export, draft_export,
    torch.onnx.export or first call of a torch.compile that fails in it is the target. Where none fails, the exit code
    is the command's. --timeout limits the command too.
    """
    from .commands.arguments import Export
    from .commands.export import export

    return export(Export(**words))


@_with(EXPORTING)
@main_group.command("apply-report")
@click.argument("file", type=FILE)
@click.argument("target", required=False)
def apply_report(**words: Any) -> int:
    """Continue from a report of `symfix export --report`."""
    from .commands.arguments import ApplyReport
    from .commands.export import apply_report

    return apply_report(ApplyReport(**words))


@main_group.command()
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
def explain(**words: Any) -> int:
    """Explain a pasted traceback or log of torch.

    Prints the undecided size, its line and the command that mends it.

    FILE is a traceback, an error message or TORCH_LOGS output, as a terminal, a CI log, an issue or a notebook shows
    it; '-' reads stdin. Exit: 0 about sizes, 1 an error of torch that is not, 2 no error of torch.
    """
    from .commands.arguments import Explain
    from .commands.explain import explain

    return explain(Explain(**words))


@_with([QUIET])
@main_group.command()
@click.argument("paths", nargs=-1, required=True, type=FILE)
@click.option("--check", is_flag=True, help="Only report what is stale; exit 1 if anything is.")
@CHILDREN
@click.option("--torch-python", type=FILE, metavar="EXE", help="The interpreter of the target torch [this one].")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
def xfails(**words: Any) -> int:
    """Remove expected-failure entries whose tests pass now.

    Each test is run; skips stay.
    """
    from .commands.arguments import Xfails
    from .commands.xfails import xfails

    return xfails(Xfails(**words))


@main_group.group()
def series() -> None:
    """Plan, build and send small pull requests."""


@_with(WHICH, RULES, SCHEMAS)
@series.command("plan")
@PATHS
@click.option(
    "--most-files",
    type=click.IntRange(1, 25),
    default=25,
    show_default=True,
    metavar="N",
    help="Files in each pull request.",
)
@click.option(
    "--most-lines",
    type=click.IntRange(1, 1500),
    default=400,
    show_default=True,
    metavar="N",
    help="Changed lines in each pull request.",
)
def series_plan(**words: Any) -> int:
    """Group the fixes of the paths, or the repairs in a folder written by `symfix repair`."""
    from .commands.arguments import SeriesPlan
    from .commands.series import plan_series

    return plan_series(SeriesPlan(**words))


@_with(WHICH, [QUIET])
@series.command("build")
@click.option("--base", metavar="REV", help="Commit to build on [the planned one].")
@click.option(
    "--decisions", type=FILE, metavar="FILE", help="What a reviewer excluded, as exported by the review page."
)
@click.option("--no-verify", is_flag=True, help="Build everything, proven or not.")
@click.option("--unproven", is_flag=True, help="Also include changes that the verification cannot judge.")
@click.option("--no-page", is_flag=True, help="Do not write the review page.")
@CHILDREN
@click.option("--torch-python", type=FILE, metavar="EXE", help="The interpreter of the target torch [this one].")
@click.option("--sandbox", type=click.Choice(["try", "require"]), default="try", show_default=True)
def series_build(**words: Any) -> int:
    """Create a branch and a patch for each, verified alone and together; the checkout is not changed."""
    from .commands.arguments import SeriesBuild
    from .commands.series import build_series

    return build_series(SeriesBuild(**words))


@_with(WHICH)
@series.command("status")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
def series_status(**words: Any) -> int:
    """Print the state of each pull request."""
    from .commands.arguments import SeriesStatus
    from .commands.series import show_status

    return show_status(SeriesStatus(**words))


@_with(WHICH)
@series.command("send")
@click.argument("requests", nargs=-1, required=True, metavar="NUMBER|ID|BRANCH...")
@click.option("--remote", default="origin", show_default=True, metavar="NAME", help="Where the branches are pushed.")
@click.option("--repo", metavar="OWNER/NAME", help="Where the pull requests are opened [as gh finds it].")
@click.option("--owner", metavar="NAME", help="Whose fork has the branches.")
@click.option("--onto", default="main", show_default=True, metavar="BRANCH", help="Base branch of the pull requests.")
@click.option("--ghstack", is_flag=True, help="Use ghstack instead of gh.")
@click.option("--ready", is_flag=True, help="Open them ready for review, not as drafts.")
@click.option("--dry-run", is_flag=True, help="Print the commands; call neither gh nor ghstack nor git push.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def series_send(**words: Any) -> int:
    """Open draft pull requests: at most 5 at once, one in 30 s, none twice."""
    from .commands.arguments import SeriesSend
    from .commands.series import send_series

    return send_series(SeriesSend(**words))


@_with(SELECTION, SCHEMAS)
@main_group.command()
def lsp(**words: Any) -> int:
    """Serve an editor with the findings of `check`.

    It speaks LSP on stdin and stdout; see docs/use/editor.md.
    """
    from .commands.arguments import RuleSelection
    from .commands.servers import serve_editor

    return serve_editor(RuleSelection(**words))


@main_group.command()
def mcp() -> int:
    """Serve an agent with six commands as tools.

    It speaks MCP on stdin and stdout; see docs/use/agents.md.
    """
    from .commands.servers import serve_agent

    return serve_agent()


@_with(TARGET)
@main_group.command()
def doctor(**words: Any) -> int:
    """Check the torch, compiler, headers and clang-format here."""
    from .commands.arguments import TargetArguments
    from .commands.doctor import doctor

    return doctor(TargetArguments(**words))


@main_group.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> int:
    """Print the script that completes symfix's words in a shell."""
    click.echo(shell_completion.script(shell))
    return 0


def main() -> None:
    """Entry point: every way out goes through one of the four exit codes."""
    sigint.install()
    streams.prepare()
    try:
        code = main_group.main(standalone_mode=False, color=False if os.environ.get("NO_COLOR") else None)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        code = 2
    except click.Abort:
        click.echo("symfix: interrupted; every file is either as it was or whole", err=True)
        code = 2
    except BrokenPipeError:
        # The reader of stdout has exited. The interpreter must not complain about it when it flushes at exit.
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

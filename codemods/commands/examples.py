"""Sections of the list of commands, and examples at the end of each command's help."""

from __future__ import annotations

import click

SECTIONS = {
    "Rewrite": ("check", "fix", "diff", "rule"),
    "Prove": ("verify",),
    "Models": ("export", "explain", "apply-report"),
    "PyTorch's operators": ("repair", "hunt", "widen", "xfails"),
    "Pull requests": ("series",),
    "Editors and agents": ("lsp", "mcp"),
    "Set-up": ("doctor", "completion"),
}
"""Commands by what a person wants to do, in each section the most used first."""
EXAMPLES = {
    "": ("symfix check torch", "symfix fix --verify aten/src/ATen/native/LossNLL.cpp", "symfix COMMAND --help"),
    "check": (
        "symfix check torch aten/src/ATen/native",
        "symfix check --show-left --select RULE LossNLL.cpp",
        "symfix check --all-functions --exclude legacy,'csrc/*.h' src",
        "symfix check --baseline symfix-baseline.json src",
    ),
    "diff": ("symfix diff torch > fixes.patch", "symfix diff --unsafe-fixes torch/_refs | git apply"),
    "fix": (
        "symfix fix torch/_refs",
        "symfix fix -i --unsafe-fixes LossNLL.cpp",
        "symfix fix --verify --repro cross_entropy.py LossNLL.cpp",
        "symfix fix --unsafe-fixes --target export_target.py src",
        "symfix fix - --stdin-filename model.py < model.py",
    ),
    "verify": (
        "symfix verify --base HEAD~1",
        "symfix verify --diff change.patch pytorch",
        "symfix verify --op nn.functional.cross_entropy aten/src/ATen/native/LossNLL.cpp",
        "symfix verify --test 'pytest tests/test_mine.py' --build 'pip install .'",
    ),
    "hunt": ("symfix hunt", "symfix hunt fft 'masked.*' nn.functional.cross_entropy", "symfix hunt --page hunt.html"),
    "repair": (
        "symfix repair trapezoid",
        "symfix repair --all --torch-root pytorch",
        "symfix repair fft",
    ),
    "widen": (
        "symfix widen --torch-root pytorch",
        "symfix widen one_hot --torch-root pytorch --verify",
        "symfix widen vander --argument N --torch-root pytorch --write",
    ),
    "export": (
        "symfix export --init target.py",
        "symfix export target.py",
        "symfix export --unbacked --page export.html mymodel.py:small",
        "symfix export mymodel.py:Model --shape x=2,7,16 --dynamic x=0:batch,1:length",
        "symfix export -- python export.py --my args",
    ),
    "apply-report": ("symfix apply-report report.json", "symfix apply-report --output patches report.json target.py"),
    "explain": ("symfix explain error.txt", "symfix explain --format json - < ci.log"),
    "xfails": ("symfix xfails --check test/test_torch.py", "symfix xfails test"),
    "series": ("symfix series plan torch", "symfix series build", "symfix series status", "symfix series send 1 2"),
    "series plan": ("symfix series plan torch/_refs", "symfix series plan --most-files 5 symfix-repairs"),
    "series build": ("symfix series build", "symfix series build --decisions decisions.json"),
    "series status": ("symfix series status", "symfix series status --format json"),
    "series send": ("symfix series send --dry-run 1", "symfix series send 1 2 --repo pytorch/pytorch"),
    "lsp": ("symfix lsp", "symfix lsp --modules --ignore RULE"),
    "mcp": ("symfix mcp",),
    "rule": ("symfix rule", "symfix rule RULE"),
    "doctor": ("symfix doctor", "symfix doctor --torch-root pytorch"),
    "completion": (
        'eval "$(symfix completion bash)"',
        "symfix completion fish | source",
    ),
}


class SectionedGroup(click.Group):
    """A group that lists its commands in sections with complete descriptions and ends each help with examples."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without truncating a description."""
        sections = {"Commands": tuple(self.list_commands(ctx))} if ctx.parent else SECTIONS
        width = max(len(name) for names in sections.values() for name in names)
        for title, names in sections.items():
            with formatter.section(title):
                # All sections have the same columns.
                formatter.write_dl(
                    [(f"{name:{width}}", self.commands[name].get_short_help_str(limit=1000)) for name in names]
                )

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        write_examples(ctx, formatter)


class Word(click.Command):
    """A command whose help ends with examples."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        write_examples(ctx, formatter)


class WordBeforeCommand(Word):
    """A command that accepts a user's own command after ``--``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Store the words after ``--`` unchanged in the parameter ``command``."""
        behind: list[str] = []
        if "--" in args:
            at = args.index("--")
            args, behind = args[:at], args[at + 1 :]
            if not behind:
                raise click.UsageError("no command stands behind --", ctx)
        left = super().parse_args(ctx, args)
        ctx.params["command"] = tuple(behind)
        return left


SectionedGroup.command_class = Word
SectionedGroup.group_class = SectionedGroup


def write_examples(ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the examples of a context's command, one per line."""
    # The name without the program, which may be several words.
    name = ctx.command_path.removeprefix(ctx.find_root().command_path).strip()
    with formatter.section("Examples"):
        for example in EXAMPLES[name]:
            formatter.write(f"{'':>{formatter.current_indent}}{example}\n")

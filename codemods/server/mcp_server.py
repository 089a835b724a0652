"""MCP server: tools that run symfix's own commands for an agent."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Literal

from anyio import to_thread
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import ListRoots, Resolve
from mcp_types import ListRootsResult, ToolAnnotations

from ..harness.temp_folder import scratch_folder
from .allowed_paths import AllowedPaths
from .command_process import CompletedCommand, run_command
from .mcp_results import (
    CheckResult,
    ExplainResult,
    ExportResult,
    FixResult,
    HuntResult,
    VerifyResult,
)

MOST_FINDINGS = 200
INSTRUCTIONS = """\
symfix makes PyTorch code work with symbolic shapes. `explain` reads an error of torch.compile or torch.export and names
the next step. `check` finds places, `fix` returns a patch (and writes it only with apply), `verify` proves a change.
`export` finds a proven patch for a model that does not export, and `hunt` tests PyTorch's operators.
Paths are absolute, or relative to the first root of the client."""


def client_roots(ctx: Context) -> ListRoots | ListRootsResult:
    """Request the roots of a client that announces some."""
    able = ctx.client_capabilities
    return ListRootsResult(roots=[]) if able is None or able.roots is None else ListRoots()


Roots = Annotated[ListRootsResult, Resolve(client_roots)]


def serve() -> None:
    """Serve an agent on stdin and stdout until it ends."""
    server = MCPServer("symfix", instructions=INSTRUCTIONS, version=version("symfix"), log_level="ERROR")
    reading = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    running = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
    writing = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=False)
    for tool, hints in (
        (check, reading), (explain, reading), (fix, writing), (verify, running), (export, running), (hunt, running),
    ):  # fmt: skip
        server.tool(annotations=hints)(tool)
    server.run()


async def check(
    ctx: Context,
    roots: Roots,
    paths: list[str],
    select: list[str] | None = None,
    all_functions: bool = False,
    modules: bool = False,
) -> CheckResult:
    """List what the rules would change in files and folders. It runs none of their code and writes nothing.

    Outside PyTorch's tree only functions with evidence of being traced count; `modules` adds what `forward` of a module
    calls, `all_functions` everything. `select` names the rules.
    """
    folder, sources = await _sources(roots, paths)
    options = ["--format=json", *_rules(select, all_functions=all_functions, modules=modules)]
    ended = await _run(ctx, folder, ["check", *options, "--", *sources])
    document = _parsed(ended)
    found = [{"path": file["path"], **row, **row["edits"][0]} for file in document["files"] for row in file["fixes"]]
    problems = [f"{file['path']}: {file['detail']}" for file in document["files"] if file["detail"]]
    return CheckResult.model_validate(
        {
            "findings": found[:MOST_FINDINGS],
            "omitted": max(0, len(found) - MOST_FINDINGS),
            "files": document["summary"]["files"],
            "problems": problems,
        }
    )


async def fix(
    ctx: Context,
    roots: Roots,
    paths: list[str],
    apply: bool = False,
    unsafe_fixes: bool = False,
    select: list[str] | None = None,
    all_functions: bool = False,
    modules: bool = False,
    allow_dirty: bool = False,
) -> FixResult:
    """Return the patch of the safe fixes. Only with `apply` are the files written.

    `unsafe_fixes` adds those that change something, which `check` states as `default`. Files that git could not restore
    are written only with `allow_dirty`.
    """
    folder, sources = await _sources(roots, paths)
    options = _rules(select, all_functions=all_functions, modules=modules)
    options += ["--unsafe-fixes"] * unsafe_fixes
    found = await _run(ctx, folder, ["diff", *options, "--", *sources])
    if found.code == 2 and not found.output:
        raise ToolError(_message(found))
    if apply and found.output:
        options += ["--allow-dirty"] * allow_dirty
        done = await _run(ctx, folder, ["fix", *options, "--", *sources])
        if done.code == 2:
            raise ToolError(_message(done))
        found = CompletedCommand(done.code, found.output, done.messages)
    return FixResult(patch=found.output, written=bool(apply and found.output), messages=list(found.messages))


async def explain(ctx: Context, roots: Roots, text: str = "", path: str = "") -> ExplainResult:
    """Explain a traceback, an error message or TORCH_LOGS output, given as a text or as the path of a file."""
    if bool(text) == bool(path):
        raise ToolError("explain: give a text or a path")
    allowed = _allowed(roots)
    source = str(allowed.file(path)) if path else "-"
    ended = await _run(ctx, allowed.start, ["explain", "--format=json", "--", source], text or None)
    return ExplainResult.model_validate(_parsed(ended))


async def verify(
    ctx: Context,
    roots: Roots,
    paths: list[str],
    base: str = "HEAD",
    patch: str = "",
    operators: list[str] | None = None,
    calls: list[str] | None = None,
) -> VerifyResult:
    """Prove the change of files between a git revision and the disk, by running the code before and after.

    A `patch` for `git apply` is proven in place of that, in a copy of the files below the first of `paths`.
    `operators` names tests of PyTorch's operators, otherwise they are chosen. `calls` are Python statements that call
    the changed code of your own project, such as 'import mine, torch; mine.f(torch.ones(3))'. It may take minutes.
    """
    folder, sources = await _sources(roots, paths)
    if base.startswith("-"):
        raise ToolError(f"verify: {base!r} is no revision")
    options = [
        "--diff=-" if patch else f"--base={base}",
        *(f"--op={one}" for one in operators or ()),
        *(f"--call={one}" for one in calls or ()),
    ]
    ended = await _run(ctx, folder, ["verify", "--format=json", *options, "--", *sources], patch or None)
    if ended.code == 0 and not ended.output:
        return VerifyResult(verdict="unchanged", reason=_message(ended))
    return VerifyResult.model_validate(_parsed(ended))


async def export(
    ctx: Context,
    roots: Roots,
    path: str,
    target: str = "",
    shapes: dict[str, str] | None = None,
    dynamic: dict[str, str] | None = None,
    unbacked: bool = False,
) -> ExportResult:
    """Run the export of a model, find what stops it, and return a proven patch. The patch is not applied.

    `path` is a Python file and `target` a function in it that returns a model with its inputs, as in the file that
    `symfix export --init` writes. With `shapes`, such as {"x": "2,7:float32"}, `target` is the model itself, and
    `dynamic`, such as {"x": "0:batch,1:length"}, names the dimensions that vary. `unbacked` demands one program for all
    sizes. It may take minutes.
    """
    if target and not target.replace(".", "_").isidentifier():
        raise ToolError(f"export: {target!r} is no name of a function or class")
    folder, (source,) = await _sources(roots, [path])
    options = [f"--shape={name}={sizes}" for name, sizes in (shapes or {}).items()]
    options += [f"--dynamic={name}={sizes}" for name, sizes in (dynamic or {}).items()]
    options += ["--unbacked"] * unbacked
    with scratch_folder() as scratch:
        words = ["export", "--format=json", f"--output={scratch / 'patches'}", *options]
        ended = await _run(ctx, folder, [*words, f"{source}:{target}" if target else source])
        found = _parsed(ended)["targets"][0]
        for one in sorted((scratch / "patches").glob("*.patch")):
            kind = Path(one.stem).suffix.removeprefix(".")
            key = f"{kind}_patch" if kind else "patch"
            found[key] = found.get(key, "") + one.read_text("utf-8", "replace")
    return ExportResult.model_validate(found)


async def hunt(
    ctx: Context,
    roots: Roots,
    operators: list[str],
    protocol: Literal["unbacked", "backed", "backward", "inductor", "dynamic", "hop"] = "unbacked",
    samples: int | None = None,
) -> HuntResult:
    """Run PyTorch's own operator tests with symbolic sizes, and return where operators fail.

    An operator is a name (nn.functional.cross_entropy), a name before a dot (fft) or a pattern (masked.*). `samples`
    limits the samples of each. It may take minutes.
    """
    if not operators or any(one.startswith("-") for one in operators):
        raise ToolError("hunt: name one operator or more, such as fft or nn.functional.cross_entropy")
    options = [f"--protocol={protocol}", *([] if samples is None else [f"--samples={samples}"])]
    ended = await _run(ctx, _allowed(roots).start, ["hunt", "--format=json", *options, "--", *operators])
    return HuntResult.model_validate(_parsed(ended))


def _allowed(roots: ListRootsResult) -> AllowedPaths:
    return AllowedPaths.of((str(root.uri) for root in roots.roots), Path.cwd())


async def _sources(roots: ListRootsResult, paths: Sequence[str]) -> tuple[Path, list[str]]:
    """Return the folder of the command and the resolved paths. Raises PathRefused for one outside of the roots."""
    allowed = _allowed(roots)
    found = await to_thread.run_sync(allowed.sources, paths)
    return allowed.start, [str(path) for path in found]


def _rules(select: Sequence[str] | None, *, all_functions: bool, modules: bool) -> list[str]:
    chosen = [] if select is None else [f"--select={','.join(select)}"]
    return [*chosen, *["--all-functions"] * all_functions, *["--modules"] * modules]


async def _run(ctx: Context, folder: Path, words: Sequence[str], text: str | None = None) -> CompletedCommand:
    async def report(seconds: float, step: str) -> None:
        await ctx.report_progress(round(seconds, 1), message=f"{words[0]}: {step}")

    return await run_command(words, folder, report, text)


def _parsed(ended: CompletedCommand) -> Any:
    """Return the JSON that a command printed. Raises ToolError with its message if it printed none."""
    try:
        return json.loads(ended.output)
    except ValueError:
        raise ToolError(_message(ended)) from None


def _message(ended: CompletedCommand) -> str:
    last = ended.messages[-1] if ended.messages else f"ended with exit code {ended.code} without a message"
    return last.removeprefix("Error: ")

"""Proof of a changed schema: code generation, compilation, and runs of privately registered kernels before and after.

An unchanged torch specializes a SymInt that is passed to an ``int`` before it dispatches. The operator itself can't
show the difference, so its kernels are registered a second time, with the old and with the new schema.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...cpp.syntax.functions import outline
from ..harness.process_limits import CHILDREN, Limits, run
from ..harness.temp_folder import new_name
from ..torchapi.torch_finder import TorchInstallation
from .build.compilation import Builder, Built
from .build.private_kernels import Twin, twin_source
from .build.toolchain import find_toolchain
from .change import Change, Verdict

GENERATING = Limits(wall=300, cpu=300)
RUNNING = Limits(wall=600, cpu=900)


@dataclass(frozen=True)
class OperatorSides:
    """One operator: its name and overload, its size arguments, and its kernel before and after."""

    name: str
    overload: str
    sizes: tuple[str, ...]
    before: Twin
    after: Twin


@dataclass(frozen=True)
class SchemaProofRequest:
    """Request to prove a changed schema.

    ``yamls`` are the changed schema files by name. ``families`` are the operator families whose generated headers come
    before torch's own. ``headers`` are the changed headers of the tree, by include path.
    """

    root: Path
    yamls: Mapping[str, bytes]
    families: tuple[str, ...]
    changes: tuple[Change, ...]
    headers: Mapping[str, bytes]
    operators: tuple[OperatorSides, ...]


@dataclass(frozen=True)
class SchemaVerdict:
    """Verdict, and its evidence as lines."""

    verdict: Verdict
    lines: tuple[str, ...]


class _Stopped(Exception):
    """Error that ends the proof early with a verdict."""

    def __init__(self, verdict: Verdict, line: str) -> None:
        super().__init__(line)
        self.verdict = verdict


def prove(
    question: SchemaProofRequest, place: TorchInstallation, scratch: Path, say: Callable[[str], None]
) -> SchemaVerdict:
    """Generate, compile and run. ``place`` is the installed torch."""
    lines: list[str] = []
    try:
        overlay = _generated(question, place, scratch, lines)
        before, after = _built(question, place, scratch, overlay, lines, say)
        if not question.operators:
            raise _Stopped(Verdict.UNVERIFIABLE, "no kernel that sees symbols changed: nothing can be run as a twin")
        say("running the twins before and after")
        one = _ran(question, [sides.before for sides in question.operators], before, place, scratch)
        other = _ran(question, [sides.after for sides in question.operators], after, place, scratch)
    except _Stopped as stopped:
        return SchemaVerdict(stopped.verdict, (*lines, str(stopped)))
    return _judged(one, other, lines)


def _generated(question: SchemaProofRequest, place: TorchInstallation, scratch: Path, lines: list[str]) -> Path:
    """Return a folder with the headers of the changed operators, to be included before torch's."""
    folder = scratch / new_name("generated")
    native = folder / "aten" / "native"
    native.mkdir(parents=True)
    source = question.root / "aten" / "src" / "ATen"
    (folder / "aten" / "templates").symlink_to(source / "templates")
    shutil.copyfile(source / "native" / "tags.yaml", native / "tags.yaml")
    (native / "native_functions.yaml").write_bytes(question.yamls["native_functions.yaml"])
    (folder / "derivatives.yaml").write_bytes(question.yamls["derivatives.yaml"])
    command = [
        str(place.python),
        "-I",
        "-B",
        str(CHILDREN / "entrypoints" / "torchgen_runner.py"),
        str(question.root),
        str(folder),
    ]
    ended = run(command, scratch=scratch, limits=GENERATING)
    if ended.code:
        said = ended.stderr.strip().splitlines()
        raise _Stopped(Verdict.REGRESSED, f"torchgen refuses the schemas: {ended.died or (said or ['?'])[-1]}")
    overlay = scratch / new_name("overlay")
    (overlay / "ATen" / "ops").mkdir(parents=True)
    count = 0
    for family in question.families:
        for header in (folder / "headers" / "ops").glob(f"{family}*.h"):
            if header.stem.removeprefix(family).split("_")[0] == "":
                shutil.copyfile(header, overlay / "ATen" / "ops" / header.name)
                count += 1
    for name, content in question.headers.items():
        (overlay / name).parent.mkdir(parents=True, exist_ok=True)
        (overlay / name).write_bytes(content)
    lines.append(f"torchgen generates; {count} headers of the changed operators laid before torch's")
    return overlay


def _built(
    question: SchemaProofRequest,
    place: TorchInstallation,
    scratch: Path,
    overlay: Path,
    lines: list[str],
    say: Callable[[str], None],
) -> tuple[Path, Path]:
    """Build the libraries of twins before and after, and return their paths."""
    toolchain = find_toolchain(place, question.root, files=[change.path for change in question.changes])
    overlaid = replace(toolchain, includes=(overlay, *toolchain.includes))
    with (
        closing(Builder(toolchain, scratch, jobs=1)) as plain,
        closing(Builder(overlaid, scratch, jobs=1, precompile=False)) as laid,
    ):
        say(f"compiling {', '.join(change.path.name for change in question.changes)} before and after")
        objects = _objects(question, plain, laid, lines)
        sides = ([one.before for one in question.operators], [one.after for one in question.operators])
        shims = [
            builder.compile(f"twins_{name}.cpp", twin_source(twins, calls=name == "after").encode())
            for builder, name, twins in zip((plain, laid), ("before", "after"), sides, strict=True)
            if twins
        ]
        linking = [
            builder.link([_made(shim.result(), "compile"), *own], "twins")
            for builder, shim, own in zip((plain, laid), shims, objects, strict=False)
        ]
        made = [_made(one.result(), "link") for one in linking]
    return (made[0], made[1]) if made else (scratch, scratch)


def _objects(
    question: SchemaProofRequest, plain: Builder, laid: Builder, lines: list[str]
) -> tuple[list[Path], list[Path]]:
    """Return the objects before and after of the files that define a kernel."""
    running = [
        (
            plain.compile(change.path.name, change.before, change.path.parent, alone=True),
            laid.compile(change.path.name, change.after, change.path.parent, alone=True),
        )
        for change in question.changes
    ]
    objects: tuple[list[Path], list[Path]] = ([], [])
    needed = {one.before.kernel for one in question.operators}
    for change, (before, after) in zip(question.changes, running, strict=True):
        one, other = before.result(), after.result()
        defines = not needed.isdisjoint(outline(change.before).names)
        if one.target is None:
            if defines:
                reason = f"{change.path.name} does not compile before the change: {one.first_error}"
                raise _Stopped(Verdict.BROKEN_BASELINE, reason)
            lines.append(f"{change.path.name} compiles neither before nor after against this torch")
            continue
        if other.target is None:
            raise _Stopped(Verdict.REGRESSED, f"{change.path.name} does not compile: {other.first_error}")
        lines.append(f"{change.path.name} compiles before and after")
        if defines:
            objects[0].append(one.target)
            objects[1].append(other.target)
    return objects


def _made(built: Built, step: str) -> Path:
    if built.target is None:
        raise _Stopped(Verdict.UNVERIFIABLE, f"the twins do not {step}: {built.first_error}")
    return built.target


def _ran(
    question: SchemaProofRequest, twins: Sequence[Twin], library: Path, place: TorchInstallation, scratch: Path
) -> list[dict[str, Any]]:
    request, report = scratch / new_name("twins"), scratch / new_name("report")
    operators = [{"name": one.name, "overload": one.overload, "sizes": one.sizes} for one in question.operators]
    request.write_text(json.dumps({"library": str(library), "operators": operators}))
    command = [str(place.python), "-I", str(CHILDREN / "entrypoints" / "twin_runner.py"), str(request), str(report)]
    ended = run(command, scratch=scratch, limits=RUNNING)
    if ended.code or not report.is_file():
        said = ended.stderr.strip().splitlines()
        raise _Stopped(Verdict.UNVERIFIABLE, f"the twins can't be run: {ended.died or (said or ['?'])[-1]}")
    answers: list[dict[str, Any]] = json.loads(report.read_text())
    return answers


def _judged(before: list[dict[str, Any]], after: list[dict[str, Any]], lines: list[str]) -> SchemaVerdict:
    gained = lost = 0
    traced = 0
    for one, other in zip(before, after, strict=True):
        name = f"{one['name']}.{one['overload']}" if one["overload"] else one["name"]
        counts: dict[str, list[int]] = {}
        for was, now in zip(one["calls"], other["calls"], strict=True):
            if now["eager"] and not was["eager"]:
                lost += 1
                lines.append(f"{name}({was['call']}) {now['eager']}")
            for way in ("backed", "unbacked"):
                if way not in was:
                    continue
                traced += 1
                better, worse = _compared(was[way], now[way])
                gained, lost = gained + better, lost + worse
                held = counts.setdefault(way, [0, 0, 0])
                held[0] += 1
                held[1] += _symbolic(was[way])
                held[2] += _symbolic(now[way])
        lines.append(f"{name}: {len(one['calls'])} calls that aten takes, made eagerly of both twins")
        lines += [f"  {way}: the size is a symbol in {was} of {n} calls before, {now} after" for way, (n, was, now) in
                  counts.items()]  # fmt: skip
        example = next((was["unbacked"]["wrong"] for was in one["calls"] if was.get("unbacked", {}).get("wrong")), "")
        lines += [f"  before: {example}"] if example else []
    if lost:
        return SchemaVerdict(Verdict.REGRESSED, tuple(lines))
    if not traced:
        return SchemaVerdict(Verdict.UNVERIFIABLE, (*lines, "no call was found in which the size can vary"))
    return SchemaVerdict(Verdict.PROVEN if gained else Verdict.NEUTRAL, tuple(lines))


def _symbolic(row: Mapping[str, Any]) -> bool:
    """Return whether one graph served every size."""
    return not row["wrong"] and row["graphs"] == 1


def _compared(was: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[int, int]:
    better = _symbolic(now) and not _symbolic(was)
    worse = (bool(now["wrong"]) and not was["wrong"]) or (not now["wrong"] and now["graphs"] > was["graphs"] > 0)
    return int(better), int(worse and not (was["wrong"] and not now["wrong"]))

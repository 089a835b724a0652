"""The result as a folder: a patch with evidence for each repair, a report on each other operator, and a summary."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...harness.opinfo_runner import BACKED, BACKWARD, CALLS, DYNAMIC, HOPS, INDUCTOR, MODULES, UNBACKED
from ...model.rule import Fix
from ...reports.patch import patch
from ...system.generated_files import is_own, remember
from ...verify.evidence import to_json
from .result import REASONS, Repair, RepairOutcome, SourceSpan, Unrepaired


@dataclass(frozen=True)
class Added:
    """Additions to the patch of a repair: ``files`` as (name below the tree, before, after), lines and evidence."""

    files: tuple[tuple[str, bytes, bytes], ...] = ()
    lines: tuple[str, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)
    wrong: str = ""
    """Difference from eager that the fix causes in the end. Empty if there is none."""


Addition = Callable[[Repair], Added]
"""Function that makes an addition to a repair, such as a test or a removed xfail."""

UNPROVEN = "unproven"
_LEFT = "left"
_BEFORE = "; before: "
"""Separator in a reason. It is followed by torch's own message, whose expression is already in the first part."""

_SIZES = {
    UNBACKED: "unbacked sizes",
    BACKED: "backed sizes",
    BACKWARD: "unbacked sizes and their gradients",
    DYNAMIC: "sizes marked dynamic",
    INDUCTOR: "unbacked sizes in Inductor",
}


def write(outcome: RepairOutcome, folder: Path, additions: Sequence[Addition] = ()) -> list[Path]:
    """Write ``outcome`` below ``folder``. ``additions`` are called once for each proven repair.

    Files of an earlier run about the same operators are deleted, since a series is made of all files in the folder.
    New numbers follow those of the remaining files. Returns the patches that are kept because they were edited.
    """
    folder.mkdir(parents=True, exist_ok=True)
    changed = _clear(folder, outcome)
    names: list[str] = []
    ordered = sorted(outcome.repairs, key=lambda one: (not one.proven, -len(one.operators), one.name))
    parts = (folder, folder / UNPROVEN)
    numbers = [int(path.name[:4]) for part in parts for path in part.glob("[0-9][0-9][0-9][0-9]-*")]
    written: list[Path] = []

    def put(path: Path, content: bytes) -> None:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        written.append(path)

    for number, repair in enumerate(ordered, max(numbers, default=0) + 1):
        name = f"{number:04d}-{repair.name}"
        names.append(name)
        place = folder if repair.proven else folder / UNPROVEN
        more = [addition(repair) for addition in additions] if repair.proven else []
        put(place / f"{name}.patch", text_of(repair, more))
        said = evidence(repair) | {key: value for one in more for key, value in one.evidence.items()}
        put(place / f"{name}.json", _json(said))
    for handover in outcome.handovers:
        put(folder / _LEFT / f"{handover.operator}.md", hand_over_text(handover).encode())
    put(folder / "summary.md", "".join(summary(outcome, ordered, names)).encode())
    put(folder / "figures.json", _json(figures(outcome)))
    # Other files may be a person's: they are not recorded as written by symfix.
    remember(*written)
    return changed


def _json(value: object) -> bytes:
    return f"{json.dumps(value, indent=1)}\n".encode()


def _clear(folder: Path, outcome: RepairOutcome) -> list[Path]:
    """Delete the files of earlier runs that are only about these operators. Return the patches that were edited."""
    asked = set(outcome.modes)
    about: Iterable[Repair | Unrepaired] = (*outcome.repairs, *outcome.handovers)
    ways = {(one.kind, one.protocol) for one in about}
    changed = []
    for path in sorted([*folder.glob("[0-9]*.json"), *folder.glob(f"{UNPROVEN}/[0-9]*.json")]):
        with suppress(OSError, ValueError, KeyError, TypeError):
            said = json.loads(path.read_bytes())
            if asked.issuperset(said["operators"]) and (said["kind"], said["protocol"]) in ways:
                pair = [one for one in (path, path.with_suffix(".patch")) if one.exists()]
                if all(map(is_own, pair)):
                    for one in pair:
                        one.unlink()
                else:
                    changed.append(pair[-1])
    for name in asked:
        left = folder / _LEFT / f"{name}.md"
        if is_own(left):
            left.unlink()
    return changed


def text_of(repair: Repair, more: Sequence[Added] = ()) -> bytes:
    """Build the patch with a descriptive head, which `git apply` and `git am --scissors` ignore."""
    lines = [*description(repair), *(line for one in more for line in one.lines)]
    head = "".join(f"{line}\n" for line in lines).encode()
    files = [row for one in more for row in one.files]
    pieces = [patch(name, one.before, one.after) for name, one in zip(repair.files, repair.changes, strict=True)]
    pieces += [_created(name, after) if not before else patch(name, before, after) for name, before, after in files]
    return head + b"\n" + b"".join(pieces)


def _created(name: str, content: bytes) -> bytes:
    """Return a patch that creates a file."""
    text = patch(name, b"", content)
    old, new = f"--- a/{name}\n".encode(), b"--- /dev/null\n"
    first, rest = text.split(b"\n", 1)
    return first + b"\nnew file mode 100644\n" + rest.replace(old, new, 1)


def description(repair: Repair) -> Iterator[str]:
    """Yield lines that describe a repair and the branch that an undecided size takes."""
    yield f"{repair.name}: {_many(repair.operators, repair.kind)} with {_SIZES[repair.protocol]}"
    yield ""
    equal = "equal to eager on every sample"
    if repair.protocol == INDUCTOR:
        equal = "with code for every sample; the proof runs the code of some"
    yield f"Against {repair.baseline}. Fails before and passes after, {equal}:"
    for name in repair.operators:
        yield f"  {name}, sample {repair.samples[name]}: {repair.expressions[name]}"
    for spot in dict.fromkeys(repair.spots):
        yield f"At {spot.file}:{spot.line} in {spot.function}."
    for default in repair.defaults:
        yield f"Default: {default}."
    if not repair.defaults:
        yield "No default: every size is kept in the expression or checked."
    if repair.verification is not None:
        yield f"Verdict: {repair.verification.verdict.value}. {repair.verification.reason.partition(_BEFORE)[0]}"
    if repair.doubt:
        yield f"Look twice: {repair.doubt}"


def evidence(repair: Repair) -> dict[str, Any]:
    """Return a repair and its proof as plain values."""
    return {
        "version": 1,
        "name": repair.name,
        "kind": repair.kind,
        "protocol": repair.protocol,
        "operators": list(repair.operators),
        "samples": repair.samples,
        "expressions": repair.expressions,
        "files": list(repair.files),
        "rules": list(repair.rules),
        "fixes": [_fix(fix, spot) for fix, spot in zip(repair.fixes, repair.spots, strict=True)],
        "defaults": list(repair.defaults),
        "baseline": repair.baseline,
        "doubt": repair.doubt,
        "verification": to_json(repair.verification) if repair.verification else None,
    }


def _fix(fix: Fix, spot: SourceSpan) -> dict[str, Any]:
    return {
        "file": spot.file,
        "line": spot.line,
        "function": spot.function,
        "rule": fix.rule,
        "mode": fix.mode,
        "safety": fix.safety.value,
        "message": fix.message,
        "default": fix.default,
    }


def hand_over_text(handover: Unrepaired) -> str:
    """Build the report on an operator without a repair."""
    mode = f", mode {handover.mode}" if handover.mode else ""
    lines = [f"# {handover.operator}", ""]
    lines += [f"Not repaired ({handover.reason}{mode}): {REASONS[handover.reason]}.", ""]
    lines += ["```", handover.message, "```", "", f"Sample {handover.sample}: {handover.arguments or 'see below'}", ""]
    lines += ["## Reproduce", "", "```python", *repro(handover), "```", ""]
    lines += ["## Where", ""] + [f"- {_place(spot)}" for spot in handover.places]
    lines += [f"- the formula of {handover.formula}"] if handover.formula else []
    lines += ["- no place in torch is named"] if not handover.places else []
    lines += ["", "## Tried", ""]
    lines += [f"- {words}\n  - {came}" for words, came in handover.tried] or ["Nothing."]
    return "\n".join(lines) + "\n"


def _place(spot: SourceSpan) -> str:
    """Format a place. C++ frames have no line, and some have no file."""
    at = f"{spot.file}:{spot.line}" if spot.line else spot.file
    return f"{at} in {spot.function}" if at else spot.function


def repro(handover: Unrepaired) -> Iterator[str]:
    """Yield a script that reproduces the failure of the operator, module or drawn call."""
    if handover.kind == CALLS:
        yield from _drawn(handover)
        return
    trained, backed = handover.protocol == BACKWARD, handover.protocol == BACKED
    mark = "mark_dynamic" if handover.protocol == DYNAMIC else "mark_unbacked"
    yield "import torch"
    if not backed:
        yield f"from torch._dynamo.decorators import {mark}"
    yield from _module(handover, trained) if handover.kind == MODULES else _operator(handover, trained)
    if not backed:
        yield "for tensor in tree_leaves((args, kwargs)):"
        yield "    if isinstance(tensor, torch.Tensor):"
        yield "        for dim, size in enumerate(tensor.shape):"
        yield "            if size >= 2:"
        yield f"                {mark}(tensor, dim)"
    backend = "aot_eager" if trained or backed else "inductor" if handover.protocol == INDUCTOR else "eager"
    how = ", dynamic=True" if backed else ""
    yield f'compiled = torch.compile(lambda *a, **k: call(*a, **k), backend="{backend}", fullgraph=True{how})'
    yield "print(compiled(*args, **kwargs))"


def _drawn(handover: Unrepaired) -> Iterator[str]:
    yield "from symfix.codemods.harness.children.protocols.compiled_call import Compiled"
    yield "from symfix.codemods.harness.children.samples.call_plans import call_named"
    yield "from torch.testing._internal.common_methods_invocations import op_db"
    yield ""
    yield 'named = {".".join(filter(None, (one.name, one.variant_test_name))): one for one in op_db}'
    yield f"call = call_named({handover.operator!r}, named)"
    yield 'print(call.call(Compiled(call, "eager"), unbacked=True))'


def _operator(handover: Unrepaired, trained: bool) -> Iterator[str]:
    where = "hop_db import hop_db as" if handover.kind == HOPS else "common_methods_invocations import"
    yield f"from torch.testing._internal.{where} op_db"
    yield "from torch.utils._pytree import tree_leaves"
    yield ""
    yield 'named = {".".join(filter(None, (one.name, one.variant_test_name))): one for one in op_db}'
    yield f"op = named[{handover.operator!r}]"
    yield "torch.manual_seed(0)"
    asked = ", requires_grad=True" if trained else ""
    yield f'sample = list(op.sample_inputs("cpu", torch.float32{asked}))[{handover.sample}]'
    yield "call, args, kwargs = op.op, (sample.input, *sample.args), sample.kwargs"


def _module(handover: Unrepaired, trained: bool) -> Iterator[str]:
    yield "from torch.testing._internal.common_modules import module_db"
    yield "from torch.utils._pytree import tree_leaves"
    yield ""
    yield f"info = {{one.name: one for one in module_db}}[{handover.operator!r}]"
    yield "samples = []"
    yield "for training in (True, False) if info.train_and_eval_differ else (True,):"
    yield "    torch.manual_seed(0)"
    words = f'device="cpu", dtype=torch.float32, requires_grad={trained}, training=training'
    yield f"    for one in info.module_inputs_func(info, {words}):"
    yield "        if one.forward_input is not None:"
    yield "            module = info.module_cls(*one.constructor_input.args, **one.constructor_input.kwargs)"
    yield f"            module = module.train(training).requires_grad_({trained})"
    yield "            samples.append((module, one.forward_input.args, one.forward_input.kwargs))"
    yield f"call, args, kwargs = samples[{handover.sample}]"


def figures(outcome: RepairOutcome) -> dict[str, Any]:
    """Return the figures of a run."""
    mended = outcome.mended
    proven = [one for one in outcome.repairs if one.proven and not one.of_the_test]
    language = {name: one.language for one in proven for name in one.operators}
    family = {name: one.family for one in proven for name in one.operators}
    return {
        "torch": outcome.torch,
        "kind": outcome.kind,
        "failing": outcome.asked,
        "proven": len(mended),
        "by_mode": dict(Counter(outcome.modes[name] for name in mended)),
        "by_language": dict(Counter(language.values())),
        "by_family": dict(Counter(family.values())),
        "only_the_test": list(outcome.unblocked),
        "left": dict(Counter(one.reason for one in outcome.handovers)),
        "repairs": sum(one.proven for one in outcome.repairs),
        "regressions": list(outcome.regressions),
        "compared": outcome.compared,
        "seconds": outcome.seconds,
        **outcome.timing.figures(),
        "mended": list(mended),
    }


def summary(outcome: RepairOutcome, ordered: Sequence[Repair], names: Sequence[str]) -> Iterator[str]:
    """Yield the summary page: repairs by number of operators, then the operators without a repair."""
    yield f"# Repairs for torch {outcome.torch.split()[0]}\n\n"
    yield f"{len(outcome.mended)} of {outcome.asked} failing {outcome.kind} proven fixed.\n\n"
    if outcome.unblocked:
        yield f"{len(outcome.unblocked)} more pass with a change of torch's tests alone: they were not broken.\n\n"
    yield f"| {outcome.kind} | patch | places | rules | default |\n|---|---|---|---|---|\n"
    for repair, name in zip(ordered, names, strict=True):
        if repair.proven:
            places = ", ".join(dict.fromkeys(f"{spot.file}:{spot.line}" for spot in repair.spots))
            default = "; ".join(repair.defaults) or "none"
            yield f"| {len(repair.operators)} | {name} | {places} | {', '.join(repair.rules)} | {default} |\n"
    unproven = [(repair, name) for repair, name in zip(ordered, names, strict=True) if not repair.proven]
    if unproven:
        yield "\n## Not proven\n\n"
        for repair, name in unproven:
            said = repair.verification.reason if repair.verification else repair.doubt
            yield f"- {UNPROVEN}/{name} ({_many(repair.operators, repair.kind)}): {said}\n"
    yield f"\n## Left\n\n| {outcome.kind.removesuffix('s')} | reason | message |\n|---|---|---|\n"
    for handover in sorted(outcome.handovers, key=lambda one: (one.reason, one.operator)):
        yield f"| {handover.operator} | {handover.reason} | {handover.message[:100].replace('|', '/')} |\n"


def _many(names: Sequence[str], kind: str) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more {kind}"

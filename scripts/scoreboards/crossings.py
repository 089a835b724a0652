"""Number of module boundaries that one fix crosses, and modules of a wing that call each other.

A crossing is a call, or the resumption of a generator, from one module of a wing to another one of it. The first read
of a cached property is not counted, since functools or the engine's `lazily` makes the call. A fix is measured after
all imports and on a new file: scripts/crossings [--calls].
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from goldens import goldens, installed_torch
from symfix.codemods.engine.registry import load_rules
from symfix.codemods.model.rule import Context, Fix
from symfix.codemods.model.source_file import SourceFile


@dataclass(frozen=True)
class Sample:
    """A file in which one rule makes one fix."""

    wing: str
    rule: str
    path: str
    text: str


SAMPLES = (
    Sample(
        "symfix.cpp",
        "use_sym_sizes",
        "aten/src/ATen/native/TensorShape.cpp",
        "namespace at::native {\n"
        "Tensor ravel(const Tensor& self) {\n"
        "  int64_t n = self.size(0);\n"
        "  return self.view({n, -1});\n"
        "}\n"
        "}\n",
    ),
    Sample(
        "symfix.python",
        "guard_size_branches",
        "torch/_refs/example.py",
        "import torch\n\ndef ravel(t: torch.Tensor):\n    if t.shape[0] == 0:\n        return t\n    return t + 1\n",
    ),
    Sample(
        "symfix.python",
        "use_torch_check",
        "torch/_refs/example.py",
        "import torch\n"
        "\n"
        "def ravel(t: torch.Tensor, n: int):\n"
        "    if t.shape[0] != n:\n"
        '        raise RuntimeError("sizes differ")\n'
        "    return t\n",
    ),
)

Crossings = Counter[tuple[str, str, str]]
"""Number of calls between modules: caller, called module, called function."""


def crossings(wing: str, work: Callable[[], object]) -> Crossings:
    """Count the crossings within a wing while ``work`` runs."""
    found: Crossings = Counter()
    inside = f"{wing}."

    def profile(frame: FrameType, event: str, _: object) -> None:
        if event != "call" or frame.f_back is None:
            return
        called, caller = frame.f_globals.get("__name__", ""), frame.f_back.f_globals.get("__name__", "")
        if called != caller and called.startswith(inside) and caller.startswith(inside):
            found[caller.removeprefix(inside), called.removeprefix(inside), frame.f_code.co_name] += 1

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return found


def of_one_fix(sample: Sample) -> Crossings:
    """Count the crossings of the one fix that a rule makes in a sample."""
    rule = next(one for one in load_rules(sample.wing) if one.name == sample.rule)
    context = Context(installed_torch())

    def decide(text: str) -> list[Fix]:
        decided = list(rule.decide(SourceFile(Path(sample.path), text.encode()), context))
        return [outcome for outcome in decided if isinstance(outcome, Fix)]

    assert len(decide(sample.text + "\n")) == 1, f"{sample.rule} makes not one fix in its sample"
    return crossings(sample.wing, lambda: decide(sample.text))


def in_goldens(wing: str) -> Crossings:
    """Count the crossings of all rules of a wing over their goldens."""
    mine = [golden for golden in goldens() if golden.card.wing == wing]
    return crossings(wing, lambda: [golden.rewritten(golden.before.read_bytes()) for golden in mine])


def circles(found: Crossings) -> set[tuple[str, str]]:
    """Return the pairs of modules that call each other."""
    pairs = {(caller, called) for caller, called, _ in found}
    return {(one, other) for one, other in pairs if one < other and (other, one) in pairs}


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/crossings", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", action="store_true", help="list every call that crosses, too")
    words = parser.parse_args()
    for sample in SAMPLES:
        found = of_one_fix(sample)
        modules = {module for caller, called, _ in found for module in (caller, called)}
        print(f"{sample.rule}: {found.total()} crossings between {len(modules)} modules")
        for (caller, called, name), count in found.most_common() if words.calls else ():
            print(f"  {count:4} {caller} → {called}.{name}")
    for wing in dict.fromkeys(sample.wing for sample in SAMPLES):
        found = in_goldens(wing)
        print(
            f"{wing}, over its goldens: {found.total()} crossings; call each other: {sorted(circles(found)) or 'none'}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Faults for good rewrites, made by rule from the text: one fault in each copy."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

Edit = Callable[["re.Match[str]"], str]


@dataclass(frozen=True)
class Fault:
    """A text with one fault. ``line`` counts from 1. ``was`` and ``now`` are the place before and after.

    With ``alone`` the fault is a separate edit, to be compared with the good rewrite instead of the text before.
    """

    kind: str
    line: int
    was: str
    now: str
    text: str
    alone: bool = False


@dataclass(frozen=True)
class Rule:
    """Rule for faults of one kind: at most ``most`` in one file, and only in changed lines if ``changed``."""

    kind: str
    pattern: str
    edit: str | Edit
    most: int = 1
    changed: bool = True
    alone: bool = False


def _other_dimension(found: re.Match[str]) -> str:
    return found[1] + ("1" if found[2] == "0" else "0") + found[3]


def _without_last_argument(found: re.Match[str]) -> str:
    return found[1] + found[3]


def _moved_early(found: re.Match[str]) -> str:
    return f"{found[1]}std::move({found[2]}){found[3]}"


def _as_integer(found: re.Match[str]) -> str:
    return f"{found[0]}.guard_int(__FILE__, __LINE__)"


def _as_integers(found: re.Match[str]) -> str:
    return f"c10::fromIntArrayRefSlow(C10_AS_INTARRAYREF_SLOW_ALLOC({found[0]}))"


_CHECK = r"(?:TORCH_CHECK|TORCH_SYM_CHECK|TORCH_CHECK_VALUE)\([^;]*;"

CPP = (
    Rule("wrong dimension", r"(sym_size\()(\w+)(\))", _other_dimension, most=2),
    Rule("a size for the number of elements", r"sym_numel\(\)", "sym_size(0)"),
    Rule("strides for sizes", r"sym_sizes\(\)", "sym_strides()"),
    Rule("dropped message argument", r"(TORCH_\w*CHECK\w*\([^;]*)(, (?!\")[\w.>()-]+)(\);)", _without_last_argument),
    Rule("another message", r"(_CHECK\w*\([^;]*?\"\w+: )(?=[^;]*;)", r"\1so: ", changed=False),
    Rule("dropped check", r"\n *" + _CHECK, ""),
    Rule("another exception", r"TORCH_CHECK_VALUE\(", "TORCH_CHECK_INDEX(", changed=False),
    Rule("turned comparison", r" != (?=target|0|n_)", " == ", most=2, changed=False),
    Rule("turned symbolic comparison", r"\.sym_eq\(", ".sym_ne("),
    Rule("or for and", r"&&", "||", changed=False),
    Rule("and for or", r"\|\|", "&&", changed=False),
    Rule("swapped branches", r"if \((?!!)([^;{}]*)\) \{", r"if (!(\1)) {", most=2, changed=False),
    Rule("off by one", r"(sym_size\(\w+\)) - 1", r"\1"),
    Rule("wrong constant", r"(std::fill\([^;]*), 1\)", r"\1, 2)", changed=False),
    Rule("wrong bound", r"\.max\(", ".min("),
    Rule("wrong bound", r"(narrow_symint\(dim, 0, length)\)", r"\1 + 1)"),
    Rule("wrong overload", r"(part\(\w+, \w+), 1, spans\.count\)", r"\1, spans.count)", most=2, changed=False),
    Rule("another member", r"shape\[dim\] = spans\.count", "shape[dim] = spans.shape.front()", changed=False),
    Rule("member left as it was", r"\n *spans\.shape\[dim\] = [^;]*;", "", changed=False),
    Rule("forgotten read of a member", r"spans\.count(?=[,)])", _as_integer, most=3, changed=False, alone=True),
    Rule("forgotten read of a member", r"spans\.shape(?=\))", _as_integers, changed=False, alone=True),
    Rule("wrong default", r"TORCH_GUARD_OR_FALSE", "TORCH_GUARD_OR_TRUE"),
    Rule("used after it was moved", r"(, )(\w+)(\);)(?=[\s\S]{0,400}std::move\(\2\))", _moved_early, changed=False),
    Rule("another tensor", r"\bx\.sym_size\(", "y.sym_size(", most=1),
    Rule("another tensor", r"\bweight->sym_size\(", "self.sym_size(", most=1),
    Rule("last bit", r"return (loss|between\([^;]*\));", r"return \1 * 1.0000001;", changed=False),
    Rule("no gradient", r"return (loss\.sum\(\)|between\([^;]*\));", r"return \1.detach();", changed=False),
    Rule("another dtype", r"return (loss|between\([^;]*\));", r"return \1.to(kDouble);", changed=False),
    Rule("input written to", r"(?=  const auto class_dim)", "  self.add_(0);\n", changed=False),
    Rule("random number drawn", r"(?=  const auto class_dim)", "  self.bernoulli(0.5);\n", changed=False),
    Rule("warning", r"(?=  const auto class_dim)", '  TORCH_WARN("slow");\n', changed=False),
    Rule("a guard more", r"(?=  dim = maybe_wrap_dim)", "  (void)(y.sym_numel() == 77);\n", changed=False, alone=True),
    Rule("a size pinned", r"(sym_size\(class_dim\));", r"\1.guard_int(__FILE__, __LINE__);", alone=True),
    Rule(
        "a branch nothing runs",
        r"(?=  const auto class_dim)",
        "  if (self.dim() == 23) {\n    return target;\n  }\n",
        changed=False,
    ),
    Rule("does not compile", r"sym_numel", "sym_number"),
    Rule("dies", r"(?=  const auto class_dim)", "  volatile int* none = nullptr;\n  *none = 1;\n", changed=False),
    Rule("never ends", r"(?=  const auto class_dim)", "  for (volatile int i = 0;; ++i) {}\n", changed=False),
)

PYTHON = (
    Rule("turned comparison", r" == 0\)", " != 0)", most=2),
    Rule("wrong constant", r" == 0\)", " == 1)", most=2),
    Rule("wrong default", r"guard_or_false\(", "guard_or_true(", most=1),
    Rule("swapped branches", r"if (guard_or_\w+\(.*\)):", r"if not \1:"),
    Rule("other sum", r"return out \+ beta \* self", "return out - beta * self", changed=False),
    Rule("last bit", r"return out \+ beta \* self", "return (out + beta * self) * 1.0000001", changed=False),
    Rule("dropped factor", r"alpha \* torch\.mv", "torch.mv", changed=False),
    Rule("another dtype", r"return out \+ beta \* self", "return (out + beta * self).double()", changed=False),
    Rule("a size pinned", r"guard_or_false\(out\.numel\(\) == 0\)", "int(out.numel()) == 0"),
    Rule("name that nobody knows", r"guard_or_false\(out", "guard_or_flase(out"),
    Rule("does not parse", r"guard_or_false\(out\.numel\(\) == 0\):", "guard_or_false(out.numel() == 0:"),
    Rule("never ends", r"(?m)^( *)(?=out = alpha \* torch\.mv)", r"\1while True: pass\n\1", changed=False),
)


def plant(before: str, good: str, rules: tuple[Rule, ...], within: tuple[int, int] | None = None) -> Iterator[Fault]:
    """Yield each copy of ``good`` with one fault, in the order of the rules.

    ``within`` are the first and last line to change. ``before`` is the text before the rewrite, which determines the
    changed lines.
    """
    changed = _changed(before, good)
    for rule in rules:
        planted = 0
        for found in re.finditer(rule.pattern, good):
            lines = range(good.count("\n", 0, found.start()) + 1, good.count("\n", 0, found.end()) + 2)
            outside = within and not (within[0] <= lines[0] and lines[-1] <= within[1])
            now = found.expand(rule.edit) if isinstance(rule.edit, str) else rule.edit(found)
            if outside or now == found[0] or (rule.changed and not changed.intersection(lines)):
                continue
            text = good[: found.start()] + now + good[found.end() :]
            was, shown = (" ".join(part.split()) for part in (found[0], now))
            yield Fault(rule.kind, lines[0], was, shown, text, rule.alone)
            planted += 1
            if planted == rule.most:
                break


def _changed(before: str, good: str) -> set[int]:
    matcher = SequenceMatcher(None, before.splitlines(), good.splitlines(), autojunk=False)
    return {line + 1 for tag, _, _, start, end in matcher.get_opcodes() if tag != "equal" for line in range(start, end)}

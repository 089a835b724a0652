"""Classification of the differences between the tool's text of a function and people's."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from symfix.codemods.model.rule import Skip

from .comparing import Comparison, Likeness, compare
from .table import table
from .tokens import Hunk, Token, is_symbolic, statement

READINGS = {
    "kernel signature": "the dispatcher calls the function: its SymInt parameters follow the schema, not the file",
    "helper signature": "people gave a helper of the file symbolic parameters or results, the tool did not",
    "kernel parameter": "the value comes from a parameter that people made SymInt together with the schema",
    "helper parameter": "the value comes from a parameter that people made SymInt in a helper of the file",
    "not eligible": "the tool sees no way by which a symbolic size reaches this function",
    "left": "a concrete call that the tool reports and leaves",
    "after": "the value comes from a concrete call that the tool reports and leaves",
    "no seed": "no concrete call on a Tensor in reach: people changed a type or a call for another reason",
    "spelling": "both changed the place, with other words",
    "more": "the tool promotes what people left concrete",
}
_TELLING = frozenset({"auto", "const", "&", "int64_t", "IntArrayRef", "DimVector", "max", "min", "equals"})


@dataclass(frozen=True)
class Case:
    """A function in its three versions, with the tool's skips. Positions of skips are relative to ``concrete``."""

    file: str
    function: str
    concrete: str
    theirs: str
    ours: str
    skips: tuple[Skip, ...]
    eligible: bool
    registered: bool


@dataclass(frozen=True)
class Problem:
    """One difference: its class, people's text, the tool's text, and the tool's message."""

    kind: str
    people: str
    tool: str
    said: str = ""


@dataclass(frozen=True)
class Judged:
    """A case with its comparison and the reasons for its differences."""

    case: Case
    comparison: Comparison
    problems: tuple[Problem, ...]

    @property
    def follows_schema(self) -> bool:
        """Return whether people changed the signature of a kernel, together with its schema."""
        body = _body(list(self.comparison.old))
        return self.case.registered and any(one.hunk.start < body for one in self.comparison.matched)


def judge(case: Case) -> Judged | None:
    """Compare and classify. Return None if people's change is not about symbolic sizes."""
    comparison = compare(case.concrete, case.theirs, case.ours)
    if comparison is None:
        return None
    if comparison.likeness is Likeness.IDENTICAL:
        return Judged(case, comparison, ())
    retyped = _retyped_parameters(comparison)
    problems = []
    for one in comparison.matched:
        if one.likeness is Likeness.REFUSED:
            kind, said = _refusal(case, comparison, one.hunk, retyped)
            problems.append(Problem(kind, str(one.hunk), "left", said))
        elif one.likeness is Likeness.DIFFERENT:
            tool = "; ".join(map(str, one.ours))
            kind = f"spelling: {_gist(one.hunk.new)} / {_gist(tuple(w for h in one.ours for w in h.new))}"
            problems.append(Problem(kind, str(one.hunk), tool))
    for together in _by_statement(comparison):
        words = tuple(word for hunk in together for word in hunk.new)
        problems.append(Problem(f"more: {_gist(words)}", "left", "; ".join(map(str, together))))
    return Judged(case, comparison, tuple(problems))


def _by_statement(comparison: Comparison) -> list[list[Hunk]]:
    """Group the tool's hunks without a counterpart in people's text by statement."""
    groups: dict[tuple[int, int], list[Hunk]] = defaultdict(list)
    for hunk in comparison.extra:
        groups[statement(list(comparison.old), hunk.start)].append(hunk)
    return list(groups.values())


def _refusal(case: Case, comparison: Comparison, hunk: Hunk, retyped: frozenset[str]) -> tuple[str, str]:
    """Return the class of a refusal and the tool's message for it."""
    old = list(comparison.old)
    owner = "kernel" if case.registered else "helper"
    if hunk.start < _body(old):
        said = [skip for skip in case.skips if skip.start < old[_body(old)].start]
        return (f"{owner} signature: {said[0].reason}", said[0].detail) if said else (f"{owner} signature", "")
    if not case.eligible:
        return "not eligible", ""
    first, last = statement(old, hunk.start)
    start, end = old[min(first, len(old) - 1)].start, old[min(last, len(old) - 1)].start
    here = [skip for skip in case.skips if start <= skip.start <= end]
    if here:
        return f"left: {here[0].reason}", here[0].detail
    if retyped & {token.text for token in old[first:last]}:
        return f"{owner} parameter", ""
    if case.skips:
        nearest = min(case.skips, key=lambda skip: abs(skip.start - start))
        return f"after: {nearest.reason}", nearest.detail
    return "no seed", ""


def _retyped_parameters(comparison: Comparison) -> frozenset[str]:
    """Return the names directly after a type that people changed in the signature."""
    old, body = comparison.old, _body(list(comparison.old))
    found = set()
    for one in comparison.matched:
        if one.hunk.start < body:
            for token in old[one.hunk.end : body]:
                if token.text[0].isalpha() or token.text[0] == "_":
                    found.add(token.text)
                    break
    return frozenset(found)


def _body(old: list[Token]) -> int:
    return next((number for number, token in enumerate(old) if token.text == "{"), len(old))


def _gist(words: tuple[str, ...]) -> str:
    telling = [
        ("…_symint" if word.endswith("_symint") else word) for word in words if is_symbolic(word) or word in _TELLING
    ]
    return " ".join(dict.fromkeys(telling)) or "other words"


def summary(judged: list[Judged]) -> dict[str, dict[str, int]]:
    """Count identical, different and refused functions and hunks."""
    kept = [one for one in judged if not one.follows_schema]
    return {
        "functions": _counts(one.comparison.likeness for one in judged),
        "functions, kernel signature kept": _counts(one.comparison.likeness for one in kept),
        "hunks": _counts(match.likeness for one in judged for match in one.comparison.matched),
        "hunks, kernel signature kept": _counts(match.likeness for one in kept for match in one.comparison.matched),
    }


def _counts(found: Iterable[Likeness]) -> dict[str, int]:
    counts = Counter(found)
    return {likeness.value: counts[likeness] for likeness in Likeness}


def show(judged: list[Judged], *, most: int) -> None:
    """Print the figures, then the classes of differences by their number of functions."""
    columns = [likeness.value for likeness in Likeness]
    rows: list[tuple[object, ...]] = [("", *columns, "all")]
    rows += [(what, *counts.values(), sum(counts.values())) for what, counts in summary(judged).items()]
    print(table(rows, indent="  "))
    print(f"  hunks of the tool where people changed nothing: {sum(len(one.comparison.extra) for one in judged)}")
    print("why functions differ or were refused (functions, hunks, class, reading, an example):")
    for kind, group in _classes(judged)[:most]:
        one, problem = group[0]
        functions = len({(judgement.case.file, judgement.case.function) for judgement, _ in group})
        print(f"  {functions:4} {len(group):4}  {kind}: {READINGS[kind.partition(':')[0]]}")
        print(f"             {one.case.file} {one.case.function}")
        print(f"             people: {_short(problem.people)}")
        print(f"             symfix: {_short(problem.tool)}{_quoted(problem.said)}")


def document(judged: list[Judged]) -> dict[str, Any]:
    """Return all results for the JSON file."""
    return {
        "figures": summary(judged),
        "hunks of the tool where people changed nothing": sum(len(one.comparison.extra) for one in judged),
        "reasons": [
            {"class": kind, "reading": READINGS[kind.partition(":")[0]],
             "functions": len({(one.case.file, one.case.function) for one, _ in group}), "hunks": len(group)}
            for kind, group in _classes(judged)
        ],
        "functions": [
            {"file": one.case.file, "function": one.case.function, "likeness": one.comparison.likeness.value,
             "problems": [asdict(problem) for problem in one.problems]}
            for one in judged
        ],
    }  # fmt: skip


def _classes(judged: Iterable[Judged]) -> list[tuple[str, list[tuple[Judged, Problem]]]]:
    groups: dict[str, list[tuple[Judged, Problem]]] = defaultdict(list)
    for one in judged:
        for problem in () if one.comparison.likeness is Likeness.PLUS else one.problems:
            groups[problem.kind].append((one, problem))
    return sorted(groups.items(), key=lambda item: (-len({id(one) for one, _ in item[1]}), -len(item[1]), item[0]))


def _quoted(said: str) -> str:
    return f" ({_short(' '.join(said.split()))})" if said else ""


def _short(text: str) -> str:
    return text if len(text) <= 110 else text[:109] + "…"

"""Review pages of invented series of any size."""

from __future__ import annotations

from symfix.codemods.harness.observation import Observation
from symfix.codemods.verify.change import Check, Verdict, Verification
from symfix.codemods.workflows.pull_requests.review.page import page
from symfix.codemods.workflows.pull_requests.review.page_model import deck_of
from symfix.codemods.workflows.pull_requests.series.build_state import BuildState, Record, Standing
from symfix.codemods.workflows.pull_requests.series.git import CommittedFile, blob_name
from symfix.codemods.workflows.pull_requests.series.plan import PullRequestPlan
from symfix.codemods.workflows.pull_requests.series.planner import make_plan
from symfix.codemods.workflows.pull_requests.series.proposal import FileChange, Proposal, Reason, UnchangedPlace

DEFAULT = "an undecided `x.numel() == {number}` is taken as false: {number} is the special case"
_VERDICTS = (Verdict.PROVEN, Verdict.NEUTRAL, Verdict.UNVERIFIABLE, Verdict.REGRESSED)


def series(count: int, places: int = 3) -> tuple[PullRequestPlan, Record, dict[str, CommittedFile]]:
    """Return a series of ``count`` requests with ``places`` changes each. One rule makes two of three changes."""
    proposals = [_proposal(number, places) for number in range(count)]
    blank = PullRequestPlan(
        "demo",
        base="0123456789" * 4,
        made=0,
        tool="symfix 0",
        origin="rules",
        words={},
        rules={"guard": "Give a branch on a size a default: ``guard(n)``.\n\nWhy: it raises.", "check": "Check later."},
    )
    plan = make_plan(proposals, blank, blob_name, most_lines=1)
    standings = {one.id: _standing(number) for number, one in enumerate(plan.requests)}
    entries = {
        file.path: CommittedFile("100644", blob_name(file.before), file.before)
        for proposal in proposals
        for file in proposal.files
        if file.before is not None
    }
    return plan, Record(plan.base, standings), entries


def demo(count: int, places: int = 3) -> str:
    """Return the page of such a series."""
    plan, record, entries = series(count, places)
    return page(plan, record, deck_of(plan, record, entries, "symfix verify --base HEAD~1"))


def _proposal(number: int, places: int) -> Proposal:
    lines, after, reasons = ["import torch\n"], ["import torch\n", "from guards import guard\n"], []
    for place in range(places):
        start = sum(len(line.encode()) for line in lines)
        head = [f"\n\ndef take{place}(x: torch.Tensor) -> torch.Tensor:\n", f'    """Case {place} of <{number}>."""\n']
        old, new = f"    if x.numel() == {place}:  # a size\n", f"    if guard(x.numel() == {place}):  # a size\n"
        start += sum(len(line) for line in head)
        rule = "check" if place % 3 == 2 else "guard"
        default = DEFAULT.format(number=place) if rule == "guard" else None
        reasons.append(
            Reason(
                rule,
                2,
                "unsafe" if default else "safe",
                f"give `x.numel() == {place}` a default",
                f"take{place}",
                default,
                start,
                place * 7 + 5,
                ((start + 7, start + 15),),
            )
        )
        tail = ["        return x\n", f"    return x + {place} * x.sum()\n"]
        lines += [*head, old, *tail]
        after += [*head, new, *tail]
    left = (UnchangedPlace("guard", 2, "not-a-shape", "`k` is no size", "take0", 9),)
    path = f"torch/part{number:02}/module.py"
    return Proposal(path, (FileChange(path, "".join(lines).encode(), "".join(after).encode(), tuple(reasons), left),))


def _standing(number: int) -> Standing:
    verdict = _VERDICTS[number % len(_VERDICTS)]
    before = Observation(False, "Could not guard on data-dependent expression Eq(u0, 0) (unhinted: Eq(u0, 0))")
    checks = (
        Check("unbacked", "nn.functional.take", before, Observation(verdict is Verdict.PROVEN)),
        Check("eager", "nn.functional.take", Observation(True), Observation(True)),
    )
    said = Verification(
        verdict, "unbacked nn.functional.take failed before and passes after", (), checks, torch="2.13.0"
    )
    state = BuildState.HELD if verdict is Verdict.REGRESSED else BuildState.BUILT
    return Standing(state, "regressed: it is slower" if state is BuildState.HELD else "", "c" * 40, (), said)

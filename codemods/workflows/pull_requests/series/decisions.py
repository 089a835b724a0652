"""Decisions of a reviewer on the page: rejected fixes by request, file, rule and position."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .plan import PlanError, ProposalPart, PullRequest, PullRequestPlan

VERSION = 1
Place = tuple[str, int]
"""Identity of a fix: its rule, and its start in the original text."""


@dataclass(frozen=True)
class Decisions:
    """Rejected fixes by (request, path) and names of wholly rejected proposals by request.

    ``rows`` are the rejections as they were read.
    """

    fixes: Mapping[tuple[str, str], frozenset[Place]] = field(default_factory=dict)
    proposals: frozenset[tuple[str, str]] = frozenset()
    rows: tuple[Mapping[str, Any], ...] = ()

    def left_out(self, request: PullRequest, part: ProposalPart) -> frozenset[Place]:
        """Return the rejected fixes of a part: all of its fixes if its whole proposal is rejected."""
        if (request.id, part.proposal) in self.proposals:
            return frozenset((reason.rule, reason.start) for reason in part.reasons)
        return self.fixes.get((request.id, part.path), frozenset())

    def drops(self, request: PullRequest, part: ProposalPart) -> bool:
        """Return whether the part is rejected completely."""
        if (request.id, part.proposal) in self.proposals:
            return True
        wanted = {(reason.rule, reason.start) for reason in part.reasons} - self.left_out(request, part)
        return bool(part.reasons) and not wanted


def read(text: str, plan: PullRequestPlan) -> Decisions:
    """Parse the decisions that the page exported. Raises PlanError for a malformed file or another series.

    A proven repair is accepted or rejected as a whole: one rejected fix rejects its proposal. So does a rejected test
    or expected failure, which belongs to the fix.
    """
    try:
        value = json.loads(text)
        if value["version"] != VERSION:
            raise PlanError(f"the decisions are of version {value['version']}, this symfix reads {VERSION}")
        if value["series"] != plan.name:
            raise PlanError(f"the decisions are about the series {value['series']}, not {plan.name}")
        rejected = [item for item in value["decisions"] if item["verdict"] == "rejected"]
        fixes: dict[tuple[str, str], set[Place]] = {}
        proposals = set()
        requests = {request.id: request for request in plan.requests}
        for item in rejected:
            request = requests.get(item["request"])
            parts = [part for part in request.parts if part.path == item["path"]] if request else []
            if request is None or not parts:
                raise PlanError(f"the decisions name {item['path']} in {item['request']}, which the plan has not")
            unwanted = {(fix["rule"], int(fix["start"])) for fix in item.get("fixes", ())}
            whole = [part for part in parts if plan.origin != "rules" or part.role != "fix"]
            for part in whole:
                known = {(reason.rule, reason.start) for reason in part.reasons}
                if not unwanted or known & unwanted:
                    proposals.add((request.id, part.proposal))
            if not whole:
                fixes.setdefault((request.id, item["path"]), set()).update(unwanted)
        places = {key: frozenset(ones) for key, ones in fixes.items()}
        return Decisions(places, frozenset(proposals), tuple(rejected))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise PlanError(f"the decisions do not read as such: {error!r}; export them from the page again") from None

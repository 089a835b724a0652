"""Construction of a plan from proposals."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from . import pr_text
from .groups import MOST_FILES, MOST_LINES, ProposalGroup, group, hunks_of
from .plan import Claim, ProposalPart, PullRequest, PullRequestPlan
from .proposal import FileChange, Proposal


def make_plan(
    proposals: Sequence[Proposal],
    blank: PullRequestPlan,
    content_name: Callable[[bytes], str],
    *,
    most_files: int = MOST_FILES,
    most_lines: int = MOST_LINES,
) -> PullRequestPlan:
    """Group the proposals, give each group its id, branch and texts, and fill them into ``blank``, which is returned.

    Only the docstrings of used rules are kept. ``content_name`` computes git's name of a content. The same files for
    the same rule get the same id in every plan.
    """
    grouping = group(proposals, most_files, most_lines)
    requests = tuple(_request(blank.name, one, blank.rules, content_name) for one in grouping.groups)
    used = {rule for request in requests for rule in request.rules}
    docs = {rule: doc for rule, doc in blank.rules.items() if rule in used}
    return replace(blank, rules=docs, requests=requests, passed_over=grouping.passed_over)


def _request(
    series: str, group: ProposalGroup, rules: Mapping[str, str], content_name: Callable[[bytes], str]
) -> PullRequest:
    parts = tuple(
        ProposalPart(
            file.path,
            proposal.name,
            file.role,
            None if file.before is None else content_name(file.before),
            hunks_of(file),
            file.reasons,
            file.left,
        )
        for proposal in group.proposals
        for file in proposal.files
    )
    claims = tuple(
        Claim(one.name, one.operators, one.opinfos, one.bystanders, one.issues)
        for one in group.proposals
        if one.operators or one.opinfos or one.bystanders or one.issues
    )
    paths = sorted({part.path for part in parts if part.role == "fix"})
    names = sorted(proposal.name for proposal in group.proposals if proposal.operators)
    key = "\0".join([series, group.rule or "", *paths, "", *names])
    identity = hashlib.blake2b(key.encode("utf-8", "surrogateescape"), digest_size=6).hexdigest()
    return PullRequest(
        id=identity,
        branch=f"symfix/{series}/{pr_text.slug(group)}-{identity[:4]}",
        parts=parts,
        claims=claims,
        **_words(group.proposals, rules),
    )


def as_built(request: PullRequest, parts: Sequence[ProposalPart], rules: Mapping[str, str]) -> PullRequest:
    """Return the request restricted to these parts, with its texts derived from them.

    With all of its own parts the request is unchanged. ``rules`` are docstrings.
    """
    kept = tuple(sorted(parts, key=lambda part: _order(request, part)))
    if kept == request.parts:
        return request
    names = tuple(dict.fromkeys(part.proposal for part in kept))
    claims = tuple(claim for claim in request.claims if claim.proposal in names)
    proposals = [_proposal(name, [part for part in kept if part.proposal == name], claims) for name in names]
    return replace(request, parts=kept, claims=claims, **_words(proposals, rules))


def _order(request: PullRequest, part: ProposalPart) -> int:
    places = [(one.proposal, one.path) for one in request.parts]
    return places.index((part.proposal, part.path))


def _proposal(name: str, parts: Sequence[ProposalPart], claims: Sequence[Claim]) -> Proposal:
    files = tuple(FileChange(part.path, None, b"", part.reasons, part.left, part.role) for part in parts)
    claim = next((claim for claim in claims if claim.proposal == name), Claim(name))
    return Proposal(name, files, claim.operators, claim.opinfos, claim.bystanders, claim.issues)


def _words(proposals: Sequence[Proposal], rules: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of a request that are derived from its proposals."""
    opinfos = {name for proposal in proposals for name in proposal.opinfos}
    bystanders = {name for proposal in proposals for name in proposal.bystanders} - opinfos
    return {
        "title": pr_text.title(proposals),
        "summary": pr_text.summary(proposals, rules),
        "rules": tuple(sorted({rule for proposal in proposals for rule in proposal.rules})),
        "operators": tuple(sorted({name for proposal in proposals for name in proposal.operators})),
        "opinfos": tuple(sorted(opinfos)),
        "bystanders": tuple(sorted(bystanders)),
        "labels": pr_text.labels(proposals),
        "issues": tuple(sorted({issue for proposal in proposals for issue in proposal.issues})),
    }

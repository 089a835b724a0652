"""From proposals to a plan."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import wording
from .grouping import MOST_FILES, MOST_LINES, Group, group, hunks_of
from .plan import Part, Plan, Request
from .proposal import Proposal


def make_plan(
    proposals: Sequence[Proposal],
    *,
    name: str,
    base: str,
    made: int,
    tool: str,
    origin: str,
    words: Mapping[str, Any],
    rules: Mapping[str, str],
    content_name: Callable[[bytes], str],
    most_files: int = MOST_FILES,
    most_lines: int = MOST_LINES,
) -> Plan:
    """Group the proposals and give each group its id, branch and texts.

    ``content_name`` names a content as git does. The same files for the same rule get the same id in every plan.
    """
    grouping = group(proposals, most_files, most_lines)
    requests = tuple(_request(name, one, rules, content_name) for one in grouping.groups)
    used = {rule for request in requests for rule in request.rules}
    docs = {rule: doc for rule, doc in rules.items() if rule in used}
    return Plan(name, base, made, tool, origin, words, docs, requests, grouping.passed_over)


def _request(series: str, group: Group, rules: Mapping[str, str], content_name: Callable[[bytes], str]) -> Request:
    parts = tuple(
        Part(
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
    paths = sorted({part.path for part in parts if part.role == "fix"})
    names = sorted(proposal.name for proposal in group.proposals if proposal.operators)
    key = "\0".join([series, group.rule or "", *paths, "", *names])
    identity = hashlib.blake2b(key.encode("utf-8", "surrogateescape"), digest_size=6).hexdigest()
    opinfos = {name for proposal in group.proposals for name in proposal.opinfos}
    bystanders = {name for proposal in group.proposals for name in proposal.bystanders} - opinfos
    return Request(
        id=identity,
        branch=f"symfix/{series}/{wording.slug(group)}-{identity[:4]}",
        title=wording.title(group),
        summary=wording.summary(group, rules),
        rules=tuple(sorted({rule for proposal in group.proposals for rule in proposal.rules})),
        operators=tuple(sorted({name for proposal in group.proposals for name in proposal.operators})),
        opinfos=tuple(sorted(opinfos)),
        bystanders=tuple(sorted(bystanders)),
        labels=wording.labels(group),
        issues=tuple(sorted({issue for proposal in group.proposals for issue in proposal.issues})),
        parts=parts,
    )

"""Plan of a series: its values, and the JSON file that a person reads and edits."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from .hunks import Hunk
from .proposal import Reason, Role, UnchangedPlace

VERSION = 2
_SURROGATE = re.compile("[\ud800-\udfff]")


class PlanError(Exception):
    """Unusable plan or decisions file. ``str()`` is the one line for the user."""


@dataclass(frozen=True)
class ProposalPart:
    """Changes of one proposal in one file. ``before`` is git's name of the content before, or None for a new file."""

    path: str
    proposal: str
    role: Role
    before: str | None
    hunks: tuple[Hunk, ...]
    reasons: tuple[Reason, ...] = ()
    left: tuple[UnchangedPlace, ...] = ()


@dataclass(frozen=True)
class Claim:
    """Operators and issues that a proposal fixes, with the operator tests to verify them. See `Proposal`."""

    proposal: str
    operators: tuple[str, ...] = ()
    opinfos: tuple[str, ...] = ()
    bystanders: tuple[str, ...] = ()
    issues: tuple[int, ...] = ()


@dataclass(frozen=True)
class PullRequest:
    """One pull request. ``id`` and ``branch`` are stable for the same files and the same reason."""

    id: str
    branch: str
    title: str
    summary: str
    rules: tuple[str, ...]
    operators: tuple[str, ...]
    opinfos: tuple[str, ...]
    bystanders: tuple[str, ...]
    labels: tuple[str, ...]
    issues: tuple[int, ...]
    parts: tuple[ProposalPart, ...]
    claims: tuple[Claim, ...] = ()
    """Claims of the proposals. The request's operators, operator tests and issues are the union over all of them."""

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(sorted({part.path for part in self.parts}))

    @property
    def lines(self) -> int:
        """Count the changed lines as GitHub counts them: added plus removed."""
        return sum(len(hunk.old) + len(hunk.new) for part in self.parts for hunk in part.hunks)


@dataclass(frozen=True)
class PullRequestPlan:
    """Requests of a series in the order of sending, all based on the commit ``base``.

    ``made`` (seconds since 1970) is the date of the commits, so that a repeated build gives the same ones. ``words``
    are the options of the rules. ``rules`` are their docstrings. ``origin`` is ``rules`` or ``repairs``.
    """

    name: str
    base: str
    made: int
    tool: str
    origin: str
    words: Mapping[str, Any]
    rules: Mapping[str, str]
    requests: tuple[PullRequest, ...] = ()
    passed_over: tuple[str, ...] = ()


def to_json(plan: PullRequestPlan) -> str:
    """Serialize the plan as readable JSON. Empty values are omitted."""
    text = json.dumps(_lean({"version": VERSION, **asdict(plan)}), indent=1, ensure_ascii=False) + "\n"
    # Bytes of a name or a line that are not UTF-8 have to be escaped.
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def from_json(text: str) -> PullRequestPlan:
    """Parse a plan. Raises PlanError."""
    try:
        value = json.loads(text)
        if value.get("version") != VERSION:
            raise PlanError(f"the plan is of version {value.get('version')}, this symfix reads {VERSION}: plan again")
        return PullRequestPlan(
            value["name"],
            value["base"],
            value["made"],
            value["tool"],
            value["origin"],
            value.get("words", {}),
            value.get("rules", {}),
            tuple(request_from(one) for one in value.get("requests", ())),
            tuple(value.get("passed_over", ())),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise PlanError(f"the plan does not read as one: {error!r}; plan again") from None


def request_fields(request: PullRequest) -> Any:
    """Return a request as plain values for `request_from`. Empty values are omitted."""
    return _lean(asdict(request))


def _lean(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _lean(one) for key, one in value.items() if one not in (None, (), [], {})}
    return [_lean(one) for one in value] if isinstance(value, (list, tuple)) else value


def request_from(value: dict[str, Any]) -> PullRequest:
    """Build a request from plain values. Malformed ones raise KeyError, TypeError or AttributeError."""
    return PullRequest(
        value["id"],
        value["branch"],
        value["title"],
        value["summary"],
        tuple(value.get("rules", ())),
        tuple(value.get("operators", ())),
        tuple(value.get("opinfos", ())),
        tuple(value.get("bystanders", ())),
        tuple(value.get("labels", ())),
        tuple(value.get("issues", ())),
        tuple(_part(one) for one in value.get("parts", ())),
        tuple(_claim(one) for one in value.get("claims", ())),
    )


def _claim(value: dict[str, Any]) -> Claim:
    names = ("operators", "opinfos", "bystanders", "issues")
    return Claim(value["proposal"], *(tuple(value.get(name, ())) for name in names))


def _part(value: dict[str, Any]) -> ProposalPart:
    return ProposalPart(
        value["path"],
        value["proposal"],
        value["role"],
        value.get("before"),
        tuple(
            Hunk(one["line"], tuple(one.get("old", ())), tuple(one.get("new", ())), tuple(one.get("why", ())))
            for one in value.get("hunks", ())
        ),
        tuple(_reason(one) for one in value.get("reasons", ())),
        tuple(UnchangedPlace(**{"function": None, **one}) for one in value.get("left", ())),
    )


def _reason(value: dict[str, Any]) -> Reason:
    spans = tuple((start, end) for start, end in value.get("spans", ()))
    return Reason(**{"function": None, "default": None, **value, "spans": spans})

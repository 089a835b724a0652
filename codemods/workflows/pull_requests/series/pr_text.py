"""Texts of a pull request in PyTorch's conventions: title, summary, commit message, body and labels."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ....verify.change import Check, Verdict, Verification
from .groups import ProposalGroup, area
from .plan import PullRequest
from .proposal import Proposal, Reason

TRAILER = "Symfix-Id"
_FEW = 3
_SHORT = 60
_WIDTH = 72
_QUOTED = re.compile(r"`[^`]*`")


def title(proposals: Sequence[Proposal]) -> str:
    """Return ``SymIntify <op>`` if a fix has mode 1, else ``[DDE] Fix data-dependent errors in <ops>``."""
    subject = subjects(proposals)
    if any(reason.mode == 1 for reason in reasons_of(proposals)):
        return f"SymIntify {subject}"
    return f"[DDE] Fix data-dependent errors in {subject}"


def subjects(proposals: Sequence[Proposal]) -> str:
    """Return a few operators or functions, or a file, or else the areas of the repository."""
    operators = sorted({name for proposal in proposals for name in proposal.operators})
    if 0 < len(operators) <= _FEW:
        return _listed(operators)
    paths = sorted({path for proposal in proposals for path in proposal.fixed})
    functions = sorted(
        {
            reason.function.rpartition(".")[2].removesuffix("_symint")
            for reason in reasons_of(proposals)
            if reason.function
        }
    )
    if 0 < len(functions) <= _FEW and len(paths) == 1:
        return _listed(functions)
    names = [path.rpartition("/")[2] if path.endswith((".cpp", ".h")) else path for path in paths]
    if len(paths) == 1 or (len(paths) <= _FEW and len(_listed(names)) <= _SHORT):
        return _listed(names)
    areas = list(dict.fromkeys(area(path) for path in paths))
    return _listed(areas) if len(areas) <= _FEW else f"{areas[0]} and {len(areas) - 1} other folders"


def summary(proposals: Sequence[Proposal], rules: Mapping[str, str]) -> str:
    """Summarize the fixes, the reason, and the defaults for undecided sizes in one paragraph.

    ``rules`` are docstrings. A fix without a rule in it is described by its message.
    """
    reasons = list(reasons_of(proposals))
    counts = Counter(reason.rule for reason in reasons)
    messages = {reason.rule: reason.message for reason in reversed(reasons)}
    said = [
        _sentence(rules[rule]) if rule in rules else f"{messages[rule].rstrip('.')}."
        for rule, _ in counts.most_common(_FEW)
    ]
    why = _section(rules.get(counts.most_common(1)[0][0], ""), "Why") if counts else ""
    return " ".join(filter(None, [*said, why, defaults(reasons)]))


def defaults(reasons: Sequence[Reason]) -> str:
    """Describe the branch that an undecided size takes. The same default at several places is described once."""
    if not reasons:
        return ""
    alike: dict[str, list[str]] = {}
    for reason in reasons:
        if reason.default:
            alike.setdefault(_QUOTED.sub("`…`", reason.default), []).append(reason.default)
    if not alike:
        same = all(reason.safety == "safe" for reason in reasons)
        return "No size takes a default: on known sizes the code does what it did." if same else ""
    parts = []
    ranked = sorted(alike.values(), key=lambda ones: (-len(ones), ones[0]))
    for ones in ranked[:_FEW]:
        first = _QUOTED.search(ones[0])
        more = len(set(ones)) - 1
        like = f"{first[0]} (and {more} like it)" if first and more else None
        parts.append(ones[0].replace(first[0], like, 1) if first and like else ones[0])
    rest = f"; {len(ranked) - _FEW} other defaults stand at their places" if len(ranked) > _FEW else ""
    return f"The defaults: {'; '.join(parts)}{rest}."


def labels(proposals: Sequence[Proposal]) -> tuple[str, ...]:
    """Return the labels that PyTorch's bots and reviewers require."""
    paths = [path for proposal in proposals for path in proposal.fixed]
    inductor = any(path.startswith(("torch/_inductor/", "torch/_dynamo/")) for path in paths)
    return ("module: dynamic shapes", "topic: not user facing", *(("ciflow/inductor",) if inductor else ()))


def commit_message(request: PullRequest, tool: str, verification: Verification | None, commands: Sequence[str]) -> str:
    """Build the commit message: title, fixed issues, summary, verification, test plan, disclosure and trailer."""
    fixes = [f"Fixes #{number}" for number in request.issues]
    plan = ["Test Plan:", *(f"    {command}" for command in commands)]
    paragraphs = [
        request.title,
        *(["\n".join(fixes)] if fixes else []),
        textwrap.fill(request.summary, _WIDTH, break_long_words=False, break_on_hyphens=False),
        textwrap.fill(found(verification), _WIDTH, break_long_words=False, break_on_hyphens=False),
        "\n".join(plan),
        textwrap.fill(disclosure(tool), _WIDTH),
        f"{TRAILER}: {request.id}",
    ]
    return "\n\n".join(paragraphs) + "\n"


def body(request: PullRequest, tool: str, verification: Verification | None, commands: Sequence[str]) -> str:
    """Build the text of the pull request in Markdown, with the same contents as the commit message."""
    fixes = "\n".join(f"Fixes #{number}" for number in request.issues)
    plan = "\n".join(["**Test plan**", "", "```", *commands, "```"])
    parts = [fixes, request.summary, f"{found(verification)}", plan, disclosure(tool), f"{TRAILER}: {request.id}"]
    return "\n\n".join(part for part in parts if part) + "\n"


def found(verification: Verification | None) -> str:
    """Describe the result of the verification in a sentence or two."""
    if verification is None:
        return "Not verified."
    release = verification.torch.partition(" ")[0]
    gained = [check for check in verification.checks if check.gained and not check.flaky]
    if verification.verdict is Verdict.PROVEN and gained:
        names = _listed(list(dict.fromkeys(check.subject for check in gained)))
        return (
            f"Proven with torch {release}: {names} failed before ({_protocols(gained)}; "
            f"{_first_line(gained[0].before.message)}) and passes after; "
            f"{len(verification.checks)} checks were run before and after, and none is worse."
        )
    if verification.verdict is Verdict.NEUTRAL:
        return (
            f"Verified with torch {release}: {len(verification.checks)} checks were run before and after, "
            "and nothing differs."
        )
    return f"{verification.verdict.value.capitalize()} with torch {release}: {verification.reason}."


def disclosure(tool: str) -> str:
    """Return the sentence about the author of the change."""
    return f"The change was made by {tool}, a rule-based rewriter, and is sent by a person who has read it."


def reasons_of(proposals: Iterable[Proposal]) -> Iterable[Reason]:
    return (reason for proposal in proposals for file in proposal.files for reason in file.reasons)


def slug(group: ProposalGroup) -> str:
    """Return a few words for a branch name: the file or folder, and the rule or ``family``."""
    paths = sorted({path for proposal in group.proposals for path in proposal.fixed}) or [group.proposals[0].name]
    place = paths[0].rpartition(".")[0] if len(paths) == 1 else area(paths[0])
    words = [place.removesuffix("/__init__").rpartition("/")[2] if len(paths) == 1 else place, group.rule or "family"]
    return re.sub(r"[^a-z0-9]+", "-", "-".join(words).lower()).strip("-")


def _protocols(checks: Sequence[Check]) -> str:
    return _listed(list(dict.fromkeys(check.protocol for check in checks)))


def _sentence(doc: str) -> str:
    """Return the first sentence of a rule's docstring, as plain Markdown."""
    return _plain(doc.strip().partition("\n")[0])


def _section(doc: str, name: str) -> str:
    text = re.search(rf"^{name}:\s*(.*?)(?:\n\s*\n|\Z)", doc, re.S | re.M)
    words = " ".join(text[1].split()) if text else ""
    return _plain(words[:1].upper() + words[1:])


def _plain(text: str) -> str:
    return text.replace("``", "`").replace("→", "becomes")


def _first_line(text: str) -> str:
    line = text.strip().partition("\n")[0].rstrip(".")
    return line if len(line) <= 160 else line[:157] + "…"


def _listed(names: Sequence[str]) -> str:
    shown = list(names[:_FEW]) + ([f"{len(names) - _FEW} more"] if len(names) > _FEW else [])
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"

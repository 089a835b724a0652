"""A verification for a person: the verdict first, then what it rests on."""

from __future__ import annotations

from collections.abc import Iterator

from ..verify.change import Check, Observation, Verification


def proof(verification: Verification) -> Iterator[str]:
    """The lines of a verification."""
    yield f"{verification.verdict.value}: {verification.reason}\n"
    for check in verification.checks:
        yield from _check(check)
    swapped = sorted({f"{swap.kernel} ({swap.calls} calls)" for swap in verification.swaps if swap.swapped})
    if swapped:
        yield f"  swapped in: {', '.join(swapped)}\n"
    for swap in verification.swaps:
        if not swap.swapped:
            yield f"  not swapped in: {swap.kernel}, {swap.state}\n"
    if verification.unrun:
        yield f"  changed lines that nothing ran: {', '.join(verification.unrun)}\n"
    if verification.chosen:
        yield f"  operator tests: {verification.chosen}\n"
    facts = [f"torch {verification.torch.partition(' ')[0]}", verification.compiler, f"{verification.seconds:.1f} s"]
    yield f"  {', '.join(fact for fact in facts if fact)}{', answered before' if verification.cached else ''}\n"
    if verification.evidence is not None:
        yield f"  evidence: {verification.evidence}\n"


def _check(check: Check) -> Iterator[str]:
    yield f"  {check.protocol} {check.subject}\n"
    yield f"    before: {_say(check.before)}\n"
    yield f"    after:  {_say(check.after)}\n"
    if check.reference is not None:
        yield f"    torch as installed: {_say(check.reference)}\n"
    if check.flaky:
        yield "    the difference did not come again\n"
    if check.deviates:
        yield f"    deviates: {check.deviates}\n"


def _say(observation: Observation) -> str:
    if observation.passed:
        return f"passes ({observation.message})" if observation.message else "passes"
    return f"{'crashes' if observation.crashed else 'fails'}: {observation.message}"

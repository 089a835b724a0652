"""A sweep as plain values, as printed by ``--format json``."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from .failure import Failure, FailurePlace
from .failure_groups import by_mode, by_place
from .sweep import Sweep

VERSION = 1


def to_json(sweep: Sweep) -> dict[str, Any]:
    """Return counts, places with their operators, failures, and the passing and the untestable operators."""
    return {
        "version": VERSION,
        "tool": "symfix",
        "torch": sweep.torch,
        "protocol": sweep.protocol,
        "kind": sweep.kind,
        "seconds": sweep.seconds,
        "summary": {
            "passed": len(sweep.passed),
            "failed": len(sweep.failed),
            "untestable": len(sweep.untestable),
            "outside": len(sweep.outside),
            "not_run": sweep.not_run,
            "only_test": len({failure.operator for failure in sweep.failures if failure.only_test}),
            "modes": {mode.value: count for mode, count in by_mode(sweep.failures).items()},
        },
        "places": [
            {
                "mode": held.mode.value,
                "place": _place(held.place),
                "why": held.why,
                "operators": [str(operator) for operator in held.operators],
                "expressions": list(held.expressions),
            }
            for held in by_place(sweep.failures)
        ],
        "failures": [_failure(failure) for failure in sweep.failures],
        "passed": [str(operator) for operator in sweep.passed],
        "fixed": [str(operator) for operator in sweep.fixed],
        "untestable": {str(operator): reason for operator, reason in sweep.untestable.items()},
    }


def _failure(failure: Failure) -> dict[str, Any]:
    fields = asdict(replace(failure, behind=None, path=()))
    fields.pop("error")
    return {
        **fields,
        "behind": _failure(failure.behind) if failure.behind else None,
        "operator": str(failure.operator),
        "mode": failure.mode.value,
        "place": _place(failure.place),
        "path": [str(place) for place in failure.path],
    }


def _place(place: FailurePlace | None) -> dict[str, Any] | None:
    return asdict(place) if place else None

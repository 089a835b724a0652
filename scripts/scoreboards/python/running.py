"""Child process that records which of some functions of torch each call runs, in eager mode and under make_fx."""

from __future__ import annotations

import json
import logging
import signal
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from .capturing import candidates

_SECONDS = 60
_LEFT = "operators:"
"""Prefix of calls that only run if torch's index has selected their operator. There are too many to run all."""


def main(request: str) -> None:
    asked: dict[str, Any] = json.loads(Path(request).read_bytes())
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    signal.signal(signal.SIGALRM, _overtime)
    import torch

    torch.set_num_threads(1)
    wanted = {(file, key) for file, key in asked["functions"]}
    with Path(asked["report"]).open("a") as report:
        for chosen, (name, made, _) in candidates(asked["operators"], 0):
            if name in asked["done"] or (name.startswith(_LEFT) and not chosen):
                continue
            for line in ({"call": name}, {"call": name, "captures": _running(made, wanted)}):
                report.write(json.dumps(line) + "\n")
                report.flush()


def _overtime(*_: object) -> None:
    raise TimeoutError


def _running(made: Callable[[], tuple[Any, Any, Any]], wanted: set[tuple[str, str]]) -> list[tuple[str, str]]:
    from symfix.codemods.harness.children.recorders.captures import TRACERS, copied

    known: dict[CodeType, tuple[str, str]] = {}
    found: set[tuple[str, str]] = set()

    def record(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            code = frame.f_code
            if code not in known:
                file = "torch/" + code.co_filename.rpartition("/site-packages/torch/")[2]
                known[code] = file, f"{code.co_name}:{code.co_firstlineno}"
            if known[code] in wanted:
                found.add(known[code])

    try:
        function, args, kwargs = made()
    except Exception:  # a sample that can't be made
        return []
    for tried in (lambda *given: function(*given[0], **given[1]), lambda *given: TRACERS["make_fx"](function, *given)):
        given = copied(args, kwargs)
        signal.alarm(_SECONDS)
        sys.setprofile(record)
        try:
            tried(*given)
        except Exception:  # the tracer's result does not matter here
            pass
        finally:
            sys.setprofile(None)
            signal.alarm(0)
    return sorted(found)


if __name__ == "__main__":
    main(sys.argv[1])

"""Index of this torch: the aten operators, composite ones included, that the samples of each OpInfo run."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path
from typing import Any

from ..overlay.report_writer import write
from ..samples.samples import attempt, draw
from .operators import by_name, quiet

SAMPLES = 4


def main(request_path: str) -> None:
    """Write the index to the report named by the JSON file at ``request_path``."""
    request: dict[str, Any] = json.loads(Path(request_path).read_bytes())
    quiet()
    write(request["report"], {name: sorted(ran_by(variants)) for name, variants in sorted(by_name().items())})
    os._exit(0)


def ran_by(variants: list[Any]) -> set[str]:
    """Return the names of the operators, without ``aten::``, that a few samples of each variant run."""
    from torch.autograd.profiler import profile

    with profile() as profiled:
        for variant in variants:
            samples = itertools.islice(draw(variant), SAMPLES)
            attempt(lambda samples=samples: [attempt(sample.call) for sample in samples])  # type: ignore[misc]
    # The profiler's own list of functions needs a call tree, but here names are enough.
    events: Any = profiled.kineto_results
    names = {event.name() for event in events.events()}
    return {name.removeprefix("aten::") for name in names if name.startswith("aten::")}

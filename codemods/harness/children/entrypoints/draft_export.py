"""Report of ``torch.export.draft_export`` on a target, as plain values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..overlay.changed_torch import overlay
from ..overlay.report_writer import write
from .operators import quiet


def main(request_path: str) -> None:
    """Run the request in the JSON file at ``request_path``, and write the report that it names."""
    request: dict[str, Any] = json.loads(Path(request_path).read_bytes())
    overlay(request["modules"])
    quiet()
    write(request["report"], _answer(request))


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    import torch

    from ..samples.export_targets import BadTarget, load, read
    from ..samples.samples import describe

    try:
        torch.manual_seed(0)
        model = read(load(request["target"], request["folder"])())
        args, kwargs = model.inputs()
        shapes: Any = torch.export.ShapesCollection()  # type: ignore[no-untyped-call]
        for tensor, dimensions in model.dimensions((args, kwargs)):
            shapes[tensor] = dimensions
        with torch.set_grad_enabled(model.training):
            program = torch.export.draft_export(model.module, args, kwargs, dynamic_shapes=shapes)
    except BadTarget as error:
        return {"error": str(error)}
    except Exception as error:
        return {"error": f"{request['target']} raises {describe(error)}"}
    return {"failures": failures(getattr(program, "_report", None)), "torch": torch.__version__}


def failures(report: Any) -> list[dict[str, Any]]:
    """Return the failures of a report of `draft_export`, each with its kind, condition and lines, innermost first."""
    files = getattr(report, "str_to_filename", {})
    return [_failure(one.failure_type.name, one.data, files) for one in getattr(report, "failures", ())]


def _failure(kind: str, data: dict[str, Any], files: dict[Any, str]) -> dict[str, Any]:
    stack = data.get("user_stack") or data.get("stack") or []
    places = [
        {
            "file": str(files.get(frame["filename"], frame["filename"])),
            "line": int(frame["line"]),
            "function": str(frame["name"]),
            "text": str(frame.get("loc", "")),
        }
        for frame in reversed(stack)
    ]
    return {
        "kind": kind,
        "condition": str(data.get("expr", "")),
        "operator": str(data.get("op", "")),
        "result": str(data.get("result", "")),
        "places": places,
    }

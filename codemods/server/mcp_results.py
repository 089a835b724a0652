"""Results of the tools for agents, with a schema that the client gets."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class ToolResult(BaseModel):
    """Result of a tool. It ignores what a report has beyond its fields."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class FoundFix(ToolResult):
    """Place that a rule would change. Line and column count from 1."""

    path: str
    line: int
    column: int
    rule: str
    safety: str
    """safe: nothing changes on concrete sizes; unsafe: ``default`` states the change; manual: never applied."""
    message: str
    function: str | None
    default: str | None


class CheckResult(ToolResult):
    """Findings of the rules."""

    findings: list[FoundFix]
    omitted: int
    """Number of further findings; name fewer paths to get them."""
    files: int
    """Number of files that were examined."""
    problems: list[str]
    """Files that were refused, or that do not parse in places."""


class FixResult(ToolResult):
    """Patch for ``git apply``."""

    patch: str
    written: bool
    """True if the files have been changed. Otherwise nothing was written."""
    messages: list[str]
    """Summary, and fixes that were held back."""


class CodePlace(ToolResult):
    """Line of code."""

    file: str
    line: int
    function: str = ""
    text: str = ""


class ExplainResult(ToolResult):
    """Explanation of the first error about sizes."""

    about_sizes: bool
    kind: str
    title: str
    message: str
    expression: str
    """Undecided expression."""
    place: CodePlace | None
    """Innermost line outside of torch."""
    inside: str
    """Line of torch that needed the value."""
    operator: str
    mend: str
    """Usual fix."""
    command: str
    """Command of symfix that helps, or empty."""
    more: int
    """Number of further errors about sizes."""


class TestRun(ToolResult):
    """Result of a run."""

    passed: bool
    message: str


class VerifyCheck(ToolResult):
    """One test before and after the change."""

    protocol: str
    subject: str
    before: TestRun
    after: TestRun
    deviates: str | None


class VerifyUse(ToolResult):
    """Line, counted from 1, at which a size does not stay symbolic."""

    path: str
    line: int
    detail: str
    changed: bool
    """False for a line that is as before, in a changed function."""


class VerifyResult(ToolResult):
    """Verdict on the difference between a revision and the files on disk, or on a patch."""

    verdict: str
    """proven, neutral, regressed, unverifiable or broken-baseline; unchanged if no file differs."""
    reason: str
    checks: list[VerifyCheck] = []
    unrun: list[str] = []
    """Changed lines that were not run, which the verdict does not cover."""
    untraced: list[str] = []
    """Changed functions without a traceable call."""
    remaining_uses: list[VerifyUse] = []
    not_judged: list[str] = []
    """Files of the patch that are new, deleted or of another language."""


class ExportFailure(ToolResult):
    """Failure at which the model finally stops."""

    reason: str
    message: str
    place: CodePlace | None
    inside: str


class ExportResult(ToolResult):
    """Verdict on the export of a model, and the patch with which it exports."""

    target: str
    verdict: str
    """as-it-is, proven, with-torch, one-sided, left or unusable."""
    message: str
    notes: list[str]
    unseen: list[str]
    """Changed conditions of which no input takes one side."""
    left: ExportFailure | None
    patch: str = ""
    """Patch for ``git apply``, or empty. It was not applied."""
    torch_patch: str = ""
    """Patch of torch that is needed, or empty."""
    partial_patch: str = ""
    """Patch with which the export gets further without ending, or empty."""


class HuntPlace(ToolResult):
    """Place at which operators fail."""

    mode: str
    place: CodePlace | None
    why: str
    operators: list[str]


class HuntResult(ToolResult):
    """Operators that fail on symbolic sizes."""

    places: list[HuntPlace]
    passed: list[str]
    untestable: dict[str, str]
    """Operators without a usable test, with the reason."""

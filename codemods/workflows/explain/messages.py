"""The messages of torch 2.8 to 2.14 about sizes: one named pattern for each."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Message:
    """A message of torch.

    Groups of its pattern are ``expression``, ``operator``, ``file``, ``line``, ``function``.
    """

    name: str
    marker: str
    """Literal part of the message, which is searched first because it is faster than the pattern."""
    pattern: re.Pattern[str]
    kind: str
    soft: bool = False
    """True for a line of a log that is no error. It counts only if the text contains no error."""


def _message(name: str, marker: str, pattern: str, kind: str, *, soft: bool = False) -> Message:
    return Message(name, marker, re.compile(pattern), kind, soft)


MESSAGES = (
    _message(
        "GuardOnDataDependentSymNode of a condition", "guard on data-dependent expression",
        r"Could not guard on data-dependent expression (?P<expression>.+?)(?: \(unhinted: .*|\.?)$", "undecided-size",
    ),
    _message(
        "GuardOnDataDependentSymNode of a number", "data-dependent expression",
        r"Could not extract specialized (?:integer|float|boolean) from data-dependent expression "
        r"(?P<expression>.+?)(?: \(unhinted: .*|\.?)$", "value-read",
    ),
    _message(
        "data-dependent error in a report of draft_export", "unable to evaluate the value of",
        r"unable to evaluate the value of `(?P<expression>[^`]+)`", "undecided-size",
    ),
    _message(
        "guard in a report of draft_export", "this guard was added",
        r"this guard was added: (?P<expression>.+?), where (?P<where>\{.*\})", "narrows-range",
    ),
    _message(
        "fake kernel in a report of draft_export", "is missing a fake kernel implementation",
        r"torch\.ops\.(?P<operator>[\w.:]+) is missing a fake kernel", "missing-fake-kernel",
    ),
    _message(
        "UserError: dynamic dimension with one value", "but your code specialized it to be a constant",
        r"You marked (?P<name>.+?) as dynamic but your code specialized it to be a constant \((?P<value>[^)]*)\)",
        "narrows-range",
    ),
    _message(
        "UserError: dynamic dimension with one value, up to torch 2.8", "was inferred to be a constant",
        r"(?P<name>\S+) was inferred to be a constant \((?P<value>[^)]*)\)", "narrows-range",
    ),
    _message(
        "UserError: range with a guard", "satisfy the generated guard",
        r"Not all values of (?P<name>.+?) in the specified range.*? satisfy the generated guard "
        r"(?P<expression>.+?)\.?$",
        "narrows-range",
    ),
    _message(
        "UserError: two sizes that are equal", "must always be equal",
        r"The values of (?P<expression>.+? and .+?) must always be equal", "narrows-range",
    ),
    _message(
        "UserError: constraints without a list", "Constraints violated",
        r"Constraints violated \((?P<name>[^!]*)\)!", "narrows-range",
    ),
    _message(
        "AssertionError of a program: guard", "Guard failed: ", r"Guard failed: (?P<expression>.+?)$", "guard-failed",
    ),
    _message(
        "RuntimeError of a program: assertion", "Runtime assertion failed for expression",
        r"Runtime assertion failed for expression (?P<expression>.+?)(?: on node .*)?$", "guard-failed",
    ),
    _message(
        "RecompileError, or TORCH_LOGS=recompiles", "Recompiling function",
        r"Recompiling function (?P<function>\S+) in (?P<file>.+?):(?P<line>\d+)", "recompilation",
    ),
    _message(
        "warning of the recompile limit", "hit config.",
        r"hit config\.(?:\w*recompile_limit|\w*cache_size_limit) \((?P<limit>\d+)\)", "recompilation",
    ),
    _message(
        "Unsupported: recompile limit", "ecompile limit",
        r"(?:Dynamo recompile limit exceeded|FailOnRecompileLimitHit|ecompile limit (?:hit|exceeded))", "recompilation",
    ),
    _message(
        "limit of one graph", "limit reached", r"(?:recompile|cache_size)_limit reached", "recompilation",
    ),
    _message(
        "DataDependentOutputException", "DataDependentOutputException",
        r"DataDependentOutputException: (?P<operator>[\w.:]+)", "data-dependent-operator",
    ),
    _message(
        "DynamicOutputShapeException", "DynamicOutputShapeException",
        r"DynamicOutputShapeException: (?P<operator>[\w.:]+)", "data-dependent-operator",
    ),
    _message(
        "Unsupported: operator with a Python result", "has a non-Tensor output whose value is dependent",
        r"Operator `(?P<operator>[\w.:]+)` has a non-Tensor output", "data-dependent-operator",
    ),
    _message(
        "Unsupported: operator with a shape that depends on data", "output shape depends on input",
        r"Operator `(?P<operator>[\w.:]+)`'s output shape depends on input", "data-dependent-operator",
    ),
    _message(
        "Unsupported: data-dependent operator, before the explanations of torch 2.7", "operator: ",
        r"(?i:data[ -]dependent|dynamic shape) operator: (?P<operator>[\w.:]+)", "data-dependent-operator",
    ),
    _message(
        "Unsupported: item", "Tensor.item() call", r"Tensor\.item\(\) call", "value-read",
    ),
    _message(
        "Unsupported: graph break of item", "from `Tensor.item()`", r"[Gg]raph break from `Tensor\.item\(\)`",
        "value-read",
    ),
    _message("Unsupported: tolist", "Tensor.tolist() with", r"Tensor\.tolist\(\) with non-integer", "value-read"),
    _message("number of a fake tensor", "Cannot cast FakeTensor", r"Cannot cast FakeTensor.* to number", "value-read"),
    _message(
        "Unsupported: branch", "ata-dependent branching", r"[Dd]ata-dependent branching", "value-dependent",
    ),
    _message(
        "UserError: control flow", "ynamic control flow", r"[Dd]ynamic control flow is not supported",
        "value-dependent",
    ),
    _message(
        "Unsupported: assertion", "ata-dependent assertion", r"[Dd]ata-dependent assertion failed", "value-dependent",
    ),
    _message(
        "Unsupported: assertion on sizes", "on symbolic shapes", r"Assertion failed on symbolic shapes",
        "undecided-size",
    ),
    _message(
        "C++ that reads sizes as numbers", "with symbolic sizes/strides",
        r"Cannot call (?P<expression>\w+\(\)) on tensor with symbolic sizes/strides", "concrete-sizes",
    ),
    _message(
        "C++ that reads a SymInt as a number", "expected int but got",
        r"when unpacking SymInt, expected int but got (?P<expression>.+)$", "concrete-sizes",
    ),
    _message(
        "TypeError of an operator on SymInt or SymBool", "unsupported operand type",
        r"unsupported operand type\(s\) for (?P<expression>.*'Sym(?:Int|Bool|Float)'.*)$", "symbolic-operand",
    ),
    _message(
        "UserError: value in Python, before torch 2.7", "Tried to use data-dependent value",
        r"Tried to use data-dependent value", "value-read",
    ),
    _message(
        "TypeError of a call whose arguments fit no overload", "invalid combination of arguments",
        r"(?P<expression>\w+\(\) received an invalid combination of arguments - got \(.*Sym(?:Int|Bool|Float).*?\))",
        "symbolic-operand",
    ),
    _message(
        "TypeError of a function that takes numbers", "Sym",
        r"TypeError: (?P<expression>.*(?:'Sym(?:Int|Bool|Float)' object"
        r"|(?:not|got|found|type) '?(?:torch\.)?Sym(?:Int|Bool|Float)).*)$",
        "symbolic-operand",
    ),
    _message(
        "error of torch about a shape with a symbol", "Error: ",
        r"(?:Runtime|Value|Index|Assertion|Torch)\w*Error: (?P<expression>.*(?:[\[(]|, )[us]\d+[\],)].*)$", "in-torch",
    ),
    _message(
        "PendingUnbackedSymbolNotFound", "ending unbacked symbols",
        r"[Pp]ending unbacked symbols \{?(?P<expression>[^}\s]*)\}? not in returned outputs", "data-dependent-operator",
    ),
    _message(
        "guard in TORCH_LOGS=+dynamic", "[guard added]",
        r"eval (?P<expression>Eq\(.+?\)) \[guard added\]"
        r"(?:.*?[ (](?P<file>[^\s(:]+):(?P<line>\d+) in (?P<function>\w+))?",
        "narrows-range", soft=True,
    ),
    _message("graph break in a log", "Graph Break Reason", r"Graph Break Reason: (?P<reason>.+)", "unsupported"),
    _message(
        "Unsupported for another reason", "torch._dynamo.exc.Unsupported: ",
        r"torch\._dynamo\.exc\.Unsupported: (?P<reason>.+)", "unsupported",
    ),
)  # fmt: skip

"""The source of each symbol, as far as a text contains it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from .report import Symbol

SYMBOL = re.compile(r"\b(?:[us]|zuf|zf)\d+\b")
_ASSIGNED = re.compile(r"^(?P<target>[\w.]+) = (?P<value>[^=].*)$")
_SOURCE = re.compile(r"L\[(?P<quote>['\"]+)(?P<name>.+?)(?P=quote)\](?P<rest>(?:\[\d+\]|\.\w+)*?)")
_SIZE_CALL = re.compile(r"\.(?:size\(\)|shape)\[(\d+)\]")
_STRIDE_CALL = re.compile(r"\.stride\(\)\[(\d+)\]")
_COMPARED = re.compile(
    r"^(?:el)?(?:if|while|assert)\s+(?:not\s+)?(?P<left>[^<>=!]+?)\s*(?:==|!=|<=|>=|<|>)\s*(?P<right>[\w.]+)\s*[:,]?$"
)
_TRUTH = re.compile(r"^Eq\([us]\d+, 1\)$")
_CONDITION = re.compile(r"^(?:el)?(?:if|while) (?P<condition>[^:]+):$")
_WHOLE = re.compile(r"\brange\((?P<inner>[^,]+)\):$")
_FUNCTION = re.compile(r"^(?:Eq|Ne)\((?P<symbol>[us]\d+), (?P<right>-?\d+)\)$")
_INFIX = re.compile(r"^(?P<symbol>[us]\d+) (?:<=|>=|<|>) (?P<right>-?\d+)$")

_CREATED = re.compile(r"create_symbol (?P<name>[us]\d+) = \S+ for (?P<source>\S+)")
_UNBACKED = re.compile(r"create_unbacked_sym\w+ (?P<name>[us]\d+) \[[^\]]*\]\s+(?P<code>\S.*?)\s+# ")
_REPLACED = re.compile(r"derived by replacing `(?P<name>[us]\d+)` with (?P<source>.+?)(?: in |,|$)")
_ALL_REPLACED = re.compile(r"`(?P<name>[us]\d+)` with (?P<source>[\w.\[\]()]+?)(?=,| and | in )")
_LOCAL = re.compile(r"^\s+(?P<local>\w+): \[?'?Tensor\(shape: torch\.Size\(\[(?P<sizes>[^\]]*)\]\)")
_WHERE = re.compile(r"'?(?P<name>[us]\d+)'?: \[?[\"']?(?P<source>L\[.+?\](?:\.size\(\)\[\d+\])?)")
_GRAPH_LINE = re.compile(r"# File: .+?, code: (?P<code>.+)$")
_GRAPH_VALUE = re.compile(r"^\s*\w+: \"(?:Sym\((?P<name>[us]\d+)\)|\w+\[(?P<sizes>[^\]]*)\])")


def readable(source: str) -> str:
    """Return torch's name of a source as Python code: `x.shape[0]` for `L['x'].size()[0]`."""
    plain = _SOURCE.sub(lambda match: match["name"] + match["rest"], source)
    return _STRIDE_CALL.sub(r".stride(\1)", _SIZE_CALL.sub(r".shape[\1]", plain))


def sources(lines: Sequence[str], expression: str, line: str) -> tuple[Symbol, ...]:
    """Return the sources of the symbols of an expression. ``line`` is the line of code that branches on it."""
    wanted = dict.fromkeys(SYMBOL.findall(expression))
    if not wanted:
        return ()
    found: dict[str, str] = {}
    for reader in READERS:
        for name, source in reader(lines):
            if name in wanted and source:
                found.setdefault(name, source)
    for name, source in _from_comparison(expression, line):
        found.setdefault(name, source)
    return tuple(Symbol(name, found[name]) for name in wanted if name in found)


def _from_creation(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Read TORCH_LOGS=+dynamic: `create_symbol s77 = 8 for L['x'].size()[0]`."""
    for match in _matches(_CREATED, "create_symbol ", lines):
        yield match["name"], readable(match["source"])


def _from_unbacked_creation(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Read TORCH_LOGS=+dynamic: `create_unbacked_symint u0 [-int_oo, int_oo] n = lengths.max().item()  # …`."""
    for match in _matches(_UNBACKED, "create_unbacked_sym", lines):
        yield match["name"], _value(match["code"])


def _from_advice(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Read advice of torch.export: `derived by replacing `u0` with rows.shape[0]`."""
    for match in _matches(_REPLACED, "derived by replacing", lines):
        yield match["name"], match["source"]
        for further in _ALL_REPLACED.finditer(match.string):
            yield further["name"], further["source"]


def _from_locals(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Read locals in a report of draft_export: `chosen: ['Tensor(shape: torch.Size([u0, 3])`."""
    for match in _matches(_LOCAL, "Tensor(shape:", lines):
        yield from _of_sizes(match["local"], match["sizes"])


def _from_where(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Read the guard in a report of draft_export: `where {'s77': ["L['x'].size()[0]"]}`."""
    for line in lines:
        if "this guard was added" in line:
            for match in _WHERE.finditer(line.partition(", where ")[2]):
                yield match["name"], readable(match["source"])


def _from_graph(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Read the graph that torch.export prints: a comment with the line of code, then the values with their symbols."""
    code = ""
    for line in lines:
        comment = _GRAPH_LINE.search(line) if "# File: " in line else None
        if comment:
            code = comment["code"]
            continue
        value = _GRAPH_VALUE.match(line) if code and '"' in line else None
        if value and value["name"]:
            yield value["name"], _value(code)
        elif value:
            target = _ASSIGNED.match(code)
            yield from _of_sizes(target["target"] if target else "", value["sizes"])


def _from_allocation(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Read the log of the stack: the last line with `.item()` after `Data dependent variable 'u0' allocated at:`."""
    for at, line in enumerate(lines):
        match = re.search(r"Data dependent variable '(u\d+)' allocated at", line) if "allocated at" in line else None
        if match:
            code = [one.strip() for one in lines[at + 1 : at + 400] if ".item()" in one or ".tolist()" in one]
            if code:
                yield match[1], _value(code[-1])


READERS: tuple[Callable[[Sequence[str]], Iterator[tuple[str, str]]], ...] = (
    _from_creation, _from_unbacked_creation, _from_advice, _from_where, _from_locals, _from_graph, _from_allocation,
)  # fmt: skip


def _from_comparison(expression: str, line: str) -> Iterator[tuple[str, str]]:
    """Match `if chosen.size(0) == 0:` with `Eq(u0, 0)` by the common number, and `range(x.size(0))` with `u0`."""
    condition = _CONDITION.match(line)
    compared = _COMPARED.match(line)
    if condition and _TRUTH.match(expression) and not (compared and compared["right"] == "1"):
        yield SYMBOL.findall(expression)[0], f"bool({condition['condition']})"
    whole = _WHOLE.search(line)
    if whole and SYMBOL.fullmatch(expression):
        yield expression, whole["inner"]
    match = _FUNCTION.match(expression) or _INFIX.match(expression)
    if match and compared and compared["right"] == match["right"]:
        yield match["symbol"], compared["left"].strip()


def _of_sizes(name: str, sizes: str) -> Iterator[tuple[str, str]]:
    for dimension, size in enumerate(sizes.split(",")):
        if name and SYMBOL.fullmatch(size.strip()):
            yield size.strip(), f"{name}.shape[{dimension}]"


def _value(code: str) -> str:
    assigned = _ASSIGNED.match(code.strip())
    return assigned["value"] if assigned else ""


def _matches(pattern: re.Pattern[str], marker: str, lines: Sequence[str]) -> Iterator[re.Match[str]]:
    for line in lines:
        match = pattern.search(line) if marker in line else None
        if match:
            yield match

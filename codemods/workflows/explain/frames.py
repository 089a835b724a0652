"""The frames in a text, in the notations of Python, IPython, pytest, torch's reports and C++."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..export.outcome import SourcePlace


@dataclass(frozen=True)
class StackFrame:
    """One line of a stack. ``at`` is the number of its line in the text."""

    file: str
    line: int
    function: str
    text: str
    at: int


NOTATIONS = {
    "Python": re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)(?:, in (?P<function>[\w.<>]+))?'),
    "draft_export": re.compile(r"File (?P<file>\S.*?), lineno (?P<line>\d+), in (?P<function>[\w.<>]+)"),
    "IPython": re.compile(r"^File (?P<file>[^\s\"].*?):(?P<line>\d+), in (?P<function>[\w.<>]+)"),
    "cell of IPython": re.compile(r"^(?P<file>Cell In ?\[\d+\]), line (?P<line>\d+)(?:, in (?P<function>[\w.<>]+))?"),
    "old IPython": re.compile(r"^(?P<file><ipython-input-[\w-]+>|[\w~/.-]+\.py) in (?P<function>[\w.<>]+)\((?P<line>)"),
    "pytest": re.compile(r"^(?P<file>[\w~/\\. :-]+\.py):(?P<line>\d+): ?(?:in (?P<function>[\w.<>]+)|[\w.]*)$"),
}
"""Patterns of a frame, by the program that writes it."""
_PARTS = ("ile ", ".py", "Cell In", "<ipython-input")
"""Parts of lines. Each frame contains one, and most lines of a log contain none."""
_ARROW = re.compile(r"^(?:-+> ?(?P<line>\d+)|>) ?(?P<text>\s*\S.*)$")
_NATIVE = re.compile(r"^\s*(?:frame )?#\d+:? (?P<function>.+?)(?: \+ 0x[0-9a-f]+ \(.*\)| from \S+:\d+)?$")
_NATIVE_FILE = re.compile(r"#\d+:? .* from (?P<file>/?[\w./~-]+\.(?:cpp|cc|cu|cuh|h|hpp)):\d+$")
_TORCHS_NATIVE = re.compile(r"(?:^|/)(?:aten|c10|torch|pybind11|bits|include|Python|Objects)/|(?:^|/)Register\w+\.cpp")
_DEFINITION = re.compile(r"^\s+(?:async )?def (?P<name>\w+)\(")
_MARKS = re.compile(r"^[\s^~]*$")
_ARROW_REACH = 24

_TORCH = re.compile(r"(?:^|/)(?=(?:torch|functorch|torchgen)/[\w/]+\.(?:py|cpp|h))")
_INSTALLED = re.compile(r"(?:^|/)(?:site|dist)-packages/(?P<name>[^/]+)")
_STANDARD = re.compile(r"(?:^|/)lib/python3[\d.t]*/|^<frozen |/Lib/(?!site-packages)|(?:^|/)(?:pytest|runpy)\.py$")
_RUNNERS = (
    "_pytest",
    "pluggy",
    "pytest",
    "IPython",
    "ipykernel",
    "ipykernel_launcher.py",
    "click",
    "onnxscript",
    "symfix",
)


def frames(lines: Sequence[str], first: int, last: int) -> Iterator[StackFrame]:
    """Yield the frames between two lines of a text, in its order."""
    for at in range(first, last):
        if not any(part in lines[at] for part in _PARTS):
            continue
        for notation in NOTATIONS.values():
            match = notation.search(lines[at])
            if match:
                line, text = _code(lines, at, last)
                number = int(match["line"] or line or 0)
                yield StackFrame(
                    match["file"].replace("\\", "/"), number, match["function"] or _defined(lines, at), text, at
                )
                break


def native_functions(lines: Sequence[str], first: int, last: int) -> Iterator[str]:
    """Yield the functions of a C++ stack."""
    for at in range(first, last):
        match = _NATIVE.match(lines[at]) if "#" in lines[at] else None
        if match and "::" in match["function"]:
            yield match["function"]


def native_file(lines: Sequence[str], first: int, last: int) -> str:
    """Return the first file of a C++ stack that is not torch's, or ""."""
    for at in range(first, last):
        match = _NATIVE_FILE.search(lines[at]) if " from " in lines[at] else None
        if match and not _TORCHS_NATIVE.search(match["file"]):
            return match["file"]
    return ""


def _code(lines: Sequence[str], at: int, last: int) -> tuple[str, str]:
    """Return the line number marked by an arrow, or "", and the code of a frame."""
    behind = lines[at].partition(", code: ")[2]
    if behind:
        return "", behind.strip()
    following = lines[at + 1] if at + 1 < last else ""
    if lines[at].lstrip().startswith('File "') or ", lineno " in lines[at]:
        deep = len(following) - len(following.lstrip()) > len(lines[at]) - len(lines[at].lstrip())
        return "", following.strip() if deep and not _MARKS.match(following) and not _is_frame(following) else ""
    ahead = range(at + 1, min(at + 1 + _ARROW_REACH, last))
    behind_it = range(at - 1, max(at - 1 - _ARROW_REACH, -1), -1)
    is_pytest = NOTATIONS["pytest"].match(lines[at]) is not None
    for number in behind_it if is_pytest and not following.startswith("    ") else ahead:
        if _is_frame(lines[number]):
            break
        match = _ARROW.match(lines[number])
        if match:
            return match["line"] or "", match["text"].strip()
    return "", following.strip() if is_pytest and following.startswith("    ") else ""


def _defined(lines: Sequence[str], at: int) -> str:
    """Return the function whose head is shown above a frame of pytest, which does not name it."""
    if NOTATIONS["pytest"].match(lines[at]):
        heads = filter(None, (_DEFINITION.match(lines[number]) for number in range(at - 1, max(at - 200, -1), -1)))
        return next((match["name"] for match in heads), "")
    return "<module>"


def _is_frame(line: str) -> bool:
    return any(notation.search(line) for notation in NOTATIONS.values())


def torch_name(file: str) -> str:
    """Return the name of a file of torch relative to the folder that contains torch, or "" for other files."""
    if "site-packages/" in file or "dist-packages/" in file:
        file = re.split(r"(?:site|dist)-packages/", file)[-1]
    found = _TORCH.search(file)
    return file[found.end() :] if found else ""


def owner(file: str) -> str | None:
    """Return the package of a file: "" for the user's own, None for Python's, torch's and runners'."""
    if torch_name(file) or (file.startswith("<") and not file.startswith("<ipython")):
        return None
    packages = _INSTALLED.findall(file)
    if packages:
        return None if packages[-1] in _RUNNERS else packages[-1]
    return None if _STANDARD.search(file) or file.endswith(("/bin/pytest", "/bin/torchrun")) else ""


def place(frame: StackFrame) -> SourcePlace:
    """Return the place of a frame. A file of a package is named relative to the folder of packages."""
    parts = re.split(r"(?:site|dist)-packages/", frame.file)
    return SourcePlace(parts[-1] if len(parts) > 1 else frame.file, frame.line, frame.function, frame.text)

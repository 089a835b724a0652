"""Byte fidelity of the Python rules, over every Python file of the torch wheel and of the standard library.

Protocol. All rules run with unsafe fixes, other code is treated like PyTorch's own, and nothing is written. A file
passes under these conditions:

- It is refused with a reason if Python cannot compile it or reads it as another encoding than UTF-8, and only then.
- It is byte-identical if it is not changed.
- The bytes between the edits of a changed file are kept in order, with only import lines added between them.
- The result compiles, and a second run finds nothing.
- The same text with CRLF, with a byte order mark, or without its last newline is changed in the same way.

The resulting text is matched against the original with its edits left open. The edits are not applied a second time.
"""

from __future__ import annotations

import argparse
import ast
import importlib.metadata
import io
import re
import sys
import sysconfig
import tokenize
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from symfix.codemods.engine.fixpoint import FixOptions, RuleBug, rewrite
from symfix.codemods.engine.registry import load_language
from symfix.codemods.model.edit import Edit
from symfix.codemods.model.outcome import Changed, Refused, Unchanged
from symfix.codemods.model.rule import Context
from symfix.codemods.model.source_file import SourceFile

from scoreboards.table import counted, table, write_json

from .engine import WING, installed_torch, rules, site_packages

BOM = b"\xef\xbb\xbf"
_HOME = "torch.fx.experimental.symbolic_shapes"
_INSTALLED = {"site-packages", "dist-packages"}


def main() -> int:
    words = _words()
    warnings.simplefilter("ignore")
    verdicts: dict[str, Counter[str]] = {"torch wheel": Counter(), "standard library": Counter()}
    refused: list[tuple[str, str, str]] = []
    faults: list[tuple[str, str]] = []
    fixes = 0
    for corpus, name, content in _every_file():
        if words.every > 1 and sum(map(Counter.total, verdicts.values())) % words.every:
            verdicts[corpus]["not drawn"] += 1
            continue
        try:
            outcome = rewritten(name, content)
            faults += [(name, fault) for fault in judged(name, content, outcome)]
        except RuleBug as bug:
            verdicts[corpus]["bug"] += 1
            faults.append((name, str(bug)))
            continue
        verdicts[corpus][type(outcome).__name__.lower()] += 1
        if isinstance(outcome, Refused):
            refused.append((corpus, outcome.reason, name))
        if isinstance(outcome, Changed):
            fixes += len(outcome.applied)
    rows = [(corpus, count.total(), *(count[verdict] for verdict in _VERDICTS)) for corpus, count in verdicts.items()]
    print(table([("", "files", *_VERDICTS), *rows, ("all", *map(sum, zip(*(row[1:] for row in rows), strict=True)))]))
    print(f"fixes applied: {fixes}; files with a fault: {len({name for name, _ in faults})}")
    print("refused: " + ", ".join(f"{why} {count}" for count, why in counted(Counter(why for _, why, _ in refused))))
    for name, fault in faults:
        print(f"  {name}: {fault}")
    document = {"files": rows, "fixes": fixes, "refused": refused, "faults": faults}
    print(f"figures: {write_json('python-fidelity', words.json, document)}")
    return 1 if faults else 0


_VERDICTS = ("unchanged", "changed", "refused", "bug", "not drawn")


def rewritten(name: str, content: bytes) -> Changed | Unchanged | Refused:
    """Run all Python rules on the file. Raises RuleBug."""
    context = Context(installed_torch(), all_functions=True)
    return rewrite(
        SourceFile(Path(name), content), rules(), load_language(WING), context, FixOptions(unsafe=True, polish=False)
    )


def judged(name: str, content: bytes, outcome: Changed | Unchanged | Refused) -> Iterator[str]:
    """Yield the faults of an outcome."""
    compiles = _compiles(content)
    if isinstance(outcome, Refused):
        if (compiles and not _read_otherwise(content)) or not outcome.reason or not outcome.detail:
            yield f"refused without need: {outcome.reason}"
        return
    if not compiles and isinstance(outcome, Changed) and _parses(content) is None:
        yield "changed, though it is no Python"
    if outcome.source.content != content:
        yield "the source is not what was given"
    if not isinstance(outcome, Changed):
        return
    after = outcome.after
    edits = sorted({edit for fix in outcome.applied for edit in fix.edits})
    yield from altered(content, after, edits)
    if compiles and not _compiles(after):
        yield "the result does not compile"
    if isinstance(rewritten(name, after), Changed):
        yield "a second run changes it again"
    for way, before, expected in _variants(content, after):
        other = rewritten(name, before)
        if not isinstance(other, Changed) or other.after != expected:
            yield f"{way} it is changed otherwise"


def altered(content: bytes, after: bytes, edits: list[Edit]) -> Iterator[str]:
    """Yield a fault unless ``after`` contains the original outside the edits, with only whole imports added.

    All matching positions in ``after`` are tracked. An edit makes every later position possible.
    """
    spans = sorted([*((edit.start, edit.end) for edit in edits), *_import_spans(content)])
    reached: set[int] = {0}
    anywhere = False
    at = 0
    for start, end in [*spans, (len(content), len(content))]:
        for piece in content[at : max(at, start)].splitlines(keepends=True):
            if anywhere:
                reached = set(_all(piece, after, min(reached)))
            else:
                reached = {place + len(piece) for place in reached if after.startswith(piece, place)}
            anywhere = False
            if not reached:
                yield f"bytes outside the edits are others: {piece[:80]!r}"
                return
            reached = {further for place in reached for further in _past_imports(after, place)}
        anywhere = anywhere or start < len(content) or start < end
        at = max(at, end)
    if not anywhere and len(after) not in reached:
        yield "more is written behind the end"


def _all(piece: bytes, after: bytes, start: int) -> Iterator[int]:
    """Yield the end of every occurrence of ``piece``."""
    at = after.find(piece, start)
    while at >= 0:
        yield at + len(piece)
        at = after.find(piece, at + 1)


def _past_imports(after: bytes, place: int) -> Iterator[int]:
    """Yield the place, and at the start of a line also the ends of the following imports and blank lines."""
    yield place
    while place == 0 or after[place - 1 : place] == b"\n":
        line = _IMPORT.match(after, place)
        if line is None:
            return
        place = line.end()
        yield place


_IMPORT = re.compile(rb"[ \t]*(?:(?:from|import) [^\n]*)?\r?\n")


def _import_spans(content: bytes) -> list[tuple[int, int]]:
    """Return the spans of imports that may get another name."""
    source = SourceFile(Path("a.py"), content)
    spans = []
    for node in ast.walk(ast.parse(content)):
        if isinstance(node, ast.ImportFrom) and node.module == _HOME:
            lines = content.splitlines(keepends=True)
            start = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
            end = sum(map(len, lines[: (node.end_lineno or 0) - 1])) + (node.end_col_offset or 0)
            byte_order_mark = len(BOM) if source.content.startswith(BOM) and node.lineno == 1 else 0
            spans.append((start + byte_order_mark, end + byte_order_mark))
    return spans


def _variants(content: bytes, after: bytes) -> Iterator[tuple[str, bytes, bytes]]:
    """Yield the same file as other editors would save it, with the expected result."""
    if b"\r" not in content:
        yield "with CRLF", content.replace(b"\n", b"\r\n"), after.replace(b"\n", b"\r\n")
    if not content.startswith(BOM):
        yield "with a byte order mark", BOM + content, BOM + after
    if content.endswith(b"\n") and not content.endswith((b"\n\n", b"\r\n")):
        yield "without its last newline", content[:-1], after[:-1]


def _parses(content: bytes) -> ast.Module | None:
    try:
        return ast.parse(content)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _compiles(content: bytes) -> bool:
    try:
        compile(content, "a.py", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True


def _read_otherwise(content: bytes) -> bool:
    """Return whether the declared encoding decodes the text to other characters than UTF-8."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        return content.decode(encoding) != content.decode("utf-8-sig" if encoding == "utf-8-sig" else "utf-8")
    except UnicodeDecodeError:
        return True


def _every_file() -> Iterator[tuple[str, str, bytes]]:
    """Yield corpus, name and bytes of every file. Names of the wheel are relative to site-packages."""
    files = importlib.metadata.files("torch") or []
    for file in sorted(PurePosixPath(one) for one in files if one.suffix in (".py", ".pyi")):
        yield "torch wheel", file.as_posix(), (site_packages() / file).read_bytes()
    library = Path(sysconfig.get_path("stdlib"))
    for path in sorted(library.rglob("*.py")):
        if not _INSTALLED & set(path.relative_to(library).parts):
            yield "standard library", path.relative_to(library).as_posix(), path.read_bytes()


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/python-fidelity", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth file")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

"""Replay of people's schemas: the tool's changes to PyTorch 1.13.1, compared with people's changes in 2.6.0.

Protocol. The functions are those of native_functions.yaml in both releases with an argument that is ``int`` in the
older and ``SymInt`` in the newer one. The tool gets the names of these arguments and only the older tree, and nothing
is written. The board compares three things:

* Lines of the yaml: the schema of each such function, restricted to these arguments. In addition each line of its
  dispatch table whose kernel people gave a ``_symint`` name.
* Signatures of kernels: the name and the types, in the source files, of each kernel that people gave such a name. The
  kernel has to be in the older tree.
* Formulas of derivatives.yaml that people made symbolic, as tokens. The reference is the old text with people's
  symbolic hunks, or people's text itself.

Other kernels that the tool renames are listed as *further*.

In the unaided part the tool finds size arguments without the names. It would widen those whose kernels on fake tensors
all can take SymInts. Precision and recall are relative to people's. Arguments whose entries are not in the newer yaml
are ignored. The sizes that people did not widen are listed by name.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from symfix.codemods.torchapi.torch_finder import locate
from symfix.cpp.analysis.file.registrations import FAKE_KEYS
from symfix.schemas.analysis.native import DERIVATIVES, FUNCTIONS, NativeTree, native_tree
from symfix.schemas.analysis.overload_groups import family_of
from symfix.schemas.analysis.size_arguments import sizes
from symfix.schemas.rewrite.eligibility import hindered
from symfix.schemas.rewrite.plan import Plan, plan, texts_after
from symfix.schemas.rewrite.yaml_edits import default_kernel, kernel_of
from symfix.schemas.syntax.entries import Entry, Line, read_entries

from .corpus import source_tree
from .functions import definitions
from .table import write_json
from .tokens import applied, symbolic_hunks, tokens

Widened = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Compared:
    """One change of people. ``ours`` is None if the tool did not make it."""

    kind: str
    name: str
    theirs: str
    ours: str | None
    reason: str = ""

    @property
    def identical(self) -> bool:
        return self.theirs == self.ours


def main() -> int:
    words = _words()
    old = native_tree(locate(source_tree("1.13.1", words.old), None))
    new = native_tree(locate(source_tree("2.6.0", words.tree), None))
    asked = widened_by_people(old, new)
    print(f"replay: {old.root.name} → {new.root.name}, {len(asked)} functions whose schemas people widened")
    made = plan(old, asked)
    after = {path: after for path, (_, after) in texts_after(old, made).items()}
    compared = [
        *yaml_lines(old, new, asked, made, after),
        *signatures(old, new, asked, made, after),
        *derivatives(old, new, asked, made, after),
    ]
    figures: dict[str, object] = {}
    for kind in dict.fromkeys(one.kind for one in compared):
        mine = [one for one in compared if one.kind == kind]
        same = sum(one.identical for one in mine)
        figures[kind] = {"identical": same, "all": len(mine)}
        print(f"{kind}: {same} of {len(mine)} identical ({same / len(mine):.0%})")
        for one in mine if words.all else ():
            if not one.identical:
                print(f"  {one.name}: {one.reason or f'{one.ours} for {one.theirs}'}")
    further = list(further_kernels(old, new, made))
    figures["further"] = further
    print(f"further kernels on SymInt, which people left on integers: {len(further)}: {', '.join(further)}")
    figures["unaided"] = unaided(old, new, asked)
    print(f"figures: {write_json('replay-schemas', words.json, figures)}")
    return 0


def widened_by_people(old: NativeTree, new: NativeTree) -> Widened:
    """Return the arguments that are ``int`` in the one tree and ``SymInt`` in the other, by function."""
    found = {}
    for name, entry in old.entries.items():
        theirs = new.entries.get(name)
        names = tuple(
            one.name
            for one in entry.schema.arguments
            if one.widened is not None
            and theirs is not None
            and (then := theirs.schema.argument(one.name)) is not None
            and then.type == one.widened
        )
        if names:
            found[name] = names
    return found


def yaml_lines(
    old: NativeTree, new: NativeTree, asked: Widened, made: Plan, after: Mapping[Path, bytes]
) -> Iterator[Compared]:
    """Compare the lines of native_functions.yaml that people changed."""
    ours = read_entries(after.get(FUNCTIONS, old.functions), str(FUNCTIONS))
    for name, names in asked.items():
        theirs = _types(new.entries[name], names)
        yield Compared("yaml lines", name, theirs, _types(ours[name], names), made.left.get(name, ""))
        for before, then in _renamed(old.entries[name], new.entries[name]):
            now = next((now for was, now in _kernels(old.entries[name], ours[name]) if was == before), None)
            reason = made.left.get(name, "") or _kept(made, name)
            yield Compared("yaml lines", f"{name}: {before}", then, now, reason if now == before else "")


def signatures(
    old: NativeTree, new: NativeTree, asked: Widened, made: Plan, after: Mapping[Path, bytes]
) -> Iterator[Compared]:
    """Compare name and types of the kernels that people renamed, in the source files."""
    mine, theirs, before = _Signatures(old.root, after), _Signatures(new.root, {}), _Signatures(old.root, {})
    done: set[tuple[str, str]] = set()
    for name in asked:
        for was, then in _renamed(old.entries[name], new.entries[name]):
            count = len(old.entries[name].schema.arguments)
            if (was, then) in done and not before.of(was, count):
                continue
            done.add((was, then))
            wanted = theirs.of(then, count)
            if not before.of(was, count) or not wanted:
                continue
            ours = next((one for one in mine.of(then, count) if one in wanted), None)
            renamed = next((one.new for one in made.kernels if one.operator == name), "")
            other = next(iter(mine.of(renamed, count)), None) if renamed else None
            reason = "" if other else made.left.get(name, "") or _kept(made, name)
            yield Compared("signatures of kernels", f"{name}: {then}", ours or wanted[0], ours or other, reason)


def derivatives(
    old: NativeTree, new: NativeTree, asked: Widened, made: Plan, after: Mapping[Path, bytes]
) -> Iterator[Compared]:
    """Compare the formulas that people made symbolic."""
    ours = read_entries(after.get(DERIVATIVES, old.derivatives), str(DERIVATIVES))
    for name in asked:
        if name not in old.formulas or name not in new.formulas:
            continue
        now, then = dict(_formulas(ours[name].fields)), dict(_formulas(new.formulas[name].fields))
        for key, before in _formulas(old.formulas[name].fields):
            if key not in then:
                continue
            hunks = symbolic_hunks(tokens(before), tokens(then[key]))
            if not hunks:
                continue
            wanted = " ".join(applied(tokens(before), hunks))
            text = " ".join(token.text for token in tokens(now[key]))
            whole = " ".join(token.text for token in tokens(then[key]))
            yield Compared(
                "formulas", f"{name}: {key}", text if text == whole else wanted, text, made.left.get(name, "")
            )


def further_kernels(old: NativeTree, new: NativeTree, made: Plan) -> Iterator[str]:
    """Yield the kernels that the tool renamed and people did not."""
    for one in made.kernels:
        then = new.entries.get(one.operator)
        if then is None or one.old not in {was for was, _ in _renamed(old.entries[one.operator], then)}:
            yield f"{one.operator} ({one.old})"


def unaided(old: NativeTree, new: NativeTree, asked: Widened) -> dict[str, object]:
    """Compare the arguments that the tool would widen without help with those that people widened."""
    found = sizes(old)
    hindrances = hindered(old, found)
    theirs = {(name, one) for name, names in asked.items() for one in names}
    known = {key for key, one in found.items() if not one.against and _stands(new, *key)}
    ours = {key for key in known if family_of(key[0]) not in hindrances}
    figures: dict[str, object] = {"people": len(theirs)}
    for words, some in (("are sizes", known), ("are sizes that all their kernels can take", ours)):
        both = len(some & theirs)
        figures[words] = {"found": len(some), "widened": both}
        print(
            f"unaided: {len(some)} arguments {words}, {both} of them widened by people "
            f"(precision {both / len(some):.0%}, recall {both / len(theirs):.0%})"
        )
    figures["left"] = left = sorted(f"{name}({one})" for name, one in ours - theirs)
    print(f"  left by people: {', '.join(left)}")
    return figures


def _stands(tree: NativeTree, name: str, argument: str) -> bool:
    """Return whether the tree's yaml still contains the argument. Entries generated by torchgen are excluded."""
    return name in tree.entries and tree.entries[name].schema.argument(argument) is not None


def _types(entry: Entry, names: tuple[str, ...]) -> str:
    return ", ".join(f"{one.type} {one.name}" for one in entry.schema.arguments if one.name in names)


def _kernels(before: Entry, after: Entry) -> Iterator[tuple[str, str]]:
    """Yield the kernels of keys that see symbols, before and after."""
    rows = {key: kernel_of(line) for line in before.dispatch for key in _keys(line)}
    if not rows:
        rows = {"CompositeImplicitAutograd": default_kernel(before)}
    now = {key: kernel_of(line) for line in after.dispatch for key in _keys(line)}
    seen = set()
    for key, was in rows.items():
        then = now.get(key) or now.get("CompositeExplicitAutograd")
        if key in FAKE_KEYS and (was, then) not in seen:
            seen.add((was, then))
            yield was, then or was


def _renamed(before: Entry, after: Entry) -> list[tuple[str, str]]:
    return [(was, then) for was, then in _kernels(before, after) if "_symint" in then and "_symint" not in was]


def _keys(line: Line) -> list[str]:
    return [key.strip() for key in line.key.text.split(",")]


def _kept(made: Plan, name: str) -> str:
    return next((f"{one.old} stays: {reason}" for one, reason in made.kept.items() if one.operator == name), "")


def _formulas(fields: tuple[Line, ...]) -> Iterator[tuple[str, str]]:
    for line in fields:
        if line.inner:
            yield from ((f"{line.key.text}.{key}", text) for key, text in _formulas(line.inner))
        else:
            yield line.key.text, line.value.text.strip("\"'")


class _Signatures:
    """Name and types of the functions of a tree's operator files, by name."""

    def __init__(self, root: Path, changed: Mapping[Path, bytes]) -> None:
        self._root = root
        self._changed = changed
        self._files = [path.relative_to(root) for path in sorted((root / FUNCTIONS).parent.rglob("*.cpp"))]

    def of(self, name: str, count: int) -> list[str]:
        """Return the signatures of the definitions of a name, preferably those with ``count`` parameters."""
        word = re.compile(rb"\b%s\s*\(" % name.encode())
        found = []
        for path in self._files:
            content = self._changed.get(path)
            content = (self._root / path).read_bytes() if content is None else content
            if word.search(content):
                found += [_head(one.text) for one in definitions(path, content) if one.name == name and not one.macro]
        return [head for head in found if head.count(",") == count - 1] or found


def _head(text: str) -> str:
    """Return name and parameters of a definition in normalized spelling."""
    head = text.partition("{")[0]
    words = [token.text for token in tokens(head)]
    flat = " ".join(words).replace("c10 :: optional", "std :: optional").replace(":: std ::", "std ::")
    flat = re.sub(r"\b(?:at|c10|std) :: (?=\w)", "", flat)
    return flat.replace("static ", "").replace("TORCH_API ", "")


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/replay-schemas", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--old", type=Path, help="the older tree (default: scripts/corpus brings 1.13.1)")
    parser.add_argument("--tree", type=Path, help="the newer tree (default: scripts/corpus brings 2.6.0)")
    parser.add_argument("--all", action="store_true", help="print what is different, one by one")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

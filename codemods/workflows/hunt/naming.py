"""Which operators torch has tests for, and which of them a word means."""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Iterable, Sequence

from ...engine import storage
from ...lab.scratch import new_name
from ...lab.variants import Laboratory, Variant
from ...torchapi.locating import Place as Torch
from .failure import Operator
from .workers import NothingRuns


class UnknownOperator(Exception):
    """torch has no operator test of this name; ``str()`` names the nearest."""


def operators_of(laboratory: Laboratory, torch: Torch) -> tuple[Operator, ...]:
    """All OpInfos of the installed torch. Raises NothingRuns when they can't be loaded."""
    key = hashlib.sha256(f"{torch.build} {torch.package}".encode()).hexdigest()[:24]
    path = storage.folder("opinfos") / f"{key}.json"
    try:
        return tuple(Operator(name, variant) for name, variant in json.loads(storage.load(path) or b""))
    except (ValueError, TypeError):
        pass
    report = laboratory.scratch / new_name("names")
    ended, answer = laboratory.ask("opinfos", Variant("installed"), {}, report)
    if not answer:
        raise NothingRuns(laboratory.python, ended)
    storage.store(path, json.dumps(answer["operators"]).encode())
    return tuple(Operator(name, variant) for name, variant in answer["operators"])


def resolve(words: Sequence[Operator | str], known: Iterable[Operator]) -> list[Operator]:
    """The operators that ``words`` mean: a full name, or a name that stands for all of its variants.

    Raises UnknownOperator.
    """
    by_word: dict[str, list[Operator]] = {}
    for operator in known:
        by_word.setdefault(operator.name, []).append(operator)
        if operator.variant:
            by_word.setdefault(str(operator), []).append(operator)
    found: dict[Operator, None] = {}
    for word in words:
        if isinstance(word, Operator):
            found[word] = None
            continue
        bare = word.removeprefix("torch.").removeprefix("aten::")
        if bare not in by_word:
            raise UnknownOperator(_unknown(word, bare, by_word))
        found.update(dict.fromkeys(by_word[bare]))
    return sorted(found)


def _unknown(word: str, bare: str, names: dict[str, list[Operator]]) -> str:
    last = {name.rpartition(".")[2]: name for name in sorted(names, reverse=True)}
    near = difflib.get_close_matches(bare, names, n=3, cutoff=0.6)
    near += [last[name] for name in difflib.get_close_matches(bare.rpartition(".")[2], last, n=3, cutoff=0.75)]
    hint = ", ".join(dict.fromkeys(near))
    return f"torch has no operator test named {word!r}" + (f"; nearest: {hint}" if hint else "")

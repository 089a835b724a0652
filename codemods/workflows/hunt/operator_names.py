"""Names of the operators that torch has tests for, and their lookup."""

from __future__ import annotations

import difflib
import fnmatch
import hashlib
import json
from collections.abc import Iterable, Sequence

from ...harness.opinfo_runner import OPERATORS
from ...harness.temp_folder import new_name
from ...harness.torch_variant import Harness, Variant
from ...system import cache_folder
from ...torchapi.torch_finder import TorchInstallation as Torch
from .failure import Operator
from .workers import NothingRuns


class UnknownOperator(Exception):
    """Error for a name without an operator test in torch. ``str()`` suggests the nearest names."""


def operators_of(laboratory: Harness, torch: Torch, kind: str = OPERATORS) -> tuple[Operator, ...]:
    """Return all OpInfos of the installed torch, or all ModuleInfos. Raises NothingRuns when they can't be loaded."""
    key = hashlib.sha256(f"{torch.build} {torch.package}".encode()).hexdigest()[:24]
    path = cache_folder.folder("opinfos" if kind == OPERATORS else kind) / f"{key}.json"
    try:
        return tuple(Operator(name, variant) for name, variant in json.loads(cache_folder.load(path) or b""))
    except (ValueError, TypeError):
        pass
    report = laboratory.scratch / new_name("names")
    ended, answer = laboratory.ask("opinfo_names", Variant("installed"), {"kind": kind}, report)
    if not answer:
        raise NothingRuns(laboratory.python, ended)
    cache_folder.store(path, json.dumps(answer["operators"]).encode())
    return tuple(Operator(name, variant) for name, variant in answer["operators"])


def stored_names() -> list[str]:
    """Return the operators that were listed last, for shell completion, or an empty list."""
    lists = sorted(cache_folder.folder("opinfos").glob("[!.]*.json"), key=cache_folder.age)
    try:
        return sorted({name for name, _ in json.loads(cache_folder.load(lists[-1]) or b"[]")}) if lists else []
    except (ValueError, TypeError):
        return []


def resolve(words: Sequence[Operator | str], known: Iterable[Operator]) -> list[Operator]:
    """Resolve ``words`` to operators: each is a full name, or a name that includes all of its variants.

    The part of a name before a dot includes its whole group (``fft``), and so does a pattern (``masked.*``). Raises
    UnknownOperator.
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
        meant = [bare] if bare in by_word else _of_group(bare, by_word)
        if not meant:
            raise UnknownOperator(_unknown(word, bare, by_word))
        found.update(dict.fromkeys(operator for name in meant for operator in by_word[name]))
    return sorted(found)


def _of_group(word: str, names: Iterable[str]) -> list[str]:
    pattern = word if any(letter in word for letter in "*?[") else f"{word}.*"
    return [name for name in names if fnmatch.fnmatchcase(name, pattern)]


def _unknown(word: str, bare: str, names: dict[str, list[Operator]]) -> str:
    last = {name.rpartition(".")[2]: name for name in sorted(names, reverse=True)}
    near = difflib.get_close_matches(bare, names, n=3, cutoff=0.6)
    near += [last[name] for name in difflib.get_close_matches(bare.rpartition(".")[2], last, n=3, cutoff=0.75)]
    hint = ", ".join(dict.fromkeys(near))
    return f"torch has no operator test named {word!r}" + (f"; nearest: {hint}" if hint else "")

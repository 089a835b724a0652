"""API of the target torch: its operators, kernels and symbols, by name."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property, lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from .headers import fingerprint
from .index_cache import stored
from .probes import dynamo_refusal, inlined, kept_in_graph, scripted
from .schema import Kernel, OverloadSignature, kernel_from, operator_from
from .symbols import cpp_has, named_elsewhere, named_in_headers, python_has
from .torch_finder import TorchInstallation, locate, release
from .torchgen_index import EXTRACTOR, extract, yamls


class TorchApi:
    """Facts about one torch. Cheap to pickle, since a worker opens the stored rows again."""

    def __init__(self, place: TorchInstallation) -> None:
        self._place = place
        self._key = _content_key(place)
        index, *self._rows = stored("torchapi", self._key + ".jsonl", lambda: extract(place)).split(b"\n")
        self._index: dict[str, dict[str, list[int]]] = json.loads(index)
        self._values: dict[int, OverloadSignature | Kernel] = {}

    @classmethod
    def load(cls, torch_root: Path | None = None, torch_python: Path | None = None) -> TorchApi:
        """Return the API of a PyTorch source tree, or of the torch installed for an interpreter (default: this one).

        Raises a TorchError with the problem and the remedy in one line.
        """
        return cls.at(locate(torch_root, torch_python))

    @classmethod
    def at(cls, place: TorchInstallation) -> TorchApi:
        """Return the API of a torch that was located. Raises TorchError."""
        return _opened(place)

    def __reduce__(self) -> tuple[Any, ...]:
        return _opened, (self._place,)

    @property
    def place(self) -> TorchInstallation:
        """Return the location of the files that were read."""
        return self._place

    @property
    def version(self) -> str:
        """Return the version, such as ``2.13.0``, or ``2.6.0a0`` for a source tree."""
        return self._place.version

    @property
    def release(self) -> tuple[int, int]:
        """Return the major and minor number."""
        return release(self.version)

    @cached_property
    def identity(self) -> str:
        """Return a hash of everything that the results depend on: schemas, build, headers."""
        parts = (self._key, self._place.build, fingerprint(self.include_dirs))
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    @property
    def torch_python(self) -> Path:
        """Return the interpreter whose torch changes are verified against."""
        return self._place.python

    @property
    def torch_root(self) -> Path | None:
        """Return the source tree that was read, or None for an installed torch."""
        return self._place.root

    @property
    def package(self) -> Path:
        """Return the folder ``torch`` of Python files."""
        return self._place.package

    @property
    def include_dirs(self) -> tuple[Path, ...]:
        """Return the folders to pass to a compiler with ``-I``. A source tree lacks the generated headers."""
        return self._place.include_dirs

    def methods(self, name: str) -> tuple[OverloadSignature, ...]:
        """Return the Tensor methods of a C++ name, with or without ``_symint``."""
        return self._operators("methods", _plain(name))

    def functions(self, name: str) -> tuple[OverloadSignature, ...]:
        """Return the ``at::`` functions of a C++ name (``foo_out``, ``foo_outf`` too), with or without ``_symint``."""
        return self._operators("functions", _plain(name))

    def kernels(self, name: str) -> tuple[Kernel, ...]:
        """Return the kernels that torch expects under a C++ function's name, without those that torchgen generates."""
        return tuple(self._kernel(number) for number in self._index["kernels"].get(name, ()))

    @cached_property
    def names(self) -> frozenset[bytes]:
        """Return all names that `kernels`, `functions` or `methods` accept, with ``_symint`` inserted or removed."""
        found = {*self._index["kernels"], *self._index["functions"], *self._index["methods"]}
        for name in tuple(found):
            before, word, behind = name.rpartition("_symint")
            if word:
                found.add(before + behind)
            else:
                form = next((ending for ending in ("_outf", "_out") if name.endswith(ending)), "")
                found.add(f"{name.removesuffix(form)}_symint{form}")
        return frozenset(name.encode() for name in found)

    @lru_cache(maxsize=1024)  # noqa: B019 - one api lives as long as the process
    def has(self, symbol: str) -> bool:
        """Return whether this torch has a symbol, according to its headers or Python files.

        ``TORCH_GUARD_OR_FALSE`` is a macro. ``c10::sym_equals`` and ``c10::SymInt::min`` are C++. ``torch.sym_min`` and
        ``torch._inductor.sizevars.SizeVarAllocator.check_equals`` are Python. A bare ``guard_or_false`` is searched in
        torch and the modules of symbolic shapes. An operator that is a function, such as ``torch.where``, counts too.
        """
        if "::" in symbol or symbol.isupper():
            return cpp_has(self.include_dirs, symbol)
        home, _, name = symbol.rpartition(".")
        return python_has(self.package, symbol) or (home == "torch" and bool(self.functions(name)))

    def dynamo_refusal(self, helper: str) -> str | None:
        """Return why dynamo does not trace a call of a helper, or None.

        A helper is a dotted name such as ``torch.sym_min``. ``torch._check(text)`` is a check with a message, and
        ``torch._check(values)`` one whose message captures values.
        """
        return dynamo_refusal(self._place, helper)

    def is_scripted(self, function: str) -> bool:
        """Return whether torch passes one of its own functions to TorchScript, or True if the probe failed.

        ``function`` is a dotted name such as ``torch._decomp.decompositions.nll_loss_backward``.
        """
        return self._scripted is None or function in self._scripted

    @lru_cache(maxsize=1024)  # noqa: B019 - one api lives as long as the process
    def is_inlined(self, module: str) -> bool:
        """Return whether dynamo traces into the functions of a module of torch, or True if the probe failed."""
        known = self._inlined
        parents = accumulate(module.split("."), "{}.{}".format)
        return known is None or not known.isdisjoint(parents)

    @lru_cache(maxsize=1024)  # noqa: B019 - one api lives as long as the process
    def is_named_elsewhere(self, function: str) -> bool:
        """Return whether another file of torch may use a function, by its dotted name."""
        return named_elsewhere(self.package, function)

    def is_kept_in_graph(self, function: str) -> bool:
        """Return whether dynamo keeps a call of one of torch's functions, by its dotted name, in its graph."""
        return function in self._kept_in_graph

    @cached_property
    def _kept_in_graph(self) -> frozenset[str]:
        return kept_in_graph(self._place)

    @cached_property
    def _inlined(self) -> frozenset[str] | None:
        return inlined(self._place)

    @cached_property
    def _scripted(self) -> frozenset[str] | None:
        return scripted(self._place)

    def named_in_headers(self, name: str) -> bool:
        """Return whether a header of this torch contains the name, so that other files may call the function."""
        return named_in_headers(self.include_dirs, name)

    def _operators(self, variant: str, name: str) -> tuple[OverloadSignature, ...]:
        return tuple(self._operator(number) for number in self._index[variant].get(name, ()))

    def _operator(self, number: int) -> OverloadSignature:
        value = self._values.get(number)
        if not isinstance(value, OverloadSignature):
            value = self._values[number] = operator_from(json.loads(self._rows[number]))
        return value

    def _kernel(self, number: int) -> Kernel:
        value = self._values.get(number)
        if not isinstance(value, Kernel):
            row = json.loads(self._rows[number])
            value = self._values[number] = kernel_from(row, self._operator(row[-1]))
        return value


@lru_cache(maxsize=8)
def _opened(place: TorchInstallation) -> TorchApi:
    return TorchApi(place)


def _plain(name: str) -> str:
    for suffix in ("_symint", "_symint_out", "_symint_outf"):
        if name.endswith(suffix):
            return name.removesuffix(suffix) + suffix.removeprefix("_symint")
    return name


def _content_key(place: TorchInstallation) -> str:
    digest = hashlib.sha256()
    sources = [*yamls(place), EXTRACTOR]
    for torchgen in place.torchgens:
        sources += sorted(torchgen.glob("*.py")) + sorted(torchgen.glob("api/**/*.py"))
    for source in sources:
        content = source.read_bytes()
        digest.update(b"%d\0" % len(content))
        digest.update(content)
    return digest.hexdigest()

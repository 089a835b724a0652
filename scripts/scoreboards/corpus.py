"""PyTorch source trees for measurements, and a cache for slow computations."""

from __future__ import annotations

import hashlib
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from symfix.codemods.system import cache_folder

ROOT = Path(__file__).parents[2]
NATIVE = Path("aten", "src", "ATen", "native")

_KEPT = 2000

T = TypeVar("T")


def source_tree(release: str, named: Path | None) -> Path:
    """Return the named tree, or the one that scripts/corpus downloads."""
    if named is not None:
        if not (named / NATIVE).is_dir():
            print(f"{named} has no {NATIVE}: name the top folder of a PyTorch source tree", file=sys.stderr)
            raise SystemExit(2)
        return named.resolve()
    ended = subprocess.run([ROOT / "scripts" / "corpus", release], stdout=subprocess.PIPE, text=True, check=False)
    if ended.returncode:
        raise SystemExit(2)
    return Path(ended.stdout.split("\n")[-2])


def operator_files(tree: Path) -> list[Path]:
    """Return the operator files: ``native/*.cpp``, without subfolders."""
    return sorted((tree / NATIVE).glob("*.cpp"))


def remembered(kind: str, parts: Sequence[str | bytes], compute: Callable[[], T]) -> T:
    """Return a cached result with the key ``parts``, computing it on the first call."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little") + data)
    path = cache_folder.folder("scoreboards") / f"{kind}-{digest.hexdigest()}"
    known = cache_folder.load(path)
    if known is not None:
        kept: T = pickle.loads(known)
        return kept
    answer = compute()
    cache_folder.store(path, pickle.dumps(answer))
    _forget_oldest(path.parent)
    return answer


@lru_cache
def sources(*modules: str) -> str:
    """Hash the source files of modules that a result depends on."""
    digest = hashlib.blake2b(digest_size=16)
    for name in modules:
        digest.update(Path(str(sys.modules[name].__file__)).read_bytes())
    return digest.hexdigest()


def _forget_oldest(folder: Path) -> None:
    for path in sorted(folder.glob("[a-z]*-*"), key=_age)[:-_KEPT]:
        path.unlink(missing_ok=True)


def _age(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return 0

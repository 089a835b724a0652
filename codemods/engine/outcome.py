"""What came of one file: four frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .rule import Fix, Skip
from .source import SourceFile


@dataclass(frozen=True)
class Changed:
    """``after`` differs from ``source.content``; ``applied`` made the difference, ``offered`` was not asked for."""

    source: SourceFile
    after: bytes
    applied: tuple[Fix, ...]
    offered: tuple[Fix, ...] = ()
    skips: tuple[Skip, ...] = ()
    unparsed: int | None = None


@dataclass(frozen=True)
class Unchanged:
    """Nothing was applied; ``offered`` are fixes that exist but were not asked for (unsafe, manual).

    ``unparsed`` is the byte offset of the first statement that does not parse, where the rules keep out of it.
    """

    source: SourceFile
    offered: tuple[Fix, ...] = ()
    skips: tuple[Skip, ...] = ()
    unparsed: int | None = None


@dataclass(frozen=True)
class Refused:
    """symfix would not touch this file; ``reason`` is a short stable word, ``detail`` the sentence with the way out."""

    path: Path
    reason: str
    detail: str


@dataclass(frozen=True)
class Failed:
    """symfix itself broke on this file: a bug, with the traceback in ``detail``."""

    path: Path
    detail: str


Outcome = Changed | Unchanged | Refused | Failed

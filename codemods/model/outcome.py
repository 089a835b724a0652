"""Outcomes of one file: four frozen classes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .rule import Fix, Skip
from .source_file import SourceFile


@dataclass(frozen=True)
class Changed:
    """Changed file.

    ``after`` is the text with the fixes ``applied``, and ``offered`` are fixes that were not requested.
    """

    source: SourceFile
    after: bytes
    applied: tuple[Fix, ...]
    offered: tuple[Fix, ...] = ()
    skips: tuple[Skip, ...] = ()
    unparsed: int | None = None


@dataclass(frozen=True)
class Unchanged:
    """File without an applied fix. ``offered`` are fixes that were not requested (unsafe, manual).

    ``unparsed`` is the byte offset of the first statement that does not parse, if the rules skip it.
    """

    source: SourceFile
    offered: tuple[Fix, ...] = ()
    skips: tuple[Skip, ...] = ()
    unparsed: int | None = None


@dataclass(frozen=True)
class Refused:
    """File that symfix does not process. ``reason`` is a short stable code, ``detail`` a sentence with the remedy."""

    path: Path
    reason: str
    detail: str


@dataclass(frozen=True)
class Failed:
    """File on which symfix itself failed: a bug, with the traceback in ``detail``."""

    path: Path
    detail: str


Outcome = Changed | Unchanged | Refused | Failed

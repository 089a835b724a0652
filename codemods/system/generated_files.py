"""Record of the files that symfix generated: patches, reports, baselines. An unmodified one is not the user's work."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from . import cache_folder

KEPT = 4000


def remember(*paths: Path) -> None:
    """Record the contents of files, or of all files of folders, that were just written."""
    folder = cache_folder.folder("written")
    for file in (file for path in paths for file in (sorted(path.rglob("*")) if path.is_dir() else [path])):
        with contextlib.suppress(OSError):
            if file.is_file():
                cache_folder.store(_entry(folder, file), cache_folder.digest_of(file))
    with contextlib.suppress(OSError):
        for entry in sorted(folder.glob("[!.]*"), key=cache_folder.age)[:-KEPT]:
            entry.unlink(missing_ok=True)


def is_own(path: Path) -> bool:
    """Return whether a file is unmodified since symfix wrote it."""
    kept = cache_folder.load(_entry(cache_folder.folder("written"), path))
    try:
        return kept is not None and not path.is_symlink() and kept == cache_folder.digest_of(path)
    except OSError:
        return False


def _entry(folder: Path, file: Path) -> Path:
    return folder / cache_folder.digest(os.fsencode(file.resolve())).decode()

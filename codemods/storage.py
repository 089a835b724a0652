"""Where symfix keeps what can be computed again, and how it puts it there."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def folder(kind: str) -> Path:
    """The folder of one kind of stored results under the user's cache folder."""
    from platformdirs import user_cache_path

    return user_cache_path("symfix") / kind


def store(path: Path, content: bytes) -> None:
    """Write atomically; a cache that can't be written is no reason to fail, the next run computes again."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    except OSError:
        return
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)

"""``[tool.symfix]`` of a pyproject.toml: the same words as the command line, as defaults."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

_COMMANDS = frozenset({"build", "test"})
"""Keys whose value is a command or a list of them: a comma in one is part of it."""


class ConfigError(Exception):
    """A configuration that can't be read, or a key that no command knows."""


def load(path: Path | None, known: Iterable[str]) -> dict[str, Any]:
    """The table ``[tool.symfix]`` with ``_`` for ``-``, so that each key is the name of an option.

    Without a path, the nearest pyproject.toml at or above the working folder is asked, if there is one. Paths in the
    table are relative to the file.
    """
    found = path or _nearest()
    if found is None:
        return {}
    try:
        text = found.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{found}: can't be read: {error}") from None
    if path is None and "tool.symfix" not in text:
        return {}
    table = _table(found, text)
    options = {key.replace("-", "_"): value for key, value in table.items()}
    if unknown := sorted(set(options) - set(known)):
        raise ConfigError(f"{found}: [tool.symfix] has no key {unknown[0].replace('_', '-')!r}")
    for key in ("torch_root", "torch_python", "baseline"):
        if key in options:
            options[key] = str(found.parent / options[key])
    for key in _COMMANDS & set(options):
        if isinstance(options[key], str):
            options[key] = [options[key]]
    return {
        key: ",".join(value) if isinstance(value, list) and key not in _COMMANDS else value
        for key, value in options.items()
    }


def _table(path: Path, text: str) -> Mapping[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        table = tomllib.loads(text).get("tool", {}).get("symfix", {})
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: {error}") from None
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: tool.symfix is not a table")
    return table


def _nearest() -> Path | None:
    here = Path.cwd()
    return next((path for folder in (here, *here.parents) if (path := folder / "pyproject.toml").is_file()), None)

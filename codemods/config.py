"""``[tool.symfix]`` of a pyproject.toml: the same words as the command line, as defaults."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

Kind = Literal["flag", "number", "text", "path", "names", "commands"]
"""What the value of a key is; names and commands may be one text or a list, and names have commas between them."""

_WANTED = {
    "flag": "true or false", "number": "a number", "text": "a text in quotes", "path": "a path in quotes",
    "names": "a list of names in quotes", "commands": "a command in quotes, or a list of them",
}  # fmt: skip


class ConfigError(Exception):
    """A configuration that can't be read, or a key that no command knows."""


def load(path: Path | None, known: Mapping[str, Kind]) -> dict[str, Any]:
    """The table ``[tool.symfix]`` with ``_`` for ``-``, so that each key is the name of an option.

    Without a path, the nearest pyproject.toml at or above the working folder is asked, if there is one. Paths in the
    table are relative to the file. Raises ConfigError, which names the file, the key and what is wanted.
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
    options: dict[str, Any] = {}
    for key, value in _table(found, text).items():
        name = key.replace("-", "_")
        if name not in known:
            raise ConfigError(f"{found}: [tool.symfix] has no key {key!r}{_nearest_name(key, known)}")
        if not _fits(value, known[name]):
            raise ConfigError(f"{found}: [tool.symfix] {key} = {_shown(value)}: {_WANTED[known[name]]} is wanted")
        options[name] = _option(value, known[name], found.parent)
    return options


def _fits(value: object, kind: Kind) -> bool:
    if kind == "flag":
        return isinstance(value, bool)
    if kind == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    listed = isinstance(value, list) and all(isinstance(one, str) for one in value)
    return isinstance(value, str) or (kind in ("names", "commands") and listed)


def _option(value: Any, kind: Kind, folder: Path) -> object:
    if kind == "path":
        return str(folder / value)
    if kind == "commands":
        return [value] if isinstance(value, str) else value
    return ",".join(value) if isinstance(value, list) else value


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _nearest_name(key: str, known: Mapping[str, Kind]) -> str:
    from difflib import get_close_matches

    keys = sorted(name.replace("_", "-") for name in known)
    near = get_close_matches(key.replace("_", "-"), keys, n=1)
    return f"; do you mean {near[0]!r}?" if near else f"; there are {', '.join(keys)}"


def _table(path: Path, text: str) -> Mapping[str, Any]:
    from .toml import TOMLDecodeError, loads

    try:
        table = loads(text).get("tool", {}).get("symfix", {})
    except TOMLDecodeError as error:
        raise ConfigError(f"{path}: {error}") from None
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: tool.symfix is not a table")
    return table


def _nearest() -> Path | None:
    here = Path.cwd()
    return next((path for folder in (here, *here.parents) if (path := folder / "pyproject.toml").is_file()), None)

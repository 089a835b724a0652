"""Defaults for command-line options, from ``[tool.symfix]`` of a pyproject.toml and from the user's own file.

A tree is data, so its file must not cause code to run. Only the command line and the user's own file may choose the
torch, because reading it executes code. A project's file contains the commands of the project, which count only if the
user names that file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from . import repository
from .file_reader import contents
from .suggestions import nearest

Kind = Literal["flag", "number", "text", "path", "names", "commands"]
"""Type of a key's value. ``names`` and ``commands`` are one text or a list. A text has commas between names."""

TORCH = frozenset(("torch_root", "torch_python"))
"""Keys that choose the torch that ``check`` runs. A project's file with one of them is rejected."""
GUARDS = frozenset(("sandbox", "installed_torchgen"))
"""Keys that restrict what is executed. A project's file does not override the values in the user's own file."""
UNASKED = "symfix.unasked"
"""Key of `Settings.unasked` in the ``meta`` of click's context, for commands that would run the ignored ones."""

_WANTED = {
    "flag": "true or false", "number": "a number", "text": "a text in quotes", "path": "a path in quotes",
    "names": "a list of names in quotes", "commands": "a command in quotes, or a list of them",
}  # fmt: skip
_WRITTEN_BY_OTHERS = 0o022


class ConfigError(Exception):
    """Unreadable configuration, or a key that is unknown or not allowed there."""


@dataclass(frozen=True)
class Settings:
    """Options by name. ``passed_over`` are messages about ignored files, ``unasked`` is one about ignored commands."""

    options: Mapping[str, Any]
    passed_over: tuple[str, ...] = ()
    unasked: str = ""


def load(path: Path | None, known: Mapping[str, Kind]) -> Settings:
    """Load the user's own file and then ``[tool.symfix]`` of ``path``, which overrides it except for GUARDS.

    Each key names an option, with ``_`` for ``-``. Without a path, the nearest pyproject.toml is read if the user owns
    it. It is searched from the working folder up to the top of the repository. Paths are relative to their file. Raises
    ConfigError, which names the file, the key and the expected value.
    """
    options: dict[str, Any] = {}
    notes: list[str] = []
    own = user_file()
    # A relative XDG_CONFIG_HOME would lead into the tree.
    if own.is_absolute() and own.is_file():
        doubt = _doubt(own, written_by_others=True)
        if doubt:
            notes.append(f"{own}: {doubt}: not read")
        else:
            options |= _options(own, _table(own, _text(own)), known)
    found = path or _nearest()
    if found is None:
        return Settings(options, tuple(notes))
    doubt = "" if path else _doubt(found)
    if doubt:
        return Settings(options, (*notes, f"{found}: {doubt}: not read; --config {found} reads it"))
    text = _text(found)
    if path is None and "tool.symfix" not in text:
        return Settings(options, tuple(notes))
    said = _options(found, _project_table(found, text), known)
    for name in sorted(TORCH & said.keys()):
        option = name.replace("_", "-")
        raise ConfigError(
            f"{found}: [tool.symfix] {option}: a project's file can't say what is run; "
            f"say --{option}, or write it to {own}"
        )
    commands = [name for name in said if known[name] == "commands"]
    unasked = ""
    if commands and path is None:
        names = " and ".join(sorted(commands))
        unasked = f"{found}: its {names} {'is' if len(commands) == 1 else 'are'} not run; --config {found} runs them"
        said = {name: value for name, value in said.items() if name not in commands}
    guards = {name: options[name] for name in GUARDS & options.keys()}
    return Settings({**options, **said, **guards}, tuple(notes), unasked)


def user_file() -> Path:
    """Return the path of the user's own defaults: the keys of ``[tool.symfix]``, without that heading."""
    from platformdirs import user_config_path

    return user_config_path("symfix") / "config.toml"


def _doubt(file: Path, *, written_by_others: bool = False) -> str:
    """Return why another user may control a file, or ''."""
    for place in (file, file.parent) if written_by_others else (file,):
        for found in (place.lstat(), place.stat()):
            if found.st_uid != os.geteuid():
                return "belongs to somebody else"
        if written_by_others and place.stat().st_mode & _WRITTEN_BY_OTHERS:
            return f"others can write {'it' if place == file else 'its folder'} (chmod go-w)"
    return ""


def _text(file: Path) -> str:
    try:
        return contents(file).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: can't be read: {error}") from None


def _options(file: Path, table: Mapping[str, Any], known: Mapping[str, Kind]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        if name not in known:
            raise ConfigError(f"{file}: [tool.symfix] has no key {key!r}{_nearest_name(key, known)}")
        if not _fits(value, known[name]):
            raise ConfigError(f"{file}: [tool.symfix] {key} = {_shown(value)}: {_WANTED[known[name]]} is wanted")
        options[name] = _option(value, known[name], file.parent)
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
    keys = sorted(name.replace("_", "-") for name in known)
    return nearest(key.replace("_", "-"), keys) or f"; there are {', '.join(keys)}"


def _table(path: Path, text: str) -> dict[str, Any]:
    from .toml import TOMLDecodeError, loads

    try:
        return loads(text)
    except TOMLDecodeError as error:
        raise ConfigError(f"{path}: {error}") from None
    except RecursionError:
        raise ConfigError(f"{path}: is nested too deep to be read") from None


def _project_table(path: Path, text: str) -> Mapping[str, Any]:
    tools = _table(path, text).get("tool", {})
    table = tools.get("symfix", {}) if isinstance(tools, dict) else {}
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: tool.symfix is not a table")
    return table


def _nearest() -> Path | None:
    here = Path.cwd()
    top = repository.top(here)
    for folder in (here, *here.parents):
        if (folder / "pyproject.toml").is_file():
            return folder / "pyproject.toml"
        if folder == top:
            return None
    return None

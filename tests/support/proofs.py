"""Verification in tests, with the options of the request and of the session in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from symfix.codemods.verify import command
from symfix.codemods.verify.change import Change, Verification
from symfix.codemods.verify.command import VerifySession
from symfix.codemods.verify.request import VerifyRequest


def verify(changes: Sequence[Change], **options: Any) -> Verification:
    """Return the verification of some changes. Lists among the options become tuples."""
    asked = {one.name for one in fields(VerifyRequest)} & options.keys()
    words = {name: tuple(options.pop(name)) if isinstance(options[name], list) else options.pop(name) for name in asked}
    return command.verify(VerifyRequest(tuple(changes), **words), VerifySession(**options))

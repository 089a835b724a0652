"""Exception for code that can't be rewritten."""

from __future__ import annotations


class CannotRewrite(Exception):
    """Error for code that can't be rewritten. ``reason`` is a stable word, ``detail`` a sentence."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail

"""Choice of the side that an undecided comparison of sizes takes: its result in the general case."""

from __future__ import annotations

from .comparisons import SizeComparison, is_size
from .inference import Inference

_SMALLEST_GENERAL_SIZE = 2


def general_answer(types: Inference, found: SizeComparison) -> bool | None:
    """Return the result of a comparison for every size of at least 2, the general case, or None if it varies.

    Return None also if the compared value is computed from sizes, or is a stride or an offset. These may well be 0 or
    1.
    """
    text = types.model.tree.text(found.other)
    if not is_size(types, found.subject):
        return None
    if found.other.type != "number_literal" or not text.isdigit():
        return None
    bound = int(text)
    least = _SMALLEST_GENERAL_SIZE
    answers: dict[str, bool | None] = {
        "==": False if bound < least else None,
        "!=": True if bound < least else None,
        "<": False if bound <= least else None,
        "<=": False if bound < least else None,
        ">": True if bound < least else None,
        ">=": True if bound <= least else None,
    }
    return answers[found.sign]

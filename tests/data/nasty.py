"""Functions that careless rewrites break. Each is called before and after the fixes with the arguments of callers.

``CALLS`` contains the arguments of each function. All functions see symbolic sizes.
"""

import math
from typing import Optional

import numpy as np
import torch
from torch import Tensor

LIMIT = 3
ones = torch.ones


# A later operand is evaluated only if the first one does not decide the result.
def second_dimension(x: Tensor, y: Tensor):
    if x.size(0) != 1 or y.size(1) != 1:
        raise ValueError("sizes")
    return x


def rank_asked_first(x, y):
    if x.dim() != 2 or x.size(1) != y.size(0):
        raise ValueError("no matrices")
    return x


def rank_asked_in_the_middle(x, y):
    if x.numel() == 0 or x.dim() < 2 or x.size(1) != y.size(0):
        raise ValueError("no matrices")
    return x


def rank_known(x, y):
    n, m = x.shape
    assert y.dim() == 2
    if x.size(1) != n or y.size(1) != m or n == 0:
        raise ValueError(f"not square: {n} {m}")
    return n


def absent(x: Tensor, bias: Optional[Tensor] = None):
    if x.size(0) == 0 or bias.size(0) != x.size(0):
        raise ValueError("bias")
    return bias


def absent_asked(x, bias=None):
    if bias is not None and (x.numel() != 3 or bias.size(0) != x.size(0)):
        raise ValueError("bias")
    return x


def divided(x, k):
    if k == 0 or x.size(0) % k != 0:
        raise ValueError("not divisible")
    return x


def divided_by_another_name(x, k):
    groups = k
    if k == 0 or x.size(0) // groups < 1:
        raise ValueError("too many groups")
    return x


def shifted(x, n):
    if n < 1 or x.numel() >= 1 << (n - 1):
        raise ValueError("too many")
    return x


def looked_up(x, table):
    if x.numel() == 0 or table["k"] != x.size(0):
        raise ValueError("table")
    return x


def logarithm(x, n):
    if x.size(0) == 0 or math.log(n) > x.size(0):
        raise ValueError("log")
    return x


def every_pair(x, y):
    if any(a != b for a, b in zip(x.shape, y.shape)):
        raise ValueError("shapes")
    return x


def every_one_looked_up(x, at):
    if any(x.shape[d] == 1 for d in at):
        raise ValueError("one")
    return x


def walrus(x, y):
    if x.size(0) == 0 or (n := y.size(0)) != 1:
        raise ValueError("walrus")
    return n


def effect(x, seen: list):
    if x.size(0) == 0 or seen.append(1) is not None or x.size(0) == 3:
        raise ValueError(str(seen))
    return seen


def mask(x, y):
    if x.size(0) != y.size(0) or (x == y).any():
        raise ValueError("mask")
    return x


def both_checked(x, y):
    torch._check(x.size(0) == 1 and y.size(1) == 2, lambda: "sizes")
    return x


# Names.
def imported_later(x: Tensor, y: Tensor):
    n = min(x.size(0), y.size(0))
    import torch

    return torch.ones(n).shape


def an_exception(x: Tensor, y: Tensor):
    try:
        n = min(x.size(0), y.size(0))
    except IndexError as torch:
        return str(torch)
    return n


def a_capture(x: Tensor, how):
    match how:
        case {"f": min}:
            return min(x.size(0), 2)
        case _:
            return None


def a_parameter(x: Tensor, y):
    return (lambda min: min(x.size(0), y))(lambda a, b: (b, a))


def a_lambda_for_torch(x: Tensor, y: Tensor):
    return (lambda torch: min(x.size(0), y.size(0)) + torch)(1)


def within_a_comprehension(x: Tensor):
    return [max(n, x.size(0)) for max in (lambda a, b: (a, b),) for n in (1, 2)]


# Values other than plain sizes.
def smaller(x, limit):
    return min(x.size(0), limit)


def annotated(x: Tensor, limit: int):
    return max(x.size(0), limit)


def default_none(x: Tensor, limit: int = None):
    if not limit:
        return "all"
    return max(x.size(0), limit)


def compared(x, n):
    if x.size(0) == n:
        raise ValueError("equal")
    return n


def asserted(x, n: int):
    torch._check(x.size(0) == n and x.numel() > 0, lambda: "n")
    return n


def listed(x, y):
    s = list(y.shape)
    if x.shape != s:
        raise ValueError(f"{s}")
    return s


def listed_check(x, y):
    s = list(y.shape)
    torch._check(x.shape == s, lambda: "shapes")


def optional_shape(x, shape: Optional[torch.Size]):
    if x.shape != shape:
        raise ValueError("shape")
    return x


def with_device(x, y):
    torch._check((x.shape, x.device) == (y.shape, y.device), lambda: "shape or device")
    return x


def in_nothing(x):
    if x.size(0) in ():
        raise ValueError("never")
    torch._check(x.size(0) not in (), lambda: "never")
    return x


def in_a_starred(x, more):
    if x.size(0) in (1, *more):
        raise ValueError("one of them")
    return x


def rounded(x, k):
    return math.ceil(x.size(0) / k)


def rounded_difference(x, y):
    return int((x.size(0) - y.size(0)) / 2), math.floor((x.size(0) - y.size(0)) / 2)


def not_a_number(x):
    if x.item() < 0.0:
        raise ValueError("negative")
    return "fine"


def between(x, low, high):
    if not low <= x.size(0) <= high:
        raise IndexError("out of range")
    return x


def a_value(w, x: Tensor):
    return (w or x.size(0)), (w and x.size(0)), (x.size(0) or w)


def truth(x, total: Optional[int]):
    if not total:
        raise ValueError("no total")
    if x.size(0) and total:
        return total
    return None


def as_float(x, n):
    return float(x.size(0)), float(x.size(0) / n)


# Messages.
def with_locals(x):
    why = "because"
    if x.size(0) == 0:
        raise ValueError("%(why)s" % locals())
    return why


def with_vars(x):
    if x.size(0) == 0:
        raise ValueError(sorted(vars()))
    return x


def with_eval(x, n):
    if x.size(0) == 0:
        raise ValueError(eval("n + 1"))
    return x


class Base:
    def name(self):
        return "base"


class Derived(Base):
    def check(self, x):
        if x.size(0) == 0:
            raise ValueError(super().name())
        return x


def with_super(x):
    return Derived().check(x)


def read_later(x):
    try:
        if x.size(0) == 0:
            message = "empty"
            raise ValueError(message)
    except ValueError:
        return message
    return None


def a_global(x):
    global said
    said = "nothing"
    try:
        if x.size(0) == 0:
            said = "empty"
            raise ValueError(said)
    except ValueError:
        pass
    return said


def no_message(x):
    if x.size(0) == 0:
        raise ValueError
    if x.size(0) == 1:
        raise ValueError()
    return x


def no_text(x):
    if x.size(0) == 0:
        raise ValueError(x.size(0))
    if x.size(0) == 1:
        raise ValueError(("a", 1))
    return x


def counted(x):
    n = x.size(0)
    if n == 0:
        raise ValueError(f"{n!r} of {x.shape}")
    n = 5
    return n


def class_body(x):
    class Made:
        n = x.size(0)
        if n == 0:
            raise ValueError(f"{n}")

    return Made.n


# Layout.
def strings(x, table):
    if table.index(
        "( a"
    ) == x.size(0) and "#" != "[ ]":
        raise ValueError("( a"
                         " [ b ]")
    return x


def a_tuple(x, y):
    if (
        x.size(0),  # first
    ) == (
        y.size(0),
    ):
        raise ValueError("equal")
    return x


def chained(x, a, b):
    if not (a < x.size(0) < b):
        raise ValueError("out of range")
    torch._check(0 <= x.size(0) < LIMIT, lambda: "too long")
    return x


# A value that becomes a tensor later, elsewhere or in the file's own calls may have any type here.
class Rows(list):
    """List with a shape that is a list, and with counts that are numpy numbers, as in arrays of some libraries."""

    @property
    def shape(self):
        return [len(self), len(self[0])]

    def numel(self):
        return np.int64(len(self) * len(self[0]))


def made_a_tensor_later(x):
    if x.shape != (2, 3):
        raise ValueError(f"not two rows of three: {x.shape}")
    x = torch.as_tensor(x)
    return x


def one_of_two(x: Tensor, loaded=None):
    chosen = x
    if loaded is not None:
        chosen = loaded()
    if chosen.shape != (2, 3):
        raise ValueError("not two rows of three")
    return chosen


def handed_on(x: Tensor):
    return handed(x)


def handed(x):
    if x.shape != (2, 3):
        raise ValueError("not two rows of three")
    return x


def put_into_tensors(x: list[Tensor], y):
    x[0] = y
    if x[0].shape != (2, 3):
        raise ValueError("not two rows of three")
    return x


def appended_to_tensors(x: list[Tensor], y):
    x.append(y)
    if x[-1].shape != (2, 3):
        raise ValueError("not two rows of three")
    return x


def put_first(x, y):
    x[0] = y
    return x


def tensors_handed_on(x: list[Tensor], y):
    put_first(x, y)
    if x[0].shape != (2, 3):
        raise ValueError("not two rows of three")
    return x


def not_one_tensor(x: Tensor):
    if len(torch.where(x > 0)) != x.size(0) or len(x.split(1)) != x.size(0):
        raise ValueError("not as many dimensions as rows")
    return x


ROWS = Rows([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
MATRICES = [(ones(1, 1), ones(1, 1)), (ones(2, 3), ones(3, 2)), (ones(3, 2), ones(2, 2)), (ones(2, 2), ones(2, 2))]
ODD = [
    (ones(3), ones(3)),
    (ones(()), ones(2)),
    (ones(2, 3), ones(3)),
    (ones(0), ones(0)),
    (ones(1), None),
    (np.ones(3), ones(3)),
]
LIMITS = [
    (ones(2), one) for one in (0, 1, 3, 2.5, math.inf, math.nan, None, True, np.int64(2), torch.tensor(2), "a", (2,))
]
ALONE = [(ones(n),) for n in range(4)] + [(ones(()),), (None,), (np.ones(3),)]
_TWO = [*MATRICES, *ODD]
_OF_LISTS = "put_into_tensors appended_to_tensors tensors_handed_on put_first"
_OF_TWO = (
    "second_dimension rank_asked_first rank_asked_in_the_middle rank_known absent absent_asked every_pair walrus mask "
    "both_checked imported_later an_exception a_lambda_for_torch listed listed_check with_device rounded_difference "
    "a_tuple"
)
_OF_LIMITS = (
    "divided divided_by_another_name shifted logarithm smaller annotated default_none compared asserted rounded truth "
    "as_float with_eval"
)
_OF_ONE = (
    "within_a_comprehension in_nothing with_locals with_vars with_super read_later a_global no_message no_text counted "
    "class_body"
)
CALLS = {
    **dict.fromkeys(_OF_TWO.split(), _TWO),
    **dict.fromkeys(_OF_LIMITS.split(), LIMITS),
    **dict.fromkeys(_OF_ONE.split(), ALONE),
    "made_a_tensor_later": [(ROWS,), (ones(2, 3),), (ones(3),), (np.ones((2, 3)),)],
    "one_of_two": [(ones(2, 3), None), (ones(2), None), (ones(2), lambda: ROWS), (ones(2), lambda: ones(2, 3))],
    "handed_on": [(ones(2, 3),), (ones(3),), (ROWS,)],
    "handed": [(ones(2, 3),), (ones(3),), (ROWS,)],
    **dict.fromkeys(_OF_LISTS.split(), [([ones(2, 3)], ROWS), ([ones(3)], ROWS), ([ones(3)], ones(2, 3))]),
    "not_one_tensor": [(ones(2, 3),), (ones(1),), (torch.zeros(3, 1),)],
    "looked_up": [(ones(0), {}), (ones(2), {"k": 2}), (ones(2), {})],
    "every_one_looked_up": [(ones(2, 3), (0, 1)), (ones(1, 3), (0, 5)), (ones(2), ("a",))],
    "effect": [(ones(0), []), (ones(2), []), (ones(3), [])],
    "a_capture": [(ones(3), {"f": lambda a, b: (a, b)}), (ones(3), 1)],
    "a_parameter": [(ones(3), 1), (ones(3), None)],
    "optional_shape": [(ones(3), None), (ones(3), torch.Size((3,))), (ones(3), [3]), (ones(3), (3,))],
    "in_a_starred": [(ones(3), (3,)), (ones(3), ()), (ones(1), None)],
    "not_a_number": [(torch.tensor(one),) for one in (1.0, -1.0, math.nan, 3, -3, True)],
    "between": [(ones(3), low, high) for low in (0, 3, None, math.nan) for high in (3, 2, "a", np.int64(9))],
    "a_value": [(one, ones(n)) for one in (0, 5, None, "", 2.0) for n in (0, 3)],
    "strings": [(ones(0), ["( a"]), (ones(1), ["( a"]), (ones(1), ["(a"])],
    "chained": [(ones(3), a, b) for a in (0, 3, None) for b in (4, 2, 3.5, None)],
}

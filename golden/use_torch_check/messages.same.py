# symfix-golden: path=torch/_refs/example.py
import sys

import torch
from torch import Tensor


class Base:
    def name(self):
        return "base"


class Checked(Base):
    def of_the_frame(self, x: Tensor):
        why = "because"
        if x.size(0) == 0:
            raise ValueError("%(why)s" % locals())
        if x.size(0) == 1:
            raise ValueError(str(vars()))
        if x.size(0) == 2:
            raise ValueError(eval("why"))
        if x.size(0) == 3:
            raise ValueError(super().name())
        if x.size(0) == 4:
            raise ValueError(__class__.__name__)
        if x.size(0) == 5:
            raise ValueError(sys._getframe().f_code.co_name)
        return why


def several_messages(x: Tensor, args):
    if x.size(0) == 0:
        raise ValueError(*args)


def read_later(x: Tensor):
    try:
        if x.size(0) == 0:
            message = "empty"
            raise ValueError(message)
    except ValueError:
        return message
    return None


def of_the_module(x: Tensor):
    global said
    if x.size(0) == 0:
        said = "empty"
        raise ValueError(said)


def in_a_class(x: Tensor):
    class Made:
        n = x.size(0)
        if n == 0:
            raise ValueError(f"{n}")

    return Made

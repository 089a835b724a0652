# symfix-golden: path=torch/_refs/example.py
import math

import torch
from torch import Tensor


def asked_in_the_middle(x: Tensor, y: Tensor):
    if x.numel() == 0 or x.dim() < 2 or x.size(1) != y.size(0):
        raise ValueError("no matrices")


def looked_up(x: Tensor, table):
    if x.numel() == 0 or table["k"] != x.size(0):
        raise ValueError("table")


def called(x: Tensor, n: int):
    if x.size(0) == 0 or math.log(n) > x.size(0):
        raise ValueError("log")


def divided_in_the_last(x: Tensor, n: int):
    if x.size(0) == 0 or n == 0 or x.size(0) % n != 0:
        raise ValueError("divisible")


def named_on_the_way(x: Tensor, y: Tensor):
    if x.size(0) == 0 or (n := y.size(0)) != 1:
        raise ValueError("walrus")
    return n


def elements_looked_up(x: Tensor, table):
    if any(n == table[n] for n in x.shape):
        raise ValueError("table")


def asked_for_absence(x: Tensor, bias=None):
    if x.size(0) == 0 or bias is None or bias.size(0) != 1:
        raise ValueError("bias")

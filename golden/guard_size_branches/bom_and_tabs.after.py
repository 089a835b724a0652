# symfix-golden: path=torch/_refs/example.py
import torch


def f(a: torch.Tensor):
	from torch.fx.experimental.symbolic_shapes import guard_or_false

	if guard_or_false(a.numel() == 0):
		return None
	return a.numel()


def observe():
	return [f(torch.ones(n, 3)) for n in (2, 0, 1)]
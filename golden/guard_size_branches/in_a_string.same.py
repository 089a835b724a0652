# symfix-golden: path=torch/_refs/example.py
from torch import Tensor


def told(a: Tensor) -> str:
    return f"{'empty' if a.numel() == 0 else 'full'} tensor"

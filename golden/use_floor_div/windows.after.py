# symfix-golden: path=torch/_inductor/example.py
from torch.utils._sympy.functions import FloorDiv

from torch._inductor.lowering import register_lowering


@register_lowering([], type_promotion_kind=None)
def window(kernel_size, stride, output_size, pairs):
    if not stride:
        stride = kernel_size
    *_, h_out, w_out = output_size
    widest = max(
        max(FloorDiv(h, stride[0]) - max(0, FloorDiv(h - kernel_size[0], stride[0])), 1)
        for h in range(kernel_size[0] * 2)
    )

    def outside(index):
        return FloorDiv(index[0] + h_out, h_out), -FloorDiv(index[1], w_out)

    return [
        widest,
        outside(pairs),
        FloorDiv(
            pairs[0],  # rows
            w_out
        ),
    ]


def observe():
    found = [window([3, 3], stride, [1, 4, 2], [7, -5]) for stride in ([], [2, 1], [1, 1])]
    return [(int(widest), [int(one) for one in pair], int(last)) for widest, pair, last in found]

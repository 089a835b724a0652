"""The script that a user begins with."""

SKELETON = '''"""What `symfix export` tries: a model, one call of it, and which of its dimensions change."""

import torch


class Model(torch.nn.Module):
    def forward(self, x, keep):
        chosen = x[keep]
        if chosen.size(0) == 0:
            return x.new_zeros(x.shape[1])
        return chosen.sum(0)


def target():
    x = torch.randn(6, 4)
    return {
        "model": Model(),
        "args": (x, x[:, 0] > 0),
        # By parameter of the model: {dimension: name}. The same name is the same size.
        "dynamic": {"x": {0: "rows"}, "keep": {0: "rows"}},
        # Further calls, (args, kwargs) each, to compare on: take both sides of each branch on data.
        "more": [((x, torch.zeros(6, dtype=torch.bool)), {})],
        # True: compare the gradients of the parameters too.
        "training": False,
    }
'''

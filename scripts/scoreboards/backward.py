"""The backward score: operators whose gradients fail with unbacked sizes, mended and proven.

Protocol. torch as installed, CPU, float32; `symfix hunt --protocol backward` says which operators fail, that is, those
of which the forward pass does not. Every dimension of 2 or more is unbacked, `torch.compile(backend="aot_eager",
fullgraph=True)`, every sample; results and every gradient are compared with eager's, at the sample's sizes and at
others. An operator counts when it failed and passes on every sample with the patch of its repair alone, no size gives
another gradient than eager without an error, and `verify` says proven. C++ is that of PyTorch 2.6.0 as far as it
compiles against the installed torch; a formula of autograd, which no dispatcher knows, is swapped in by a jump to it in
the test's own process, and the unchanged formula, swapped in, must still fail. Then all repairs in Python at once: each
backward pass that passed must still pass, and all operators must be equal on concrete sizes, gradients and errors
included. Exit code: 0 when nothing is worse, 1 otherwise.
"""

from __future__ import annotations

import sys

from symfix.codemods.lab.operators import BACKWARD, OPERATORS

from .mending import score

if __name__ == "__main__":
    sys.exit(score("backward-score", __doc__, OPERATORS, BACKWARD))

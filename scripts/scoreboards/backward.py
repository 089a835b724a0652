"""The backward score: operators whose gradients fail with unbacked sizes, fixed and proven by `symfix repair`.

Protocol. The installed torch, CPU, float32. `symfix hunt --protocol backward` finds the failing operators, except those
whose forward pass already fails. Every dimension of 2 or more is unbacked, with `torch.compile(backend="aot_eager",
fullgraph=True)` and every sample. Results and every gradient are compared with eager's, at the sample's sizes and at
others.

An operator counts when it failed and passes on every sample with only the patch of its repair. In addition no size may
give another gradient than eager without an error, and the verdict of `verify` has to be proven. C++ is that of
PyTorch 2.12.1 as far as it compiles against the installed torch. An autograd formula is not registered with a
dispatcher, so it is swapped in by a jump to it in the test's own process. The unchanged formula, swapped in, must still
fail.

Then all Python repairs are applied together. Each backward pass that passed must still pass, and all operators must be
equal on concrete sizes, gradients and errors included. Exit code: 0 when nothing is worse, 1 otherwise.
"""

from __future__ import annotations

import sys

from symfix.codemods.harness.opinfo_runner import BACKWARD, OPERATORS

from .mending import score

if __name__ == "__main__":
    sys.exit(score("backward-score", __doc__, OPERATORS, BACKWARD))

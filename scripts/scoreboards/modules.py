"""The module score: torch's modules that fail with unbacked sizes, fixed and proven by `symfix repair --modules`.

Protocol. The installed torch, CPU, float32, and every sample of every ModuleInfo of `module_db`, in training and in
evaluation mode if they differ. Every dimension of 2 or more of the inputs is unbacked, parameters keep their sizes, and
the module is compiled with `fullgraph=True`. Its results and buffers are compared with eager's, at the sample's sizes
and at others.

A module counts when it failed, passes on every sample with only the patch of its repair, and is proven by `verify`.
`verify` runs the module traced, on concrete sizes and with its gradients, and operators that run changed code. C++ is
that of PyTorch 2.12.1 as far as it compiles against the installed torch.

Then all Python repairs are applied together. Each module that passed must still pass, and all operators must be equal
on concrete sizes. Exit code: 0 when nothing is worse, 1 otherwise.
"""

from __future__ import annotations

import sys

from symfix.codemods.harness.opinfo_runner import MODULES

from .mending import score

if __name__ == "__main__":
    sys.exit(score("module-score", __doc__, MODULES))

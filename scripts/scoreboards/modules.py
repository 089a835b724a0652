"""The module score: torch's modules that fail with unbacked sizes, mended and proven by `symfix repair --modules`.

Protocol. torch as installed, CPU, float32; every sample of every ModuleInfo of `module_db`, in training and evaluation
where they differ. Every dimension of 2 or more of the inputs is unbacked, parameters keep their sizes, and the module
is compiled with `fullgraph=True`; what it returns and its buffers are compared with eager's, at the sample's sizes and
at others. A module counts when it failed and passes on every sample with the patch of its repair alone, and `verify`
says proven: it runs the module traced, on concrete sizes and with its gradients, and operators that run through what
changed. C++ is that of PyTorch 2.6.0 as far as it compiles against the installed torch. Then all repairs in Python at
once: each module that passed must still pass, and all operators must be equal on concrete sizes.
Exit code: 0 when nothing is worse, 1 otherwise.
"""

from __future__ import annotations

import sys

from symfix.codemods.lab.operators import MODULES

from .mending import score

if __name__ == "__main__":
    sys.exit(score("module-score", __doc__, MODULES))

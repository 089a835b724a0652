"""The unbacked score: operators that fail PyTorch's own unbacked test, fixed and proven by `symfix repair --all`.

Protocol. The installed torch, CPU, float32. Every dimension of 2 or more is marked unbacked and the operator compiled
with `fullgraph=True`, for every sample. The result is compared with eager. Then the compiled code is called with these
sizes at 0, at 1 and at a larger value.

An operator counts when it failed and passes on every sample with only the patch of its repair. In addition no size may
give another result than eager without an error, and the verdict of `verify` has to be proven. C++ is repaired in the
files of PyTorch 2.12.1 as far as they compile against the installed torch. There the unchanged file, swapped in, must
still fail.

Then all Python repairs are applied together. Everything that passed must still pass, and all operators must be equal on
concrete sizes, errors included. Each repair gets a regression test, which fails before and passes after. The expected
failures that pass with the repair are removed. Both are proven by running and are part of the patch. Without `--fresh`
a run continues the last one.
Exit code: 0 when nothing is worse, 1 otherwise.
"""

from __future__ import annotations

import sys

from .mending import score

if __name__ == "__main__":
    sys.exit(score("unbacked-score", __doc__))

"""The unbacked score: operators that fail PyTorch's own unbacked test, mended and proven by `symfix repair --all`.

Protocol. torch as installed, CPU, float32. Every dimension of 2 or more is marked unbacked and the operator compiled
with `fullgraph=True`; every sample; the result is compared with eager, then the compiled code is called with these
sizes at 0, at 1 and at a larger value. An operator counts when it failed and passes on every sample with the patch of
its repair alone, no size gives another result than eager without an error, and `verify` says proven. C++ is repaired
in the files of PyTorch 2.6.0 as far as they compile against the installed torch: there the unchanged file, swapped in,
must still fail. Then all repairs in Python at once: everything that passed must still pass, and all operators must be
equal on concrete sizes, errors included. Each repair gets its regression test, which fails before and passes after, and
the expected failures that pass with it are removed, each by running; both are in its patch. Without `--fresh` a run
goes on where the last one was.
Exit code: 0 when nothing is worse, 1 otherwise.
"""

from __future__ import annotations

import sys

from .mending import score

if __name__ == "__main__":
    sys.exit(score("unbacked-score", __doc__))

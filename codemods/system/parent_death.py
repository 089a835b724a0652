"""Termination of a worker process when its parent ends for any reason."""

from __future__ import annotations

import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when ``parent`` ends.

    On systems other than Linux, the process fails when it returns its next result. Ctrl-C, which all processes of a
    terminal receive, is left to the parent. A pool's workers hold both ends of the pipe on which they wait, so they
    never see its end.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

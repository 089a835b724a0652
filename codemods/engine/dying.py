"""A worker process ends when the one that started it does, however that ended."""

from __future__ import annotations

import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when ``parent`` is gone; without Linux, the next answer that is due fails.

    Ctrl-C, which goes to all processes of a terminal, is the parent's to answer.

    A pool's workers wait on a pipe whose other end they hold themselves: its end never comes.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

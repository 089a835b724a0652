"""Terminal of a person: a tmux session with pressed keys and a readable screen."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import uuid
from pathlib import Path
from types import TracebackType

SECONDS = 100.0
"""Time limit for text to appear on the screen. It is long, because other processes use the processors too."""


def missing() -> str:
    """Return the reason why tmux can't be used, or an empty string."""
    return "" if shutil.which("tmux") else "no tmux: apt-get install tmux"


class Screen:
    """Shell in ``folder``, 110 columns by 45 rows. All processes that are started in it carry a mark."""

    def __init__(self, folder: Path, temporary: Path, **environment: str) -> None:
        self._socket = f"symfix-{uuid.uuid4().hex[:8]}"
        self.mark = f"SYMFIX_TEST={uuid.uuid4()}"
        name, _, value = self.mark.partition("=")
        bin_folder = Path(sys.executable).parent
        around = {
            **os.environ, name: value, "PS1": "$ ", "ENV": "", "TERM": "xterm-256color", "TMPDIR": str(temporary),
            "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}", **environment,
        }  # fmt: skip
        around.pop("TMUX", None)
        around.pop("COLUMNS", None)
        # A test run in the background ignores Ctrl-C, and its children inherit that.
        start = "import os, signal; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execlp('sh', 'sh', '-i')"
        start = "import os, signal; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execlp('sh', 'sh', '-i')"
        shell = [sys.executable, "-c", start]
        self._count = 0
        self._tmux("-f", os.devnull, "new-session", "-d", "-x", "110", "-y", "45", *shell, cwd=folder, env=around)

    def __enter__(self) -> Screen:
        self.wait_for("$")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._tmux("kill-server")

    def type(self, text: str) -> None:
        """Type a line and press Enter."""
        self._tmux("send-keys", "-l", text)
        self._tmux("send-keys", "Enter")

    def press(self, key: str) -> None:
        """Press a key that tmux has a name for, such as C-c."""
        self._tmux("send-keys", key)

    def begin(self, command: str) -> None:
        """Type a command on a clean screen. Its exit code is printed after it."""
        self._count += 1
        self.type(f"clear; {command}; echo ended {self._count} with $?")

    def end(self) -> str:
        """Return the screen after the command has ended, up to ``ended with`` its code."""
        said = f"ended {self._count} with "
        seen, _, code = self.wait_for(f"\n{said}").rpartition(said)
        return f"{seen}ended with {code[:1]}"

    def wait_for(self, *texts: str) -> str:
        """Return the screen as soon as it contains all of the texts."""
        until = time.monotonic() + SECONDS
        while not all(text in (seen := self.seen()) for text in texts):
            assert time.monotonic() < until, seen
            time.sleep(0.05)
        return seen

    def seen(self) -> str:
        """Return the content of the screen, including lines that have scrolled off."""
        return self._tmux("capture-pane", "-p", "-J", "-S", "-2000")

    def running(self) -> list[str]:
        """Return the command lines of processes that the commands started and that still run."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() in (process / "environ").read_bytes().split(b"\0"):
                    found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
            except OSError:
                continue
        return [words for words in found if words and not words.startswith(("tmux", "sh -i"))]

    def _tmux(self, *words: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
        command = ["tmux", "-L", self._socket, *words]
        return subprocess.run(command, cwd=cwd, env=env, check=True, capture_output=True, text=True).stdout

"""Request of one verification, and the operator tests that it selects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..harness.opinfo_runner import BACKWARD, CONCRETE, DECOMPOSED, MADE_UP, PROTOCOLS, REGISTERED, SAMPLES, Task
from .change import Change


@dataclass(frozen=True)
class VerifyRequest:
    """Changes to prove, and the tests to run on them."""

    changes: tuple[Change, ...] = ()
    repros: tuple[Path, ...] = ()
    """Scripts, run with torch changed."""
    tests: tuple[str, ...] = ()
    """Commands run on this machine, with torch changed in every Python process that they start."""
    builds: tuple[str, ...] = ()
    """Commands that build the user's project to which the files belong. Tests and scripts run in copies of it."""
    operators: tuple[str, ...] | None = None
    """OpInfos to run. None chooses those that reach the change, unless there are ``repros`` or ``tests``."""
    complete: bool = False
    """True if the tests chosen by the change run in addition to ``operators``, so that the verdict does not depend on
    these."""
    tasks: tuple[Task, ...] = ()
    """Further tests, each under its own protocol, such as modules and backward passes."""
    bystanders: tuple[str, ...] = ()
    """Further operators that the change reaches. They run on torch's own samples, not on calls made from these."""
    protocols: tuple[str, ...] = PROTOCOLS
    against_installed: bool = False
    """True if the files after are compared with the installed torch, which shows whether the swap itself is
    harmless."""
    samples: int = SAMPLES
    """Maximum number of traced samples per operator. On concrete sizes all samples are run."""
    more: int = 0
    """Maximum number of traced samples in a second run, if the first shows no difference or leaves a changed line
    unrun."""
    drop_torchscript: bool = False
    """True if a project's function that TorchScript compiled before need not compile after."""


@dataclass(frozen=True)
class PlacedRequest(VerifyRequest):
    """Request whose files have their places: changed C++ files, and changed modules of torch by name."""

    cpp: tuple[Change, ...] = ()
    modules: Mapping[str, Change] = field(default_factory=dict)
    folder: Path = Path()
    """Working folder of the commands ``tests``."""

    @property
    def chooses(self) -> bool:
        """Return whether operator tests are chosen by the swapped kernels."""
        return not self.operators or self.complete

    def tests_of(
        self, operators: Sequence[str], bystanders: Sequence[str], *, registers: bool, formulas: bool
    ) -> list[Task]:
        """Return the tests to run, in order.

        ``registers`` is True if the change registers Python for an operator. ``formulas`` is True if formulas of
        autograd are swapped in. The statements that a call starts are traced until all were seen, so protocols with
        hundreds of calls come last.
        """
        # The results of decompositions do not depend on C++ kernels.
        protocols = [name for name in self.protocols if name != DECOMPOSED or self.modules]
        protocols += [REGISTERED] if registers else []
        protocols += [BACKWARD] if formulas else []
        tasks = [(operator, protocol) for protocol in protocols for operator in operators]
        few = [name for name in protocols if name not in MADE_UP]
        tasks += [(operator, protocol) for protocol in few for operator in bystanders]
        tasks += [task for task in self.tasks if task not in tasks]
        return sorted(tasks, key=lambda task: task[1] in MADE_UP)


def traces(task: Task) -> bool:
    """Return whether the protocol of a task traces, which is limited to some samples."""
    return task[1] not in (*CONCRETE, REGISTERED)

"""Request of one verification, and the operator tests that it selects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..lab.operators import BACKWARD, CONCRETE, DECOMPOSED, MADE_UP, PROTOCOLS, REGISTERED, SAMPLES, Task
from .change import Change


@dataclass(frozen=True)
class Question:
    """Request: changed C++ files, changed modules of torch by name, and the tests to run on them.

    With ``operators`` None, the tests are those that reach the swapped kernels.
    """

    cpp: tuple[Change, ...] = ()
    modules: Mapping[str, Change] = field(default_factory=dict)
    repros: tuple[Path, ...] = ()
    tests: tuple[str, ...] = ()
    folder: Path = Path()
    """Where the commands ``tests`` run."""
    operators: tuple[str, ...] | None = None
    complete: bool = False
    """Beside ``operators`` run what is chosen by the change alone: the verdict does not hang on who else is asked."""
    tasks: tuple[Task, ...] = ()
    """What else is run, each under its own protocol: modules, backward passes."""
    bystanders: tuple[str, ...] = ()
    """More of them, run on torch's own samples and not on calls made from these: a change reaches them too."""
    protocols: tuple[str, ...] = PROTOCOLS
    against_installed: bool = False
    """Compare with torch as it is installed instead of with the files before: is the swap itself harmless?"""
    samples: int = SAMPLES
    """At most so many samples of an operator are traced; on concrete sizes all are run."""
    more: int = 0
    """So many are traced where these show no difference, or leave a changed line unrun: another may do so."""

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

"""What one verification asks, and the operator tests that it comes to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..lab.operators import BACKWARD, CONCRETE, DECOMPOSED, MADE_UP, PROTOCOLS, REGISTERED, SAMPLES, Task
from .change import Change


@dataclass(frozen=True)
class Question:
    """What is asked: changed C++ files, changed modules of torch by name, and what to run on them.

    ``operators`` None: those that reach the kernels that could be swapped in.
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
        """Whether operator tests are chosen by what could be swapped in."""
        return not self.operators or self.complete

    def tests_of(
        self, operators: Sequence[str], bystanders: Sequence[str], *, registers: bool, formulas: bool
    ) -> list[Task]:
        """The tests to run, in order.

        ``registers``: the change registers Python for an operator. ``formulas``: formulas of autograd are swapped in.
        What a call starts is traced until all was seen, so those of which there are hundreds come last.
        """
        # No C++ kernel has a part in what the decompositions compute.
        protocols = [name for name in self.protocols if name != DECOMPOSED or self.modules]
        protocols += [REGISTERED] if registers else []
        protocols += [BACKWARD] if formulas else []
        tasks = [(operator, protocol) for protocol in protocols for operator in operators]
        few = [name for name in protocols if name not in MADE_UP]
        tasks += [(operator, protocol) for protocol in few for operator in bystanders]
        tasks += [task for task in self.tasks if task not in tasks]
        return sorted(tasks, key=lambda task: task[1] in MADE_UP)


def traces(task: Task) -> bool:
    """Whether its protocol traces, which is done for some samples alone."""
    return task[1] not in (*CONCRETE, REGISTERED)

"""Which values of a graph have to stay concrete, and which of the others stand or fall together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from .graph import FlowGraph, Refusal, Value


class Solution(NamedTuple):
    """What a graph decides.

    ``refused`` holds every value from which a sink is reached, with the first such sink in the graph's order.
    ``transactions`` are the sets of values that edges join, those with a start in them, in the order of the starts;
    there are none while something is refused.
    """

    refused: dict[Value, Refusal]
    transactions: tuple[frozenset[Value], ...]


def solve(graph: FlowGraph, starts: Iterable[Value]) -> Solution:
    """Carry refusals backwards to all that they follow from; where there are none, find what belongs together."""
    refused = _refused(graph)
    return Solution(refused, () if refused else _transactions(graph, starts))


def _refused(graph: FlowGraph) -> dict[Value, Refusal]:
    causes: dict[Value, list[Value]] = defaultdict(list)
    if graph.sinks:
        for cause, effect in graph.edges:
            causes[effect].append(cause)
    found: dict[Value, Refusal] = {}
    for value, refusal in graph.sinks:
        waiting = [value]
        while waiting:
            reached = waiting.pop()
            if reached not in found:
                found[reached] = refusal
                waiting.extend(causes[reached])
    return found


def _transactions(graph: FlowGraph, starts: Iterable[Value]) -> tuple[frozenset[Value], ...]:
    parents: dict[Value, Value] = {}

    def root(value: Value) -> Value:
        while (above := parents.setdefault(value, value)) != value:
            parents[value] = value = parents[above]
        return value

    for one, other in graph.edges:
        parents[root(one)] = root(other)
    groups: dict[Value, set[Value]] = {root(start): set() for start in starts}
    for value in list(parents):
        if (members := groups.get(root(value))) is not None:
            members.add(value)
    return tuple(frozenset(members) for members in groups.values())

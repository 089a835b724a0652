"""Which values of a graph have to stay concrete, and which of the others stand or fall together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from .graph import FlowGraph, Refusal, Value


def refused(graph: FlowGraph) -> dict[Value, Refusal]:
    """Every value from which a sink is reached, with the first such sink in the graph's order."""
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


def transactions(graph: FlowGraph, starts: Iterable[Value]) -> list[frozenset[Value]]:
    """The values that edges join, in one set each, for every set that holds a start; in the order of their starts."""
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
    return [frozenset(members) for members in groups.values()]

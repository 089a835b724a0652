"""Solver of a flow graph: the values that must stay concrete, and the sets of values that change together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from .graph import FlowGraph, Refusal, Value


class Solution(NamedTuple):
    """Solution of a flow graph.

    ``refused`` maps every value from which a sink is reachable to the first such sink in the graph's order.
    ``transactions`` are the connected sets of values that contain a start, in the order of the starts. There are none
    while something is refused.
    """

    refused: dict[Value, Refusal]
    transactions: tuple[frozenset[Value], ...]


def solve(graph: FlowGraph, starts: Iterable[Value]) -> Solution:
    """Propagate refusals backwards to their causes. If there are none, find the connected sets of values."""
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

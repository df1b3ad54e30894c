"""Cycles in a graph of names."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

Graph = Mapping[str, Mapping[str, object]]


def cycles(graph: Graph) -> list[list[str]]:
    """Return one shortest cycle of each knot of the graph, beginning with its first name.

    `graph` maps each name to the names that it needs. A name that needs itself is the cycle
    `[name]`. Names are in the graph's order. Linear in names and edges, times the size of a
    knot's shortest cycles; no recursion.
    """
    order = {name: n for n, name in enumerate(graph)}
    found = []
    for knot in _knots(graph):
        members = set(knot)
        start = min(members, key=order.__getitem__)
        if len(members) > 1 or start in graph[start]:
            found.append(_shortest(graph, start, members))
    return sorted(found, key=lambda cycle: order[cycle[0]])


def _shortest(graph: Graph, start: str, members: set[str]) -> list[str]:
    """Search breadth first from `start` back to it, inside its knot."""
    parent: dict[str, str] = {}
    queue = deque([start])
    while queue:
        name = queue.popleft()
        for needed in graph[name]:
            if needed == start:
                path = [name]
                while path[-1] != start:
                    path.append(parent[path[-1]])
                return path[::-1]
            if needed in members and needed not in parent:
                parent[needed] = name
                queue.append(needed)
    return [start]


def _knots(graph: Graph) -> list[list[str]]:
    """Return the strongly connected components: Tarjan's algorithm with its own stack."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    open_: list[str] = []
    is_open: set[str] = set()
    knots: list[list[str]] = []
    for root in graph:
        if root in number:
            continue
        work = [(root, iter(graph[root]))]
        number[root] = low[root] = len(number)
        open_.append(root)
        is_open.add(root)
        while work:
            name, needed = work[-1]
            for other in needed:
                if other not in graph:
                    continue
                if other not in number:
                    number[other] = low[other] = len(number)
                    open_.append(other)
                    is_open.add(other)
                    work.append((other, iter(graph[other])))
                    break
                if other in is_open:
                    low[name] = min(low[name], number[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == number[name]:
                    knot = [open_.pop()]
                    while knot[-1] != name:
                        knot.append(open_.pop())
                    is_open.difference_update(knot)
                    knots.append(knot)
    return knots

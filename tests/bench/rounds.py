"""Rounds of measurements that take turns, and what their ratios say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

from .report import Line

Run = Callable[[], list[float]]


def interleave(rounds: int, *runs: Run) -> list[list[list[float]]]:
    """For each run, its samples of each round. Every other round goes backwards, so that a load
    that grows or shrinks meanwhile is everyone's."""
    taken: list[list[list[float]]] = [[] for _ in runs]
    for turn in range(rounds):
        order = range(len(runs))
        for i in order if turn % 2 == 0 else reversed(order):
            taken[i].append(runs[i]())
    return taken


def compare(
    what: str,
    ours: Sequence[Sequence[float]],
    other: Sequence[Sequence[float]],
    *,
    budget: float | None = None,
    unit: str = "ms",
    note: str = "",
) -> Line:
    """The line of two sets of rounds: the median of the ratios of their medians."""
    pairs = [(median(a), median(b)) for a, b in zip(ours, other, strict=True)]
    ratios = [a / b for a, b in pairs if b > 0]
    return Line(
        what,
        median(ratios),
        budget,
        min(ratios),
        max(ratios),
        median(a for a, _ in pairs),
        median(b for _, b in pairs),
        unit,
        note,
    )


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that is at least as large as this share of them."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

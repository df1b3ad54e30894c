"""``python -m tests.bench [part ...] [--json] [--tiny]``: all parts, or those that are named."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence

from . import cold, latency, lists, pushes, report, throughput, volume, warm
from .report import Line

PARTS: dict[str, tuple[str, Callable[..., list[Line]]]] = {
    "cold": ("Cold start of the HTTP function", cold.measure),
    "warm": ("Warm requests through Mangum, in memory", warm.measure),
    "bytes": ("What a turn of 300-byte events writes", volume.measure),
    "lists": ("ListTasks with few and many tasks, SQLite", lists.measure),
    "latency": ("From the agent's word to the client's event", latency.measure),
    "throughput": ("Whole turns a second, 8 clients, uvicorn", throughput.measure),
    "pushes": ("Pushes to a quick, a slow and a failing receiver, SQLite", pushes.measure),
}

TINY: dict[str, dict[str, float]] = {
    "cold": {"rounds": 1, "looks": 1},
    "warm": {"rounds": 2, "calls": 2, "warm_up": 60},
    "bytes": {"many": 400, "looks": 1},
    "lists": {"few": 120, "many": 400, "sdk": 110, "rounds": 2, "calls": 2},
    "latency": {"turns": 1},
    "throughput": {"rounds": 1, "seconds": 0.2},
    "pushes": {"tasks": 30, "quick": 10, "sdk": 10, "delay": 0.05, "in_a_row": 1},
}
"""Sizes that show that a part runs, and nothing else."""


def measure(part: str, *, tiny: bool = False) -> list[Line]:
    """The lines of one part."""
    return PARTS[part][1](**TINY[part] if tiny else {})


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print; 0 whatever the figures are, since another machine's load is no fault."""
    parser = argparse.ArgumentParser("python -m tests.bench", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    parser.add_argument("--json", action="store_true", help="one JSON document after the tables")
    parser.add_argument("--tiny", action="store_true", help="only see that it runs")
    given = parser.parse_args(arguments)
    unknown = [part for part in given.parts if part not in PARTS]
    if unknown:
        parser.error(f"there is no part {', '.join(unknown)}; there are: {', '.join(PARTS)}")
    where = report.machine()
    print(report.heading(where), flush=True)
    taken: dict[str, Sequence[Line]] = {}
    for part in given.parts or PARTS:
        began = time.perf_counter()
        taken[part] = measure(part, tiny=given.tiny)
        title = f"{part}: {PARTS[part][0]}  ({time.perf_counter() - began:.0f} s)"
        print(report.table(title, taken[part]), flush=True)
    over = [line.what for lines in taken.values() for line in lines if line.verdict == "over"]
    print(f"\n{len(over)} over budget{': ' + '; '.join(over) if over else ''}")
    if given.json:
        print(json.dumps(report.as_json(where, taken), indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())

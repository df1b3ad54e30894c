"""What was measured, as lines of a table and as JSON."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGES = ("a2a-fn", "a2a-sdk", "protobuf", "starlette", "mangum", "uvicorn", "httpx")


@dataclass(frozen=True, slots=True)
class Line:
    """One measured figure. ``ours`` and ``other`` in ``unit``; ``value`` is what the budget is
    about: a ratio (median of the rounds, with its ``low`` and ``high``), a count or a time."""

    what: str
    value: float
    budget: float | None = None  # at most; None: shown only
    low: float | None = None
    high: float | None = None
    ours: float | None = None
    other: float | None = None
    unit: str = ""
    note: str = ""

    @property
    def verdict(self) -> str:
        """``ok``, ``over``, or a dash where there is no budget."""
        if self.budget is None:
            return "-"
        return "ok" if self.value <= self.budget else "over"


def machine() -> dict[str, Any]:
    """Where this was measured."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "load": [round(n, 1) for n in os.getloadavg()],
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": sys.version.split()[0],
        "packages": {name: metadata.version(name) for name in PACKAGES},
    }


def _cpu() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor() or "unknown"
    names = [line.partition(":")[2].strip() for line in text.splitlines() if "model name" in line]
    return names[0] if names else platform.machine()


def heading(where: dict[str, Any]) -> str:
    """The lines above the tables."""
    packages = " · ".join(f"{name} {version}" for name, version in where["packages"].items())
    return (
        f"{where['cpu']}, {where['cores']} cores, load {where['load'][0]} · {where['system']}\n"
        f"Python {where['python']} · {packages}\n"
        "Times are ratios of interleaved rounds (median, lowest to highest round): absolute\n"
        "figures beside them are this machine's, at this load. Counts are exact."
    )


def table(title: str, lines: Sequence[Line]) -> str:
    """A part's lines, aligned."""
    head = ("", "value", "range", "budget", "", "ours", "other", "")
    body = [
        (
            line.what,
            number(line.value),
            f"{number(line.low)} - {number(line.high)}" if line.low is not None else "",
            "" if line.budget is None else f"<= {number(line.budget)}",
            line.verdict,
            number(line.ours),
            number(line.other),
            line.unit,
        )
        for line in lines
    ]
    widths = [max(len(row[i]) for row in (head, *body)) for i in range(len(head))]
    out = [f"\n{title}"]
    for row in (head, *body):
        cells = [
            cell.ljust(width) if i in (0, 4, 7) else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        out.append(("  " + "  ".join(cells)).rstrip())
    out += [f"    {line.what}: {line.note}" for line in lines if line.note]
    return "\n".join(out)


def number(value: float | None) -> str:
    """Three figures that count, none after the point from 1,000 on."""
    if value is None:
        return ""
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    places = 3 if abs(value) < 1 else 2 if abs(value) < 100 else 0
    return f"{value:.{places}f}"


def as_json(where: dict[str, Any], parts: dict[str, Sequence[Line]]) -> dict[str, Any]:
    """All of it as one document."""
    return {
        "machine": where,
        "parts": {
            name: [{**asdict(line), "verdict": line.verdict} for line in lines]
            for name, lines in parts.items()
        },
    }

"""Cold start: a fresh interpreter imports the HTTP function and answers its first request."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from typing import Any

from .child import ROOT
from .report import Line
from .rounds import compare, interleave

ENVIRONMENT = {"A2A_FN_ENGINE": "memory", "A2A_FN_AGENT": "echo:"}
SIDES = ("ours", "sdk")


def measure(rounds: int = 9) -> list[Line]:
    """CPU of interpreter, import and first answer, and what was loaded."""
    for side in SIDES:
        start(side)  # so that every .pyc is there
    ours, sdk = interleave(rounds, lambda: [start("ours")], lambda: [start("sdk")])  # type: ignore
    flat = [[run for (run,) in taken] for taken in (ours, sdk)]

    def spent(side: int, key: str) -> list[list[float]]:
        return [[run[key]] for run in flat[side]]  # type: ignore[index]

    def line(what: str, key: str, budget: float | None = None, note: str = "") -> Line:
        return compare(what, spent(0, key), spent(1, key), budget=budget, note=note)

    modules = [flat[side][0]["modules"] for side in (0, 1)]  # type: ignore[index]
    return [
        line(
            "CPU of interpreter, import and first answer",
            "cpu",
            0.4,
            "SendMessage with returnImmediately through Mangum, memory engine; "
            "functions/http.py against the SDK's app",
        ),
        line("  without the interpreter itself", "own_cpu"),
        line("  import and set-up alone", "import_cpu"),
        line("  wall time", "wall"),
        Line(
            "modules loaded",
            modules[0] / modules[1],
            ours=modules[0],
            other=modules[1],
            unit="modules",
        ),
        Line("heaviest of ours, by importtime", 0, note="\n" + heaviest("ours")),
    ]


def start(side: str) -> dict[str, Any]:
    """One cold start: its figures in ms, and how many modules it loaded."""
    done = _run(side, [])
    if done.returncode:
        raise RuntimeError(f"cold start of {side}: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _run(side: str, options: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *options, str(ROOT / "tests" / "bench" / "cold_start.py"), side],
        cwd=ROOT,
        env={**os.environ, **ENVIRONMENT, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )


def heaviest(side: str, top: int = 12) -> str:
    """Which packages the import's time goes to, as the interpreter itself counts (best of 3)."""
    best: Counter[str] = Counter()
    for _ in range(3):
        spent: Counter[str] = Counter()
        for row in _run(side, ["-X", "importtime"]).stderr.splitlines():
            cells = row.removeprefix("import time:").split("|")
            if row.startswith("import time:") and cells[0].strip().isdigit():
                spent[_package(cells[2].strip())] += int(cells[0])
        best = Counter({k: min(n, best.get(k, n)) for k, n in spent.items()})
    total = sum(best.values())
    rows = [f"      {n / 1000:6.1f} ms  {n / total:4.0%}  {k}" for k, n in best.most_common(top)]
    return "\n".join(rows)


def _package(module: str) -> str:
    first, _, rest = module.partition(".")
    deeper = {"google", "a2a", "a2a_fn"}
    return f"{first}.{rest.partition('.')[0]}" if first in deeper and rest else first

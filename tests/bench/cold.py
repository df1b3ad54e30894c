"""Cold start: a fresh interpreter imports the HTTP function and answers its first request."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from .child import ROOT
from .report import Line
from .rounds import compare

ENVIRONMENT = {"A2A_FN_ENGINE": "memory", "A2A_FN_AGENT": "echo:"}
SIDES = ("ours", "sdk", "floor")


def measure(rounds: int = 9, looks: int = 3) -> list[Line]:
    """CPU of interpreter, import and first answer, and what was loaded."""
    with TemporaryDirectory() as compiled:
        return _measure(Path(compiled), rounds, looks)


def _measure(compiled: Path, rounds: int, looks: int) -> list[Line]:
    for side in SIDES:
        start(side, compiled)  # so that every .pyc is there
    taken: dict[str, list[dict[str, float]]] = {side: [] for side in SIDES}
    for turn in range(rounds):
        for side in SIDES if turn % 2 == 0 else reversed(SIDES):
            taken[side].append(start(side, compiled))

    def line(
        what: str, key: str, *, side: str = "ours", budget: float | None = None, note: str = ""
    ) -> Line:
        ours, sdk = ([[run[key]] for run in taken[name]] for name in (side, "sdk"))
        return compare(what, ours, sdk, budget=budget, note=note)

    modules = [taken[side][0]["modules"] for side in SIDES]
    return [
        line(
            "CPU of interpreter, import, first answer",
            "cpu",
            budget=0.4,
            note="functions/http.py against the SDK's app, under Mangum: SendMessage with "
            "returnImmediately, memory engine",
        ),
        line("  without the interpreter itself", "own_cpu"),
        line("  wall time", "wall"),
        line(
            "  the floor alone",
            "cpu",
            side="floor",
            note="asyncio, json, logging, A2A's proto types and errors, Mangum; no answer",
        ),
        Line(
            "modules loaded",
            modules[0] / modules[1],
            ours=modules[0],
            other=modules[1],
            unit="modules",
            note=f"{modules[2]:.0f} of them in the floor. Import time of ours above it:\n"
            + heaviest(compiled, looks),
        ),
    ]


def start(side: str, compiled: Path) -> dict[str, float]:
    """One cold start: its figures in ms, and how many modules it loaded."""
    done = _run(side, compiled, [])
    if done.returncode:
        raise RuntimeError(f"cold start of {side}: {done.stderr[-2000:]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _run(side: str, compiled: Path, options: list[str]) -> subprocess.CompletedProcess[str]:
    # A folder of our own for bytecode: both sides then start from .pyc, as a package that was
    # built for a function has them, whatever this shell or this checkout says about writing them.
    environment = {**os.environ, **ENVIRONMENT, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTHONPYCACHEPREFIX"] = str(compiled)
    return subprocess.run(
        [sys.executable, *options, str(Path(__file__).with_name("cold_start.py")), side],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )


def heaviest(compiled: Path, looks: int, top: int = 10) -> str:
    """The modules above the floor that cost most, as the interpreter counts (best of the looks)."""
    spent = {side: _import_times(side, compiled, looks) for side in ("ours", "floor")}
    extra = {k: n for k, n in spent["ours"].items() if k not in spent["floor"]}
    total = sum(extra.values())
    ordered = sorted(extra.items(), key=lambda item: -item[1])
    rows = [f"      {n / 1000:5.1f} ms  {n / total:4.0%}  {module}" for module, n in ordered[:top]]
    return "\n".join(rows)


def _import_times(side: str, compiled: Path, looks: int) -> dict[str, int]:
    """Microseconds of each module itself, without what it imports."""
    best: dict[str, int] = {}
    for _ in range(looks):
        for row in _run(side, compiled, ["-X", "importtime"]).stderr.splitlines():
            spent, _, module = row.removeprefix("import time:").rpartition("|")
            spent = spent.partition("|")[0].strip()
            if row.startswith("import time:") and spent.isdigit():
                name = module.strip()
                best[name] = min(best.get(name, int(spent)), int(spent))
    return best

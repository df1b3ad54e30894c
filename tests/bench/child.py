"""A process of its own for what is measured, so that neither side pays for the other's heap.

``Child("module:function", **arguments)`` calls the function in a fresh interpreter; it returns
named operations, and ``run`` calls one of them n times and says what each call took.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Sample:
    """What each call took, in ms: of the process's CPU (all its threads), and of wall time."""

    cpu: list[float]
    wall: list[float]


class Child:
    """The parent's side; a context manager that ends the process."""

    def __init__(self, factory: str, **arguments: Any) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.bench.child", factory, json.dumps(arguments)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            self._answer()
        except RuntimeError:
            self.close()
            raise

    def run(self, operation: str, times: int) -> Sample:
        """Call the operation so many times. Raises RuntimeError with what went wrong in there."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([operation, times]) + "\n")
        self._process.stdin.flush()
        return Sample(**self._answer())

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        answer = json.loads(line) if line else {"error": "the process ended"}
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


def _main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever prints must not end up between the answers
    module, _, function = sys.argv[1].partition(":")
    try:
        factory = getattr(importlib.import_module(module), function)
        operations = factory(**json.loads(sys.argv[2]))
        answers.write("{}\n")
        answers.flush()
        for line in sys.stdin:
            name, times = json.loads(line)
            answers.write(json.dumps(_timed(operations[name], times)) + "\n")
            answers.flush()
    except Exception as error:
        answers.write(json.dumps({"error": f"{sys.argv[1]}: {error!r}"}) + "\n")
        answers.flush()


def _timed(operation: Any, times: int) -> dict[str, list[float]]:
    cpu, wall = [], []
    for _ in range(times):
        began, spent = time.perf_counter_ns(), time.process_time_ns()
        operation()
        cpu.append((time.process_time_ns() - spent) / 1e6)
        wall.append((time.perf_counter_ns() - began) / 1e6)
    return {"cpu": cpu, "wall": wall}


if __name__ == "__main__":
    _main()

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .server import Process


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Start a process on this test's data folder: ``start("serve", "--agent", ...)``."""
    running: list[Process] = []

    def run(command: str, *arguments: str, **env: str) -> Process:
        where = ["--port", "0"] if command == "serve" else []
        data = ["--data", str(tmp_path / "data")]
        process = Process(command, *where, *data, *arguments, env={"A2A_FN_LEASE": "2", **env})
        running.append(process)
        return process

    yield run
    for process in running:
        process.end()


@pytest.fixture
def gate(tmp_path: Path) -> Callable[[int], None]:
    """Open the gate before line n of the ``Steps`` agent."""
    folder = tmp_path / "gate"
    folder.mkdir()

    def open_gate(n: int) -> None:
        (folder / str(n)).touch()

    return open_gate

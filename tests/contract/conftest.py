"""One fixture per port, over all engines: to add an engine, add a line to each table.

A line is a function of (folder of the test, clock, options of the engine). An engine that has a
``close`` is closed after the test.
"""

from __future__ import annotations

import pytest

from a2a_fn.engines.memory import MemoryBlobs, MemoryQueue, MemoryRows
from a2a_fn.engines.sqlite import FileBlobs, SqliteQueue, SqliteRows

ROWS = {
    "memory": lambda folder, clock: MemoryRows(clock=clock),
    "memory-sequential": lambda folder, clock: MemoryRows(atomic=False, clock=clock),
    "sqlite": lambda folder, clock: SqliteRows(folder / "a2a.db", clock=clock),
}
SEQUENTIAL = {"memory-sequential"}  # those that do the changes of a write one by one

QUEUES = {
    "memory": lambda folder, clock, **limits: MemoryQueue(clock=clock, **limits),
    "sqlite": lambda folder, clock, **limits: SqliteQueue(
        folder / "a2a.db", "turns", clock=clock, **limits
    ),
}

BLOBS = {
    "memory": lambda folder: MemoryBlobs(),
    "files": lambda folder: FileBlobs(folder / "blobs"),
}


class ManualClock:
    """A clock that the test moves."""

    def __init__(self, now: int = 1_796_000_000_000) -> None:
        self._now = now

    def now(self) -> int:
        return self._now

    def forward(self, seconds: float) -> None:
        self._now += round(seconds * 1000)


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture(params=list(ROWS))
def rows_engine(request):
    return request.param


@pytest.fixture
def atomic(rows_engine):
    """Whether a write of the engine under test is all or nothing."""
    return rows_engine not in SEQUENTIAL


@pytest.fixture
async def rows(rows_engine, tmp_path, clock):
    engine = ROWS[rows_engine](tmp_path, clock)
    yield engine
    await _close(engine)


@pytest.fixture(params=list(QUEUES))
async def make_queue(request, tmp_path, clock):
    """Make the queue under test with other limits."""
    made = []

    def make(**limits):
        made.append(QUEUES[request.param](tmp_path, clock, **limits))
        return made[-1]

    yield make
    for engine in made:
        await _close(engine)


@pytest.fixture
def queue(make_queue):
    """A queue with a time-out of 60 seconds and 3 receipts."""
    return make_queue(visible_after=60.0, max_receives=3)


@pytest.fixture(params=list(BLOBS))
async def blobs(request, tmp_path):
    engine = BLOBS[request.param](tmp_path)
    yield engine
    await _close(engine)


async def _close(engine) -> None:
    if hasattr(engine, "close"):
        await engine.close()

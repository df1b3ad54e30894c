"""One fixture per port, over all engines: to add an engine, add a line to each table.

A line is a function of (place, clock, options of the engine). The place is the folder of the test,
or what the fixture gives that PLACES names. An engine with a ``close`` is closed after the test.
"""

from __future__ import annotations

import pytest
from tests.redis_server import running

from a2a_fn.engines.memory import MemoryBlobs, MemoryQueue, MemoryRows
from a2a_fn.engines.redis import RedisRows
from a2a_fn.engines.redis_link import RedisLink
from a2a_fn.engines.redis_queue import RedisQueue
from a2a_fn.engines.sqlite import FileBlobs, SqliteQueue, SqliteRows

ROWS = {
    "memory": lambda folder, clock: MemoryRows(clock=clock),
    "memory-sequential": lambda folder, clock: MemoryRows(atomic=False, clock=clock),
    "sqlite": lambda folder, clock: SqliteRows(folder / "a2a.db", clock=clock),
    "redis": lambda server, clock: RedisRows(RedisLink(server.url), clock=clock),
    "redis-cluster": lambda server, clock: RedisRows(
        RedisLink(f"{server.url}?cluster=yes"), clock=clock
    ),
}
SEQUENTIAL = {"memory-sequential"}  # those that do the changes of a write one by one
PLACES = {"redis": "redis", "redis-cluster": "redis_cluster"}

QUEUES = {
    "memory": lambda folder, clock, **limits: MemoryQueue(clock=clock, **limits),
    "sqlite": lambda folder, clock, **limits: SqliteQueue(
        folder / "a2a.db", "turns", clock=clock, **limits
    ),
    "redis": lambda server, clock, visible_after=60.0, **limits: RedisQueue(
        RedisLink(server.url), "turns", clock=clock, lease=round(visible_after * 1000), **limits
    ),
    "redis-cluster": lambda server, clock, visible_after=60.0, **limits: RedisQueue(
        RedisLink(f"{server.url}?cluster=yes"),
        "{turns}",
        clock=clock,
        lease=round(visible_after * 1000),
        **limits,
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


@pytest.fixture(scope="session")
def redis_server():
    """One server for all tests."""
    with running() as server:
        yield server


@pytest.fixture
def redis(redis_server):
    """The server, empty."""
    redis_server.ask("FLUSHALL")
    return redis_server


@pytest.fixture(scope="session")
def redis_cluster_server():
    """A cluster of one node: it refuses scripts over several hash tags like any other."""
    with running("--cluster-enabled", "yes") as server:
        server.ask("CLUSTER", "ADDSLOTS", *range(16384))
        while b"cluster_state:ok" not in server.ask("CLUSTER", "INFO"):
            pass  # it joins itself within a second or two
        yield server


@pytest.fixture
def redis_cluster(redis_cluster_server):
    """The cluster, empty."""
    redis_cluster_server.ask("FLUSHALL")
    return redis_cluster_server


@pytest.fixture
async def rows(rows_engine, request, clock):
    engine = ROWS[rows_engine](_place(request, rows_engine), clock)
    yield engine
    await _close(engine)


@pytest.fixture(params=list(QUEUES))
async def make_queue(request, clock):
    """Make the queue under test with other limits."""
    made = []

    def make(**limits):
        made.append(QUEUES[request.param](_place(request, request.param), clock, **limits))
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


def _place(request, engine):
    return request.getfixturevalue(PLACES.get(engine, "tmp_path"))


async def _close(engine) -> None:
    if hasattr(engine, "close"):
        await engine.close()

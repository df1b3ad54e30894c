"""The durable core on a real Redis: each schedule must go as it does on the rows in memory."""

from __future__ import annotations

import pytest
from tests.redis_server import running
from tests.simulation.redis_rows import on_redis
from tests.simulation.run import MODES
from tests.simulation.schedule import play

QUICK, FULL = 6, 120  # schedules per mode


@pytest.fixture(scope="module")
def port():
    with running() as server:
        yield server.port


def compare(port, mode, seeds):
    """Every result counts: the law that broke if any, each row change and its time, all cases."""
    for seed in seeds:
        expected = play(seed, atomic=mode == "atomic")
        with on_redis(port):
            found = play(seed, atomic=mode == "atomic")
        assert not found.broken, f"seed {seed}: {found.broken}"
        assert found == expected, f"seed {seed}"


@pytest.mark.parametrize("mode", MODES)
def test_no_schedule_breaks_a_law_on_redis(port, mode):
    compare(port, mode, range(1, 1 + QUICK))


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_no_schedule_of_some_hundred_breaks_a_law_on_redis(port, mode):
    compare(port, mode, range(1000, 1000 + FULL))

"""What only the memory engines can do: break where the test wants it."""

from __future__ import annotations

import asyncio

import pytest

from a2a_fn.engines import memory_queue
from a2a_fn.engines.memory import Crashed, MemoryQueue, MemoryRows
from a2a_fn.errors import Conflict
from a2a_fn.ports import ABSENT, OLDER, Delete, Put

WRITE = [Put("p", "a", b""), Put("p", "b", b""), Put("p", "c", b"")]


async def keys(rows):
    return "".join(row.key for row in await rows.scan("p"))


@pytest.mark.parametrize(("landing", "left"), [(0, ""), (1, "a"), (2, "ab")])
async def test_sequential_rows_crash_between_two_changes(clock, landing, left):
    rows = MemoryRows(atomic=False, clock=clock)
    rows.crash_after(landing)
    with pytest.raises(Crashed):
        await rows.write(WRITE)
    assert await keys(rows) == left


@pytest.mark.parametrize(("landing", "left"), [(0, ""), (1, "abc"), (2, "abc")])
async def test_atomic_rows_crash_before_or_behind_a_write(clock, landing, left):
    rows = MemoryRows(clock=clock)
    rows.crash_after(landing)
    with pytest.raises(Crashed):
        await rows.write(WRITE)
    assert await keys(rows) == left


@pytest.mark.parametrize("atomic", [True, False])
async def test_the_write_that_uses_up_the_changes_is_answered(clock, atomic):
    rows = MemoryRows(atomic=atomic, clock=clock)
    rows.crash_after(3)
    await rows.write(WRITE)
    with pytest.raises(Crashed):
        await rows.write([Delete("p", "a")])
    assert await keys(rows) == "abc"


@pytest.mark.parametrize("atomic", [True, False])
async def test_a_crash_lasts_until_it_is_healed(clock, atomic):
    rows = MemoryRows(atomic=atomic, clock=clock)
    rows.crash_after(0)
    for _ in range(3):
        with pytest.raises(Crashed):
            await rows.write(WRITE)
    rows.heal()
    await rows.write(WRITE)
    assert await keys(rows) == "abc"


@pytest.mark.parametrize("atomic", [True, False])
async def test_only_changes_that_land_are_counted(clock, atomic):
    rows = MemoryRows(atomic=atomic, clock=clock)
    await rows.write([Put("p", "a", b"", order=5)])
    rows.crash_after(1)
    await rows.write([Put("p", "a", b"", OLDER, order=5)])
    with pytest.raises(Conflict):
        await rows.write([Put("p", "a", b"", ABSENT)])
    await rows.write([Put("p", "b", b"")])
    with pytest.raises(Crashed):
        await rows.write([Put("p", "c", b"")])


async def test_no_handler_of_exceptions_survives_a_crash():
    assert not issubclass(Crashed, Exception)


async def test_sequential_writes_let_others_in_between_two_changes(clock):
    rows = MemoryRows(atomic=False, clock=clock)
    writes = [[Put("p", f"{me}{n}", b"") for n in range(3)] for me in "xy"]
    seen = []

    async def watch():
        for _ in range(4):
            seen.append(await keys(rows))
            await asyncio.sleep(0)

    await asyncio.gather(rows.write(writes[0]), rows.write(writes[1]), watch())
    assert seen == ["x0y0", "x0x1y0y1", "x0x1x2y0y1y2", "x0x1x2y0y1y2"]


async def test_expired_rows_do_not_pile_up(clock):
    rows = MemoryRows(clock=clock)
    for n in range(1000):
        await rows.write([Put(f"p{n}", "k", b"", expires=clock.now() + 1000)])
        clock.forward(1)
    assert len(rows._partitions) <= 2
    assert len(rows._expiring) <= 2


async def test_a_send_wakes_a_waiting_receiver_without_polling(clock, monkeypatch):
    monkeypatch.setattr(memory_queue, "_POLL", 3600)
    queue = MemoryQueue(clock=clock)
    waiting = asyncio.create_task(queue.receive(wait=3600))
    for _ in range(5):
        await asyncio.sleep(0)
    await queue.send(b"1")
    async with asyncio.timeout(5):
        assert len(await waiting) == 1

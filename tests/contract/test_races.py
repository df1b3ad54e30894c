"""Many writers, one journal; many receivers, one queue."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest

from a2a_fn.clock import SystemClock
from a2a_fn.engines.sqlite import SqliteQueue, SqliteRows
from a2a_fn.errors import Unavailable
from a2a_fn.ports import Put

from .process import slot, take_slots

SCRIPT = Path(__file__).with_name("process.py")


@contextmanager
def processes(work, folder, *names):
    """Processes that are ready for the line that starts them; killed at the end if need be."""
    running = [
        subprocess.Popen(
            [sys.executable, SCRIPT, work, folder, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in names
    ]
    try:
        for process in running:
            assert process.stdout.readline() == "ready\n"
        yield running
    finally:
        for process in running:
            process.kill()
            process.communicate()


def together(running):
    """Start all of them, wait for their ends, and return the words of all their lines."""
    for process in running:
        process.stdin.write("go\n")
        process.stdin.flush()
    outputs = [process.communicate(timeout=60)[0] for process in running]
    assert [process.returncode for process in running] == [0] * len(running)
    return [[line.split() for line in output.splitlines()] for output in outputs]


async def test_of_8_writers_one_wins_each_slot(rows):
    won = []
    writers = [f"w{n}" for n in range(8)]
    lost = await asyncio.gather(
        *(take_slots(rows, name, 200, lambda *win: won.append(win)) for name in writers)
    )
    assert sorted(n for n, _ in won) == list(range(1, 201))
    found = {row.key: row.value.decode() for row in await rows.scan("journal")}
    assert found == {slot(n): name for n, name in won}
    assert sum(lost) > 0  # they did race


async def test_of_8_writers_in_two_processes_one_wins_each_slot(tmp_path):
    with processes("race", tmp_path, "a", "b") as running:
        wins = together(running)
    won = [(int(n), name) for lines in wins for n, name in lines]
    assert sorted(n for n, _ in won) == list(range(1, 801))
    rows = SqliteRows(tmp_path / "a2a.db", clock=SystemClock())
    found = {row.key: row.value.decode() for row in await rows.scan("journal")}
    await rows.close()
    assert found == {slot(n): name for n, name in won}
    assert all(wins)  # neither process starved


async def test_8_receivers_never_share_a_message(queue):
    for n in range(100):
        await queue.send(b"%d" % n)
    received = []

    async def receiver():
        while found := await queue.receive(limit=3):
            for delivery in found:
                received.append(delivery.body)
                await queue.ack(delivery.handle)

    await asyncio.gather(*(receiver() for _ in range(8)))
    assert sorted(received, key=int) == [b"%d" % n for n in range(100)]


async def test_receivers_in_two_processes_never_share_a_message(tmp_path):
    queue = SqliteQueue(tmp_path / "a2a.db", "turns", clock=SystemClock())
    with processes("drain", tmp_path, "a", "b") as running:
        await asyncio.gather(*(queue.send(b"%d" % n) for n in range(400)))
        lines = together(running)
    received = Counter(int(body) for each in lines for body, _ in each)
    assert received == Counter(range(400))
    assert {attempt for each in lines for _, attempt in each} == {"1"}
    assert all(lines)
    assert await queue.dead() == []
    await queue.close()


async def test_a_receiver_hears_of_another_processes_send(tmp_path):
    queue = SqliteQueue(tmp_path / "a2a.db", "turns", clock=SystemClock())
    with processes("batches", tmp_path, "a") as [other]:
        waiting = asyncio.create_task(queue.receive(wait=60))
        await asyncio.sleep(0)
        other.stdin.write("go\n")
        other.stdin.flush()
        async with asyncio.timeout(10):
            [delivery] = await waiting
    assert delivery.body.startswith(b"a")
    await queue.close()


async def test_a_held_lock_is_waited_for_up_to_the_bound_and_no_longer(tmp_path, clock):
    path = tmp_path / "a2a.db"
    rows = SqliteRows(path, clock=clock, patience=5)
    await rows.write([Put("p", "k", b"1")])
    with processes("hold", tmp_path, "a") as [holder]:
        hasty = SqliteRows(path, clock=clock, patience=0.05)
        patient = asyncio.create_task(rows.write([Put("p", "k", b"2")]))
        with pytest.raises(Unavailable, match=r"a2a\.db.*locked"):
            await hasty.write([Put("p", "k", b"3")])
        assert (await rows.get("p", "k")).value == b"1"  # reads go on, past uncommitted data
        assert not patient.done()
        holder.stdin.write("let go\n")
        holder.stdin.flush()
        async with asyncio.timeout(5):
            await patient
    assert (await rows.get("p", "k")).value == b"2"
    await asyncio.gather(hasty.close(), rows.close())

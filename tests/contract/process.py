"""What a second process does in the tests of races and of crashes; run as a script.

It works in the folder or on the Redis server that it is told. It says "ready", waits for a line,
works, and says on a line each what was answered to it.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from pathlib import Path

from a2a_fn.clock import SystemClock
from a2a_fn.engines.redis import RedisRows
from a2a_fn.engines.redis_link import RedisLink
from a2a_fn.engines.redis_queue import RedisQueue
from a2a_fn.engines.sqlite import FileBlobs, SqliteQueue, SqliteRows
from a2a_fn.errors import Conflict
from a2a_fn.ports import ABSENT, Put


def rows_at(place: str) -> RedisRows | SqliteRows:
    if place.startswith("redis:"):
        return RedisRows(RedisLink(place), clock=SystemClock())
    return SqliteRows(Path(place) / "a2a.db", clock=SystemClock())


def queue_at(place: str) -> RedisQueue | SqliteQueue:
    if place.startswith("redis:"):
        return RedisQueue(RedisLink(place), "turns", clock=SystemClock())
    return SqliteQueue(Path(place) / "a2a.db", "turns", clock=SystemClock())


def slot(n: int) -> str:
    return f"J#{n:012}"


async def take_slots(rows, name: str, last: int, won=print) -> int:
    """Fill the next free slot of one journal, again and again, against whoever else does.

    Returns how often another one was faster.
    """
    lost = 0
    while True:
        tail = await rows.scan("journal", prefix="J#", reverse=True, limit=1)
        n = int(tail[0].key[2:]) + 1 if tail else 1
        if n > last:
            return lost
        await asyncio.sleep(0)  # the others read the same tail, whatever the engine
        try:
            await rows.write([Put("journal", slot(n), name.encode(), ABSENT)])
        except Conflict:
            lost += 1
        else:
            won(n, name)


async def race(place: str, name: str) -> None:
    rows = rows_at(place)
    await rows.get("journal", "open the file before the start")
    await start()
    await asyncio.gather(*(take_slots(rows, f"{name}{n}", 800) for n in range(4)))
    await rows.close()


async def drain(place: str, name: str) -> None:
    """Receive and ack until nothing has come for a second."""
    queue = queue_at(place)
    assert await queue.dead() == []
    await start()

    async def receiver() -> None:
        while received := await queue.receive(limit=3, wait=1):
            for delivery in received:
                print(delivery.body.decode(), delivery.attempt)
                await queue.ack(delivery.handle)

    await asyncio.gather(*(receiver() for _ in range(4)))
    await queue.close()


async def batches(place: str, name: str) -> None:
    """Write five rows, a message and (in a folder) a blob at a time, without an end."""
    rows, queue = rows_at(place), queue_at(place)
    await rows.get("journal", "open the file before the start")
    await start()

    async def writer(me: str) -> None:
        n = 0
        while True:
            n += 1
            batch = f"{me}-{n:06}"
            await rows.write([Put(batch, f"row{i}", bytes(2000)) for i in range(5)])
            print("rows", batch, flush=True)
            await queue.send(batch.encode())
            print("sent", batch, flush=True)

    async def keeper() -> None:
        blobs, n = FileBlobs(Path(place) / "blobs"), 0
        while True:
            n += 1
            print("blob", await blobs.put(f"{name}-{n}".encode() * 5000), flush=True)

    writers = [writer(f"{name}{i}") for i in range(4)]
    await asyncio.gather(*writers, *([] if isinstance(rows, RedisRows) else [keeper()]))


async def hold(place: str, name: str) -> None:
    """Keep the write lock, after a change that nobody may see, until the next line."""
    connection = sqlite3.connect(Path(place) / "a2a.db", isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("UPDATE rows SET value = x'00'")
    await start()
    connection.execute("ROLLBACK")
    connection.close()


async def start() -> None:
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)


if __name__ == "__main__":
    work = {"race": race, "drain": drain, "batches": batches, "hold": hold}[sys.argv[1]]
    asyncio.run(work(sys.argv[2], sys.argv[3]))

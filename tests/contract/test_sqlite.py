"""What only SQLite brings with it: a file, its other users, its errors, and the thread."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from a2a_fn.engines import sqlite_queue
from a2a_fn.engines.sqlite import SqliteQueue, SqliteRows
from a2a_fn.engines.sqlite_file import SqliteFile
from a2a_fn.errors import Conflict, NotFound, Unavailable
from a2a_fn.ports import ABSENT, Put


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a2a.db"


@pytest.fixture
async def rows(path, clock):
    rows = SqliteRows(path, clock=clock, patience=5)
    yield rows
    await rows.close()


@pytest.fixture
async def queue(path, clock):
    queue = SqliteQueue(path, "turns", clock=clock)
    yield queue
    await queue.close()


def raw(path, sql):
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def open_file(path):
    """The product's own connections to the file, to watch and to break."""
    return SqliteFile._open[str(path)]


async def a_moment():
    """Let every task run until it waits for something outside of the loop."""
    for _ in range(10):
        await asyncio.sleep(0)


async def hold_the_writer(path, gate):
    """Keep the writer thread busy until the gate opens."""
    task = asyncio.create_task(open_file(path).write(5, lambda writer: gate.wait(5)))
    await a_moment()
    return task


def threads(path):
    return [thread for thread in threading.enumerate() if thread.name == f"sqlite {path}"]


class TestTheFile:
    async def test_nothing_is_opened_before_the_first_use(self, rows, queue, path):
        assert not path.exists()
        await rows.get("p", "k")
        assert path.exists()

    async def test_only_its_owner_may_read_it(self, rows, path):
        await rows.write([Put("p", "k", b"1")])
        files = list(path.parent.iterdir())
        assert len(files) == 3
        assert {file.stat().st_mode & 0o077 for file in files} == {0}

    async def test_rows_and_queues_of_a_file_share_one_thread(self, rows, queue, path, clock):
        link = path.with_name("link.db")
        link.symlink_to(path)
        other = SqliteQueue(link, "pushes", clock=clock)
        await asyncio.gather(rows.get("p", "k"), rows.get("p", "k"), queue.send(b""), other.dead())
        assert len(threads(path)) == 1
        await asyncio.gather(rows.close(), queue.close())
        assert len(threads(path)) == 1
        await other.close()
        assert threads(path) == []

    async def test_queues_of_one_file_do_not_mix(self, queue, path, clock):
        other = SqliteQueue(path, "pushes", clock=clock)
        await queue.send(b"turn")
        assert await other.receive() == []
        handle = (await queue.receive())[0].handle
        await other.ack(handle)
        with pytest.raises(NotFound):
            await other.extend(handle, 60)
        await queue.extend(handle, 60)
        await other.close()

    async def test_it_lives_on_from_one_asyncio_run_to_the_next(self, path, clock):
        rows = SqliteRows(path, clock=clock)
        queue = SqliteQueue(path, "turns", clock=clock)

        async def first():
            await rows.write([Put("p", "k", b"1")])
            abandoned = [asyncio.create_task(queue.receive(wait=60)) for _ in range(3)]
            await asyncio.sleep(0)
            return abandoned

        async def second():
            assert (await rows.get("p", "k")).value == b"1"
            waiting = asyncio.create_task(queue.receive(wait=60))
            await asyncio.sleep(0)
            await queue.send(b"1")
            async with asyncio.timeout(5):
                assert len(await waiting) == 1
            await asyncio.gather(rows.close(), queue.close())

        await asyncio.to_thread(asyncio.run, first())
        await asyncio.to_thread(asyncio.run, second())

    def test_it_outlives_a_loop_that_ends_in_the_middle(self, path, clock):
        rows = SqliteRows(path, clock=clock)
        queue = SqliteQueue(path, "turns", clock=clock)
        gate = threading.Event()
        left_behind = []

        async def first():
            await queue.send(b"1")
            await rows.get("p", "k")
            left_behind.append(await hold_the_writer(path, gate))
            left_behind.append(asyncio.create_task(queue.receive()))
            left_behind.append(asyncio.create_task(rows.write([Put("p", "k", b"1")])))
            await a_moment()

        async def second():
            await rows.write([Put("p", "l", b"1")])
            assert [row.key for row in await rows.scan("p")] == ["k", "l"]
            async with asyncio.timeout(5):
                [delivery] = await queue.receive(wait=60)
            assert delivery.attempt == 1  # the receipt that nobody heard of was none
            await asyncio.gather(rows.close(), queue.close())

        loop = asyncio.new_event_loop()
        loop.run_until_complete(first())
        loop.close()
        gate.set()
        asyncio.run(second())

    def test_loops_in_several_threads_each_see_what_was_answered_to_them(self, path, clock):
        rows = SqliteRows(path, clock=clock)

        async def work(me):
            for n in range(150):
                await rows.write([Put(me, f"{n:03}", b"", ABSENT)])
                assert len(await rows.scan(me)) == n + 1

        with ThreadPoolExecutor() as pool:
            done = [pool.submit(asyncio.run, work(me)) for me in "abcd"]
        assert [future.result() for future in done] == [None] * 4
        asyncio.run(rows.close())

    async def test_after_close_the_next_use_opens_it_again(self, rows):
        await rows.write([Put("p", "k", b"1")])
        await rows.close()
        await rows.close()
        assert (await rows.get("p", "k")).value == b"1"

    async def test_close_finishes_the_writes_that_were_asked_for(self, rows):
        await rows.get("p", "k")
        writing = [asyncio.create_task(rows.write([Put("p", f"{n}", b"")])) for n in range(50)]
        await asyncio.sleep(0)
        await rows.close()
        await asyncio.gather(*writing)
        assert len(await rows.scan("p")) == 50

    async def test_who_uses_a_closed_file_hears_of_it(self, path):
        file = await asyncio.to_thread(SqliteFile.enter, str(path), 1)
        await asyncio.to_thread(file.leave)
        with pytest.raises(Unavailable, match="closed"):
            await file.write(1, lambda writer: None)
        with pytest.raises(Unavailable, match="closed"):
            await file.read(1, "SELECT 1", ())


class TestTheDisk:
    async def test_a_full_disk_is_unavailable_and_writes_go_on_after_it(self, rows, path):
        await rows.write([Put("p", "k", b"1")])
        file = open_file(path)
        file._writer.execute("PRAGMA max_page_count = 20")
        with pytest.raises(Unavailable, match=r"a2a\.db.*full"):
            await rows.write([Put("p", "a", b""), Put("p", "big", bytes(300_000))])
        assert [row.key for row in await rows.scan("p")] == ["k"]
        file._writer.execute("PRAGMA max_page_count = 1000000")
        await rows.write([Put("p", "big", bytes(300_000))])
        assert len(await rows.scan("p")) == 2


class TestGroups:
    async def test_what_breaks_in_a_group_takes_nothing_else_with_it(self, rows, path):
        await rows.write([Put("p", "taken", b"0")])
        wanted = [rows.write([Put("p", f"{n}", b"1")]) for n in range(20)]
        broken = [
            rows.write([Put("p", "half", b"2"), Put("p", "taken", b"2", ABSENT)]),
            rows.write([Put("p", "half", b"3"), Put("p", "wrong", "text".encode, order=0)]),
        ]
        results = await asyncio.gather(*wanted[:10], *broken, *wanted[10:], return_exceptions=True)
        assert results[:10] == results[12:] == [None] * 10
        assert isinstance(results[10], Conflict)
        assert isinstance(results[11], TypeError)
        assert {row.key for row in await rows.scan("p")} == {"taken", *map(str, range(20))}

    async def test_writes_that_wait_are_committed_together(self, rows, path):
        await rows.write([Put("p", "k", b"1")])
        file = open_file(path)
        said = []
        file._writer.set_trace_callback(said.append)
        await asyncio.gather(*(rows.write([Put("p", f"{n}", b"")]) for n in range(200)))
        file._writer.set_trace_callback(None)
        assert said.count("SAVEPOINT job") == 200
        assert 1 <= said.count("COMMIT") < 50

    async def test_a_cancelled_write_leaves_the_others_alone(self, rows):
        await rows.get("p", "k")
        writing = [asyncio.create_task(rows.write([Put("p", f"{n}", b"")])) for n in range(20)]
        await asyncio.sleep(0)
        for task in writing[::2]:
            task.cancel()
        results = await asyncio.gather(*writing, return_exceptions=True)
        assert results[1::2] == [None] * 10
        assert {f"{n}" for n in range(1, 20, 2)} <= {row.key for row in await rows.scan("p")}


class TestReceipts:
    async def test_a_receipt_that_nobody_hears_of_is_none(self, queue, path):
        await queue.send(b"1")
        gate = threading.Event()
        holding = await hold_the_writer(path, gate)
        receiving = asyncio.create_task(queue.receive())
        await a_moment()
        receiving.cancel()
        gate.set()
        await asyncio.gather(receiving, holding, return_exceptions=True)
        async with asyncio.timeout(5):
            [delivery] = await queue.receive(wait=60)
        assert delivery.attempt == 1


class TestCosts:
    async def test_reading_the_tail_of_a_journal_does_not_cost_the_journal(self, rows, path):
        async def steps(**options):
            count = [0]
            file = open_file(path)
            file._reader.set_progress_handler(lambda: count.__setitem__(0, count[0] + 1), 10)
            await rows.scan("p", prefix="J#", **options)
            file._reader.set_progress_handler(None, 0)
            return count[0]

        for n in range(0, 2000, 200):
            await rows.write([Put("p", f"J#{n + i:06}", b"") for i in range(200)])
        assert await steps() > 1000  # the measure works
        assert await steps(after="J#001998") < 20
        assert await steps(after="J#000001", reverse=True) < 20
        assert await steps(limit=1) < 20
        assert await steps(limit=1, reverse=True) < 20

    async def test_expired_rows_are_removed_now_and_then(self, rows, path, clock):
        for n in range(20):
            ends = clock.now() + 1000
            await rows.write([Put("p", f"{n}-{i}", b"", expires=ends) for i in range(10)])
        clock.forward(3600)
        for n in range(300):
            await rows.write([Put("q", "k", b"%d" % n)])
        assert raw(path, "SELECT count(*) FROM rows") == [(1,)]

    async def test_a_send_wakes_a_waiting_receiver_without_polling(self, queue, monkeypatch):
        monkeypatch.setattr(sqlite_queue, "_POLL_FIRST", 3600)
        monkeypatch.setattr(sqlite_queue, "_POLL_LAST", 3600)
        await queue.dead()
        waiting = [asyncio.create_task(queue.receive(wait=3600)) for _ in range(3)]
        for n in range(3):
            await asyncio.sleep(0)
            await queue.send(b"%d" % n)
        async with asyncio.timeout(5):
            assert [len(received) for received in await asyncio.gather(*waiting)] == [1, 1, 1]

    async def test_idle_receivers_do_not_keep_waking_each_other(self, queue, path, monkeypatch):
        monkeypatch.setattr(sqlite_queue, "_POLL_FIRST", 3600)
        monkeypatch.setattr(sqlite_queue, "_POLL_LAST", 3600)
        await queue.dead()
        file = open_file(path)
        looks = []
        file._reader.set_trace_callback(looks.append)
        waiting = [asyncio.create_task(queue.receive(wait=3600)) for _ in range(4)]
        await asyncio.sleep(0)
        await queue.send(b"later", delay=7200)
        for _ in range(100):
            await asyncio.sleep(0)
        file._reader.set_trace_callback(None)
        assert len(looks) <= 5
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

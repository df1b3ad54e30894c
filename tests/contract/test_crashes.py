"""``kill -9`` in the middle: what was answered is there, and nothing is there by half."""

from __future__ import annotations

import asyncio
import hashlib
import signal
import sqlite3

from a2a_fn.clock import SystemClock
from a2a_fn.engines.sqlite import FileBlobs, SqliteQueue, SqliteRows

from .test_races import processes


def run_and_kill(folder, name, after):
    """Let a process write, kill it once it has said ``after`` lines; all that it has said."""
    with processes("batches", folder, name) as [process]:
        process.stdin.write("go\n")
        process.stdin.flush()
        lines = [process.stdout.readline() for _ in range(after)]
        process.send_signal(signal.SIGKILL)
        said = "".join(lines) + process.stdout.read()
    # A line without an end was cut by the kill: it was not said.
    return [line.split() for line in said.splitlines(keepends=True) if line.endswith("\n")]


async def test_every_answered_write_is_there_and_each_batch_is_whole(tmp_path):
    answered = []
    for name, after in [("a", 40), ("b", 333), ("c", 1000)]:
        answered += run_and_kill(tmp_path, name, after)
    said = {kind: {what for k, what in answered if k == kind} for kind in ("rows", "sent", "blob")}
    assert all(len(whats) > 5 for whats in said.values())

    clock = SystemClock()
    rows = SqliteRows(tmp_path / "a2a.db", clock=clock)
    queue = SqliteQueue(tmp_path / "a2a.db", "turns", clock=clock)
    blobs = FileBlobs(tmp_path / "blobs")
    for batch in said["rows"]:
        assert [row.key for row in await rows.scan(batch)] == [f"row{i}" for i in range(5)]
    received = {delivery.body.decode() for delivery in await queue.receive(limit=100_000)}
    assert said["sent"] <= received
    for key in said["blob"]:
        assert hashlib.sha256(await blobs.get(key)).hexdigest() == key
    await asyncio.gather(rows.close(), queue.close())

    connection = sqlite3.connect(tmp_path / "a2a.db")
    counts = connection.execute("SELECT count(*) FROM rows GROUP BY partition").fetchall()
    assert {count for (count,) in counts} == {5}
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    for file in (tmp_path / "blobs").rglob("??/??/" + "?" * 64):
        assert hashlib.sha256(file.read_bytes()).hexdigest() == file.name

"""One SQLite file: read on the event loop, written by one thread with group commit.

Rows and queues of a file share one ``SqliteFile`` per process, found by the file's path. SQLite
lets one connection write at a time; when many threads or connections of a process compete for
that, some of them starve for hundreds of milliseconds. So one thread writes for all, and it puts
all writes that wait into one transaction: the disk is asked once (fsync) for many of them.
"""

from __future__ import annotations

import asyncio
import os
import queue
import random
import sqlite3
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from a2a_fn.engines.bell import Bell
from a2a_fn.engines.sqlite_schema import busy, open_file, translated
from a2a_fn.errors import Unavailable

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]

_GROUP = 256  # writes in one transaction; bounds how long the first of them waits for the last


@dataclass(slots=True, eq=False)
class _Job:
    run: Work[Any]
    deadline: float  # of time.monotonic()
    answer: asyncio.Future[Any] | None = None  # None: nobody waits
    undo: Callable[[sqlite3.Connection, Any], object] | None = None
    result: Any = None
    error: Exception | None = None


class SqliteFile:
    """A file's connections and its writer thread, for all its users in this process."""

    _open: ClassVar[dict[str, SqliteFile]] = {}
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, path: str, patience: float) -> None:
        self._path = path
        self._users = 0
        self._closed = False  # for callers: nothing more may be put
        self._ended = False  # for the thread: nothing more will come
        # All statements of a connection that are under way share the snapshot of the first one: a
        # second loop in another thread would be shown what was there before its read began.
        self._reading = threading.Lock()
        self._gate = threading.Lock()  # no job is put behind the None that ends the thread
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._bells: defaultdict[str, Bell] = defaultdict(Bell)
        self._reader, self._writer = open_file(path, patience)
        # A daemon: a host that never closes can still exit. What was answered is on the disk.
        self._thread = threading.Thread(target=self._work, name=f"sqlite {path}", daemon=True)
        self._thread.start()

    @classmethod
    def enter(cls, path: str, patience: float) -> SqliteFile:
        """The file at the real path ``path``, opened if this process has not. Blocks."""
        with cls._lock:
            file = cls._open.get(path)
            if file is None:
                file = cls._open[path] = cls(path, patience)
            file._users += 1
            return file

    def leave(self) -> None:
        """Give back what ``enter`` gave; when the last user leaves, the file is closed. Blocks."""
        with self._lock:
            self._users -= 1
            if self._users:
                return
            del self._open[self._path]
            with self._gate:
                self._closed = True
                self._jobs.put(None)
            self._thread.join()
            self._reader.close()
            self._writer.close()

    def bell(self, name: str) -> Bell:
        """The bell of the queue ``name``, shared by all objects for it in this process."""
        return self._bells[name]

    async def read(self, patience: float, sql: str, values: tuple[object, ...]) -> list[Any]:
        """All rows of one SELECT, a snapshot of what is committed when it begins.

        It runs on the event loop's thread: such a read takes microseconds out of the page cache,
        a hop to another thread and back takes many times that. In WAL mode no writer makes it
        wait; only a process that just opens or recovers the file can, and then the loop goes on.
        """
        end = time.monotonic() + patience
        while not self._closed:
            try:
                with self._reading:
                    return self._reader.execute(sql, values).fetchall()
            except sqlite3.Error as error:
                if not busy(error) or time.monotonic() > end:
                    raise translated(error, self._path) from error
            await asyncio.sleep(0.005)
        raise Unavailable(f"{self._path} has been closed")

    async def write(
        self,
        patience: float,
        run: Work[T],
        undo: Callable[[sqlite3.Connection, T], object] | None = None,
    ) -> T:
        """Run ``run`` in a transaction on the writer thread; return its result once committed.

        What it raises undoes its own changes and nobody else's. ``undo`` is run with the result
        when the caller was cancelled meanwhile and never heard of it.
        """
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._put(_Job(run, time.monotonic() + patience, answer, undo))
        return await answer

    def _put(self, job: _Job) -> None:
        with self._gate:
            if self._closed:
                raise Unavailable(f"{self._path} has been closed")
            self._jobs.put(job)

    def _work(self) -> None:
        group: list[_Job] = []
        while self._gather(group):
            try:
                if not self._begin():
                    group = self._still_patient(group)
                    continue
                self._commit(group)
            except Exception as error:  # whatever it is, those who wait must hear of it
                with suppress(sqlite3.Error):  # SQLite may have rolled back by itself
                    self._writer.execute("ROLLBACK")
                for job in group:
                    job.error = job.error or translated(error, self._path)
            self._tell(group)
            group = []

    def _gather(self, group: list[_Job]) -> bool:
        """Add all that wait to the group, wait for one if it is empty; False: it is over."""
        while not self._ended and len(group) < _GROUP and not (group and self._jobs.empty()):
            job = self._jobs.get()
            if job is None:
                self._ended = True
            else:
                group.append(job)
        return bool(group)

    def _begin(self) -> bool:
        """Take the write lock; False after a short nap when another process has it.

        SQLite's own busy handler sleeps up to 100 ms at a time and loses against a process that
        commits without a pause; short random naps get their share.
        """
        try:
            self._writer.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            if not busy(error):
                raise
            time.sleep(random.uniform(0.0002, 0.002))  # noqa: S311
            return False
        return True

    def _still_patient(self, group: list[_Job]) -> list[_Job]:
        """Answer those who have waited long enough for the lock; the others wait on."""
        now = time.monotonic()
        late = [job for job in group if job.deadline < now]
        for job in late:
            job.error = Unavailable(f"{self._path} is kept locked by another process")
        self._tell(late)
        return [job for job in group if job.error is None]

    def _commit(self, group: list[_Job]) -> None:
        """All of them in the transaction that has begun, each under a savepoint of its own."""
        for job in group:
            self._writer.execute("SAVEPOINT job")
            try:
                job.result = job.run(self._writer)
            except Exception as error:
                if not self._writer.in_transaction:  # a full disk, say, rolls back everything
                    raise
                self._writer.execute("ROLLBACK TO job")
                job.error = translated(error, self._path)
            self._writer.execute("RELEASE job")
        self._writer.execute("COMMIT")

    def _tell(self, jobs: list[_Job]) -> None:
        """Wake the callers, each on its own loop, by one call per loop."""
        loops: defaultdict[asyncio.AbstractEventLoop, list[_Job]] = defaultdict(list)
        for job in jobs:
            if job.answer is not None:
                loops[job.answer.get_loop()].append(job)
        for loop, told in loops.items():
            try:
                loop.call_soon_threadsafe(self._answer, told)
            except RuntimeError:  # this loop has ended, and all who waited with it
                for job in told:
                    self._undo(job)

    def _answer(self, jobs: list[_Job]) -> None:
        for job in jobs:
            answer = job.answer
            if answer is None or answer.done():
                self._undo(job)
            elif job.error is not None:
                answer.set_exception(job.error)
            else:
                answer.set_result(job.result)

    def _undo(self, job: _Job) -> None:
        undo, result = job.undo, job.result
        if undo is None or job.error is not None:
            return
        with suppress(Unavailable):  # closed meanwhile: the time-out brings it back instead
            self._put(_Job(lambda writer: undo(writer, result), job.deadline))


class SqliteLink:
    """One user's way to its file, opened at the first use and again after ``close``."""

    def __init__(self, path: str | os.PathLike[str], patience: float) -> None:
        self._path = path
        self._patience = patience
        self._lock = threading.Lock()
        self._file: SqliteFile | None = None

    async def file(self) -> SqliteFile:
        """The open file."""
        file = self._file
        return await asyncio.to_thread(self._enter) if file is None else file

    async def read(self, sql: str, *values: object) -> list[Any]:
        """See ``SqliteFile.read``."""
        return await (await self.file()).read(self._patience, sql, values)

    async def write(
        self, run: Work[T], undo: Callable[[sqlite3.Connection, T], object] | None = None
    ) -> T:
        """See ``SqliteFile.write``."""
        return await (await self.file()).write(self._patience, run, undo)

    async def close(self) -> None:
        """Finish what was asked, and let the file go."""
        await asyncio.to_thread(self._leave)

    def _enter(self) -> SqliteFile:
        with self._lock:
            file = self._file
            if file is None:
                path = os.path.realpath(self._path)
                file = self._file = SqliteFile.enter(path, self._patience)
            return file

    def _leave(self) -> None:
        with self._lock:
            file, self._file = self._file, None
        if file is not None:
            file.leave()

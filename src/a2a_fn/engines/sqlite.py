"""The embedded engine of one machine: rows in a SQLite file that several processes may share."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence

from a2a_fn.engines.files import FileBlobs
from a2a_fn.engines.limits import check_changes, past
from a2a_fn.engines.sqlite_file import SqliteLink
from a2a_fn.engines.sqlite_queue import SqliteQueue
from a2a_fn.errors import Conflict
from a2a_fn.ports import Absent, Always, Change, Clock, Put, Rev, Row

__all__ = ["FileBlobs", "SqliteQueue", "SqliteRows"]

_SWEEP_EVERY = 100  # writes; then up to twice as many expired rows are removed
_GRACE = 300_000  # ms; a process whose clock is behind still sees a row that we call expired


class SqliteRows:
    """``ports.Rows`` in a SQLite file; a write is all or nothing.

    ``patience`` is how many seconds a write waits while another process holds the file's lock;
    then it is ``Unavailable``. Nothing is opened before the first use.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, clock: Clock, patience: float = 5.0
    ) -> None:
        self._link = SqliteLink(path, patience)
        self._clock = clock
        self._writes = 0

    async def get(self, partition: str, key: str) -> Row | None:
        """See ``ports.Rows.get``."""
        found = await self._link.read(
            "SELECT key, value, rev, ord, expires FROM rows WHERE partition = ? AND key = ?"
            " AND (expires IS NULL OR expires > ?)",
            partition,
            key,
            self._clock.now(),
        )
        return Row(*found[0]) if found else None

    async def scan(
        self,
        partition: str,
        *,
        prefix: str = "",
        after: str | None = None,
        limit: int = 1000,
        reverse: bool = False,
    ) -> list[Row]:
        """See ``ports.Rows.scan``."""
        # One bound at each end, the tighter one: given two, SQLite seeks to the first that is
        # named and tests the other row by row, and the tail of a long journal costs all of it.
        where, values = ["partition = ?"], [partition]
        if after is not None and not reverse and after >= prefix:
            where.append("key > ?")
            values.append(after)
        elif prefix:
            where.append("key >= ?")
            values.append(prefix)
        if after is not None and reverse and (not prefix or after < past(prefix)):
            where.append("key < ?")
            values.append(after)
        elif prefix:
            where.append("key < ?")
            values.append(past(prefix))
        found = await self._link.read(
            "SELECT key, value, rev, ord, expires FROM rows"  # noqa: S608  only words of ours
            f" WHERE {' AND '.join(where)} AND (expires IS NULL OR expires > ?)"
            f" ORDER BY key {'DESC' if reverse else 'ASC'} LIMIT ?",
            *values,
            self._clock.now(),
            max(limit, 0),
        )
        return [Row(*columns) for columns in found]

    async def write(self, changes: Sequence[Change]) -> None:
        """See ``ports.Rows.write``."""
        check_changes(changes)
        changes = tuple(changes)
        if changes:
            await self._link.write(lambda writer: self._apply(writer, changes))

    async def close(self) -> None:
        """Let the file go; the next use opens it again."""
        await self._link.close()

    def _apply(self, writer: sqlite3.Connection, changes: Sequence[Change]) -> None:
        """On the writer thread, inside a savepoint: a Conflict undoes what came before it."""
        now = self._clock.now()
        for index, change in enumerate(changes):
            if not isinstance(change, Put):
                writer.execute(
                    "DELETE FROM rows WHERE partition = ? AND key = ?",
                    (change.partition, change.key),
                )
            elif _holds(writer, change, index, now):
                writer.execute(
                    "INSERT OR REPLACE INTO rows (partition, key, value, ord, expires)"
                    " VALUES (?, ?, ?, ?, ?)",
                    (change.partition, change.key, change.value, change.order, change.expires),
                )
        self._writes += 1
        if self._writes % _SWEEP_EVERY == 0:
            writer.execute(
                "DELETE FROM rows WHERE rev IN"
                " (SELECT rev FROM rows WHERE expires <= ? ORDER BY expires LIMIT ?)",
                (now - _GRACE, 2 * _SWEEP_EVERY),
            )


def _holds(writer: sqlite3.Connection, change: Put, index: int, now: int) -> bool:
    """Whether to do the put; False: skip it."""
    when = change.when
    if isinstance(when, Always):
        return True
    found = writer.execute(
        "SELECT rev, ord FROM rows WHERE partition = ? AND key = ?"
        " AND (expires IS NULL OR expires > ?)",
        (change.partition, change.key, now),
    ).fetchone()
    if isinstance(when, Absent) and found is not None:
        raise Conflict(index)
    if isinstance(when, Rev):
        if found is None or found[0] != when.rev:
            raise Conflict(index)
        return True
    return found is None or bool(found[1] < change.order)

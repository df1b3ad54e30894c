"""A queue in a SQLite file that several processes may share."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from math import ceil

from a2a_fn.engines.limits import check_body
from a2a_fn.engines.sqlite_file import SqliteLink
from a2a_fn.errors import NotFound
from a2a_fn.ports import Clock, Delivery

_POLL_FIRST, _POLL_LAST = 0.010, 0.250  # s; how often a receiver looks for others' sends
_BURIED = 100  # at most so many messages does one receipt declare dead


class SqliteQueue:
    """``ports.Queue`` in a SQLite file, under a name of its own in it.

    A receipt claims its messages in one transaction, so two processes never both hold one.
    A receiver is woken at once by a send in the same process, and looks for sends of others
    every 10 to 250 ms. ``visible_after`` is in seconds, by the clock; ``patience`` as for
    ``SqliteRows``.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        name: str,
        *,
        clock: Clock,
        visible_after: float = 60.0,
        max_receives: int = 5,
        patience: float = 5.0,
    ) -> None:
        self._link = SqliteLink(path, patience)
        self._name = name
        self._clock = clock
        self._visible_after = visible_after
        self._max_receives = max_receives

    async def send(self, body: bytes, delay: float = 0.0) -> None:
        """See ``ports.Queue.send``."""
        check_body(body)

        def insert(writer: sqlite3.Connection) -> None:
            writer.execute(
                "INSERT INTO messages (queue, due, body) VALUES (?, ?, ?)",
                (self._name, self._in(delay), body),
            )

        await self._link.write(insert)
        (await self._link.file()).bell(self._name).ring()

    async def receive(self, limit: int = 1, wait: float = 0.0) -> list[Delivery]:
        """See ``ports.Queue.receive``."""
        loop = asyncio.get_running_loop()
        end = loop.time() + wait
        bell = (await self._link.file()).bell(self._name)
        pause = _POLL_FIRST
        while True:
            with bell.listen() as listener:
                until_due = await self._until_due()
                if until_due is not None and until_due <= 0:
                    found = await self._link.write(
                        lambda writer: self._claim(writer, limit), self._give_back
                    )
                    if found:
                        return found
                    until_due = None
                left = end - loop.time()
                if left <= 0:
                    return []
                nap = min(pause, left) if until_due is None else min(pause, left, until_due)
                await listener.wait(max(nap, 0.001))
                pause = _POLL_FIRST if listener.heeded else min(pause * 2, _POLL_LAST)

    async def extend(self, handle: str, seconds: float) -> str:
        """See ``ports.Queue.extend``."""
        number, version = _parts(handle)

        def move(writer: sqlite3.Connection) -> bool:
            moved = writer.execute(
                "UPDATE messages SET due = ?, version = version + 1 WHERE id = ? AND version = ?"
                " AND queue = ? AND dead = 0 AND due > ?",
                (self._in(seconds), number, version, self._name, self._clock.now()),
            )
            return moved.rowcount == 1

        if not await self._link.write(move):
            raise NotFound(f"the receipt {handle[:80]!r} has timed out")
        if seconds <= 0:
            (await self._link.file()).bell(self._name).ring()
        return f"{number}.{version + 1}"

    async def ack(self, handle: str) -> None:
        """See ``ports.Queue.ack``."""
        number, version = _parts(handle)

        def remove(writer: sqlite3.Connection) -> None:
            writer.execute(
                "DELETE FROM messages WHERE id = ? AND version = ? AND queue = ?"
                " AND (dead = 1 OR due > ?)",
                (number, version, self._name, self._clock.now()),
            )

        await self._link.write(remove)

    async def dead(self, limit: int = 100) -> list[Delivery]:
        """See ``ports.Queue.dead``."""
        await self._link.write(self._bury)
        found = await self._link.read(
            "SELECT id, version, attempts, body FROM messages WHERE queue = ? AND dead = 1"
            " ORDER BY id LIMIT ?",
            self._name,
            max(limit, 0),
        )
        return [_delivery(*columns) for columns in found]

    async def close(self) -> None:
        """Let the file go; the next use opens it again."""
        await self._link.close()

    async def _until_due(self) -> float | None:
        """Seconds until the next message is due, or None when there is none at all."""
        found = await self._link.read(
            "SELECT due FROM messages WHERE queue = ? AND dead = 0 ORDER BY due LIMIT 1",
            self._name,
        )
        return (found[0][0] - self._clock.now()) / 1000 if found else None

    def _claim(self, writer: sqlite3.Connection, limit: int) -> list[Delivery]:
        """On the writer thread: receive what is due, declare dead what has no receipt left."""
        taken: list[Delivery] = []
        spent: list[tuple[int]] = []
        due = writer.execute(
            "SELECT id, version, attempts, body FROM messages"
            " WHERE queue = ? AND dead = 0 AND due <= ? ORDER BY due, id",
            (self._name, self._clock.now()),
        )
        while len(taken) < limit and len(spent) < _BURIED and (columns := due.fetchone()):
            number, version, attempts, body = columns
            if attempts < self._max_receives:
                taken.append(_delivery(number, version + 1, attempts + 1, body))
            else:
                spent.append((number,))
        due.close()
        writer.executemany(
            "UPDATE messages SET dead = 1, version = version + 1 WHERE id = ?", spent
        )
        writer.executemany(
            "UPDATE messages SET due = ?, attempts = attempts + 1, version = version + 1"
            " WHERE id = ?",
            [(self._in(self._visible_after), _parts(each.handle)[0]) for each in taken],
        )
        return taken

    def _give_back(self, writer: sqlite3.Connection, taken: list[Delivery]) -> None:
        """On the writer thread: nobody heard of this receipt, so it was none."""
        writer.executemany(
            "UPDATE messages SET due = ?, attempts = attempts - 1, version = version + 1"
            " WHERE id = ? AND version = ?",
            [(self._clock.now(), *_parts(each.handle)) for each in taken],
        )

    def _bury(self, writer: sqlite3.Connection) -> None:
        """On the writer thread: declare dead whatever timed out with its last receipt."""
        writer.execute(
            "UPDATE messages SET dead = 1, version = version + 1"
            " WHERE queue = ? AND dead = 0 AND due <= ? AND attempts >= ?",
            (self._name, self._clock.now(), self._max_receives),
        )

    def _in(self, seconds: float) -> int:
        return self._clock.now() + ceil(max(seconds, 0.0) * 1000)


def _delivery(number: int, version: int, attempts: int, body: bytes) -> Delivery:
    return Delivery(body, f"{number}.{version}", attempts)


def _parts(handle: str) -> tuple[int, int]:
    """A handle's message and version; of one that no queue gave, numbers that match nothing."""
    number, _, version = handle.partition(".")
    if number.isdecimal() and version.isdecimal() and max(len(number), len(version)) < 19:
        return int(number), int(version)
    return -1, -1

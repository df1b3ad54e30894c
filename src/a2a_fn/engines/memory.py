"""Engines in this process's memory: for tests, for the simulation, for trying things out.

They keep every law of ``ports.py``; what they lack is that anything survives the process.
"""

from __future__ import annotations

import asyncio
import hashlib
import heapq
from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence

from a2a_fn.engines.limits import check_changes, past
from a2a_fn.engines.memory_queue import MemoryQueue
from a2a_fn.errors import Conflict, NotFound
from a2a_fn.ports import Absent, Change, Clock, Older, Put, Rev, Row

__all__ = ["Crashed", "MemoryBlobs", "MemoryQueue", "MemoryRows"]


class Crashed(BaseException):
    """The process "died" here (``MemoryRows.crash_after``).

    No ``Exception``, so that no handler of the code under test survives its own death.
    """


class _Partition:
    __slots__ = ("keys", "rows")

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.rows: dict[str, Row] = {}


class MemoryRows:
    """``ports.Rows`` in memory, in either of the two ways that a write may break.

    ``atomic=True`` does all of a write or nothing. ``atomic=False`` does the changes one by one,
    lets other coroutines run between two of them, and leaves the prefix at a conflict.
    """

    def __init__(self, *, atomic: bool = True, clock: Clock) -> None:
        self._atomic = atomic
        self._clock = clock
        self._partitions: dict[str, _Partition] = {}
        self._expiring: list[tuple[int, str, str, int]] = []
        self._rev = 0
        self._left: int | None = None  # changes until the crash; None: no crash is due

    async def get(self, partition: str, key: str) -> Row | None:
        """See ``ports.Rows.get``."""
        return self._live(partition, key, self._clock.now())

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
        table = self._partitions.get(partition)
        if table is None:
            return []
        keys, rows = table.keys, table.rows
        low, high = 0, len(keys)
        if prefix:
            low, high = bisect_left(keys, prefix), bisect_left(keys, past(prefix))
        if after is not None and reverse:
            high = min(high, bisect_left(keys, after))
        elif after is not None:
            low = max(low, bisect_right(keys, after))
        now = self._clock.now()
        found: list[Row] = []
        for index in range(high - 1, low - 1, -1) if reverse else range(low, high):
            if len(found) >= limit:
                break
            row = rows[keys[index]]
            if row.expires is None or row.expires > now:
                found.append(row)
        return found

    async def write(self, changes: Sequence[Change]) -> None:
        """See ``ports.Rows.write``."""
        check_changes(changes)
        now = self._clock.now()
        self._remove_expired(now)
        if self._atomic:
            self._write_whole(changes, now)
            return
        for index, change in enumerate(changes):
            if index:
                await asyncio.sleep(0)
            self._die_if_due()
            if self._holds(change, index, self._clock.now()):
                self._do(change)
                self._count(1)

    def crash_after(self, changes: int) -> None:
        """Let ``changes`` more row changes land; from then on every change raises ``Crashed``.

        In atomic mode a crash that would fall inside a write falls behind it: the write is
        there, and its caller never hears of it.
        """
        self._left = changes

    def heal(self) -> None:
        """End the crash."""
        self._left = None

    def _write_whole(self, changes: Sequence[Change], now: int) -> None:
        # All rows differ, so no change alters what the condition of another sees.
        if changes:
            self._die_if_due()
        landing = [c for index, c in enumerate(changes) if self._holds(c, index, now)]
        for change in landing:
            self._do(change)
        if self._left is not None and self._left < len(landing):
            self._left = 0
            raise Crashed
        self._count(len(landing))

    def _die_if_due(self) -> None:
        if self._left is not None and self._left <= 0:
            raise Crashed

    def _count(self, landed: int) -> None:
        if self._left is not None:
            self._left -= landed

    def _live(self, partition: str, key: str, now: int) -> Row | None:
        table = self._partitions.get(partition)
        row = table.rows.get(key) if table is not None else None
        return row if row is None or row.expires is None or row.expires > now else None

    def _holds(self, change: Change, index: int, now: int) -> bool:
        """Whether to do the change; False: skip it."""
        if not isinstance(change, Put):
            return True
        when = change.when
        row = self._live(change.partition, change.key, now)
        if isinstance(when, Absent) and row is not None:
            raise Conflict(index)
        if isinstance(when, Rev) and (row is None or row.rev != when.rev):
            raise Conflict(index)
        return not (isinstance(when, Older) and row is not None and row.order >= change.order)

    def _do(self, change: Change) -> None:
        if not isinstance(change, Put):
            self._remove(change.partition, change.key)
            return
        table = self._partitions.get(change.partition)
        if table is None:
            table = self._partitions[change.partition] = _Partition()
        if change.key not in table.rows:
            insort(table.keys, change.key)
        self._rev += 1
        table.rows[change.key] = Row(
            change.key, change.value, self._rev, change.order, change.expires
        )
        if change.expires is not None:
            entry = (change.expires, change.partition, change.key, self._rev)
            heapq.heappush(self._expiring, entry)

    def _remove(self, partition: str, key: str) -> None:
        table = self._partitions.get(partition)
        if table is None or table.rows.pop(key, None) is None:
            return
        del table.keys[bisect_left(table.keys, key)]
        if not table.keys:
            del self._partitions[partition]

    def _remove_expired(self, now: int) -> None:
        while self._expiring and self._expiring[0][0] <= now:
            _, partition, key, rev = heapq.heappop(self._expiring)
            table = self._partitions.get(partition)
            row = table.rows.get(key) if table is not None else None
            if row is not None and row.rev == rev:
                self._remove(partition, key)


class MemoryBlobs:
    """``ports.Blobs`` in memory."""

    def __init__(self) -> None:
        self._blobs: dict[str, bytes] = {}

    async def put(self, data: bytes, media_type: str = "application/octet-stream") -> str:
        """See ``ports.Blobs.put``."""
        key = hashlib.sha256(data).hexdigest()
        self._blobs[key] = data
        return key

    async def get(self, key: str) -> bytes:
        """See ``ports.Blobs.get``."""
        try:
            return self._blobs[key]
        except KeyError:
            raise NotFound(f"there is no blob {key[:80]!r}") from None

    async def url(self, key: str, seconds: int) -> str | None:
        """None: nothing serves this memory."""
        return None

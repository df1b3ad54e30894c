"""A hint inside one process that a context's journal has grown; other processes are polled for."""

from __future__ import annotations

import asyncio
from collections import defaultdict

_REMEMBERED = 10_000  # partitions


class Signals:
    """Wakes who waits for a partition. Nothing depends on it but latency."""

    def __init__(self) -> None:
        self._count: dict[str, int] = {}
        self._waiting: defaultdict[str, set[asyncio.Future[None]]] = defaultdict(set)

    def watched(self, part: str) -> int:
        """How often the partition was notified; take it before reading, give it to ``wait``."""
        return self._count.get(part, 0)

    def notify(self, part: str) -> None:
        """Wake everyone who waits for the partition."""
        if len(self._count) >= _REMEMBERED:  # forgetting costs one poll at worst
            self._count.clear()
        self._count[part] = self._count.get(part, 0) + 1
        for future in self._waiting.pop(part, ()):
            _done(future)

    async def wait(self, part: str, watched: int, seconds: float) -> None:
        """Return when the partition is notified, or has been since ``watched``, or in time."""
        if self._count.get(part, 0) != watched:
            return
        future = asyncio.get_running_loop().create_future()
        self._waiting[part].add(future)
        handle = asyncio.get_running_loop().call_later(seconds, _done, future)
        try:
            await future
        finally:
            handle.cancel()
            waiting = self._waiting.get(part)
            if waiting is not None:
                waiting.discard(future)
                if not waiting:
                    del self._waiting[part]


def _done(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)

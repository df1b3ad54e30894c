"""What has been received already: a signed notification counts once."""

from __future__ import annotations

import heapq
import time
from collections.abc import Awaitable, Callable
from typing import Protocol

from .faults import Rejected


class Replays(Protocol):
    """Remembers names for a while. One store for all processes that serve one webhook makes a
    replay to another of them fail too; in Redis it is ``SET name 1 NX EXAT until``."""

    def remember(self, jti: str, until: float) -> bool | Awaitable[bool]:
        """Keep the name until then (seconds since 1970). False if it was there: a replay. Of two
        calls at once with one name, one gets True."""
        ...


class MemoryReplays:
    """In the memory of one process, at most ``limit`` names at a time.

    Only what is signed by the agent is remembered, so a stranger cannot fill it. When it is full
    anyway, notifications are put off (503) rather than taken unchecked.
    """

    def __init__(self, limit: int = 100_000, clock: Callable[[], float] = time.time) -> None:
        self._limit = limit
        self._clock = clock
        self._names: set[str] = set()
        self._ends: list[tuple[float, str]] = []

    def remember(self, jti: str, until: float) -> bool:
        """As Replays. Raises Rejected (503) when there is no room."""
        now = self._clock()
        while self._ends and self._ends[0][0] < now:
            self._names.discard(heapq.heappop(self._ends)[1])
        if jti in self._names:
            return False
        if len(self._names) >= self._limit:
            raise Rejected("too many notifications at once", 503, retry_after=30)
        self._names.add(jti)
        heapq.heappush(self._ends, (until, jti))
        return True

"""The queue in this process's memory."""

from __future__ import annotations

import asyncio
import heapq
from math import ceil

from a2a_fn.engines.bell import Bell
from a2a_fn.engines.limits import check_body
from a2a_fn.errors import NotFound
from a2a_fn.ports import Clock, Delivery

_POLL = 0.25  # s; a waiting receiver looks this often, since the clock may be moved by hand


class _Message:
    __slots__ = ("attempts", "body", "due", "number", "version")

    def __init__(self, number: int, body: bytes) -> None:
        self.number = number
        self.body = body
        self.due = 0
        self.attempts = 0
        self.version = 0

    @property
    def handle(self) -> str:
        return f"{self.number}.{self.version}"

    def delivery(self) -> Delivery:
        return Delivery(self.body, self.handle, self.attempts)


class MemoryQueue:
    """``ports.Queue`` in memory; the time-out is in seconds of the clock."""

    def __init__(self, *, clock: Clock, visible_after: float = 60.0, max_receives: int = 5) -> None:
        self._clock = clock
        self._visible_after = visible_after
        self._max_receives = max_receives
        self._live: dict[int, _Message] = {}
        self._dead: dict[int, _Message] = {}
        self._due: list[tuple[int, int, int]] = []  # due, id, version; stale ones are passed over
        self._sent = 0
        self._bell = Bell()

    async def send(self, body: bytes, delay: float = 0.0) -> None:
        """See ``ports.Queue.send``."""
        check_body(body)
        self._sent += 1
        message = self._live[self._sent] = _Message(self._sent, body)
        self._hide(message, delay)
        self._bell.ring()

    async def receive(self, limit: int = 1, wait: float = 0.0) -> list[Delivery]:
        """See ``ports.Queue.receive``."""
        found = self._take(limit)
        if found or wait <= 0:
            return found
        loop = asyncio.get_running_loop()
        end = loop.time() + wait
        while not found and (left := end - loop.time()) > 0:
            with self._bell.listen() as listener:
                if not (found := self._take(limit)):
                    await listener.wait(min(left, self._pause()))
        return found

    async def extend(self, handle: str, seconds: float) -> str:
        """See ``ports.Queue.extend``."""
        number = _number(handle)
        message = self._live.get(number)
        if message is None or message.handle != handle or message.due <= self._clock.now():
            raise NotFound(f"the receipt {handle!r} has timed out")
        self._hide(message, seconds)
        self._bell.ring()
        return message.handle

    async def ack(self, handle: str) -> None:
        """See ``ports.Queue.ack``."""
        number = _number(handle)
        message = self._live.get(number)
        if message and message.handle == handle and message.due > self._clock.now():
            del self._live[number]
        message = self._dead.get(number)
        if message and message.handle == handle:
            del self._dead[number]

    async def dead(self, limit: int = 100) -> list[Delivery]:
        """See ``ports.Queue.dead``."""
        for message in self._pop_due(len(self._due)):
            heapq.heappush(self._due, (message.due, message.number, message.version))
        oldest = sorted(self._dead.values(), key=lambda message: message.number)
        return [m.delivery() for m in oldest[:limit]]

    def _take(self, limit: int) -> list[Delivery]:
        taken = self._pop_due(limit)
        for message in taken:
            message.attempts += 1
            self._hide(message, self._visible_after)
        return [message.delivery() for message in taken]

    def _pop_due(self, limit: int) -> list[_Message]:
        """Take up to ``limit`` due messages off the heap; those out of receipts become dead."""
        found: list[_Message] = []
        now = self._clock.now()
        while self._due and self._due[0][0] <= now and len(found) < limit:
            _, number, version = heapq.heappop(self._due)
            message = self._live.get(number)
            if message is None or message.version != version:
                continue
            if message.attempts < self._max_receives:
                found.append(message)
                continue
            message.version += 1  # the last receiver's handle is no good any more
            self._dead[number] = self._live.pop(number)
        return found

    def _hide(self, message: _Message, seconds: float) -> None:
        message.due = self._clock.now() + ceil(max(seconds, 0.0) * 1000)
        message.version += 1
        heapq.heappush(self._due, (message.due, message.number, message.version))

    def _pause(self) -> float:
        """Seconds until it is worth looking again, if nothing is sent before."""
        if not self._due:
            return _POLL
        return min(_POLL, max(0.001, (self._due[0][0] - self._clock.now()) / 1000))


def _number(handle: str) -> int:
    number = handle.partition(".")[0]
    return int(number) if number.isdecimal() else 0

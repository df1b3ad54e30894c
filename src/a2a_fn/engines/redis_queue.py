"""A queue in Redis Streams: a stream of what is ready, a sorted set of what is not, a dead stream.

A receipt is an entry of the stream that the group has handed out, and a member of the sorted set,
``<entry>.<version>.<attempt>``, whose score says until when (ms of the clock): it is the handle.
A new version at each change of the receipt makes every older handle worthless, which the group
alone does not: it takes an ack from any of its consumers. A message that is sent with a delay is a
member too, with its body in it, until it is due. Each move between them is one Lua script.
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from math import ceil
from typing import Any

from a2a_fn.engines import redis_moves as moves
from a2a_fn.engines.limits import check_body
from a2a_fn.engines.redis_link import RedisLink, Script
from a2a_fn.errors import InvalidSettings, NotFound, Unavailable
from a2a_fn.ports import Clock, Delivery

_LOOK = 1.0  # s; so often at least a receiver that waits looks at what has become due
_PAGE = 1000  # members that one script looks at when all dead letters are asked for
_CLEAN = 600.0  # s between two looks for consumers that are gone
_GONE = 3_600_000  # ms without a sign of life after which a consumer that holds nothing is removed

_HANDLE = re.compile(r"[0-9]{1,15}-[0-9]{1,15}\.(dead|[0-9]{1,9}\.[0-9]{1,9})", re.ASCII)


class RedisQueue:
    """``ports.Queue`` in Redis Streams; the time-out (``lease``) is in ms of the clock.

    ``retry_key``, ``dead_stream`` and ``group`` are made of the stream's name unless they are
    given; on a cluster all three keys must have one hash tag, such as ``{push}``. ``consumer`` is
    unique per process by default. A consumer that holds nothing and has not been seen for an hour
    is removed; what a dead one holds comes again by its lease.

    A receiver that waits hears of a new message at once, from whichever process, and looks each
    second for what has become due. Messages that others have put in the stream, in which there
    is no field ``b``, are moved to the dead stream as they are.
    """

    def __init__(
        self,
        link: RedisLink,
        stream: str,
        *,
        clock: Clock,
        retry_key: str = "",
        dead_stream: str = "",
        group: str = "a2a-fn",
        consumer: str = "",
        lease: int = 60_000,
        max_receives: int = 5,
    ) -> None:
        self._link = link
        self._clock = clock
        self._stream = stream
        self._dead = dead_stream or f"{stream}:dead"
        self._retry = retry_key or f"{stream}:retry"
        self._group = group
        self._consumer = consumer or (
            f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(6)}"
        )
        self._lease = lease
        self._max_receives = max_receives
        self._cleaned: float | None = None  # time.monotonic(); None: nothing received so far
        self._keys = (self._stream, self._retry, self._dead)
        if len(set(self._keys)) < 3:
            raise InvalidSettings(f"stream, retry key and dead stream {self._keys} must differ")
        if not link.whole and len({_tag(key) for key in self._keys}) > 1:
            raise InvalidSettings(
                f"on a Redis Cluster the stream, the retry key and the dead stream {self._keys}"
                " must have one hash tag: the same word in braces, such as {push}"
            )

    async def send(self, body: bytes, delay: float = 0.0) -> None:
        """See ``ports.Queue.send``."""
        check_body(body)
        if delay <= 0:
            await self._link.command("XADD", self._stream, "*", "b", body)
            return
        name = f"+{self._clock.now():015}{secrets.token_hex(8)}:".encode() + body
        await self._link.command("ZADD", self._retry, self._in(delay), name)

    async def receive(self, limit: int = 1, wait: float = 0.0) -> list[Delivery]:
        """See ``ports.Queue.receive``."""
        loop = asyncio.get_running_loop()
        end = loop.time() + wait
        if limit <= 0:
            return []
        await self._clean_up()
        while True:
            # The blocking read only tells that there is something: who reads for the group by it
            # would hold a message, for a moment, of which the sorted set knows nothing.
            found, due, last = await self._claim(limit)
            left = end - loop.time()
            if found or left <= 0:
                return found
            nap = min(left, _LOOK, self._link.answer / 2)
            if due is not None:
                nap = min(nap, (due - self._clock.now()) / 1000)
            pause = max(1, ceil(nap * 1000))  # 0 would be for ever
            await self._link.wait(
                "XREAD", "COUNT", 1, "BLOCK", pause, "STREAMS", self._stream, last
            )

    async def extend(self, handle: str, seconds: float) -> str:
        """See ``ports.Queue.extend``."""
        if _HANDLE.fullmatch(handle):
            fresh = await self._run(moves.EXTEND, handle, self._in(seconds))
            if fresh is not None:
                return str(fresh, "ascii")
        raise NotFound(f"the receipt {handle[:80]!r} has timed out")

    async def ack(self, handle: str) -> None:
        """See ``ports.Queue.ack``."""
        if not _HANDLE.fullmatch(handle):
            return
        if handle.endswith(".dead"):
            await self._link.command("XDEL", self._dead, handle.removesuffix(".dead"))
        else:
            await self._run(moves.ACK, handle)

    async def dead(self, limit: int = 100) -> list[Delivery]:
        """See ``ports.Queue.dead``; the oldest is what died first."""
        if limit <= 0:
            return []
        first, due = 0, _PAGE
        while due == _PAGE:
            due, stay = await self._run(moves.BURY, self._max_receives, first, _PAGE)
            first += stay
        entries = await self._link.read("XRANGE", self._dead, "-", "+", "COUNT", limit)
        return [_dead_letter(*entry) for entry in entries]

    async def close(self) -> None:
        """Take this consumer off the group, unless it holds messages, and close the link."""
        if self._cleaned is not None:
            self._cleaned = None
            with suppress(Unavailable):  # another one removes it then
                await self._run(moves.CLEAN_UP, self._consumer, _GONE)
        await self._link.close()

    async def _claim(self, limit: int) -> tuple[list[Delivery], int | None, bytes]:
        """(receipts, when the next message is due if any, the last entry of the stream)."""
        job = asyncio.ensure_future(
            self._run(moves.CLAIM, self._consumer, limit, self._lease, self._max_receives)
        )
        try:
            due, last, words = await asyncio.shield(job)
        except asyncio.CancelledError:
            with suppress(Unavailable):  # then they come again by the lease
                words = (await job)[2]
                if words:
                    await self._run(moves.GIVE_BACK, *words[::3])
            raise
        receipts = zip(words[::3], words[1::3], words[2::3], strict=True)
        found = [Delivery(body, str(handle, "ascii"), n) for handle, body, n in receipts]
        return found, int(float(due)) if due else None, last

    async def _clean_up(self) -> None:
        now = time.monotonic()
        if self._cleaned is None or now - self._cleaned > _CLEAN:
            self._cleaned = now
            await self._run(moves.CLEAN_UP, "", _GONE)

    async def _run(self, move: Script, *words: object) -> Any:
        return await self._link.run(move, self._keys, (self._group, self._clock.now(), *words))

    def _in(self, seconds: float) -> int:
        return self._clock.now() + ceil(max(seconds, 0.0) * 1000)


def _dead_letter(entry: bytes, fields: Sequence[bytes] | dict[bytes, bytes]) -> Delivery:
    named = (
        fields if isinstance(fields, dict) else dict(zip(fields[::2], fields[1::2], strict=True))
    )
    attempt = named.get(b"attempt", b"0")
    return Delivery(
        named.get(b"b", b""),
        f"{str(entry, 'ascii')}.dead",
        int(attempt) if attempt.isdigit() else 0,
    )


def _tag(key: str) -> str:
    """The part of a key that says on which node of a cluster it is."""
    inside = key.partition("{")[2].partition("}")
    return inside[0] if inside[0] and inside[1] else key

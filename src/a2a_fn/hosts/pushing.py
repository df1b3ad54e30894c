"""Pushers of one process: every owner has a lane for each receiver, so a slow one delays nobody
else; a lane whose receiver lets tries time out is narrowed, and no owner fills the whole process.

A wake-up is acknowledged when it is received: from then on the webhook's alarm remembers it, and
waiting in a lane costs memory only. A lane that is too long sends what comes on back to the queue.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import Coroutine
from typing import Any

from ..errors import Unavailable
from ..outbox import Outbox, Wakeup, read_wakeup

log = logging.getLogger("a2a_fn.host")

WAIT = 5.0  # seconds that the queue is listened to at a time
BATCH = 50  # wake-ups received at once
RETRY = 1.0  # seconds before a silent queue is asked again
LANE = 500  # webhooks that wait for one receiver at most
PUT_OFF = (5.0, 15.0)  # seconds after which what found its lane full comes again
CROWD = 5000  # webhooks in hand at most


NARROW = 2  # tries at once to a receiver that does not answer
LATE = 3  # tries that timed out in a row, after which a lane is narrowed
SHARE = 2  # an owner has this part of the process at most: a half
REMEMBERED = 1000  # lanes that are narrow and empty


class _Lane:
    """One receiver of one owner, or one owner: so many at a time, and how many are here."""

    def __init__(self, width: int) -> None:
        self.free = asyncio.Semaphore(width)
        self.narrow = asyncio.Semaphore(NARROW)
        self.here = 0
        self.late = 0  # tries in a row that took as long as a try may


class Pushers:
    """Receives wake-ups and pushes, ``workers`` at once and ``each`` to one receiver, until told
    to stop."""

    def __init__(self, outbox: Outbox, *, workers: int, each: int) -> None:
        self._outbox = outbox
        self._free = asyncio.Semaphore(workers)
        self._each = each
        self._share = max(1, workers // SHARE)
        self._lanes: dict[tuple[str, ...], _Lane] = {}
        self._waiting: set[Wakeup] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._room = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> None:
        """Work until ``stop``; what waits then goes back to the queue, and what is being sent is
        waited for. Cancel it to wait no longer."""
        stopped = asyncio.create_task(stop.wait())
        try:
            while not stop.is_set():
                await self._receive(stop, stopped)
            back, self._waiting = self._waiting, set()
            for wakeup in back:  # now, and not after those that hold up their lane
                await self._outbox.wake(*wakeup)
            while self._tasks:
                await asyncio.wait(self._tasks)
        finally:
            stopped.cancel()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _receive(self, stop: asyncio.Event, stopped: asyncio.Task[bool]) -> None:
        receiving = asyncio.create_task(self._batch())
        await asyncio.wait([receiving, stopped], return_when=asyncio.FIRST_COMPLETED)
        if not receiving.done():
            receiving.cancel()
            await asyncio.wait([receiving])
            return
        try:
            bodies = receiving.result()
        except Unavailable as error:
            log.warning("push queue silent: %s", error)
            await asyncio.wait([stopped], timeout=RETRY)
            return
        for body in bodies:
            self._start(self._wakeup(body, stop))

    async def _batch(self) -> list[bytes]:
        """The next wake-ups, once there is room for them."""
        while len(self._tasks) >= CROWD:
            self._room.clear()
            await self._room.wait()
        queue = self._outbox.queue
        deliveries = await queue.receive(BATCH, WAIT)
        acks = (queue.ack(delivery.handle) for delivery in deliveries)
        for fault in await asyncio.gather(*acks, return_exceptions=True):
            if isinstance(fault, BaseException):  # it comes twice, which does no harm
                log.warning("wake-up not acknowledged: %s", fault)
        return [delivery.body for delivery in deliveries]

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(self._kept(work))
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._room.set()

    async def _kept(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Unavailable as error:
            log.warning("push left to its alarm: %s", error)
        except Exception:
            log.exception("push failed outside its webhook; left to its alarm")

    async def _wakeup(self, body: bytes, stop: asyncio.Event) -> None:
        for wakeup in await self._outbox.waiting(read_wakeup(body)):
            if wakeup not in self._waiting:  # who waits will send all that there is then
                self._waiting.add(wakeup)
                self._start(self._push(wakeup, stop))

    async def _push(self, wakeup: Wakeup, stop: asyncio.Event) -> None:
        try:
            receiver = await self._outbox.receiver(wakeup)
        except Unavailable:
            self._waiting.discard(wakeup)
            raise
        if receiver is None:
            self._waiting.discard(wakeup)
            return
        lane = self._lane(receiver, self._each)
        share = self._lane(receiver[:1], self._share)
        if lane.here >= LANE or share.here >= CROWD // SHARE:
            self._waiting.discard(wakeup)
            await self._outbox.wake(*wakeup, delay=random.uniform(*PUT_OFF))  # noqa: S311
            return
        lane.here += 1
        share.here += 1
        try:
            slow = lane.narrow if lane.late >= LATE else contextlib.nullcontext()
            async with slow, lane.free, share.free, self._free:
                mine = wakeup in self._waiting
                self._waiting.discard(wakeup)
                if not stop.is_set():
                    await self._timed(lane, wakeup, stop)
                elif mine:
                    await self._outbox.wake(*wakeup)
        finally:
            self._waiting.discard(wakeup)
            lane.here -= 1
            share.here -= 1
            self._tidy(receiver)

    async def _timed(self, lane: _Lane, wakeup: Wakeup, stop: asyncio.Event) -> None:
        """Push, and see whether the receiver answers."""
        now = asyncio.get_running_loop().time
        began = now()
        done = await self._outbox.push(wakeup, stop=stop.is_set)
        hung = done.outcome == "retry" and now() - began >= self._outbox.manner.timeout
        lane.late = lane.late + 1 if hung else 0

    def _lane(self, name: tuple[str, ...], width: int) -> _Lane:
        return self._lanes.setdefault(name, _Lane(width))

    def _tidy(self, receiver: tuple[str, str]) -> None:
        for name in (receiver, receiver[:1]):
            lane = self._lanes.get(name)
            if lane is None or lane.here:
                continue
            if not lane.late or len(self._lanes) > REMEMBERED:
                del self._lanes[name]

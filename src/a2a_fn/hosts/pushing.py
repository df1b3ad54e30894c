"""Pushers of one process: every receiver has a lane of its own, so a slow one delays nobody else.

A wake-up is acknowledged when it is received: from then on the webhook's alarm remembers it, and
waiting in a lane costs memory only. A lane that is too long sends what comes on back to the queue.
"""

from __future__ import annotations

import asyncio
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


class _Lane:
    """One receiver: so many at a time, and how many are here."""

    def __init__(self, width: int) -> None:
        self.free = asyncio.Semaphore(width)
        self.here = 0


class Pushers:
    """Receives wake-ups and pushes, ``workers`` at once and ``each`` to one receiver, until told
    to stop."""

    def __init__(self, outbox: Outbox, *, workers: int, each: int) -> None:
        self._outbox = outbox
        self._free = asyncio.Semaphore(workers)
        self._each = each
        self._lanes: dict[str, _Lane] = {}
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
        await asyncio.gather(*(queue.ack(delivery.handle) for delivery in deliveries))
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
        lane = self._lanes.setdefault(receiver, _Lane(self._each))
        if lane.here >= LANE:
            self._waiting.discard(wakeup)
            await self._outbox.wake(*wakeup, delay=random.uniform(*PUT_OFF))  # noqa: S311
            return
        lane.here += 1
        try:
            async with lane.free, self._free:
                mine = wakeup in self._waiting
                self._waiting.discard(wakeup)
                if not stop.is_set():
                    await self._outbox.push(wakeup, stop=stop.is_set)
                elif mine:
                    await self._outbox.wake(*wakeup)
        finally:
            self._waiting.discard(wakeup)
            lane.here -= 1
            if not lane.here:
                self._lanes.pop(receiver, None)

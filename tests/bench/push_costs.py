"""What a push costs the store and the queue: counted, so that no load can change it.

A task with three webhooks, its turn and its pushers on one virtual clock. The pushers have a
journal of their own on the same rows, and only theirs is counted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from a2a.types.a2a_pb2 import Message, Part, Role

from a2a_fn.engines.memory import MemoryBlobs, MemoryQueue, MemoryRows
from a2a_fn.hosts.pushing import Pushers
from a2a_fn.journal import intents
from a2a_fn.journal.ids import Ids
from a2a_fn.journal.journal import Journal
from a2a_fn.journal.slots import Config
from a2a_fn.outbox import Outbox
from a2a_fn.ports import Answer
from a2a_fn.settings import Settings
from a2a_fn.turns.run import run_turn
from a2a_fn.turns.turn import Turn

from .report import Line
from .virtual import VirtualClock, run
from .volume import Count, CountingRows

HOOKS = 3
ARTIFACTS = 20
EVENTS = ARTIFACTS + 2  # working and completed
PUSHES = HOOKS * EVENTS + 1  # the webhook that comes with the message gets the opening too

WHAT = ("row writes", "reads", "queue messages")
SINGLY = (2.0, 6.5, 0.4)  # at most, of each: taken, moved; a message is one for all webhooks
WAITING = (1.1, 1.4, 0.1)  # the next one is taken as the one before is done


@dataclass(slots=True)
class Costs:
    """What the pushers asked of the store, and what was put in the queue, for so many pushes."""

    store: Count
    messages: int = 0
    pushes: int = 0


class CountingQueue(MemoryQueue):
    """``ports.Queue`` that counts what is sent."""

    def __init__(self, clock: VirtualClock, costs: Costs) -> None:
        super().__init__(clock=clock)
        self._costs = costs

    async def send(self, body: bytes, delay: float = 0.0) -> None:
        """See ``ports.Queue.send``."""
        self._costs.messages += 1
        await super().send(body, delay)


class Postbox:
    """``ports.Courier`` whose webhooks take a moment and accept everything."""

    def __init__(self, costs: Costs, all_there: asyncio.Event) -> None:
        self._costs = costs
        self._all_there = all_there

    async def check(self, url: str) -> None:
        """See ``ports.Courier.check``."""

    async def post(
        self, url: str, headers: Mapping[str, str], body: bytes, *, keep: int = 500
    ) -> Answer:
        """See ``ports.Courier.post``."""
        await asyncio.sleep(0.005)
        self._costs.pushes += 1
        if self._costs.pushes == PUSHES:
            self._all_there.set()
        return Answer(204)

    async def get(self, url: str, *, keep: int = 500) -> Answer:
        """See ``ports.Courier.get``."""
        return Answer(204)

    async def close(self) -> None:
        """Nothing is open."""


def pushes(*, pause: float, late: bool = False) -> Costs:
    """Count the pushes of one task whose artifacts come ``pause`` seconds apart; ``late``: the
    pushers begin when it has ended."""
    loop = VirtualClock()
    costs = Costs(Count())
    numbers = count(1)
    rows, blobs, ids = MemoryRows(clock=loop), MemoryBlobs(), Ids(b"k" * 32)
    queue = CountingQueue(loop, costs)
    counting = CountingRows(rows, costs.store)

    def nonce() -> str:
        return f"{next(numbers):016x}"

    settings = Settings(engine="memory", push_notifications=True, push_allow_private=True)
    theirs = Journal(counting, blobs, loop, ids, nonce=nonce)
    outbox = Outbox(settings, lambda: theirs, lambda: queue, lambda name, value: value, Path)
    journal = Journal(rows, blobs, loop, ids, nonce=nonce, tell=outbox.tell)

    async def agent(turn: Turn) -> None:
        for number in range(ARTIFACTS):
            await asyncio.sleep(pause)
            await turn.artifact(f"{number}", Part(text="a page"))
        await turn.complete()

    async def wake(part: str) -> None:
        pass

    async def whole() -> None:
        all_there, stop = asyncio.Event(), asyncio.Event()
        outbox.courier = Postbox(costs, all_there)  # type: ignore[assignment]

        def config(number: int) -> Config:
            return Config(f"hook {number}", f"http://127.0.0.1:{9000 + number}/", base="http://a/")

        async def webhook(task: str) -> Config:
            return config(1)

        message = Message(message_id="m", role=Role.ROLE_USER, parts=[Part(text="Go.")])
        accepted = await intents.submit(journal, "someone", message, webhook=webhook)
        for number in range(2, HOOKS + 1):
            await intents.configure(journal, "someone", accepted.task, config(number))
        turn = run_turn(journal, accepted.view.part, agent, wake)
        if late:
            await turn
        pushers = asyncio.create_task(Pushers(outbox, workers=64, each=16).run(stop))
        if not late:
            await turn
        async with asyncio.timeout(600):
            await all_there.wait()
        stop.set()
        await pushers

    run(whole(), loop)
    return costs


def lines() -> list[Line]:
    """Per push: row writes, reads, messages; with events one by one, and with many that wait."""
    found = []
    for name, costs, budgets in (
        ("one event at a time", pushes(pause=1.0), SINGLY),
        (f"{ARTIFACTS} events that wait", pushes(pause=0.0, late=True), WAITING),
    ):
        counted = (costs.store.rows, costs.store.reads, costs.messages)
        for what, number, budget in zip(WHAT, counted, budgets, strict=True):
            found.append(Line(f"per push, {name}: {what}", number / costs.pushes, budget))
    return found

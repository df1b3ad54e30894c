"""A deployment in memory with webhooks that answer what the test says."""

from __future__ import annotations

import itertools
import math
from collections.abc import Awaitable, Callable

from a2a.types.a2a_pb2 import Part
from tests.unit.world import World

from a2a_fn.journal import intents, webhooks
from a2a_fn.journal.journal import Journal
from a2a_fn.journal.slots import Config, Slot
from a2a_fn.journal.webhooks import Webhook
from a2a_fn.ports import Answer
from a2a_fn.push import letters
from a2a_fn.push.deliver import Delivered, Manner, Push, deliver
from a2a_fn.push.letters import Letter
from a2a_fn.push.verdict import Limits
from a2a_fn.turns.sweep import sweep

OK = Answer(200)
DOWN = Answer(503, text="down for lunch")
URL = "https://hooks.example.com/a2a"
TIMEOUT = 10.0
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000


class Hooks(World):
    """``got``: what came, in order; ``answers``: what comes back, the last one for ever; ``told``:
    the tasks that a slot woke the pushers for; ``wait``: draws from the top of a range."""

    def __init__(self, events: str = "state") -> None:
        super().__init__()
        self.events = events
        self.limits = Limits()
        self.uniform: Callable[[float, float], float] = lambda low, high: high
        self.answers: list[Answer | Exception] = [OK]
        self.got: list[Push] = []
        self.told: list[tuple[str, str]] = []
        self.during: Callable[[Push], Awaitable[None]] | None = None
        ids = itertools.count(1)
        self.journal = Journal(
            self.rows,
            self.journal.blobs,
            self.clock,
            self.journal.ids,
            nonce=lambda: f"nonce{next(ids)}",
            tell=self.tell,
        )

    async def tell(self, part: str, slot: Slot) -> None:
        if webhooks.concerns(self.events, slot):
            self.told.append((part, slot.task))

    async def send(self, push: Push) -> Answer:
        self.got.append(push)
        if self.during is not None:
            await self.during(push)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def set(self, task: str, name: str = "a", url: str = URL) -> Webhook:
        return await intents.configure(self.journal, "me", task, Config(name, url))

    async def push(
        self,
        task: str,
        name: str = "a",
        *,
        remaining: Callable[[], float] = lambda: math.inf,
        stop: Callable[[], bool] = lambda: False,
        send: Callable[[Push], Awaitable[Answer]] | None = None,
        patience: float = TIMEOUT,
    ) -> Delivered:
        """One wake-up of a pusher."""
        manner = Manner(self.events, patience, self.limits, lambda a, b: self.uniform(a, b))
        return await deliver(
            self.journal,
            part_of(task),
            task,
            name,
            send or self.send,
            manner,
            remaining=remaining,
            stop=stop,
        )

    async def hook(self, task: str, name: str = "a") -> Webhook:
        found = await webhooks.read(self.journal, part_of(task), task, name)
        assert found is not None
        return found[0]

    async def letters(self) -> list[Letter]:
        return [letter async for letter in letters.listed(self.journal)]

    async def sweep(self) -> list[tuple[str, str, str]]:
        """One sweep; the webhooks that it woke a pusher for."""
        woken: list[tuple[str, str, str]] = []

        async def push(part: str, task: str, config: str) -> None:
            woken.append((part, task, config))

        await sweep(self.journal, 0, self.wake, push)
        return woken

    @property
    def generations(self) -> list[int]:
        return [push.generation for push in self.got]


def part_of(task: str) -> str:
    return task.partition("-")[0]


async def works(turn) -> None:
    """Says something, makes an artifact, completes."""
    await turn.say("working on it")
    await turn.artifact("plan", Part(text="one"))
    await turn.complete()

"""Pushers that wake-ups start, the webhooks that they call, and who sets, deletes and redrives."""

from __future__ import annotations

import asyncio

from a2a_fn.errors import NotFound, Refused, Unavailable
from a2a_fn.journal import intents, webhooks
from a2a_fn.journal.slots import Config, Slot
from a2a_fn.ports import Answer
from a2a_fn.push import letters
from a2a_fn.push.deliver import Manner, Outcome, Push, deliver, targets
from a2a_fn.push.verdict import Limits

from .machine import Machine
from .world import World

IDS = ("a", "b")
LIMITS = Limits(attempts=3, age=400.0)  # so that some are given up within a schedule
TIMEOUT = 10.0


class Pushers:
    """All pushers and webhooks of one schedule."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.oracle = world.oracle
        self.rng = world.rng
        self.manner = Manner(world.events, TIMEOUT, LIMITS, self.rng.uniform)
        world.push = self.pusher

    # ------------------------------------------------ deliveries

    def tell(self, part: str, slot: Slot) -> None:
        """A slot landed in a context with webhooks."""
        if webhooks.concerns(self.world.events, slot):
            self.world.enqueue_push(part, slot.task, "")

    def pusher(self, part: str, task: str, config: str) -> None:
        """A wake-up is received."""

        async def body(machine: Machine) -> None:
            for name in await targets(machine.journal, part, task, config):
                self._deliver(part, task, name)

        self.world.spawn("dispatcher", body)

    def _deliver(self, part: str, task: str, config: str) -> None:
        self.world.spawn("pusher", lambda machine: self._push(machine, part, task, config))

    async def _push(self, machine: Machine, part: str, task: str, config: str) -> None:
        world, rng = self.world, self.rng
        ends = float("inf")
        if world.faulty and rng.random() < 0.2:
            ends = world.loop.time() + rng.choice((10.0, 20.0, 40.0))
        outcome = await deliver(
            machine.journal,
            part,
            task,
            config,
            self._send,
            self.manner,
            remaining=lambda: ends - world.loop.time(),
        )
        world.count[f"push {outcome.outcome}"] += 1
        if outcome.outcome in (Outcome.RETRY, Outcome.STOPPED):
            world.enqueue_push(part, task, config, outcome.wait)

    async def _send(self, push: Push) -> Answer:
        """The way to the webhook, and what it does: it may get the push and say something else."""
        world, rng = self.world, self.rng
        self.oracle.pushing(push)
        x = rng.random() if world.faulty else 0.0
        there, back = rng.uniform(0.001, 0.1), rng.uniform(0.001, 0.1)
        if x > 0.97:
            there = rng.uniform(5, 20)  # past the time-out, at times
        if x < 0.65 or x > 0.95:  # it gets there, whether or not who sent it lives on
            world.later(there, self.oracle.arrived, push)
        await asyncio.sleep(there + back)
        if x < 0.55 or x > 0.96:
            return Answer(200)
        if x < 0.70:
            raise Unavailable("the answer was lost")
        if x < 0.85:
            return Answer(503, rng.choice((None, 0.0, 30.0)))
        if x < 0.90:
            return Answer(400)
        if x < 0.92:
            raise Refused("the name leads elsewhere")
        if x < 0.94:
            return Answer(410)
        return Answer(429, 5.0)

    # ------------------------------------------------ configs

    async def make(self, task: str) -> Config:
        """A webhook for a message."""
        return Config(self.rng.choice(IDS), "https://hooks.example.com/")

    def set(self, owner: str, task: str) -> None:
        """A client sets a webhook."""

        async def body(machine: Machine) -> None:
            config = await self.make(task)
            hook = await intents.configure(machine.journal, owner, task, config)
            self.world.count["webhook set"] += 1
            key = (task, config.id, hook.slot)
            self.oracle.need(key in self.oracle.series, "a webhook was set, but it is not there")

        self.world.spawn("set", body)

    def forget(self, owner: str, task: str) -> None:
        """A client deletes a webhook."""
        config = self.rng.choice(IDS)

        async def body(machine: Machine) -> None:
            await intents.forget(machine.journal, owner, task, config)
            self.world.count["webhook deleted"] += 1

        self.world.spawn("forget", body)

    def find(self, owner: str, task: str) -> None:
        """A client asks for a webhook."""
        config = self.rng.choice(IDS)

        async def body(machine: Machine) -> None:
            try:
                hook = await intents.webhook(machine.journal, owner, task, config)
            except NotFound:
                return
            self.oracle.need((task, config, hook.slot) in self.oracle.series, "found a false one")

        self.world.spawn("find", body)

    def redrive(self) -> None:
        """The operator brings back what was given up."""

        async def body(machine: Machine) -> None:
            async for letter in letters.listed(machine.journal):
                if await letters.redrive(machine.journal, letter):
                    self.world.count["redriven"] += 1

        self.world.spawn("redrive", body)

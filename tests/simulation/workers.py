"""Workers that a wake-up starts, and sweepers that the clock starts."""

from __future__ import annotations

import asyncio

from a2a_fn.turns import run, sweep
from a2a_fn.turns.turn import Turn

from . import scripts
from .machine import Machine
from .world import LIMITS, World


class Workers:
    """All workers and sweepers of one schedule."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.oracle = world.oracle
        self.rng = world.rng
        world.work = self.worker

    def worker(self, part: str) -> None:
        """A wake-up is received."""
        self.world.spawn("worker", lambda machine: self._worker(machine, part))

    async def _worker(self, machine: Machine, part: str) -> None:
        world, rng = self.world, self.rng
        epochs: list[int] = []
        stop = asyncio.Event()
        ends = float("inf")
        if world.faulty and rng.random() < 0.3:
            ends = world.loop.time() + rng.choice((12.0, 30.0, 90.0))
        elif world.faulty and rng.random() < 0.2:
            world.loop.call_later(rng.choice((0.1, 5.0, 40.0)), stop.set)

        async def die() -> None:
            world.count["poison died"] += 1
            world.died(machine)
            await world.loop.create_future()

        async def agent(turn: Turn) -> None:
            epochs.append(turn._writer.epoch)
            if turn.checkpoint is not None:
                world.count["resumed from a checkpoint"] += 1
            await scripts.perform(turn, self.oracle.scripts[turn.message.message_id], die)

        outcome = await run.run_turn(
            machine.journal,
            part,
            agent,
            machine.wake,
            limits=LIMITS,
            remaining=lambda: ends - world.loop.time(),
            stop=stop,
        )
        world.count[f"outcome {outcome}"] += 1
        if outcome is run.Outcome.LOST and epochs:
            ours = epochs[0] in self.oracle.stories[part].let_go
            self.oracle.need(not ours, "said to be lost, but its end is written")
        turn = self.oracle.stories[part].turn
        if epochs and turn and turn.live:
            self.oracle.need(turn.epoch != epochs[0], f"gave up a turn of its own: {outcome}")

    def sweeper(self) -> None:
        """The schedule rings."""

        async def wake(part: str) -> None:
            self.world.enqueue(part, sure=True)

        async def push(part: str, task: str, config: str) -> None:
            self.world.enqueue_push(part, task, config, sure=True)

        async def body(machine: Machine) -> None:
            self.world.count["alarms rung"] += await sweep.sweep(machine.journal, 0, wake, push)

        self.world.spawn("sweeper", body)

    def tick(self) -> None:
        """The clock that starts sweepers; ends when nothing is left to do."""
        world, rng = self.world, self.rng
        alarms = [int(k[:13]) for s in self.oracle.stories.values() for k in s.alarms]
        due = min(alarms, default=0)
        if (due and due <= world.now) or (world.faulty and rng.random() < 0.1):
            if world.running["sweeper"] < 3:
                self.sweeper()
        elif self.world.calm():
            return
        delay = rng.uniform(3, 30)
        if due and not world.faulty:
            delay = max(delay, (due - world.now) / 1000 + rng.uniform(0, 8))
        world.loop.outside(delay, self.tick)

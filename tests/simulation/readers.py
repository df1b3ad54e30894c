"""Clients that follow a task's stream, are cut off at any point, and come back by generation."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from a2a_fn.errors import Unavailable
from a2a_fn.journal import intents, stream
from a2a_fn.journal.fold import TERMINAL
from a2a_fn.journal.ids import partition_of

from .machine import Machine
from .world import World


class Readers:
    """All readers of one schedule. Each sees every event once, in order, to the task's end."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.oracle = world.oracle
        self.rng = world.rng

    def reader(self, owner: str, task: str) -> None:
        """A client follows a task to its end: each piece of the way may be another process."""
        self._read(owner, task, None)

    def _read(self, owner: str, task: str, cursor: int | None) -> None:
        if cursor is not None:
            self.world.count["reader came back"] += 1
        at = [cursor]

        async def body(machine: Machine) -> None:
            await self._read_on(machine, owner, task, at)

        def crashed() -> None:
            self.world.loop.outside(self.rng.uniform(0, 30), self._read, owner, task, at[0])

        self.world.spawn("reader", body, crashed)

    async def _read_on(self, machine: Machine, owner: str, task: str, at: list[int | None]) -> None:
        journal, oracle, rng = machine.journal, self.oracle, self.rng
        part = partition_of(task) or ""
        try:
            view = await intents.find(journal, owner, task)
            head, slot = view.tasks[task], view.tasks[task].slot
            context_id = view.context.context_id
            if at[0] is not None:
                then = await stream.as_of(journal, part, task, context_id, at[0])
                if then is None:
                    self.world.fail(f"{task}: generation {at[0]} is not there any more")
                head, slot = then
            fold = oracle.folds[task, head.slot]
            if at[0] is None or fold.generation == at[0]:  # else the cut was inside of a slot
                oracle.true(task, head)
            at[0] = head.generation if at[0] is None else at[0]
            oracle.need(head.generation == at[0], f"{task}: {head.generation} for {at[0]}")
            events = stream.follow(
                journal, part, task, context_id, slot=slot, generation=at[0], slow=20.0
            )
            async with aclosing(events):
                await self._follow(task, events, at, head.state)
        except Unavailable:
            self.world.loop.outside(rng.uniform(0, 60), self._read, owner, task, at[0])
            return
        end = oracle.story(task).heads[task].generation
        oracle.need(at[0] == end, f"the stream of {task} ended at {at[0]}, not at {end}")

    async def _follow(
        self,
        task: str,
        events: AsyncGenerator[stream.Seen | None],
        at: list[int | None],
        state: int,
    ) -> None:
        """Read to the end; Unavailable: the reader is cut off, or has waited enough."""
        oracle, rng = self.oracle, self.rng
        patience = rng.choice((1, 3, 10))
        while state not in TERMINAL:
            calm = self.world.calm()
            seen = await anext(events)
            if seen is None:
                patience -= 1
                if calm:
                    return
                if patience <= 0:
                    raise Unavailable("the reader went away")
                continue
            after = (at[0] or 0) + 1
            oracle.need(seen.generation == after, f"{task}: read {seen.generation} for {after}")
            truth = oracle.truth.get((task, seen.generation))
            oracle.need(truth == seen.event, f"{task}: event {seen.generation} was another")
            at[0] = seen.generation
            self.world.count["event read"] += 1
            if seen.last and seen.slot.state:
                state = seen.slot.state
            if self.world.faulty and rng.random() < 0.15:
                self.world.count["reader cut inside a slot"] += not seen.last
                raise Unavailable("the reader was cut")

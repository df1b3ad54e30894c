"""Clients that follow a task's stream, are cut off at any point, and come back by generation."""

from __future__ import annotations

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
        self.rng = (
            world.rng
        )  # who comes back is not "planned": readers wait for nobody but the rest

    def reader(self, owner: str, task: str) -> None:
        """A client follows a task to its end: each piece of the way may be another process."""
        self._read(owner, task, None, 0)

    def _read(self, owner: str, task: str, cursor: int | None, hops: int) -> None:
        if cursor is not None:
            self.world.count["reader came back"] += 1
        at = [cursor]

        async def body(machine: Machine) -> None:
            await self._read_on(machine, owner, task, at, hops)

        def crashed() -> None:
            self.world.loop.outside(
                self.rng.uniform(0, 30), self._read, owner, task, at[0], hops + 1
            )

        self.world.spawn("reader", body, crashed)

    async def _read_on(
        self, machine: Machine, owner: str, task: str, at: list[int | None], hops: int
    ) -> None:
        rng, oracle, part = self.rng, self.oracle, partition_of(task) or ""
        patience = rng.choice((1, 3, 10))
        done = False
        try:
            view = await intents.find(machine.journal, owner, task)
            head = view.tasks[task]
            self.oracle.true(task, head)
            if at[0] is None:
                at[0], slot = head.generation, head.slot
            else:
                slot = await stream.slot_before(machine.journal, part, task, at[0], head.slot)
            state = head.state if at[0] == head.generation else 0
            events = stream.follow(
                machine.journal,
                part,
                task,
                view.context.context_id,
                slot=slot,
                generation=at[0],
                slow=20.0,
            )
            while state not in TERMINAL:
                calm = self.world.calm()
                seen = await anext(events)
                if seen is None:
                    patience -= 1
                    if calm:
                        break
                    if patience <= 0:
                        raise Unavailable("the reader went away")
                    continue
                oracle.need(
                    seen.generation == at[0] + 1, f"{task}: {seen.generation} after {at[0]}"
                )
                truth = oracle.truth.get((task, seen.generation))
                oracle.need(truth == seen.event, f"{task}: event {seen.generation} was another")
                at[0] = seen.generation
                self.world.count["event read"] += 1
                if seen.last:
                    state = seen.slot.state
                if self.world.faulty and rng.random() < 0.15:
                    raise Unavailable("the reader was cut")
            done = True
        except Unavailable:
            self.world.loop.outside(rng.uniform(0, 60), self._read, owner, task, at[0], hops + 1)
            return
        if done:
            truth_head = self.oracle.story(task).heads[task]
            oracle.need(at[0] == truth_head.generation, f"the stream of {task} ended too soon")

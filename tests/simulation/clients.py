"""Clients that send, cancel, get and list: each a call of the product, and what it may answer."""

from __future__ import annotations

import asyncio
import contextlib
import math

from a2a.types.a2a_pb2 import Message, Part, Role

from a2a_fn.errors import NotFound, Unavailable
from a2a_fn.journal import intents, lists
from a2a_fn.journal.fold import TERMINAL, Head
from a2a_fn.journal.ids import digest, partition_of

from . import scripts
from .machine import IDS, SKEW, Machine
from .pushers import Pushers
from .readers import Readers
from .rest import CANCELED, STATES
from .world import World

WHOLE = 50  # a page that holds every task of a schedule


class Clients:
    """All clients of one schedule."""

    def __init__(self, world: World, pushers: Pushers) -> None:
        self.world = world
        self.oracle = world.oracle
        self.rng = world.rng
        self.readers = Readers(world)
        self.pushers = pushers
        self.hooked: dict[str, bool] = {}  # messages that come with a webhook
        self.messages = 0
        self.planned: dict[str, None] = {}  # tasks that have their followers
        self.reading = 0

    def message(self, context_id: str = "", task: str = "") -> Message:
        """A new user message, with a script for the agent."""
        self.messages += 1
        name = f"u{self.messages}"
        self.oracle.scripts[name] = scripts.draw(self.rng, name, faults=self.world.faults)
        return Message(
            message_id=name,
            role=Role.ROLE_USER,
            parts=[Part(text="go")],
            context_id=context_id,
            task_id=task,
        )

    def send(self, owner: str, message: Message, tries: int = 3) -> None:
        """A client hands a message over; it tries again if it gets no answer."""
        fingerprint = digest(message)

        def no_answer() -> None:
            self.oracle.answers[fingerprint]["unknown"] += 1
            if tries > 1 and self.rng.random() < 0.7:
                self.world.count["retry"] += 1
                pause = self.rng.choice((0.1, 5.0, 80.0, 300.0))
                self.world.later(pause, self.send, owner, message, tries - 1)

        async def body(machine: Machine) -> None:
            try:
                await self._send(machine, owner, message, fingerprint, tries)
            except Unavailable:
                no_answer()
                raise

        self.world.spawn("send", body, no_answer)

    async def _send(
        self, machine: Machine, owner: str, message: Message, mark: str, tries: int
    ) -> None:
        oracle, world = self.oracle, self.world
        begun = world.now
        known = oracle.knows(mark)
        part = partition_of(message.task_id) or ""
        if message.context_id:
            part = IDS.partition(owner, message.context_id)
        try:
            hooked = self.hooked.setdefault(mark, self.rng.random() < 0.3)
            make = self.pushers.make if hooked else None
            accepted = await intents.submit(machine.journal, owner, message, webhook=make)
        except intents.Busy:
            oracle.need(not (known and oracle.knows(mark)), "refused as busy with itself")
            story = oracle.stories[part]
            was = story.turn is not None or story.busy_until >= begun
            oracle.need(was, "refused as busy, but it was not")
            oracle.answers[mark]["busy"] += 1
            world.count["send: busy"] += 1
            if tries > 1 and self.rng.random() < 0.6:
                self.world.later(self.rng.uniform(1, 90), self.send, owner, message, tries - 1)
            return
        except intents.Ended as ended:
            oracle.need(not (known and oracle.knows(mark)), "refused as ended by itself")
            state = oracle.stories[part].heads[message.task_id].state
            oracle.need(state == ended.state, "refused as ended, but it was not")
            oracle.answers[mark]["ended"] += 1
            world.count["send: ended"] += 1
            return
        task = accepted.task
        oracle.answers[mark]["accepted"] += 1
        world.count["send: found again" if accepted.again else "send: accepted"] += 1
        runs = [t for _, t in oracle.submitted.get(mark, ())]
        oracle.need(task in runs, "accepted, but it is not in the journal")
        oracle.need(task in oracle.rows, "accepted, but its head is not written")
        self.oracle.true(task, accepted.head)
        oracle.acked[mark] = task
        self.follow_up(owner, task)
        await machine.wake(accepted.view.part)

    def follow_up(self, owner: str, task: str) -> None:
        """What clients do about a task that they know of."""
        rng = self.rng
        if task in self.planned:
            return
        self.planned[task] = None
        if self.reading < 3 and rng.random() < 0.7:
            self.reading += 1
            delay = rng.choice((0.0, 0.0, rng.uniform(0, 100)))
            self.world.later(delay, self.readers.reader, owner, task)
        if rng.random() < 0.35:
            delay = rng.choice((rng.uniform(0, 1), rng.uniform(0, 30), rng.uniform(30, 300)))
            self.world.later(delay, self.cancel, owner, task)
            if rng.random() < 0.2:
                self.world.later(delay, self.cancel, owner, task)
        idle = [t for t in self.planned if t != task and t[:16] == task[:16]]
        if idle and rng.random() < 0.3:  # a sibling: beside the turn that has just begun
            self.world.later(
                rng.choice((0.1, rng.uniform(0, 20))), self.cancel, owner, rng.choice(idle)
            )
        if rng.random() < 0.4:
            self.world.later(rng.uniform(0, 120), self.get, owner, task)
        if rng.random() < 0.5:
            self.world.later(rng.choice((0.0, rng.uniform(0, 120))), self.list, owner)
        for likely, act in (
            (0.25, self.pushers.set),
            (0.15, self.pushers.set),
            (0.2, self.pushers.forget),
            (0.1, self.pushers.find),
        ):
            if rng.random() < likely:
                self.world.later(
                    rng.choice((rng.uniform(0, 5), rng.uniform(0, 300))), act, owner, task
                )
        if rng.random() < 0.05:
            self.world.later(rng.uniform(0, 400), self.pushers.redrive)
        if rng.random() < 0.5 and self.messages < 7:
            message = self.message(task=task)
            for _ in range(rng.choice((1, 2, 3))):
                self.world.later(rng.choice((1.0, rng.uniform(0, 200))), self.send, owner, message)

    # ------------------------------------------------ cancel, get, list

    def cancel(self, owner: str, task: str) -> None:
        """A client cancels a task."""

        async def body(machine: Machine) -> None:
            try:
                await intents.cancel(machine.journal, owner, task)
            except intents.Ended:
                state = self.oracle.story(task).heads[task].state
                self.oracle.need(state in TERMINAL, "not cancelable, but it was")
                self.world.count["cancel: ended"] += 1
                return
            self.world.count["cancel: done"] += 1
            self.oracle.canceled.add(task)
            state = self.oracle.story(task).heads[task].state
            self.oracle.need(state == CANCELED, "canceled, but the journal does not say so")

        self.world.spawn("cancel", body)

    def get(self, owner: str, task: str) -> None:
        """A client reads a task."""

        async def body(machine: Machine) -> None:
            before = self.oracle.story(task).heads[task].slot
            if self.rng.random() < 0.2:
                with contextlib.suppress(NotFound):
                    await intents.find(machine.journal, "eve", task)
                    self.world.fail("get: another owner's task was found")
            view = await intents.find(machine.journal, owner, task)
            self.oracle.true(task, view.tasks[task])
            self.oracle.need(view.tasks[task].slot >= before, "get: an old state of the task")

        self.world.spawn("get", body)

    def list(self, owner: str) -> None:
        """A client lists its tasks: all, those in one state, or those of one context."""
        rng = self.rng
        query = lists.Query(owner)
        x = rng.random()
        if x < 0.3:
            query = lists.Query(owner, state=rng.choice(STATES))
        elif x < 0.5:
            ids = [s.context.context_id for s in self.oracle.stories.values()]
            query = lists.Query(owner, context_id=rng.choice(ids))
        size = rng.choice((1, 2, 3, WHOLE, WHOLE, WHOLE))
        self.world.spawn("list", lambda machine: self._list(machine, query, size))

    def final_list(self, owner: str, state: int) -> None:
        """A list at rest, which also removes rows that a late writer put back."""
        query = lists.Query(owner, state=state)
        self.world.spawn("list", lambda machine: self._list(machine, query, WHOLE))

    async def _list(self, machine: Machine, query: lists.Query, size: int) -> None:
        rows, begun = self.oracle.rows, self.oracle.changes
        must = {t for t, (head, _) in rows.items() if self._fits(t, head, query)}
        shown: list[str] = []
        cursor: lists.Cursor | None = None
        pages = at = 0
        whole = size == 2  # a third of the walks
        while True:
            try:
                page = await lists.page(machine.journal, query, size, cursor, whole=whole)
            except Unavailable:
                await asyncio.sleep(1)
                continue
            pages += 1
            at = page.next.at if page.next else at
            tasks = [head.task.id for head in page.heads]
            self.oracle.need(len(set(tasks)) == len(tasks), "list: a task twice on one page")
            for head in page.heads:
                self.oracle.true(head.task.id, head)
                theirs = self.oracle.story(head.task.id).context.owner
                self.oracle.need(theirs == query.owner, "list: a task of another owner")
            shown += tasks
            cursor = page.next
            if cursor is None:
                break
        self.world.count["list of several pages"] += pages > 1
        # What moves within the clocks' difference of a walk's beginning may be missed, or (where a
        # process died in between) be there twice; what stood at its time by its own clock is there.
        exact = size == WHOLE and not query.state and not query.context_id
        for task in must:
            head, moved = rows[task]
            # (by the stamps of two clocks, which may call earlier what came after it began)
            earlier = 0 < head.status_time <= at - SKEW
            stands = not query.state and earlier and at < self._next(task, head)
            if head.listed and (exact or stands or moved <= begun):
                self.oracle.need(task in shown, f"list misses {task}: {query}, {pages} pages")

    def _next(self, task: str, head: Head) -> float:
        """When the task left that status, by its own stamps; inf if it did not."""
        now = self.oracle.rows[task][0]
        times = (*now.moves, now.status_time)
        return min((time for time in times if time > head.status_time), default=math.inf)

    def _fits(self, task: str, head: Head, query: lists.Query) -> bool:
        context = self.oracle.story(task).context
        return (
            head.listed
            and context.owner == query.owner
            and query.state in (0, head.state)
            and query.context_id in ("", context.context_id)
        )

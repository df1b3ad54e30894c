"""A small deployment in memory, for tests of the core and of the operations."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable

from a2a.types.a2a_pb2 import Message, Part, Role, SendMessageRequest, Task

from a2a_fn.engines.memory import MemoryBlobs, MemoryRows
from a2a_fn.journal import intents
from a2a_fn.journal.ids import Ids
from a2a_fn.journal.journal import Journal
from a2a_fn.journal.slots import Kind, Slot
from a2a_fn.protocol.handler import TaskHandler
from a2a_fn.turns.run import Limits, Outcome, run_turn
from a2a_fn.turns.turn import Turn

Agent = Callable[[Turn], Awaitable[None]]


class MovedClock:
    """A clock that the test moves; each look is a millisecond later."""

    def __init__(self) -> None:
        self.ms = 1_800_000_000_000

    def now(self) -> int:
        self.ms += 1
        return self.ms


class World:
    """Journal, handler and the wake-ups that were sent."""

    def __init__(self, *, direct_replies: bool = False, blocking_wait: float = 30.0) -> None:
        self.clock = MovedClock()
        self.rows = MemoryRows(clock=self.clock)
        ids = itertools.count(1)
        self.journal = Journal(
            self.rows,
            MemoryBlobs(),
            self.clock,
            Ids(b"secret"),
            nonce=lambda: f"id{next(ids)}",
        )
        self.woken: list[str] = []
        self.handler = TaskHandler(
            self.journal,
            self.wake,
            blocking_wait=blocking_wait,
            direct_replies=direct_replies,
            page_key=b"page",
        )

    async def wake(self, part: str) -> None:
        self.woken.append(part)

    async def submit(self, text: str = "hi", message_id: str = "m1", **more: str) -> str:
        """Submit a message; returns the task id."""
        message = user(text, message_id, **more)
        return (await intents.submit(self.journal, "me", message)).task

    async def run(self, task: str, agent: Agent, **more: object) -> Outcome:
        part = task.partition("-")[0]
        limits = Limits(grace=5.0)
        return await run_turn(self.journal, part, agent, self.wake, **{"limits": limits, **more})

    async def task(self, task: str) -> Task:
        view = await self.journal.load(task.partition("-")[0], task)
        return view.tasks[task].task

    async def slots(self, task: str) -> list[Slot]:
        part = task.partition("-")[0]
        return [slot async for _, slot in self.journal.slots(part, 0)]

    async def kinds(self, task: str) -> list[Kind]:
        return [slot.kind for slot in await self.slots(task)]

    async def alarms(self) -> int:
        return len(await self.rows.scan("D#0"))


def user(text: str, message_id: str = "m1", *, task: str = "", context: str = "") -> Message:
    return Message(
        message_id=message_id,
        role=Role.ROLE_USER,
        parts=[Part(text=text)],
        task_id=task,
        context_id=context,
    )


def sends(text: str, message_id: str = "m1", *, wait: bool = True, **more: str):
    request = SendMessageRequest(message=user(text, message_id, **more))
    request.configuration.return_immediately = not wait
    return request

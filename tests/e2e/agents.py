"""Agents and executors that the end-to-end tests load by import path into a real server."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from a2a.helpers.proto_helpers import new_task_from_user_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types.a2a_pb2 import Message, Part, Role

from a2a_fn.turns.turn import Turn

STEPS = 6


class Steps:
    """Says six numbered lines and saves after each; before line n it waits until the gate folder
    (A2A_TEST_GATE) holds a file named n."""

    async def run(self, turn: Turn) -> None:
        done = int(turn.checkpoint or b"0")
        for n in range(done + 1, STEPS + 1):
            await turn.say(f"line {n}, ")
            await gate(n)
            await turn.say(f"done {n}.\n")
            await turn.save(str(n).encode())
        await turn.complete()


async def gate(n: int) -> None:
    folder = os.environ.get("A2A_TEST_GATE")
    while folder and not (Path(folder) / str(n)).exists():
        await asyncio.sleep(0.01)


class HelloWorld(AgentExecutor):
    """The SDK's hello world: one bare Message."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        await event_queue.enqueue_event(
            Message(message_id="hello-1", role=Role.ROLE_AGENT, parts=[Part(text="Hello, World!")])
        )

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError("cancel not supported")


class Artifacts(AgentExecutor):
    """Streams one artifact in three chunks with TaskUpdater, then completes."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        if context.current_task is None:
            await event_queue.enqueue_event(new_task_from_user_message(context.message))
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.start_work()
        for i in range(3):
            await updater.add_artifact(
                [Part(text=f"chunk {i}\n")],
                artifact_id="report",
                name="report.txt",
                append=i > 0,
                last_chunk=i == 2,
            )
        await updater.complete(updater.new_agent_message([Part(text="All three chunks.")]))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


class Fails:
    """Fails every task."""

    async def run(self, turn: Turn) -> None:
        await turn.fail("no luck today")

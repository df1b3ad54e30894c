"""The agents that are measured, once for the product and once for the SDK, with the same work."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from a2a.types.a2a_pb2 import Message, Part, Role, Task, TaskState, TaskStatus

if TYPE_CHECKING:
    from a2a.server.agent_execution import RequestContext
    from a2a.server.events import EventQueue

    from a2a_fn.turns.turn import Turn


class Ticker:
    """Says the time (monotonic, ns) so often and at such a distance: "count milliseconds"."""

    async def run(self, turn: Turn) -> None:
        """Tick, each time as a piece of its own."""
        count, distance = (int(word) for word in turn.text.split())
        for _ in range(count):
            await asyncio.sleep(distance / 1000)
            await turn.say(f"{time.monotonic_ns()} ")
        await turn.complete()


class SdkTicker:
    """``Ticker`` as an AgentExecutor."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Tick, each time as a status update."""
        from a2a.server.tasks import TaskUpdater

        updater = await _opened(context, event_queue)
        assert isinstance(updater, TaskUpdater)
        count, distance = (int(word) for word in context.get_user_input().split())
        for _ in range(count):
            await asyncio.sleep(distance / 1000)
            await updater.update_status(
                TaskState.TASK_STATE_WORKING, _said(f"{time.monotonic_ns()} ")
            )
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Nothing is cancelled here."""


class SdkEcho:
    """What ``echo:`` does, as an AgentExecutor: working, then completed with the text."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Say the text."""
        updater = await _opened(context, event_queue)
        await updater.complete(_said(context.get_user_input()))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Nothing is cancelled here."""


class SdkTalker:
    """Says given pieces, each as a status update, and completes."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self._pieces = pieces

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Say them."""
        updater = await _opened(context, event_queue)
        for piece in self._pieces:
            await updater.update_status(TaskState.TASK_STATE_WORKING, _said(piece))
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Nothing is cancelled here."""


class Notifier:
    """Asks, so that webhooks can be set; then two artifacts, each with the time (monotonic, ns) at
    which it was said, and the end."""

    async def run(self, turn: Turn) -> None:
        """Ask for the word "go", then do it."""
        if turn.text != "go":
            return await turn.ask()
        for number in (1, 2):
            await turn.artifact(f"artifact {number}", Part(text=str(time.monotonic_ns())))
        await turn.complete()


class SdkNotifier:
    """``Notifier`` as an AgentExecutor."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Ask for the word "go", then do it."""
        if context.get_user_input() != "go":
            await (await _opened(context, event_queue)).requires_input()
            return
        from a2a.server.tasks import TaskUpdater

        assert context.task_id and context.context_id
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        for number in (1, 2):
            part = Part(text=str(time.monotonic_ns()))
            await updater.add_artifact([part], artifact_id=f"artifact {number}")
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Nothing is cancelled here."""


async def _opened(context: RequestContext, event_queue: EventQueue):  # type: ignore[no-untyped-def]
    """The SDK wants the Task first; then it works."""
    from a2a.server.tasks import TaskUpdater

    assert context.task_id and context.context_id and context.message
    await event_queue.enqueue_event(
        Task(
            id=context.task_id,
            context_id=context.context_id,
            status=TaskStatus(state=TaskState.TASK_STATE_SUBMITTED),
            history=[context.message],
        )
    )
    updater = TaskUpdater(event_queue, context.task_id, context.context_id)
    await updater.start_work()
    return updater


def _said(text: str) -> Message:
    return Message(
        role=Role.ROLE_AGENT, message_id=f"m-{time.monotonic_ns()}", parts=[Part(text=text)]
    )

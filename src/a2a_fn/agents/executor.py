"""Runs any a2a-sdk ``AgentExecutor``, unchanged, as a turn.

The executor's opening Task event is absorbed, since the submit already made the task. It has no
checkpoint: after a crash it begins anew, and what it had said is dropped from the task.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import Any

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.context import ServerCallContext
from a2a.server.events import EventQueue
from a2a.types.a2a_pb2 import (
    Message,
    Role,
    SendMessageRequest,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatusUpdateEvent,
)
from a2a.utils.errors import InvalidAgentResponseError

from ..errors import InvalidSettings, TurnLost
from ..journal.fold import INTERRUPTED, SETTLED
from ..turns.turn import Turn

log = logging.getLogger("a2a_fn.agents")

LINGER = 0.05  # seconds in which an executor that asked for something returns, if it means to
CLEANUP = 5.0  # seconds that an executor's cancel() may take


class ExecutorAgent:
    """``agent.Agent`` on an ``AgentExecutor``."""

    def __init__(self, executor: object) -> None:
        if not (hasattr(executor, "execute") and hasattr(executor, "cancel")):
            raise InvalidSettings(
                f"agent: {type(executor).__name__} has no execute() and cancel(); "
                "an a2a-sdk AgentExecutor has both"
            )
        self._executor: AgentExecutor = executor  # type: ignore[assignment]

    async def run(self, turn: Turn) -> None:
        """Run ``execute`` and publish what it enqueues."""
        context = await _context(turn)
        queue = _TurnQueue(turn)
        try:
            await self._executor.execute(context, queue)
            await queue.finish()
        except (asyncio.CancelledError, TurnLost):  # its own event may find out first
            queue.mute()
            if turn.canceled_by_client:
                await self._clean_up(context, queue)
            raise
        finally:
            queue.mute()

    async def _clean_up(self, context: RequestContext, queue: _TurnQueue) -> None:
        """Let the executor stop what it began elsewhere; what it says about it is too late."""
        try:
            async with asyncio.timeout(CLEANUP):
                await self._executor.cancel(context, queue)
        except Exception as error:  # the task is canceled whatever the executor makes of it
            log.warning("cancel() of the executor failed: %s", type(error).__name__)


async def _context(turn: Turn) -> RequestContext:
    """What the SDK would give: ``current_task`` only if the task was there before the message."""
    message = Message()
    message.CopyFrom(turn.message)
    fresh = len(turn.task.history) <= 1
    task = Task()
    task.CopyFrom(turn.task)
    return RequestContext(
        call_context=ServerCallContext(),
        request=SendMessageRequest(message=message),
        task_id=turn.task.id,
        context_id=turn.context_id,
        task=None if fresh else task,
        related_tasks=await turn.references(),
    )


class _TurnQueue(EventQueue):
    """An ``EventQueue`` whose other end is the turn."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._reply: Message | None = None
        self._spoke = False
        self._muted = False
        self._ended = False
        self._asked: TaskStatusUpdateEvent | None = None  # not published yet
        self._paused: TaskStatusUpdateEvent | None = None  # published, and nothing since
        self._linger: asyncio.Task[None] | None = None

    async def enqueue_event(self, event: Any) -> None:
        """Publish one event of the executor."""
        if self._muted:
            return
        if self._ended:
            log.warning("event of an executor after the end of its turn dropped")
            return
        await self._settle_asked()
        self._paused = None
        if isinstance(event, Message):
            if self._spoke or self._reply is not None:
                raise InvalidAgentResponseError("a Message must be an agent's only event")
            self._reply = event
            return
        if self._reply is not None:
            raise InvalidAgentResponseError("an agent that sent a Message can send nothing else")
        self._spoke = True
        if isinstance(event, Task):
            await self._absorb(event)
        elif isinstance(event, TaskArtifactUpdateEvent):
            await self._turn.publish(event)
        elif isinstance(event, TaskStatusUpdateEvent):
            await self._status(event)
        else:
            raise InvalidAgentResponseError(f"an agent cannot send a {type(event).__name__}")

    async def _absorb(self, task: Task) -> None:
        """Take from a Task event what the submit did not know."""
        for artifact in task.artifacts:
            await self._turn.publish(TaskArtifactUpdateEvent(artifact=artifact, last_chunk=True))
        new = task.status.state not in (
            TaskState.TASK_STATE_UNSPECIFIED,
            TaskState.TASK_STATE_SUBMITTED,
            TaskState.TASK_STATE_WORKING,
        )
        if new or task.status.HasField("message") or task.metadata:
            event = TaskStatusUpdateEvent(status=task.status, metadata=task.metadata)
            if not new:
                event.status.state = TaskState.TASK_STATE_WORKING
            await self._status(event)

    async def _status(self, event: TaskStatusUpdateEvent) -> None:
        state = event.status.state
        if state in INTERRUPTED:
            # most executors return now, and the turn ends; one that waits for the outside does not
            self._asked = event
            self._linger = asyncio.create_task(self._wait_and_settle())
        elif self._told(event):
            return
        else:
            await self._turn.publish(event)
            self._ended = state in SETTLED

    def _told(self, event: TaskStatusUpdateEvent) -> bool:
        """Whether the submit and the claim have said all that the event says."""
        said = (TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING)
        empty = not event.status.HasField("message") and not event.HasField("metadata")
        return empty and event.status.state in said and self._turn.state == said[1]

    async def _wait_and_settle(self) -> None:
        await asyncio.sleep(LINGER)
        self._linger = None
        await self._settle_asked()

    async def _settle_asked(self) -> None:
        """The executor goes on after it asked: the state is published, the turn stays open."""
        if self._linger is not None:
            self._linger.cancel()
            self._linger = None
        if self._asked is not None:
            event, self._asked = self._asked, None
            with contextlib.suppress(TurnLost):  # the turn itself will find out
                self._paused = event  # before the write: execute() may return during it
                await self._turn.pause(event)

    async def finish(self) -> None:
        """``execute`` has returned: end the turn as its events say."""
        if self._linger is not None:
            self._linger.cancel()
            self._linger = None
        last = self._asked or self._paused
        if self._reply is not None:
            self._reply.role = self._reply.role or Role.ROLE_AGENT
            await self._turn.reply(self._reply)
        elif last is not None:
            await self._turn.publish(last)

    def mute(self) -> None:
        """Drop whatever comes, and forget what waits."""
        self._muted = True
        if self._linger is not None:
            self._linger.cancel()
            self._linger = None

"""The A2A operations, on the journal: free of HTTP, of JSON and of any cloud.

Any instance can answer any call: nothing is kept here between two calls.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING

from a2a.types.a2a_pb2 import (
    AgentCard,
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse,
    ListTasksRequest,
    ListTasksResponse,
    Message,
    SendMessageRequest,
    SendMessageResponse,
    StreamResponse,
    SubscribeToTaskRequest,
    Task,
    TaskPushNotificationConfig,
)
from a2a.utils import errors as a2a

from ..errors import NotFound
from ..journal import intents, lists, stream
from ..journal.fold import SETTLED, TERMINAL, Head
from ..journal.journal import Journal
from ..journal.slots import Kind, Slot
from .artifacts import absolute
from .callers import Caller, Frame
from .errors import invalid
from .pages import PageTokens
from .refusals import failed, translated

if TYPE_CHECKING:
    from google.protobuf.empty_pb2 import Empty

    from .push_configs import PushConfigs

TURN_ENDS = frozenset({Kind.FINISHED, Kind.CANCELED, Kind.ABANDONED})
PAGE_SIZE = 50
PAGE_BYTES = 8 << 20  # of tasks in one answer of ListTasks; a larger one has fewer than asked for
REFERENCES = 32  # tasks that one message may refer to
HOLD = 2.0  # seconds that a stream waits for a bare Message before it shows the Task
SPARE = 2.0  # seconds before the platform's deadline at which an answer leaves


class TaskHandler:
    """``callers.Handler`` on a journal.

    ``wake`` tells a worker where to look. ``blocking_wait``: seconds that SendMessage waits for
    the turn's end. ``direct_replies``: the agent may answer with a bare Message and no Task, so a
    stream holds the Task back until the agent has said something else. ``card`` gives the
    extended card of a server that is seen at this URL. ``intake`` raises the A2A error for parts
    that the agent does not take, and returns the folder that the message names ("" for none).
    ``pushes`` makes the operations on push configs; without, nothing is pushed.
    """

    def __init__(
        self,
        journal: Journal,
        wake: Callable[[str], Awaitable[None]],
        *,
        blocking_wait: float,
        direct_replies: bool,
        page_key: bytes,
        stopping: Callable[[], bool] = lambda: False,
        card: Callable[[str], AgentCard] | None = None,
        intake: Callable[[Message], str] = lambda message: "",
        pushes: Callable[[], PushConfigs] | None = None,
    ) -> None:
        self._journal = journal
        self._wake = wake
        self._blocking_wait = blocking_wait
        self._direct_replies = direct_replies
        self._pages = PageTokens(page_key)
        self._stopping = stopping
        self._card = card
        self._intake = intake
        self._push_configs = pushes

    # ---------------------------------------------------------------- messages

    async def send_message(
        self, request: SendMessageRequest, caller: Caller
    ) -> SendMessageResponse:
        """Open a turn, wait for its end (or not), and answer with the task as it then stands."""
        at_once = request.configuration.return_immediately
        accepted = await self._submit(request, caller, detached=at_once)
        end: Slot | None = None
        if not at_once:
            end = await self._end_of_turn(accepted, caller)
            if end is not None and end.failure is not None:
                raise failed(end.failure)
            await self._journal.catch_up(accepted.view)
        head = accepted.head
        if (end is not None and end.reply) or (not head.listed and not at_once):
            return SendMessageResponse(message=head.task.status.message)
        answer = SendMessageResponse(task=_shown(head, request.configuration))
        return absolute(answer, caller)

    async def stream_message(
        self, request: SendMessageRequest, caller: Caller
    ) -> AsyncIterator[Frame]:
        """Open a turn and stream it: the task first, then each event, until the turn ends."""
        accepted = await self._submit(request, caller, detached=False)
        head = accepted.head
        shown = StreamResponse(task=_shown(head, request.configuration))
        snapshot = Frame(absolute(shown, caller), head.generation)
        if not _working(accepted):
            yield self._answer_again(head, snapshot)
            return
        if self._direct_replies:
            first = await self._first_word(accepted, caller)
            if first is not None and first.slot.failure is not None:
                raise failed(first.slot.failure)
            if first is not None and first.slot.reply:
                message = first.event.payload.status_update.status.message
                yield Frame(StreamResponse(message=message))
                return
        yield snapshot
        async with contextlib.aclosing(self._follow(accepted)) as events:
            async for seen in events:
                if seen is not None:
                    yield Frame(absolute(seen.event.payload, caller), seen.generation)
                    if seen.last and seen.slot.kind in TURN_ENDS:
                        return
                if self._over(_latest(caller)):
                    return

    async def _first_word(self, accepted: intents.Accepted, caller: Caller) -> stream.Seen | None:
        """The first event of the agent itself, if it comes while the Task may be held back."""
        until = min(asyncio.get_running_loop().time() + HOLD, _latest(caller))
        async with contextlib.aclosing(self._follow(accepted)) as events:
            async for seen in events:
                if seen is not None and seen.slot.kind is not Kind.CLAIMED:
                    return seen
                if self._over(until):
                    return None
        return None

    def _answer_again(self, head: Head, snapshot: Frame) -> Frame:
        if head.listed or head.state not in TERMINAL:
            return snapshot
        return Frame(StreamResponse(message=head.task.status.message))

    async def _submit(
        self, request: SendMessageRequest, caller: Caller, *, detached: bool
    ) -> intents.Accepted:
        config = request.configuration.task_push_notification_config
        hooked = request.configuration.HasField("task_push_notification_config")
        if hooked and self._push_configs is None:
            raise a2a.PushNotificationNotSupportedError
        if any(part.HasField("url") for part in request.message.parts):  # files are looked at
            workspace = await asyncio.to_thread(self._intake, request.message)
        else:
            workspace = self._intake(request.message)
        await self._check_references(request.message, caller)
        webhook = await self._pushes.inline(config, caller) if hooked else None
        with translated():
            accepted = await intents.submit(
                self._journal,
                caller.owner,
                request.message,
                detached=detached,
                workspace=workspace,
                webhook=webhook,
            )
        if hooked and accepted.again:
            await self._pushes.again(config, caller, accepted.task)
        active = accepted.view.context.active
        if active is not None and active.task == accepted.task and not active.claimed:
            await self._wake(accepted.view.part)
        return accepted

    async def _check_references(self, message: Message, caller: Caller) -> None:
        """Raises InvalidParamsError unless each task that the message refers to is the caller's."""
        names = message.reference_task_ids
        if len(names) > REFERENCES:
            raise invalid("message.referenceTaskIds", f"must be at most {REFERENCES}")
        for i, name in enumerate(names):
            try:
                await intents.find(self._journal, caller.owner, name)
            except NotFound:
                where = f"message.referenceTaskIds[{i}]"
                raise invalid(where, "names no task that exists") from None

    async def _end_of_turn(self, accepted: intents.Accepted, caller: Caller) -> Slot | None:
        """Wait until the task rests or time is up; the slot that ended the turn, if one did."""
        if not _working(accepted):
            return None
        loop = asyncio.get_running_loop()
        until = min(loop.time() + self._blocking_wait, _latest(caller))
        async with contextlib.aclosing(self._follow(accepted)) as events:
            async for seen in events:
                if seen is not None and (
                    seen.slot.kind in TURN_ENDS or (seen.last and seen.slot.state in SETTLED)
                ):
                    return seen.slot
                if self._over(until):
                    return None
        return None

    def _over(self, until: float) -> bool:
        """Whether it is past a time of the loop, or the host stops."""
        return self._stopping() or asyncio.get_running_loop().time() >= until

    def _follow(self, accepted: intents.Accepted) -> AsyncGenerator[stream.Seen | None]:
        view = accepted.view
        return stream.follow(
            self._journal,
            view.part,
            accepted.task,
            view.context.context_id,
            slot=view.context.n,
            generation=accepted.head.generation,
        )

    # ---------------------------------------------------------------- tasks

    async def get_task(self, request: GetTaskRequest, caller: Caller) -> Task:
        """The task as of now."""
        with translated():
            view = await intents.find(self._journal, caller.owner, request.id)
        return absolute(_shown(view.tasks[request.id], request), caller)

    async def list_tasks(self, request: ListTasksRequest, caller: Caller) -> ListTasksResponse:
        """One page, newest status first, then ids descending."""
        query = lists.Query(
            caller.owner,
            request.context_id,
            request.status,
            request.status_timestamp_after.ToMilliseconds()
            if request.HasField("status_timestamp_after")
            else 0,
        )
        size = request.page_size if request.HasField("page_size") else PAGE_SIZE
        cursor = self._pages.opened(request.page_token, query) if request.page_token else None
        whole = request.include_artifacts
        page = await lists.page(self._journal, query, size, cursor, whole=whole)
        answer = ListTasksResponse(page_size=size, total_size=page.total)
        more, room = page.next, PAGE_BYTES
        for i, head in enumerate(page.heads):
            task = _shown(head, request)
            if not request.include_artifacts:
                task.ClearField("artifacts")
            room -= task.ByteSize()
            if i and room < 0:
                more = page.cursors[i - 1]
                break
            answer.tasks.append(task)
        if more is not None:
            answer.next_page_token = self._pages.sealed(more, query)
        return absolute(answer, caller)

    async def cancel_task(self, request: CancelTaskRequest, caller: Caller) -> Task:
        """End a task; its worker finds out at its next write."""
        try:
            with translated():
                view = await intents.cancel(self._journal, caller.owner, request.id)
        except a2a.UnsupportedOperationError as error:
            raise a2a.TaskNotCancelableError(error.message) from error
        return absolute(_shown(view.tasks[request.id], None), caller)

    async def subscribe(
        self, request: SubscribeToTaskRequest, caller: Caller, last_event_id: int | None = None
    ) -> AsyncIterator[Frame]:
        """The task, then each event after it, until a terminal state. With ``last_event_id`` the
        task is the one of that generation, so that nothing after it is missed or repeated."""
        journal = self._journal
        with translated():
            view = await intents.find(journal, caller.owner, request.id)
        head, n = view.tasks[request.id], view.context.n
        if last_event_id and last_event_id < head.generation:  # 0: nothing was seen yet
            context_id = view.context.context_id
            then = await stream.as_of(journal, view.part, request.id, context_id, last_event_id)
            if then is not None:
                head, n = then
        if head.state in TERMINAL:
            raise a2a.UnsupportedOperationError(str(intents.Ended(request.id, head.state)))
        yield Frame(absolute(StreamResponse(task=head.task), caller), head.generation)
        following = stream.follow(
            journal,
            view.part,
            request.id,
            view.context.context_id,
            slot=n,
            generation=head.generation,
        )
        async with contextlib.aclosing(following) as events:
            async for seen in events:
                if seen is not None:
                    yield Frame(absolute(seen.event.payload, caller), seen.generation)
                    if seen.last and seen.slot.state in TERMINAL:
                        return
                if self._over(_latest(caller)):
                    return

    # ---------------------------------------------------------------- webhooks

    @property
    def _pushes(self) -> PushConfigs:
        if self._push_configs is None:
            raise a2a.PushNotificationNotSupportedError
        return self._push_configs()

    async def create_push_config(
        self, request: TaskPushNotificationConfig, caller: Caller
    ) -> TaskPushNotificationConfig:
        """Set a webhook of a task."""
        return await self._pushes.create(request, caller)

    async def get_push_config(
        self, request: GetTaskPushNotificationConfigRequest, caller: Caller
    ) -> TaskPushNotificationConfig:
        """One webhook of a task."""
        return await self._pushes.get(request, caller)

    async def list_push_configs(
        self, request: ListTaskPushNotificationConfigsRequest, caller: Caller
    ) -> ListTaskPushNotificationConfigsResponse:
        """The webhooks of a task."""
        return await self._pushes.list(request, caller)

    async def delete_push_config(
        self, request: DeleteTaskPushNotificationConfigRequest, caller: Caller
    ) -> Empty:
        """Delete a webhook of a task."""
        return await self._pushes.delete(request, caller)

    # ---------------------------------------------------------------- card

    async def extended_card(
        self, request: GetExtendedAgentCardRequest, caller: Caller
    ) -> AgentCard:
        """The extended card; only an authenticated caller gets here."""
        if self._card is None:
            raise a2a.ExtendedAgentCardNotConfiguredError
        return self._card(caller.base_url)


def _working(accepted: intents.Accepted) -> bool:
    active = accepted.view.context.active
    return active is not None and active.task == accepted.task


def _latest(caller: Caller) -> float:
    return math.inf if caller.deadline is None else caller.deadline - SPARE


def _shown(head: Head, request: object) -> Task:
    """A copy of the task with as much history as asked for (unset: all)."""
    task = Task()
    task.CopyFrom(head.task)
    if request is not None and request.HasField("history_length"):  # type: ignore[attr-defined]
        n = request.history_length  # type: ignore[attr-defined]
        if n < len(task.history):
            del task.history[: len(task.history) - n]
    return task

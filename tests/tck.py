"""The agent that the conformance kits drive: ``a2a-fn serve --agent tck`` in a checkout.

The kits say in their messages what they want to see. a2a-tck (branch 1.0-dev) says it by the prefix
of each messageId, ACTS by the first word of the text that opened the task; a2a-tck for A2A 0.3
(branch 0.3.x) only needs tasks that can be continued and canceled. Names that two of them use mean
the same in both, so one table serves all.

It is an a2a-sdk ``AgentExecutor``, so that the kits judge the product together with the adapter
that runs other people's executors; it runs on the SDK's own server as well.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types.a2a_pb2 import Message, Part, Role, Task, TaskState, TaskStatus
from a2a.utils.errors import ContentTypeNotSupportedError, InvalidParamsError
from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Value

PAUSE = 0.3  # seconds between events, in which a second stream can be opened
LONG = 3.0  # seconds of work: seen WORKING by a poll, and over before a kit loses patience
RESUBSCRIBE = 4.0  # seconds: twice a2a-tck's streaming time-out
STAY = 600.0  # seconds until a task that waits to be canceled gives up

REFUSED_CONTEXT = "client-generated-context-that-should-be-rejected"
REFUSED_TYPE = "application/x-unsupported-type-12345"

FILE = Part(raw=b"Generated file content", filename="output.txt", media_type="text/plain")
LINK = Part(url="https://example.com/output.txt", filename="output.txt", media_type="text/plain")
DATA = Part(data=ParseDict({"key": "value", "count": 42}, Value()))

Sleep = Callable[[float], Awaitable[None]]


class Act:
    """One behaviour at work: the updater, the message, and the time that passes."""

    def __init__(self, context: RequestContext, queue: EventQueue, sleep: Sleep) -> None:
        assert context.message and context.task_id and context.context_id
        self.message = context.message
        self.follows = context.current_task is not None
        self.queue = queue
        self.updater = TaskUpdater(queue, context.task_id, context.context_id)
        self.sleep = sleep

    def says(self, text: str) -> Message:
        """A message of the agent."""
        return self.updater.new_agent_message([Part(text=text)])


Behaviour = Callable[[Act], Awaitable[None]]


async def complete(act: Act) -> None:
    await act.updater.complete(act.says("Hello from TCK"))


async def complete_silently(act: Act) -> None:
    await act.updater.complete()


async def ask(act: Act) -> None:
    await act.updater.requires_input()


async def converse(act: Act) -> None:
    """Ask for more, without words, until the user's word is "done"."""
    texts = [part.text for part in act.message.parts]
    if act.follows and texts == ["done"]:
        await act.updater.complete()
    else:
        await act.updater.requires_input()


async def ask_for_credentials(act: Act) -> None:
    await act.updater.requires_auth(act.says("Sign in to go on."))


async def fail(act: Act) -> None:
    await act.updater.failed(act.says("It failed, as it was told to."))


async def reject(act: Act) -> None:
    await act.updater.reject(act.says("rejected"))


async def answer_with_a_message(act: Act) -> None:
    """A bare Message, which names neither a task nor a context."""
    text = Part(text="Direct message response")
    reply = Message(message_id=f"{act.message.message_id}-reply", parts=[text])
    reply.role = Role.ROLE_AGENT
    await act.queue.enqueue_event(reply)


async def stay(act: Act) -> None:
    """WORKING until somebody cancels."""
    await act.updater.start_work()
    await act.sleep(STAY)
    await act.updater.failed(act.says("Nobody canceled this task."))


async def work_long(act: Act) -> None:
    await act.updater.start_work()
    await act.sleep(LONG)
    await act.updater.add_artifact([Part(text="The result of long work")])
    await act.updater.complete()


async def wait_for_resubscription(act: Act) -> None:
    await act.updater.start_work()
    await act.sleep(RESUBSCRIBE)
    await act.updater.complete()


async def stream_chunks(act: Act) -> None:
    await act.updater.start_work()
    for n in (1, 2, 3):
        await act.sleep(PAUSE)
        await act.updater.add_artifact(
            [Part(text=f"chunk-{n} ")], artifact_id="chunked", append=n > 1, last_chunk=n == 3
        )
    await act.sleep(PAUSE)
    await act.updater.complete()


def hand_over(part: Part) -> Behaviour:
    """An artifact of one part, then COMPLETED."""

    async def act_out(act: Act) -> None:
        await act.updater.add_artifact([part])
        await act.updater.complete()

    return act_out


def stream(part: Part, pause: float = 0) -> Behaviour:
    """WORKING, an artifact of one part, COMPLETED, each an event of its own."""

    async def act_out(act: Act) -> None:
        await act.updater.start_work()
        await act.sleep(pause)
        await act.updater.add_artifact([part], last_chunk=True)
        await act.sleep(pause)
        await act.updater.complete()

    return act_out


BEHAVIOURS: dict[str, Behaviour] = {
    "tck-complete-task": complete,
    "tck-input-required": ask,
    "tck-multi-turn": converse,
    "tck-auth-required": ask_for_credentials,
    "tck-task-failure": fail,
    "tck-reject-task": reject,
    "tck-message-response": answer_with_a_message,
    "tck-cancel": stay,
    "tck-long-running": work_long,
    "test-resubscribe-message-id": wait_for_resubscription,
    "tck-artifact-text": hand_over(Part(text="Generated text content")),
    "tck-artifact-file": hand_over(FILE),
    "tck-artifact-file-url": hand_over(LINK),
    "tck-artifact-data": hand_over(DATA),
    "tck-stream-001": stream(Part(text="Stream hello from TCK")),
    "tck-stream-002": complete_silently,
    "tck-stream-003": stream(Part(text="Stream task lifecycle")),
    "tck-stream-ordering-001": stream(Part(text="Ordered output")),
    "tck-stream-artifact-text": stream(Part(text="Streamed text content")),
    "tck-stream-artifact-file": stream(FILE),
    "tck-stream-artifact-chunked": stream_chunks,
    "tck-stream-basic": stream(Part(text="Streamed output"), PAUSE),
    "tck-stream-chunked": stream_chunks,
    **dict.fromkeys(("test-", "text-", "mapping-test-", "cancel-test-"), ask),  # a2a-tck of 0.3
}
"""Prefix of a messageId, or first word of a task -> what the agent does."""


class TckExecutor(AgentExecutor):
    """Does what the kits' messages say; whatever says nothing known is completed."""

    def __init__(self, sleep: Sleep = asyncio.sleep) -> None:
        self._sleep = sleep

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        act = Act(context, event_queue, self._sleep)
        refuse(act.message)
        behaviour = wanted(act.message, context.current_task)
        if not act.follows and behaviour is not answer_with_a_message:
            status = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
            task = Task(id=context.task_id, context_id=context.context_id, status=status)
            task.history.append(act.message)
            await event_queue.enqueue_event(task)  # the SDK's server wants a Task first
        await behaviour(act)

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.task_id and context.context_id
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def refuse(message: Message) -> None:
    """Raises the A2A error for the two messages of ACTS that an agent is to turn away."""
    if message.context_id == REFUSED_CONTEXT:
        raise InvalidParamsError("This agent chooses the contextId of a conversation itself.")
    for part in message.parts:
        if dict(part.metadata).get("contentType") == REFUSED_TYPE:
            raise ContentTypeNotSupportedError(f"This agent does not take {REFUSED_TYPE}.")


def wanted(message: Message, task: Task | None) -> Behaviour:
    """The behaviour that the messageId names, else the one that the task's first text names."""
    opening = task.history[0] if task is not None and task.history else message
    text = next((part.text for part in opening.parts if part.HasField("text")), "")
    word = next(iter(text.split()), "")
    by_id = [name for name in BEHAVIOURS if message.message_id.startswith(name)]
    if by_id:
        return BEHAVIOURS[max(by_id, key=len)]
    return BEHAVIOURS.get(word, complete)

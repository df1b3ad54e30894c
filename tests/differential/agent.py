"""An ``AgentExecutor`` that does what the message says, so that a scenario is text.

The first text part is a list of commands with ``;`` between them; see ``Scripted.execute``.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types.a2a_pb2 import Part, Task, TaskState
from a2a.utils import errors
from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Value

STATES = {
    "work": TaskState.TASK_STATE_WORKING,
    "complete": TaskState.TASK_STATE_COMPLETED,
    "fail": TaskState.TASK_STATE_FAILED,
    "reject": TaskState.TASK_STATE_REJECTED,
    "ask": TaskState.TASK_STATE_INPUT_REQUIRED,
    "auth": TaskState.TASK_STATE_AUTH_REQUIRED,
}


class Scripted(AgentExecutor):
    """Commands of a message:

    ``work|complete|fail|reject|ask|auth [text]``: that state, with a message if there is a text;
    ``note JSON``: WORKING with this metadata; ``artifact ID text``, ``more ID text`` (appended, the
    last chunk with ``last``); ``data ID JSON``; ``reply text``: a bare Message, and no task;
    ``echo``: an artifact with the parts of the message; ``wait NAME``: until the test opens it;
    ``raise ERROR text``: an A2A error.
    """

    def __init__(self) -> None:
        self.gates: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Do what the message says."""
        assert context.message is not None
        text = next((part.text for part in context.message.parts if part.HasField("text")), "")
        commands = [command.strip() for command in text.split(";")]
        if context.current_task is None and commands[0].split(" ")[0] not in ("reply", "raise"):
            await event_queue.enqueue_event(_opening(context))
        updater = TaskUpdater(event_queue, context.task_id or "", context.context_id or "")
        for command in commands:
            verb, _, rest = command.partition(" ")
            await self._do(verb, rest, context, updater)

    async def _do(
        self, verb: str, rest: str, context: RequestContext, updater: TaskUpdater
    ) -> None:
        first, _, text = rest.partition(" ")
        if verb in STATES:
            said = updater.new_agent_message([Part(text=rest)]) if rest else None
            await updater.update_status(STATES[verb], said)
        elif verb == "note":
            await updater.update_status(STATES["work"], metadata=json.loads(rest))
        elif verb == "artifact":
            await updater.add_artifact([Part(text=text)], artifact_id=first, name=first)
        elif verb in ("more", "last"):
            await updater.add_artifact(
                [Part(text=text)], artifact_id=first, append=True, last_chunk=verb == "last"
            )
        elif verb == "data":
            part = Part(data=ParseDict(json.loads(text), Value()))
            await updater.add_artifact([part], artifact_id=first, metadata={"kind": "data"})
        elif verb == "echo":
            assert context.message is not None
            await updater.add_artifact(list(context.message.parts), artifact_id="echo")
        elif verb == "reply":
            await updater.event_queue.enqueue_event(updater.new_agent_message([Part(text=rest)]))
        elif verb == "wait":
            await self.gates[rest].wait()
        elif verb == "raise":
            raise getattr(errors, first)(text)
        else:
            raise AssertionError(f"the scenario has an unknown command: {verb!r}")

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Say that it was canceled, as the SDK asks of an executor."""
        await TaskUpdater(event_queue, context.task_id or "", context.context_id or "").cancel()


def _opening(context: RequestContext) -> Task:
    """The Task event with which an executor begins, as the SDK's own samples do."""
    assert context.message is not None
    task = Task(id=context.task_id, context_id=context.context_id, history=[context.message])
    task.status.state = TaskState.TASK_STATE_SUBMITTED
    task.status.timestamp.GetCurrentTime()
    return task

"""What an agent sees of its turn: what it is to work on, and what it may say.

After a cancel or a take-over every call raises ``TurnLost``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from a2a.types.a2a_pb2 import (
    Artifact,
    Message,
    Part,
    Role,
    StreamResponse,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatusUpdateEvent,
)

from ..journal import heads
from ..journal.fold import SETTLED
from ..journal.slots import Failure, Kind
from .writer import Writer

FIELD_LIMIT = 4000  # characters of a tool's input or result that leave in metadata
TOOL_BYTES = 200  # what a tool's report counts for when words are gathered


class Yielded(Exception):
    """The agent's state is saved and the turn goes on elsewhere; let it pass through."""


class Turn:
    """One turn. ``message`` is what to work on, ``task`` the task as it was when the turn was
    claimed (with the message in its history), ``attempt`` counts claims since the last checkpoint
    from 1, ``checkpoint`` is what ``save`` was last given (None at first)."""

    def __init__(
        self,
        writer: Writer,
        message: Message,
        checkpoint: bytes | None,
        remaining: Callable[[], float],
        *,
        restarted: bool = False,
    ) -> None:
        context = writer.view.context
        self.message = message
        self.task = writer.head.task
        self.attempt = writer.active.attempts
        self.checkpoint = checkpoint
        self.owner = context.owner or ""
        self.context_id = context.context_id
        self._writer = writer
        self._remaining = remaining
        self._stopping = False
        self._restarted = restarted
        self._artifacts: set[str] = set()  # that this claim has written to
        self._text_id = ""
        self._usage: dict[str, int] = {}

    # ---------------------------------------------------------------- what the agent may ask

    @property
    def text(self) -> str:
        """The text parts of the message, joined by newlines."""
        return "\n".join(part.text for part in self.message.parts if part.HasField("text"))

    @property
    def state(self) -> int:
        """The task's TaskState as of the last write."""
        return self._writer.head.state

    @property
    def stopping(self) -> bool:
        """The host wants the turn to yield: call ``save`` soon, it will not return."""
        return self._stopping

    @property
    def canceled_by_client(self) -> bool:
        """The turn is lost because its task was canceled, not because another has it."""
        return self._writer.canceled_by_client

    def new_id(self) -> str:
        """An id that nothing else has."""
        return self._writer.journal.nonce()

    def time_left(self) -> float:
        """Seconds until this invocation must be over; inf on a host that lives on."""
        return self._remaining()

    async def conversation(self) -> list[Task]:
        """The tasks of this context, oldest first, as last settled; this turn's is among them."""
        journal, part = self._writer.journal, self._writer.view.part
        rows = await journal.rows.scan(heads.partition(part), prefix=heads.TASKS)
        found = [heads.decode_head(await journal.cells.unpack(row.value)) for row in rows]
        return [head.task for head in sorted(found, key=lambda head: head.created)]

    # ---------------------------------------------------------------- what the agent may say

    async def say(self, text: str) -> None:
        """Stream a piece of the answer; pieces in a row add up to one message."""
        if not text:
            return
        if not self._text_id:
            self._text_id = self.new_id()
        status = TaskStatusUpdateEvent()
        message = status.status.message
        message.message_id, message.role = self._text_id, Role.ROLE_AGENT
        message.parts.add().text = text
        await self._writer.progress(status, len(text))

    async def tool(
        self, call_id: str, name: str, status: str, *, input: Any = None, result: Any = None
    ) -> None:
        """Report a tool: ``status`` is started, input_delta, input_complete, completed or failed.
        Text said after it begins a new message."""
        self._text_id = ""
        fields: dict[str, Any] = {"status": status, "toolUseId": call_id, "name": name}
        if input is not None:
            fields["input"] = clip(input)
        if result is not None:
            fields["result"] = clip(result)
        update = TaskStatusUpdateEvent()
        update.metadata.update({"iac_code": {"tool": fields}})
        await self._writer.progress(update, TOOL_BYTES)

    async def usage(self, input_tokens: int, output_tokens: int) -> None:
        """Add to the tokens that the turn used; they leave with its end."""
        for key, n in (("inputTokens", input_tokens), ("outputTokens", output_tokens)):
            self._usage[key] = self._usage.get(key, 0) + n
        self._usage["totalTokens"] = self._usage["inputTokens"] + self._usage["outputTokens"]

    async def artifact(
        self,
        artifact_id: str,
        *parts: Part,
        name: str = "",
        description: str = "",
        append: bool = False,
        last: bool = True,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Add an artifact, or (``append``) more parts to it; ``last``: nothing follows."""
        artifact = Artifact(
            artifact_id=artifact_id, name=name, description=description, parts=parts
        )
        if metadata:
            artifact.metadata.update(dict(metadata))
        event = TaskArtifactUpdateEvent(artifact=artifact, append=append, last_chunk=last)
        await self.publish(event)

    async def publish(self, event: TaskArtifactUpdateEvent | TaskStatusUpdateEvent) -> None:
        """Add a whole A2A event. A status event with another state ends the turn if that state
        does (completed, input required, ...); otherwise it is written at once."""
        if isinstance(event, TaskArtifactUpdateEvent):
            await self._writer.take(StreamResponse(artifact_update=self._begun(event)))
            return
        event = _from_agent(event)
        state = event.status.state or TaskState.TASK_STATE_WORKING
        if state in SETTLED:
            await self.end(state, event)
        elif state != self.state:
            await self._change(state, event)
        else:
            self._text_id = ""
            payload = StreamResponse(status_update=event)
            payload.status_update.status.state = state
            await self._writer.take(payload)

    async def pause(self, event: TaskStatusUpdateEvent) -> None:
        """Publish a state that a turn ends in, without ending it: the agent waits for the outside
        (an authorisation, say) and then goes on."""
        await self._change(event.status.state, _from_agent(event))

    def _begun(self, event: TaskArtifactUpdateEvent) -> TaskArtifactUpdateEvent:
        """The event; the first piece that a restarted turn adds to an artifact of before is the
        whole of it, since readers may hold pieces that were dropped (rule 36)."""
        name = event.artifact.artifact_id
        known = next((a for a in self.task.artifacts if a.artifact_id == name), None)
        first = name not in self._artifacts
        self._artifacts.add(name)
        if not (self._restarted and first and event.append and known):
            return event
        whole = TaskArtifactUpdateEvent()
        whole.CopyFrom(event)
        whole.append = False
        whole.artifact.CopyFrom(known)
        whole.artifact.parts.extend(event.artifact.parts)
        whole.artifact.metadata.MergeFrom(event.artifact.metadata)
        return whole

    async def _change(self, state: int, event: TaskStatusUpdateEvent) -> None:
        self._text_id = ""
        await self._writer.change(state, event)

    async def save(self, checkpoint: bytes) -> None:
        """Keep the agent's state: after a crash the turn goes on from here, and what was said
        before stays said. Raises ``Yielded`` if the host wants the turn to go on elsewhere."""
        await self._writer.save(checkpoint)
        self.checkpoint = checkpoint
        if self._stopping:
            raise Yielded

    async def ask(self, text: str = "") -> None:
        """End the turn waiting for the user (INPUT_REQUIRED), with a question if there is one."""
        await self._end_with(TaskState.TASK_STATE_INPUT_REQUIRED, text)

    async def complete(self, text: str = "") -> None:
        """End the turn and the task (COMPLETED)."""
        await self._end_with(TaskState.TASK_STATE_COMPLETED, text)

    async def fail(self, text: str) -> None:
        """End the turn and the task (FAILED), with a reason that a user may read."""
        await self._end_with(TaskState.TASK_STATE_FAILED, text)

    async def reply(self, message: Message) -> None:
        """End the turn with a bare Message: a caller that waits gets it and no task. Who holds the
        task already (a follow-up, a caller that did not wait) finds it as the task's last word."""
        held = self._writer.active.detached or len(self.task.history) > 1
        update = TaskStatusUpdateEvent()
        update.status.message.CopyFrom(message)
        update.status.message.role = Role.ROLE_AGENT
        await self.end(TaskState.TASK_STATE_COMPLETED, update, reply=not held)

    async def _end_with(self, state: int, text: str) -> None:
        await self.say(text)
        await self.end(state, TaskStatusUpdateEvent())

    async def end(
        self,
        state: int,
        status: TaskStatusUpdateEvent,
        *,
        reply: bool = False,
        failure: Failure | None = None,
    ) -> None:
        """Write the turn's end; once it is written, later calls do nothing."""
        if self._writer.over:
            return
        if self._usage:
            event, status = status, TaskStatusUpdateEvent()
            status.CopyFrom(event)
            status.metadata.get_or_create_struct("iac_code").update({"usage": self._usage})
        await self._writer.flush(
            Kind.FINISHED, state=state, status=status, settle=True, reply=reply, failure=failure
        )

    def stop(self) -> None:
        """The host's wish that the agent yields at its next ``save``."""
        self._stopping = True


def _from_agent(event: TaskStatusUpdateEvent) -> TaskStatusUpdateEvent:
    """The event, its message the agent's: a user's role would make it the question."""
    if not event.status.HasField("message") or event.status.message.role == Role.ROLE_AGENT:
        return event
    mended = TaskStatusUpdateEvent()
    mended.CopyFrom(event)
    mended.status.message.role = Role.ROLE_AGENT
    return mended


def clip(value: Any) -> Any:
    """A JSON value whose strings are cut at 4,000 characters."""
    if isinstance(value, str):
        return value[:FIELD_LIMIT]
    if isinstance(value, Mapping):
        return {str(k): clip(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [clip(v) for v in value]
    return value

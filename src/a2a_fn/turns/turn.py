"""What an agent may say in its turn.

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
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatusUpdateEvent,
)
from google.protobuf.json_format import MessageToDict

from ..journal.fold import SETTLED
from ..journal.slots import Failure, Kind
from .assignment import Assignment
from .manner import ARTIFACT_EXTENSION, PLAIN, Manner, clip
from .writer import Writer

TOOL_BYTES = 200  # what a tool's report counts for when words are gathered


class Yielded(Exception):
    """The agent's state is saved and the turn goes on elsewhere; let it pass through."""


class Turn(Assignment):
    """One turn: what it is to work on (see ``Assignment``), and what may be said."""

    def __init__(
        self,
        writer: Writer,
        message: Message,
        checkpoint: bytes | None,
        remaining: Callable[[], float],
        *,
        restarted: bool = False,
        manner: Manner = PLAIN,
    ) -> None:
        super().__init__(writer, message, checkpoint, remaining)
        self._restarted = restarted
        self._manner = manner
        self._artifacts: set[str] = set()  # that this claim has written to
        self._text_id = ""
        self._usage: dict[str, int] = {}
        self._notes: dict[str, Any] = {}
        self._noted = True  # the task has all notes

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
        Text said after it begins a new message. Shown only if the deployment shows tools."""
        self._text_id = ""
        if "tool-trace" not in self._manner.exposure:
            return
        fields: dict[str, Any] = {"status": status, "toolUseId": call_id, "name": name}
        if input is not None:
            fields["input"] = clip(input)
        if result is not None:
            fields["result"] = clip(result)
        await self._remark("tool", fields)

    async def permission(self, auto_approved: bool) -> None:
        """Report whether a tool that asked for permission got it; nobody is there to ask."""
        await self._remark("permission", {"autoApproved": auto_approved})

    async def thinking(self, text: str) -> None:
        """Show a piece of the model's reasoning, if the deployment shows it."""
        if text and "raw-thinking" in self._manner.exposure:
            fields = {"type": "raw_thinking", "text": clip(text)}
            await self._remark("thinking", fields, len(fields["text"]))

    async def _remark(self, about: str, fields: dict[str, Any], size: int = TOOL_BYTES) -> None:
        update = TaskStatusUpdateEvent()
        update.metadata.update({"iac_code": {about: fields}})
        await self._writer.progress(update, size)

    def note(self, name: str, value: Any) -> None:
        """Keep a JSON value in the task's metadata, as ``iac_code.<name>``: a key of its own, since
        whoever writes ``iac_code`` replaces it whole. It is published with the next ``save`` or
        with the turn's end, so that it never counts for a turn that was lost."""
        self._notes[f"iac_code.{name}"] = value
        self._noted = False

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
        extensions: tuple[str, ...] = (),
    ) -> None:
        """Add an artifact, or (``append``) more parts to it; ``last``: nothing follows."""
        artifact = Artifact(
            artifact_id=artifact_id,
            name=name,
            description=description,
            parts=parts,
            extensions=extensions,
        )
        if metadata:
            artifact.metadata.update(dict(metadata))
        event = TaskArtifactUpdateEvent(artifact=artifact, append=append, last_chunk=last)
        await self.publish(event)

    async def file(
        self,
        name: str,
        data: bytes,
        media_type: str,
        *,
        artifact_id: str = "",
        inline: Part | None = None,
    ) -> None:
        """Hand over a file as an artifact, by URL or with its content as the deployment has it;
        ``inline`` replaces the part with the content. Raises ValueError for a name that is no
        file name."""
        artifact_id = artifact_id or name
        if inline is not None and self._manner.artifact_urls == "inline":
            await self.artifact(artifact_id, inline, name=name)
            return
        part = await self._manner.hand_over(self.blobs, self.task.id, name, data, media_type)
        if not part.HasField("url"):
            await self.artifact(artifact_id, part, name=name)
            return
        about = {"artifactId": artifact_id, "filename": name, **MessageToDict(part.metadata)}
        await self.artifact(
            artifact_id,
            part,
            name=name,
            metadata={"iac_code": {"artifact": about}},
            extensions=(ARTIFACT_EXTENSION,),
        )

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
        if not self._noted:
            update = TaskStatusUpdateEvent()
            update.status.state = self.state  # type: ignore[assignment]
            update.metadata.update(self._notes)
            self._noted = True
            await self._writer.take(StreamResponse(status_update=update))
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
        """End the turn and the task (FAILED), with a reason that a user may read: a message of its
        own, whatever was said before."""
        self._text_id = ""
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
        if self._usage or not self._noted:
            event, status = status, TaskStatusUpdateEvent()
            status.CopyFrom(event)
            if self._usage:
                status.metadata.get_or_create_struct("iac_code").update({"usage": self._usage})
            status.metadata.update(self._notes)
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

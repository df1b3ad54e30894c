"""What an agent sees of its turn, and the one writer that puts its words into the journal.

Words are kept for a moment (150 ms, later more) or 8 KiB and then written as one slot; the first
after a silence goes at once. After a cancel or a take-over every call raises ``TurnLost``.
"""

from __future__ import annotations

import asyncio
import contextlib
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

from ..errors import TurnLost, Unavailable
from ..journal import heads
from ..journal.fold import SETTLED
from ..journal.journal import Journal, View, cancel_signal
from ..journal.slots import Event, Failure, Kind
from ..ports import Put

COALESCE = 0.15  # seconds; it grows to 0.4 in a long turn, where nobody reads along by the word
COALESCE_MOST = 0.4
COALESCE_SLOTS = 50  # slots of a turn in which the pace doubles
COALESCE_BYTES = 8 * 1024
FIELD_LIMIT = 4000  # characters of a tool's input or result that leave in metadata


class Yielded(Exception):
    """The agent's state is saved and the turn goes on elsewhere; let it pass through."""


class Turn:
    """One turn. ``message`` is what to work on, ``task`` the task as it was when the turn was
    claimed (with the message in its history), ``attempt`` counts claims since the last checkpoint
    from 1, ``checkpoint`` is what ``save`` was last given (None at first)."""

    def __init__(
        self,
        journal: Journal,
        view: View,
        message: Message,
        checkpoint: bytes | None,
        remaining: Callable[[], float],
    ) -> None:
        active = view.context.active
        if active is None:
            raise TurnLost
        self.message = message
        self.task = view.tasks[active.task].task
        self.attempt = active.attempts
        self.checkpoint = checkpoint
        self.owner = view.context.owner or ""
        self.context_id = view.context.context_id
        self._journal = journal
        self._view = view
        self._epoch = view.context.epoch
        self._digest = active.digest
        self._alarm = journal.turn_alarm(view)
        self._remaining = remaining
        self._pending: list[Event] = []
        self._size = 0
        self._lock = asyncio.Lock()
        self._written = asyncio.get_running_loop().time()
        self._slots = 0
        self._stirred = asyncio.Event()
        self._lost: TurnLost | Unavailable | None = None
        self._stopping = False
        self._ended = asyncio.Event()
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
        return self._view.tasks[self.task.id].state

    @property
    def stopping(self) -> bool:
        """The host wants the turn to yield: call ``save`` soon, it will not return."""
        return self._stopping

    def new_id(self) -> str:
        """An id that nothing else has."""
        return self._journal.nonce()

    def time_left(self) -> float:
        """Seconds until this invocation must be over; inf on a host that lives on."""
        return self._remaining()

    async def conversation(self) -> list[Task]:
        """The tasks of this context, oldest first, as last settled; this turn's is among them."""
        rows = await self._journal.rows.scan(
            heads.partition(self._view.part), prefix=heads.TASKS, limit=1000
        )
        found = [heads.decode_head(await self._journal.cells.unpack(r.value)) for r in rows]
        return [head.task for head in sorted(found, key=lambda head: head.created)]

    # ---------------------------------------------------------------- what the agent may say

    async def say(self, text: str) -> None:
        """Stream a piece of the answer; pieces in a row add up to one message."""
        if not text:
            return
        if not self._text_id:
            self._text_id = self._journal.nonce()
        status = TaskStatusUpdateEvent()
        message = status.status.message
        message.message_id, message.role = self._text_id, Role.ROLE_AGENT
        message.parts.add().text = text
        await self._progress(status, len(text))

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
        await self._progress(update, 200)

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
        payload = StreamResponse()
        if isinstance(event, TaskArtifactUpdateEvent):
            payload.artifact_update.CopyFrom(event)
            await self._take(Event(self._named(payload)), event.ByteSize())
            return
        state = event.status.state or TaskState.TASK_STATE_WORKING
        self._text_id = ""
        if state in SETTLED:
            await self.end(state, event)
            return
        payload.status_update.CopyFrom(event)
        payload.status_update.status.state = state
        if state == self._view.tasks[self.task.id].state:
            self._stamp(payload.status_update)
            await self._take(Event(self._named(payload)), event.ByteSize())
        else:
            await self._flush(Kind.EVENTS, state=state, status=event, settle=True)

    async def pause(self, event: TaskStatusUpdateEvent) -> None:
        """Publish a state that a turn ends in, without ending it: the agent waits for the outside
        (an authorisation, say) and then goes on."""
        self._text_id = ""
        await self._flush(Kind.EVENTS, state=event.status.state, status=event, settle=True)

    async def save(self, checkpoint: bytes) -> None:
        """Keep the agent's state: after a crash the turn goes on from here, and what was said
        before stays said. Raises ``Yielded`` if the host wants the turn to go on elsewhere."""
        nonce = self._journal.nonce()
        key = heads.STATES + nonce
        cell = await self._journal.cells.pack(checkpoint)
        await self._flush(
            Kind.EVENTS,
            before=[Put(heads.partition(self._view.part), key, cell)],
            checkpoint=key,
        )
        self.checkpoint = checkpoint
        if self._stopping:
            raise Yielded

    async def ask(self, text: str = "") -> None:
        """End the turn waiting for the user (INPUT_REQUIRED), with a question if there is one."""
        await self._finish_with(TaskState.TASK_STATE_INPUT_REQUIRED, text)

    async def complete(self, text: str = "") -> None:
        """End the turn and the task (COMPLETED)."""
        await self._finish_with(TaskState.TASK_STATE_COMPLETED, text)

    async def fail(self, text: str) -> None:
        """End the turn and the task (FAILED), with a reason that a user may read."""
        await self._finish_with(TaskState.TASK_STATE_FAILED, text)

    async def reply(self, message: Message) -> None:
        """End the turn with a bare Message: a caller that waits gets it and no task."""
        update = TaskStatusUpdateEvent()
        update.status.message.CopyFrom(message)
        update.status.message.role = Role.ROLE_AGENT
        await self.end(TaskState.TASK_STATE_COMPLETED, update, reply=True)

    async def _finish_with(self, state: int, text: str) -> None:
        if text:
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
        """Write the turn's end; the first one counts, later calls do nothing."""
        if self._ended.is_set():
            return
        if self._usage:
            status.metadata.update({"iac_code": {"usage": self._usage}})
        await self._flush(
            Kind.FINISHED, state=state, status=status, settle=True, reply=reply, failure=failure
        )

    # ---------------------------------------------------------------- the writer

    @property
    def over(self) -> bool:
        """The turn's end is written."""
        return self._ended.is_set()

    async def ended(self) -> None:
        """Return when the turn's end is written."""
        await self._ended.wait()

    def stop(self) -> None:
        """Ask the agent to yield at its next ``save``."""
        self._stopping = True

    async def let_go(self) -> bool:
        """Write that the turn goes on elsewhere, from its last checkpoint; False if its end was
        written meanwhile."""
        async with self._lock:  # a write of the agent's that is under way is decided first
            if self.over:
                return False
        await self._flush(Kind.YIELDED)
        return True

    async def keep(self) -> None:
        """Write what waits when its time has come, and beat when nothing does, until the turn
        ends. Raises TurnLost as soon as a write shows it."""
        loop = asyncio.get_running_loop()
        beat = self._journal.lease / 3000
        while not self._ended.is_set():
            due = self._written + beat - loop.time()
            try:
                async with asyncio.timeout(max(0.0, due)):
                    await self._stirred.wait()
            except TimeoutError:
                if loop.time() - self._written >= beat and not self._ended.is_set():
                    await self._flush(Kind.BEAT)
                continue
            self._stirred.clear()
            await asyncio.sleep(max(0.0, self._written + self._pace() - loop.time()))
            if not self._ended.is_set():
                await self._flush(Kind.EVENTS)

    async def canceled(self) -> None:
        """Return when this process hears that the turn was canceled (others are noticed at the
        next write)."""
        name = cancel_signal(self._view.part)
        while not self._ended.is_set() and self._mine():
            watched = self._journal.signals.watched(name)
            await self._journal.signals.wait(name, watched, 3600)
            with contextlib.suppress(Unavailable):  # then the next write finds out
                async with self._lock:
                    await self._journal.catch_up(self._view)
        if not self._ended.is_set():
            self._lost = TurnLost()

    @property
    def silent(self) -> bool:
        """Nothing of this turn is in the journal yet, or waits to be."""
        head = self._view.tasks[self.task.id]
        return not self._pending and head.safe is None and not self.checkpoint

    @property
    def canceled_by_client(self) -> bool:
        """The turn is lost because its task was canceled."""
        return (
            self._lost is not None
            and self._view.tasks[self.task.id].state == TaskState.TASK_STATE_CANCELED
        )

    def _named(self, payload: StreamResponse) -> StreamResponse:
        kind = payload.WhichOneof("payload")
        update = getattr(payload, str(kind))
        update.task_id, update.context_id = self.task.id, self.context_id
        return payload

    def _stamp(self, update: TaskStatusUpdateEvent) -> None:
        update.status.timestamp.FromMilliseconds(self._journal.clock.now())

    async def _progress(self, update: TaskStatusUpdateEvent, size: int) -> None:
        """Take a transient event; a piece right after another of its message joins it."""
        update.status.state = self._view.tasks[self.task.id].task.status.state
        self._stamp(update)
        last = self._pending[-1] if self._pending else None
        if last is not None and last.transient and update.status.HasField("message"):
            before = last.payload.status_update.status.message
            if before.message_id == update.status.message.message_id:
                before.parts[0].text += update.status.message.parts[0].text
                await self._take(None, size)
                return
        payload = StreamResponse()
        payload.status_update.CopyFrom(update)
        await self._take(Event(self._named(payload), transient=True), size)

    async def _take(self, event: Event | None, size: int) -> None:
        self._check()
        pace = self._pace() if self._pending else COALESCE  # a lone word does not wait for others
        if event is not None:
            self._pending.append(event)
        self._size += size
        quiet = asyncio.get_running_loop().time() - self._written
        if self._size >= COALESCE_BYTES or quiet >= pace:
            await self._flush(Kind.EVENTS)
        else:
            self._stirred.set()

    def _check(self) -> None:
        if self._lost is not None:
            raise self._lost
        if self._ended.is_set():
            raise TurnLost("the turn has ended; nothing can be added to it")

    async def _flush(self, kind: Kind, **how: Any) -> None:
        """Write what waits, as one slot of this kind. Raises TurnLost; then nothing was written.

        A caller that is cancelled does not stop the write half way: whether slot n is ours must be
        decided before anything else of this turn is written.
        """
        writing = asyncio.ensure_future(self._write(kind, **how))
        writing.add_done_callback(_seen)
        await asyncio.shield(writing)

    async def _write(
        self,
        kind: Kind,
        *,
        state: int = 0,
        status: TaskStatusUpdateEvent | None = None,
        settle: bool = False,
        before: list[Put] | None = None,
        **fields: Any,
    ) -> None:
        async with self._lock:
            self._check()
            events, self._pending, self._size = self._pending, [], 0
            if kind is Kind.BEAT and events:
                kind = Kind.EVENTS  # words came while the beat was waiting
            if kind is Kind.EVENTS and not (events or state or fields):
                return
            done = self._alarm if kind is Kind.FINISHED else None
            try:
                while not await self._journal.append(
                    self._view,
                    self._journal.compose(
                        self._view,
                        kind,
                        self.task.id,
                        events=events,
                        state=state,
                        status=status,
                        epoch=self._epoch,
                        **fields,
                    ),
                    before=before or (),
                    settle=settle,
                    done=done,
                ):
                    await self._journal.catch_up(self._view)
                    if not self._mine():
                        raise TurnLost
            except (TurnLost, Unavailable) as error:
                self._lost = error  # unknown ends it too: what followed would leave a hole
                self._stirred.set()
                raise
            if kind in (Kind.FINISHED, Kind.YIELDED):
                self._ended.set()
            self._written = asyncio.get_running_loop().time()
            self._slots += 1

    def _pace(self) -> float:
        """Seconds between two slots of words."""
        return min(COALESCE_MOST, COALESCE * (1 + self._slots / COALESCE_SLOTS))

    def _mine(self) -> bool:
        active = self._view.context.active
        return (
            active is not None
            and active.epoch == self._epoch
            and active.digest == self._digest
            and active.task == self.task.id
        )


def _seen(writing: asyncio.Future[None]) -> None:
    """The outcome is the caller's; if it was cancelled meanwhile, the turn's state has it."""
    if not writing.cancelled():
        writing.exception()


def clip(value: Any) -> Any:
    """A JSON value whose strings are cut at 4,000 characters."""
    if isinstance(value, str):
        return value[:FIELD_LIMIT]
    if isinstance(value, Mapping):
        return {str(k): clip(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [clip(v) for v in value]
    return value

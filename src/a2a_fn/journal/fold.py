"""The pure fold: (state, slot) -> state, for a context and for each of its tasks. No I/O.

A task's fold follows A2A's rules (a status message that is replaced moves to the history, artifacts
are added, replaced or appended to), with two of our own:

- pieces of one text are transient events that share a messageId; they add up to one message. A
  final status without a message leaves that text as its message, so that it is there once.
- what follows the last checkpoint is dropped when the turn is claimed again (rule 36): its events
  were streamed, but the agent will say it anew.
"""

from __future__ import annotations

from typing import NamedTuple, cast

from a2a.types.a2a_pb2 import Artifact, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus
from a2a.types.a2a_pb2 import TaskStatusUpdateEvent as StatusUpdate

from .slots import Event, Kind, Slot

TERMINAL = frozenset(
    {
        TaskState.TASK_STATE_COMPLETED,
        TaskState.TASK_STATE_FAILED,
        TaskState.TASK_STATE_CANCELED,
        TaskState.TASK_STATE_REJECTED,
    }
)
INTERRUPTED = frozenset({TaskState.TASK_STATE_INPUT_REQUIRED, TaskState.TASK_STATE_AUTH_REQUIRED})
SETTLED = TERMINAL | INTERRUPTED  # a turn ends in one of these

REPLY_WINDOW = 2_000  # ms in which a bare Message leaves no task behind in lists
WALK = 300_000  # ms in which a walk over the pages of a list shows what stood when it began
MOVES = 16  # status times that a head remembers at most, for the lists of its context
DEDUPE_WINDOW = 600_000  # ms in which the same message again is the same request (rule 34)


class Active(NamedTuple):
    """The turn that is open in a context. Times in ms."""

    task: str
    digest: str  # of the message that it works on
    alarm: str
    detached: bool
    last: int  # time of its newest slot
    epoch: int
    claimed: bool = False  # a worker has it (perhaps a dead one)
    attempts: int = 0  # claims since the last checkpoint
    claims: int = 0  # claims in all
    checkpoint: str = ""


class Context(NamedTuple):
    """A context after slot ``n``."""

    n: int = 0
    epoch: int = 0
    owner: str | None = None
    context_id: str = ""
    workspace: str = ""  # the first that a message named; it stays
    active: Active | None = None
    pushes: bool = False  # a task of it has, or had, a webhook


class Head(NamedTuple):
    """A task after slot ``slot``. The Task is never changed in place once it is in a Head."""

    task: Task
    generation: int
    slot: int
    status_time: int
    created: int  # time of its first slot, ms
    accepted: tuple[tuple[str, int], ...] = ()  # digests of recent messages, and when
    streaming: bool = False  # the status message is made of pieces, more may come
    safe: tuple[Task, bool] | None = None  # task and streaming at the last checkpoint, if not now
    listed: bool = True
    moves: tuple[int, ...] = ()  # the status times before this one, as far back as a walk may be

    def stood(self, at: int) -> int:
        """The status time that the task had at ``at`` (ms); 0 if it was not there yet."""
        times = [time for time in (*self.moves, self.status_time) if time <= at]
        if times:
            return times[-1]
        return 0 if at < self.created else (*self.moves, self.status_time)[0]

    @property
    def state(self) -> int:
        """The TaskState."""
        return self.task.status.state


def fold_context(context: Context, n: int, slot: Slot) -> Context:
    """The context after slot ``n``."""
    active = context.active
    epoch = context.epoch
    match slot.kind:
        case Kind.VOID:
            return context._replace(n=n)
        case Kind.SUBMITTED:
            active = Active(
                slot.task, slot.digest, slot.alarm, slot.detached, slot.time, context.epoch
            )
        case Kind.CLAIMED if active:
            epoch = slot.epoch
            active = active._replace(
                epoch=epoch,
                claimed=True,
                last=slot.time,
                attempts=active.attempts + 1,
                claims=active.claims + 1,
            )
        case Kind.EVENTS | Kind.BEAT | Kind.YIELDED if active:
            active = active._replace(last=slot.time, claimed=slot.kind is not Kind.YIELDED)
            if slot.checkpoint:  # the only thing that counts as progress (rule 14)
                active = active._replace(checkpoint=slot.checkpoint, attempts=0)
        case Kind.FINISHED | Kind.ABANDONED:
            active = None
        case Kind.CANCELED if active and active.task == slot.task:
            active = None
    return Context(
        n=n,
        epoch=epoch,
        owner=context.owner if slot.owner is None else slot.owner,
        context_id=slot.context_id or context.context_id,
        workspace=context.workspace or slot.workspace,
        active=active,
        pushes=context.pushes or slot.config is not None,
    )


def fold_head(head: Head | None, n: int, slot: Slot, context_id: str) -> Head:
    """The task after slot ``n``, which is a slot of this task."""
    if slot.kind in (Kind.BEAT, Kind.CONFIGURED) and head:
        return head._replace(slot=n, generation=slot.generation)
    task, streaming, safe = Task(), False, None
    created, listed = slot.time, True
    accepted: tuple[tuple[str, int], ...] = ()
    if head:
        created, accepted, listed = head.created, head.accepted, head.listed
        source, streaming = (head.task, head.streaming)
        if slot.kind is Kind.CLAIMED and head.safe:
            source, streaming = head.safe
        task.CopyFrom(source)
        if slot.kind in (Kind.EVENTS, Kind.YIELDED) and not slot.checkpoint:
            safe = head.safe or ((head.task, head.streaming) if slot.events else None)
    else:
        task.id, task.context_id = slot.task, context_id
    if slot.message is not None:
        _archive(task)
        task.history.append(slot.message)
        streaming = False
        fresh = [a for a in accepted if a[1] > slot.time - DEDUPE_WINDOW]
        accepted = (*fresh, (slot.digest, slot.time))
    for event in slot.events:
        streaming = _apply(task, event, streaming)
    if slot.state:
        task.status.state = cast("TaskState", slot.state)
    status_time = slot.status_time or (head.status_time if head else 0)
    if status_time:  # the time of the state, which lists are sorted by, not of its latest words
        task.status.timestamp.FromMilliseconds(status_time)
    moves = head.moves if head else ()
    if head and status_time != head.status_time:
        moves = (*moves, head.status_time)[-MOVES:]
        while len(moves) > 1 and moves[1] <= slot.time - WALK:
            moves = moves[1:]
    if slot.reply and slot.time < created + REPLY_WINDOW:  # later, somebody may have been shown it
        listed = False
    return Head(
        task=task,
        generation=slot.generation,
        slot=n,
        status_time=status_time,
        created=created,
        accepted=accepted,
        streaming=streaming,
        safe=safe,
        listed=listed,
        moves=moves,
    )


def _apply(task: Task, event: Event, streaming: bool) -> bool:
    """Fold one event into the task; returns whether its status message may still grow."""
    kind = event.payload.WhichOneof("payload")
    if kind == "artifact_update":
        _apply_artifact(task, event.payload.artifact_update)
        return streaming
    if kind != "status_update":  # "task": the submit's own, which says what the slot says
        return streaming
    update = event.payload.status_update
    if event.transient:
        return _apply_piece(task, update, streaming)
    keeps = streaming and not update.status.HasField("message")
    status = TaskStatus()
    status.CopyFrom(update.status)
    if keeps:
        status.message.CopyFrom(task.status.message)
    else:
        _archive(task)
    task.status.CopyFrom(status)
    if update.HasField("metadata"):
        task.metadata.MergeFrom(update.metadata)
    return keeps and status.state not in SETTLED


def _apply_piece(task: Task, update: StatusUpdate, streaming: bool) -> bool:
    if not update.status.HasField("message"):
        return streaming  # a tool's progress: nothing to keep
    piece = update.status.message
    so_far = task.status.message
    if not (streaming and so_far.message_id == piece.message_id):
        _archive(task)
        task.status.message.CopyFrom(piece)
        return True
    for part in piece.parts:
        last = so_far.parts[-1] if so_far.parts else None
        if last is not None and part.HasField("text") and last.HasField("text"):
            last.text += part.text
        else:
            so_far.parts.append(part)
    return True


def _archive(task: Task) -> None:
    """A status message that gives way moves to the history."""
    if task.status.HasField("message"):
        task.history.append(task.status.message)
        task.status.ClearField("message")


def _apply_artifact(task: Task, update: TaskArtifactUpdateEvent) -> None:
    new = update.artifact
    old: Artifact | None = next(
        (a for a in task.artifacts if a.artifact_id == new.artifact_id), None
    )
    if old is None:
        task.artifacts.append(new)
    elif update.append:
        old.parts.extend(new.parts)
        if new.HasField("metadata"):
            old.metadata.MergeFrom(new.metadata)
    else:
        old.CopyFrom(new)

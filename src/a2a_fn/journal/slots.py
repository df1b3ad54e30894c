"""What a journal slot holds, and its bytes.

A slot's bytes are one line of JSON, then the payloads: the user's message (if any) and the events,
as the protobuf bytes that A2A defines, without the task and context ids that the header has.
A person can read the line; a protobuf field that a later version adds survives the round trip.
"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any, NamedTuple

from a2a.types.a2a_pb2 import Message, StreamResponse


class Kind(StrEnum):
    """What a slot says."""

    SUBMITTED = "submitted"  # a user's message opens a turn
    CLAIMED = "claimed"  # a worker takes the turn: epoch + 1
    EVENTS = "events"  # what the agent said, perhaps up to a checkpoint
    BEAT = "beat"  # the worker lives
    YIELDED = "yielded"  # the worker lets go, the turn goes on elsewhere
    FINISHED = "finished"  # the last events and the end state
    CANCELED = "canceled"  # a client ended the task
    ABANDONED = "abandoned"  # the attempts are used up: FAILED
    CONFIGURED = "configured"  # a client set or deleted a webhook
    VOID = "void"  # fills a slot that a frozen writer might still want


class Event(NamedTuple):
    """One A2A event. A transient one (a piece of text, a tool's progress) is streamed, and the
    history keeps what it adds up to, not itself."""

    payload: StreamResponse  # never changed after it is in here
    transient: bool = False


class Failure(NamedTuple):
    """The A2A error that an agent raised before it did anything: a waiting caller gets it."""

    error: str  # class name in a2a.utils.errors
    message: str


class Config(NamedTuple):
    """A webhook as a client asked for it: where to, and what proves us there; deleted if there is
    no URL."""

    id: str
    url: str
    scheme: str = ""  # of its authentication
    sealed: str = ""  # token and credentials, unreadable here
    base: str = ""  # the root of this server as the client sees it
    tenant: str = ""
    v03: bool = False  # asked for by A2A 0.3, whose pushes have another form
    sent: int = 0  # generation after which its pushes begin
    read: int = 0  # slot after which they are found


class Slot(NamedTuple):
    """One entry of a context's journal. Times in ms; generations count a task's events from 1."""

    kind: Kind
    writer: str  # a nonce of this slot: tells "mine" from "another's" after an unknown result
    time: int  # the writer's clock
    task: str = ""
    epoch: int = 0
    events: tuple[Event, ...] = ()
    generation: int = 0  # of the task, after this slot
    state: int = 0  # TaskState after this slot, if it changes the status; else 0
    status_time: int = 0  # of that status: max(the one before + 1, time)
    replaced: tuple[int, int] | None = None  # (status time, state) that it replaces
    message: Message | None = None  # submitted: the user's
    digest: str = ""  # submitted: of that message
    alarm: str = ""  # submitted: key of the alarm that guards the turn
    detached: bool = False  # submitted: the caller took the task and went
    owner: str | None = None  # submitted, where the context is new
    context_id: str | None = None  # likewise
    workspace: str = ""  # submitted: the folder that the message names, if it names one
    checkpoint: str = ""  # key of the agent's state that this slot publishes
    reply: bool = False  # finished: the agent answered with a Message and no task
    failure: Failure | None = None  # finished: see there
    config: Config | None = None  # submitted, configured: a webhook of the task


_NAMES = {  # in the header; left out when they are at their default
    "e": "epoch",
    "s": "state",
    "st": "status_time",
    "d": "digest",
    "al": "alarm",
    "det": "detached",
    "o": "owner",
    "c": "context_id",
    "ws": "workspace",
    "ck": "checkpoint",
    "rep": "reply",
}
_DEFAULTS = {name: Slot._field_defaults[name] for name in _NAMES.values()}


def encode(slot: Slot) -> bytes:
    """The slot's bytes."""
    payloads = [_strip(event.payload) for event in slot.events]
    head: dict[str, Any] = {
        "k": slot.kind.value,
        "w": slot.writer,
        "t": slot.time,
        "task": slot.task,
        "g": slot.generation,
        "ev": [len(p) for p in payloads],
    }
    for short, name in _NAMES.items():
        value = getattr(slot, name)
        if value != _DEFAULTS[name]:
            head[short] = value
    if any(event.transient for event in slot.events):
        head["tr"] = [i for i, event in enumerate(slot.events) if event.transient]
    if slot.replaced:
        head["re"] = slot.replaced
    if slot.failure:
        head["f"] = [slot.failure.error, slot.failure.message]
    if slot.config:
        head["cfg"] = slot.config
    if slot.message is not None:
        payloads.insert(0, slot.message.SerializeToString(deterministic=True))
        head["m"] = len(payloads[0])
    line = json.dumps(head, separators=(",", ":"))  # ASCII only: survives lone surrogates
    return b"\n".join((line.encode(), b"".join(payloads)))


def decode(data: bytes, context_id: str = "") -> Slot:
    """The slot of these bytes; its events get their ids back (contextId: its own, or the given)."""
    line, _, rest = data.partition(b"\n")
    head = json.loads(line)
    task, context_id, at = head["task"], head.get("c", context_id), 0
    message: Message | None = None
    if "m" in head:
        at = head["m"]
        message = Message.FromString(rest[:at])
    transient = set(head.get("tr", ()))
    events = []
    for i, size in enumerate(head["ev"]):
        payload = StreamResponse.FromString(rest[at : at + size])
        at += size
        _fill(payload, task, context_id, message)
        events.append(Event(payload, i in transient))
    return Slot(
        kind=Kind(head["k"]),
        writer=head["w"],
        time=head["t"],
        task=task,
        generation=head["g"],
        events=tuple(events),
        message=message,
        replaced=tuple(head["re"]) if "re" in head else None,
        failure=Failure(*head["f"]) if "f" in head else None,
        config=Config(*head["cfg"]) if "cfg" in head else None,
        **{name: head[short] for short, name in _NAMES.items() if short in head},
    )


def _strip(payload: StreamResponse) -> bytes:
    """An event's bytes without what the slot has already: ids, and the user's message."""
    event = StreamResponse()
    event.CopyFrom(payload)
    kind = event.WhichOneof("payload")
    if kind == "task":
        event.task.ClearField("history")
        event.task.ClearField("id")
        event.task.ClearField("context_id")
    elif kind in ("status_update", "artifact_update"):
        update = getattr(event, kind)
        update.ClearField("task_id")
        update.ClearField("context_id")
    return event.SerializeToString(deterministic=True)


def _fill(payload: StreamResponse, task: str, context_id: str, message: Message | None) -> None:
    kind = payload.WhichOneof("payload")
    if kind == "task":
        payload.task.id = task
        payload.task.context_id = context_id
        if message is not None:
            payload.task.history.append(message)
    elif kind in ("status_update", "artifact_update"):
        update = getattr(payload, kind)
        update.task_id = task
        update.context_id = context_id

"""The views of a journal: context head, task heads, index rows; their bytes and their order.

A view is put with ``Older(slot)``, so that who rolls it forward twice, or late, changes nothing.
The order in one write is the law (rule 25): new index rows, webhooks, heads, marks on replaced
index rows, and the context head last, which says that every view up to its slot is done.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from a2a.types.a2a_pb2 import Task

from ..ports import OLDER, Change, Put
from . import index, webhooks
from .cells import Cells
from .fold import Active, Context, Head
from .slots import Slot

CONTEXT = "CTX"
TASKS = "T#"
SLOTS = "J#"
STATES = "S#"  # checkpoints


def partition(part: str) -> str:
    """The partition of the rows of a context."""
    return f"C#{part}"


def slot_key(n: int) -> str:
    """The key of slot ``n``."""
    return f"{SLOTS}{n:012d}"


def encode_context(context: Context) -> bytes:
    """The bytes of a context head: JSON."""
    fields = context._asdict() | {"active": context.active and context.active._asdict()}
    return json.dumps(fields, separators=(",", ":")).encode()


def decode_context(data: bytes) -> Context:
    """The context head of these bytes."""
    fields = json.loads(data)
    if fields["active"]:
        fields["active"] = Active(**fields["active"])
    return Context(**fields)


def encode_head(head: Head) -> bytes:
    """The bytes of a task head: a line of JSON, then the Task, then the Task at the checkpoint."""
    task = head.task.SerializeToString(deterministic=True)
    safe = head.safe[0].SerializeToString(deterministic=True) if head.safe else b""
    line = {
        "g": head.generation,
        "n": head.slot,
        "st": head.status_time,
        "c": head.created,
        "a": head.accepted,
        "str": head.streaming,
        "l": head.listed,
        "mv": head.moves,
        "size": len(task),
        "safe": head.safe and head.safe[1],
    }
    return json.dumps(line, separators=(",", ":")).encode() + b"\n" + task + safe


def decode_head(data: bytes) -> Head:
    """The task head of these bytes."""
    first, _, rest = data.partition(b"\n")
    line = json.loads(first)
    size = line["size"]
    return Head(
        task=Task.FromString(rest[:size]),
        generation=line["g"],
        slot=line["n"],
        status_time=line["st"],
        created=line["c"],
        accepted=tuple((digest, time) for digest, time in line["a"]),
        streaming=line["str"],
        listed=line["l"],
        moves=tuple(line.get("mv", ())),
        safe=None if line["safe"] is None else (Task.FromString(rest[size:]), line["safe"]),
    )


async def views(
    part: str,
    owner_key: str,
    context: Context,
    heads: Mapping[str, Head],
    tail: Sequence[Slot],
    cells: Cells,
) -> list[Change]:
    """The changes that bring every view up to ``context.n``; ``tail``: slots not yet in them."""
    fresh: list[Change] = []
    hooks: dict[str, Change] = {}
    kept: list[Change] = []
    old: list[Change] = []
    for task in dict.fromkeys(slot.task for slot in tail if slot.task):
        head = heads[task]
        kept.append(
            Put(
                partition(part),
                TASKS + task,
                await cells.pack(encode_head(head)),
                OLDER,
                order=head.slot,
            )
        )
        slots = [slot for slot in tail if slot.task == task]
        if head.listed and any(slot.state for slot in slots):
            fresh += index.entries(owner_key, part, head)
        for slot in slots:
            if slot.replaced:
                old += index.moved(
                    owner_key, part, task, slot.replaced, slot.status_time, slot.time
                )
    first = context.n - len(tail) + 1
    for n, slot in enumerate(tail, first):
        if slot.config:
            hook = webhooks.started(
                slot.config, slot.task, n, context.owner or "", context.context_id
            )
            key = webhooks.key(slot.task, slot.config.id)
            hooks[key] = Put(partition(part), key, webhooks.encode(hook), OLDER, order=n)
    last = Put(partition(part), CONTEXT, encode_context(context), OLDER, order=context.n)
    return [*fresh, *hooks.values(), *kept, *old, last]

"""Webhooks: where a task's events are pushed to, and how far that has come.

What the client asked for is in a slot (``Config``); the row ``P#task#id`` is a view of that slot
with a cursor of deliveries beside it (``Webhook``). The view is put with ``Older(slot)``; the
cursor moves by ``Rev``, keeping the slot as the row's order, so a view that is rolled forward late
changes nothing. A deleted one stays as a tombstone: the same view could bring a removed row back.
Setting and deleting are both slots, so that their order is decided like everything else.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, NamedTuple

from ..errors import Conflict, Unavailable
from ..ports import Put, Rev, Row
from .fold import SETTLED, TERMINAL
from .patience import waits
from .slots import Config, Event, Slot

if TYPE_CHECKING:
    from .journal import Journal
    from .view import View

WEBHOOKS = "P#"
MOST = 32  # webhooks of one task
NAMES = 256  # ids that a task's webhooks may ever have: deleted ones leave a row
PAGE = 200

DELETED = "deleted"  # by the client, or by its own 410
DEAD = "dead"  # given up: redrive brings it back


class Webhook(NamedTuple):
    """A webhook of a task. Times in ms; ``sent`` and ``read`` are where its deliveries stand: each
    event up to generation ``sent`` is done, and so is each slot up to ``read``."""

    config: Config
    task: str
    slot: int  # of its config
    sent: int
    read: int
    owner: str = ""
    context_id: str = ""
    attempts: int = 0  # failed tries of the event after ``sent``
    since: int = 0  # when the first of them failed
    due: int = 0  # no try before this
    holder: str = ""  # nonce of the worker that has it
    held: int = 0  # until then
    ended: bool = False  # the task's last event is done: there is nothing to come
    gone: str = ""  # DELETED, DEAD, or ""

    @property
    def live(self) -> bool:
        """Whether it still gets what comes."""
        return not self.gone

    def behind(self, generation: int) -> bool:
        """Whether something of a task at this generation is still to be pushed."""
        return self.live and not self.ended and self.sent < generation


def key(task: str, config: str) -> str:
    """The key of a webhook's row, in its context's partition."""
    return f"{WEBHOOKS}{task}#{config}"


def started(config: Config, task: str, slot: int, owner: str, context_id: str) -> Webhook:
    """The webhook as its slot made it; one without a URL is deleted."""
    gone = "" if config.url else DELETED
    return Webhook(config, task, slot, config.sent, config.read, owner, context_id, gone=gone)


def encode(hook: Webhook) -> bytes:
    """The bytes of its row: JSON."""
    return json.dumps(hook._asdict() | {"config": hook.config._asdict()}).encode()


def decode(data: bytes) -> Webhook:
    """The webhook of these bytes."""
    fields = json.loads(data)
    return Webhook(**fields | {"config": Config(**fields["config"])})


def free_at(hook: Webhook, skew: int) -> int:
    """When the next try may begin, ms: after its pause, and after whoever has it (by a clock that
    may be ``skew`` ms off)."""
    return max(hook.due, hook.held + skew + 1 if hook.held else 0)


def put(partition: str, hook: Webhook, rev: int) -> Put:
    """The change that moves its cursor from the row with this revision."""
    row_key = key(hook.task, hook.config.id)
    return Put(partition, row_key, encode(hook), Rev(rev), order=hook.slot)


def tombstone(hook: Webhook) -> Webhook:
    """What is left of one that ended itself: its name."""
    return started(Config(hook.config.id, ""), hook.task, hook.slot, hook.owner, "")


def pushed(events: str, slot: Slot, event: Event, last: bool) -> bool:
    """Whether an event of a slot is pushed; ``events``: state, terminal or all (the setting);
    ``last``: it is the slot's last one, which is the one that says a new state."""
    if events == "all":
        return True
    if last and slot.state:
        return events == "state" or slot.state in SETTLED
    return events == "state" and event.payload.HasField("artifact_update")


def concerns(events: str, slot: Slot) -> bool:
    """Whether a slot has something to push, or brings a webhook that may be behind."""
    if slot.config is not None:
        return True
    final = len(slot.events) - 1
    return any(pushed(events, slot, event, i == final) for i, event in enumerate(slot.events))


def ends(slot: Slot) -> bool:
    """Whether nothing of the task can follow this slot."""
    return slot.state in TERMINAL


async def read(journal: Journal, part: str, task: str, config: str) -> tuple[Webhook, Row] | None:
    """A webhook and its row, gone or not; None if there never was one."""
    row = await journal.rows.get(f"C#{part}", key(task, config))
    return (decode(row.value), row) if row else None


async def listed(
    journal: Journal, part: str, task: str = "", *, dead: bool = False, deleted: bool = False
) -> AsyncIterator[Webhook]:
    """The live webhooks of a task, or of all tasks of a context, by task and id; with those that
    were given up, if ``dead``, and what is left of the others, if ``deleted``."""
    prefix, after = f"{WEBHOOKS}{task}#" if task else WEBHOOKS, None
    while True:
        rows = await journal.rows.scan(f"C#{part}", prefix=prefix, after=after, limit=PAGE)
        for row in rows:
            hook = decode(row.value)
            if hook.live or (dead and hook.gone == DEAD) or (deleted and hook.gone == DELETED):
                yield hook
        if len(rows) < PAGE:
            return
        after = rows[-1].key


async def behind(journal: Journal, view: View, task: str = "") -> list[Webhook]:
    """The webhooks of a task ("": of all tasks) of a settled context that have something to
    push."""
    found: list[Webhook] = []
    generations: dict[str, int] = {task: head.generation for task, head in view.tasks.items()}
    if not view.context.pushes:
        return found
    async for hook in listed(journal, view.part, task):
        if hook.ended:
            continue
        if hook.task not in generations:
            head = await journal.head(view.part, hook.task)
            generations[hook.task] = head.generation if head else 0
        if hook.behind(generations[hook.task]):
            found.append(hook)
    return found


async def change(
    journal: Journal,
    part: str,
    task: str,
    config: str,
    decide: Callable[[Webhook], Webhook | None],
) -> Webhook | None:
    """Change a webhook to what ``decide`` makes of it (None: leave it), whoever else changes it;
    what it is then, or None if there is none. Raises Unavailable."""
    for wait in waits():
        try:
            found = await read(journal, part, task, config)
            new = decide(found[0]) if found else None
            if found is None or new is None:
                return found[0] if found else None
            await journal.rows.write([put(f"C#{part}", new, found[1].rev)])
            return new
        except Conflict:
            continue  # somebody moved it: decide again
        except Unavailable:  # done or not: the row tells
            await asyncio.sleep(wait)
    raise Unavailable("the store does not answer")

"""Following a task's events from a generation on, from any process, missing and repeating none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import NamedTuple

from .fold import Head, fold_head
from .journal import Journal
from .slots import Event, Slot

QUICK = 0.01  # seconds between two looks at the journal at the least
SLOW = 0.25  # and at the most; in between, a twentieth of the silence so far. A signal ends it


class Seen(NamedTuple):
    """One event of a task and its generation; ``n`` is the number of ``slot``, and ``last`` says
    that it is the slot's last event."""

    event: Event
    generation: int
    n: int
    slot: Slot
    last: bool


async def follow(
    journal: Journal,
    part: str,
    task: str,
    context_id: str,
    *,
    slot: int,
    generation: int,
    slow: float = SLOW,
) -> AsyncGenerator[Seen | None]:
    """The task's events after ``generation``, in order, for ever: the caller ends it.

    ``slot``: a slot at or before that generation's. None is yielded at each look that found
    nothing, so that the caller can mind its own time.
    """
    now = asyncio.get_running_loop().time
    came = now()
    while True:
        watched = journal.signals.watched(part)
        found = False
        async for n, entry in journal.slots(part, slot, context_id):
            slot = n
            if entry.task != task:
                continue
            first = entry.generation - len(entry.events) + 1
            for i, event in enumerate(entry.events):
                if first + i > generation:
                    generation = first + i
                    found = True
                    yield Seen(event, generation, n, entry, i == len(entry.events) - 1)
        if found:
            came = now()
            continue
        yield None
        pause = min(slow, max(QUICK, (now() - came) / 20))
        await journal.signals.wait(part, watched, pause)


async def as_of(
    journal: Journal, part: str, task: str, context_id: str, generation: int
) -> tuple[Head, int] | None:
    """The task as it was right after ``generation``, and a slot to follow on from; None if there
    never was such a generation. Folds from the settled head if that is early enough, else from
    the beginning."""
    head = await journal.head(part, task)
    if head is not None and head.generation > generation:
        head = None
    n = head.slot if head else 0
    async for number, slot in journal.slots(part, n, context_id):
        if head is not None and head.generation >= generation:
            break
        if slot.task != task:
            continue
        over = slot.generation - generation
        if over > 0:  # the slot goes further: take its first events only
            slot = slot._replace(
                events=slot.events[:-over], generation=generation, state=0, status_time=0
            )
        head = fold_head(head, number, slot, context_id)
        n = number - 1 if over > 0 else number
    if head is None or head.generation != generation:
        return None
    return head, n

"""Following a task's events from a generation on, from any process, missing and repeating none."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

from . import heads
from .journal import Journal
from .slots import Event, Slot, decode

QUICK = 0.01  # seconds between looks at the journal right after something came
SLOW = 0.25  # and after a long silence; a signal in the process ends either


@dataclass(frozen=True, slots=True)
class Seen:
    """One event of a task, its generation, and the slot that it came in. ``last`` in the slot."""

    event: Event
    generation: int
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
) -> AsyncIterator[Seen | None]:
    """The task's events after ``generation``, in order, for ever: the caller ends it.

    ``slot``: a slot at or before that generation's. None is yielded at each empty look, so that
    the caller can mind its own time; slots without events (beats) are passed over.
    """
    pause = QUICK
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
                    yield Seen(event, generation, entry, i == len(entry.events) - 1)
        if found:
            pause = QUICK
            continue
        yield None
        await journal.signals.wait(part, watched, pause)
        pause = min(slow, pause * 1.5)


async def slot_before(journal: Journal, part: str, task: str, generation: int, n: int) -> int:
    """The newest slot of the task, at or before slot ``n``, whose generation is <= the given one;
    0 if there is none. Following on from it misses nothing after that generation."""
    before: str | None = heads.slot_key(n + 1)
    while True:
        rows = await journal.rows.scan(
            heads.partition(part), prefix=heads.SLOTS, after=before, limit=100, reverse=True
        )
        for row in rows:
            entry = decode(await journal.cells.unpack(row.value))
            if entry.task == task and entry.generation <= generation:
                return int(row.key.removeprefix(heads.SLOTS))
        if len(rows) < 100:
            return 0
        before = rows[-1].key

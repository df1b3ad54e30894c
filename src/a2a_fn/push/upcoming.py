"""What a webhook gets next: the events after its cursor, read from the journal a page at a time."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from ..journal import webhooks
from ..journal.journal import Journal
from ..journal.slots import Event
from ..journal.webhooks import Webhook

AHEAD = 100  # events kept in memory at most


class Cursor(NamedTuple):
    """How far a webhook's deliveries are; see ``Webhook``."""

    sent: int
    read: int
    ended: bool = False


class Due(NamedTuple):
    """An event to send, and how far the webhook is once that is done."""

    event: Event
    generation: int
    after: Cursor


class Upcoming:
    """The events that one webhook is to get; ``events`` is the setting push-events."""

    def __init__(self, journal: Journal, part: str, events: str) -> None:
        self._journal = journal
        self._part = part
        self._events = events
        self._ready: deque[Due] = deque()
        self._sent = 0  # of the webhook as it was last seen

    async def next(self, hook: Webhook) -> tuple[Due | None, Cursor, bool]:
        """The next event for the webhook as it stands (None: there is none yet), how far it is
        once what is never pushed before that is passed over, and whether more is known to follow.
        """
        if hook.sent < self._sent:  # set anew, from an earlier place
            self._ready.clear()
        self._sent = hook.sent
        while self._ready and self._ready[0].generation <= hook.sent:
            self._ready.popleft()
        passed = Cursor(hook.sent, hook.read, hook.ended)
        if not self._ready:
            passed = await self._read(hook, passed)
        return (self._ready[0] if self._ready else None), passed, len(self._ready) > 1

    async def _read(self, hook: Webhook, passed: Cursor) -> Cursor:
        """Fill what is ready; returns the cursor before the first of it."""
        at = passed
        async for n, slot in self._journal.slots(self._part, hook.read, hook.context_id):
            events = slot.events if slot.task == hook.task else ()
            generation = slot.generation - len(events)
            for i, event in enumerate(events, 1):
                last = i == len(events)
                generation += 1
                if generation <= hook.sent:
                    continue
                at = Cursor(generation, n if last else n - 1, last and webhooks.ends(slot))
                if webhooks.pushed(self._events, slot, event, last):
                    self._ready.append(Due(event, generation, at))
            at = at._replace(read=n)
            if self._ready:  # what is never pushed goes with the event before it
                self._ready[-1] = self._ready[-1]._replace(after=at)
                if len(self._ready) >= AHEAD:
                    break
            else:
                passed = at
        return passed

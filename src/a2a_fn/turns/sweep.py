"""The sweep: look at each context whose alarm is due, roll it forward, wake what a crash left.

Nothing depends on wake-ups but latency; everything depends on this.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from ..journal import alarms, webhooks
from ..journal.alarms import ROUND, Alarm
from ..journal.journal import Journal
from ..journal.slots import Kind
from ..ports import Delete

log = logging.getLogger("a2a_fn.turns")

PAGE = 100

Push = Callable[[str, str, str], Awaitable[None]]
"""Tells a pusher of a webhook: context, task, config. None where nothing is pushed."""


async def sweep(
    journal: Journal,
    shard: int,
    wake: Callable[[str], Awaitable[None]],
    push: Push | None = None,
    *,
    enough: Callable[[], bool] = lambda: False,
) -> int:
    """Ring every alarm of a shard that is due; returns how many. ``wake`` is told of a context
    whose turn nobody has, ``push`` of a webhook (context, task, config) that nobody sends to.
    ``enough``: stop early.

    A context that cannot be settled is logged and left to its alarm."""
    rung, after = 0, None
    while not enough():
        rows = await journal.rows.scan(f"D#{shard}", after=after, limit=PAGE)
        for row in rows:
            alarm = alarms.parse(shard, row.key, row.value)
            if alarm.due > journal.clock.now() or enough():
                return rung
            try:
                await ring(journal, alarm, wake, push)
            except Exception:  # one context must not keep the others from their alarms
                log.exception("not settled", extra={"a2a": {"context": alarm.part}})
            rung += 1
        if len(rows) < PAGE:
            return rung
        after = rows[-1].key
    return rung


async def ring(
    journal: Journal,
    alarm: Alarm,
    wake: Callable[[str], Awaitable[None]],
    push: Push | None = None,
) -> None:
    """Settle the alarm's context; then remove the alarm, or move it if work is left (30 to 32)."""
    view = await journal.load(alarm.part)
    while view.context.active is None and view.context.n < alarm.slot:
        # a frozen writer may still aim at this slot: fill it, so that it must begin again
        void = journal.compose(view, Kind.VOID, "")
        if not await journal.append(view, void):
            await journal.catch_up(view)
    if view.tail:
        log.info("settled", extra={"a2a": {"context": view.part, "slots": len(view.tail)}})
    await journal.settle(view)
    behind = await webhooks.behind(journal, view, alarm.task) if push else []
    if view.context.active is None and not behind:
        await journal.sure([Delete(alarm.partition, alarm.key)])
        return
    now = journal.clock.now()
    period = (max(alarm.due, now) // ROUND + 1) * ROUND
    dues: list[int] = []
    if view.context.active is not None:
        ends = journal.claim_ends(view)
        dues.append(max(period, ends) if now < ends else period)
        if now >= ends:
            log.info("woken", extra={"a2a": {"context": view.part}})
            await wake(view.part)
    for hook in behind:
        free = webhooks.free_at(hook, journal.skew)
        dues.append(max(period, free) if now < free else period)
        if push and now >= free:
            await push(view.part, hook.task, hook.config.id)
    moved = Alarm(alarm.shard, min(dues), alarm.part, alarm.nonce, alarm.slot, alarm.task)
    await journal.sure([moved.put(), Delete(alarm.partition, alarm.key)])

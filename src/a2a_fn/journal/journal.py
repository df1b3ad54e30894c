"""Reading and writing journals: load, append by put-if-absent, settle the views.

Whoever fills slot ``n`` wins; the loser folds what is there and decides again. Nothing here decides
what should be written: that is done by ``intents`` (clients) and by ``turns`` (workers, sweeper).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

from a2a.types.a2a_pb2 import StreamResponse, TaskStatusUpdateEvent

from ..errors import Conflict, Unavailable
from ..ports import ABSENT, Blobs, Change, Clock, Delete, Put, Rows
from . import alarms, heads
from .alarms import Alarm
from .cells import Cells
from .fold import DEDUPE_WINDOW, Context, Head
from .ids import Ids
from .patience import waits
from .signals import Signals
from .slots import Event, Kind, Slot, decode, encode
from .view import View

PAGE = 200  # slots read at once


class Journal:
    """The journals of a deployment. ``lease`` and ``skew`` in ms: a claim is live while its newest
    slot is younger than the lease; two machines' clocks differ by at most the skew allowance.
    ``window``, in ms, at most ``DEDUPE_WINDOW``: so long the same message is the same request.
    ``tell`` is told of each slot that lands in a context with webhooks; it must not raise."""

    def __init__(
        self,
        rows: Rows,
        blobs: Blobs,
        clock: Clock,
        ids: Ids,
        *,
        nonce: Callable[[], str],
        lease: int = 60_000,
        skew: int = 5_000,
        shards: int = 1,
        window: int = DEDUPE_WINDOW,
        tell: Callable[[str, Slot], Awaitable[None]] | None = None,
    ) -> None:
        self.rows = rows
        self.clock = clock
        self.ids = ids
        self.cells = Cells(blobs)
        self.blobs = blobs
        self.nonce = nonce
        self.lease = lease
        self.skew = skew
        self.shards = shards
        self.window = window
        self._tell = tell
        self.signals = Signals()

    # ---------------------------------------------------------------- reading

    async def load(self, part: str, task: str = "") -> View:
        """The context as of now, with the heads of its open turn's task and of ``task``.

        Order is the law (rule 6): the context head, then task heads, then the slots after it.
        """
        row = await self.rows.get(heads.partition(part), heads.CONTEXT)
        context = heads.decode_context(row.value) if row else Context()
        view = View(part, context, {})
        for name in dict.fromkeys([task, context.active.task if context.active else ""]):
            if name:
                await self._need(view, name)
        await self.catch_up(view)
        return view

    async def catch_up(self, view: View) -> None:
        """Fold the slots that came since.

        A head that is past the slots says that the scan was torn (a page is no snapshot): what
        was decided on such a view would speak of a status that is not there yet, so look again.
        """
        for wait in waits():
            async for n, slot in self.slots(view.part, view.context.n, view.context.context_id):
                if slot.task and slot.task not in view.tasks:
                    await self._need(view, slot.task)
                view.fold(n, slot)
            if all(head.slot <= view.context.n for head in view.tasks.values()):
                return
            await asyncio.sleep(wait)
        raise Unavailable("the journal cannot be read to its end")

    async def head(self, part: str, task: str) -> Head | None:
        """A task's head as last settled; it may lag behind the journal."""
        row = await self.rows.get(heads.partition(part), heads.TASKS + task)
        return heads.decode_head(await self.cells.unpack(row.value)) if row else None

    async def _need(self, view: View, task: str) -> None:
        head = await self.head(view.part, task)
        if head:
            view.tasks[task] = head

    async def slots(
        self, part: str, after: int, context_id: str = ""
    ) -> AsyncIterator[tuple[int, Slot]]:
        """(n, slot) for each slot past ``after``, up to the end or the first gap."""
        expected = after + 1
        while True:
            rows = await self.rows.scan(
                heads.partition(part),
                prefix=heads.SLOTS,
                after=heads.slot_key(expected - 1),
                limit=PAGE,
            )
            for row in rows:
                if row.key != heads.slot_key(expected):
                    return  # a page is no snapshot: what follows a gap is read next time
                slot = decode(await self.cells.unpack(row.value), context_id)
                context_id = slot.context_id or context_id
                yield expected, slot
                expected += 1
            if len(rows) < PAGE:
                return

    # ---------------------------------------------------------------- writing

    def compose(
        self,
        view: View,
        kind: Kind,
        task: str,
        *,
        events: Sequence[Event] = (),
        state: int = 0,
        status: TaskStatusUpdateEvent | None = None,
        opening: bool = False,
        **fields: Any,
    ) -> Slot:
        """The slot that would come next. With ``state``, its last event says so: ``status`` (if
        given) with state, ids and time filled in, or, ``opening`` a task, the Task itself."""
        head = view.tasks.get(task)
        now = self.clock.now()
        context_id = fields.get("context_id") or view.context.context_id
        status_time = 0
        if state:
            status_time = max(now, head.status_time + 1) if head else now
            events = (
                *events,
                Event(_status(task, context_id, state, status_time, status, opening)),
            )
        return Slot(
            kind=kind,
            writer=self.nonce(),
            time=now,
            task=task,
            epoch=fields.pop("epoch", view.context.epoch),
            events=tuple(events),
            generation=(head.generation if head else 0) + len(events),
            state=state,
            status_time=status_time,
            replaced=(head.status_time, head.state) if state and head else None,
            **fields,
        )

    async def append(
        self,
        view: View,
        slot: Slot,
        *,
        before: Sequence[Change] = (),
        settle: bool = False,
        done: Alarm | None = None,
    ) -> bool:
        """Put the slot at the end. True: it is there, and the view has it. False: another's is.

        ``before``: changes that must be there first (an alarm, a checkpoint). ``settle``: roll the
        views forward in the same write, and then remove the alarm ``done``, unless a webhook may
        need it (rule 27). Raises Unavailable when the store stays silent: the slot may be there or
        come yet.
        """
        n = view.context.n + 1
        key = heads.slot_key(n)
        put = Put(heads.partition(view.part), key, await self.cells.pack(encode(slot)), ABSENT)
        after: list[Change] = []
        new = view
        old = _outlived(view, slot)
        if settle:
            new = view.copy()
            new.fold(n, slot)
            after = await self.views(new)
            if done and not new.context.pushes:
                after.append(Delete(done.partition, done.key))
        if old:
            after.append(Delete(heads.partition(view.part), old))
        for wait in waits():
            try:
                await self.rows.write([*before, put, *after])
            except Conflict:
                pass  # ours from a try whose answer was lost, or another's: the row tells
            except Unavailable:
                await asyncio.sleep(wait)
            else:
                break
            there = await self._slot_writer(view.part, key)
            if there is None:
                continue  # the same bytes at the same n again; never n + 1 before n is decided
            if there != slot.writer:
                return False
            if after:
                await self.sure(after)
            break
        else:
            raise Unavailable("the store does not answer; the message may have been accepted")
        if settle:
            view.context, view.tasks, view.tail = new.context, new.tasks, []
        else:
            view.fold(n, slot)
        self.signals.notify(view.part)
        if self._tell is not None and view.context.pushes:
            await self._tell(view.part, slot)
        return True

    async def _slot_writer(self, part: str, key: str) -> str | None:
        for wait in waits():
            try:
                row = await self.rows.get(heads.partition(part), key)
            except Unavailable:
                await asyncio.sleep(wait)
                continue
            return decode(await self.cells.unpack(row.value)).writer if row else None
        raise Unavailable("the store does not answer; the message may have been accepted")

    async def sure(self, changes: Sequence[Change]) -> None:
        """Do changes that may be repeated (Always, Older, Delete) until the store says so."""
        for wait in waits():
            try:
                return await self.rows.write(changes)
            except Unavailable:
                await asyncio.sleep(wait)
        raise Unavailable("the store does not answer")

    async def views(self, view: View) -> list[Change]:
        """The changes that bring every view up to the end of ``view``."""
        if not view.tail:
            return []
        owner = self.ids.owner(view.context.owner or "")
        return await heads.views(view.part, owner, view.context, view.tasks, view.tail, self.cells)

    async def settle(self, view: View) -> None:
        """Roll the views forward. Idempotent."""
        changes = await self.views(view)
        if changes:
            await self.sure(changes)
        view.tail = []

    def alarm(self, view: View, task: str, due: int) -> Alarm:
        """A new alarm for the next slot, which is the task's, due in ms."""
        shard = alarms.shard_of(view.part, self.shards)
        return Alarm(shard, due, view.part, self.nonce(), view.context.n + 1, task)

    def turn_alarm(self, view: View) -> Alarm | None:
        """The alarm that guards the open turn, as its submit set it."""
        active = view.context.active
        if active is None:
            return None
        return alarms.parse(alarms.shard_of(view.part, self.shards), active.alarm, b'{"n":0}')

    def about(self, view: View, task: str) -> dict[str, object]:
        """The facts of a log line, as ``extra``: ids and numbers, never content."""
        return {
            "a2a": {
                "owner": self.ids.owner(view.context.owner or ""),
                "context": view.part,
                "task": task,
                "epoch": view.context.epoch,
                "slot": view.context.n,
            }
        }

    def claim_ends(self, view: View) -> int:
        """When the open turn's claim may be taken over at the earliest, ms; 0: now."""
        active = view.context.active
        if active is None or not active.claimed:
            return 0
        return active.last + self.lease + self.skew + 1


def _outlived(view: View, slot: Slot) -> str:
    """The key of the checkpoint that nobody needs once the slot is there; "" for none. Who still
    means to resume from it collides with that slot."""
    active = view.context.active
    if active is None or slot.task != active.task:
        return ""
    ends = slot.kind in (Kind.FINISHED, Kind.CANCELED, Kind.ABANDONED)
    return active.checkpoint if ends or slot.checkpoint else ""


def cancel_signal(part: str) -> str:
    """The name under which a cancel is signalled to a turn in the same process."""
    return f"cancel:{part}"


def _status(
    task: str,
    context_id: str,
    state: int,
    time: int,
    status: TaskStatusUpdateEvent | None,
    opening: bool,
) -> StreamResponse:
    payload = StreamResponse()
    if opening:
        payload.task.id, payload.task.context_id = task, context_id
        payload.task.status.state = state  # type: ignore[assignment]
        payload.task.status.timestamp.FromMilliseconds(time)
        return payload
    update = payload.status_update
    if status is not None:
        update.CopyFrom(status)
    update.task_id, update.context_id = task, context_id
    update.status.state = state  # type: ignore[assignment]
    update.status.timestamp.FromMilliseconds(time)
    return payload

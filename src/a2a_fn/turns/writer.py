"""The one writer of a turn: puts the agent's words into the journal, and finds out when the turn
is no longer its own.

Words are kept for a moment (150 ms, later more) or 8 KiB and then written as one slot; the first
after a silence goes at once. A silent turn beats, so that nobody takes it for dead.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from a2a.types.a2a_pb2 import StreamResponse, TaskState, TaskStatusUpdateEvent

from ..errors import TurnLost, Unavailable
from ..journal import heads
from ..journal.fold import Head
from ..journal.journal import Journal, cancel_signal
from ..journal.slots import Event, Kind
from ..journal.view import View
from ..ports import Put

COALESCE = 0.15  # seconds; it grows to 0.4 in a long turn, where nobody reads along by the word
COALESCE_MOST = 0.4
COALESCE_SLOTS = 50  # slots of a turn in which the pace doubles
COALESCE_BYTES = 8 * 1024


class Writer:
    """Writes one claimed turn; ``view`` is the context right after the claim."""

    def __init__(self, journal: Journal, view: View) -> None:
        active = view.context.active
        if active is None:
            raise TurnLost
        self.journal = journal
        self.view = view
        self.epoch = view.context.epoch
        self.active = active
        self._alarm = journal.turn_alarm(view)
        self._pending: list[Event] = []
        self._size = 0
        self._spoke = False
        self._lock = asyncio.Lock()
        self._written = asyncio.get_running_loop().time()
        self._slots = 0
        self._stirred = asyncio.Event()
        self._lost: Exception | None = None
        self._ended = asyncio.Event()

    # ---------------------------------------------------------------- how it stands

    @property
    def head(self) -> Head:
        """The task as of the last write."""
        return self.view.tasks[self.active.task]

    @property
    def over(self) -> bool:
        """The turn's end, or that it goes on elsewhere, is written."""
        return self._ended.is_set()

    @property
    def silent(self) -> bool:
        """The agent has said nothing yet, in this claim or before."""
        return not self._spoke and self.active.claims == 1

    @property
    def canceled_by_client(self) -> bool:
        """The turn is lost because its task was canceled."""
        return self._lost is not None and self.head.state == TaskState.TASK_STATE_CANCELED

    def _mine(self) -> bool:
        active = self.view.context.active
        return (
            active is not None
            and active.epoch == self.epoch
            and active.digest == self.active.digest
            and active.task == self.active.task
        )

    def _check(self) -> None:
        if self._lost is not None:
            raise self._lost
        if self.over:
            raise TurnLost("the turn has ended; nothing can be added to it")

    # ---------------------------------------------------------------- taking

    async def take(self, payload: StreamResponse) -> None:
        """Take an event that stays in the task."""
        update = getattr(payload, str(payload.WhichOneof("payload")))
        self._name(update)
        await self._take(Event(payload), update.ByteSize())

    async def progress(self, update: TaskStatusUpdateEvent, size: int) -> None:
        """Take a transient status; a piece right after another of its message joins it."""
        update.status.state = self.head.task.status.state
        last = self._pending[-1] if self._pending else None
        if last is not None and last.transient and update.status.HasField("message"):
            before = last.payload.status_update.status.message
            if before.message_id == update.status.message.message_id:
                before.parts[0].text += update.status.message.parts[0].text
                await self._take(None, size)
                return
        payload = StreamResponse(status_update=update)
        self._name(payload.status_update)
        await self._take(Event(payload, transient=True), size)

    def _name(self, update: Any) -> None:
        """Fill in what the agent need not know: ids, and the time of a status."""
        update.task_id = self.active.task
        update.context_id = self.view.context.context_id
        if isinstance(update, TaskStatusUpdateEvent):
            update.status.timestamp.FromMilliseconds(self.journal.clock.now())

    async def _take(self, event: Event | None, size: int) -> None:
        self._check()
        self._spoke = True
        pace = self._pace() if self._pending else COALESCE  # a lone word does not wait for others
        if event is not None:
            self._pending.append(event)
        self._size += size
        quiet = asyncio.get_running_loop().time() - self._written
        if self._size >= COALESCE_BYTES or quiet >= pace:
            await self.flush(Kind.EVENTS)
        else:
            self._stirred.set()

    def _pace(self) -> float:
        """Seconds between two slots of words."""
        return min(COALESCE_MOST, COALESCE * (1 + self._slots / COALESCE_SLOTS))

    # ---------------------------------------------------------------- writing

    async def flush(self, kind: Kind, **how: Any) -> None:
        """Write what waits, as one slot of this kind. Raises TurnLost; then nothing was written.

        A caller that is cancelled does not stop the write half way: whether slot n is ours must be
        decided before anything else of this turn is written. What is said from now on is not in it,
        however long it waits: a checkpoint must not cover words that came after it.
        """
        events: list[Event] = []
        if kind is not Kind.BEAT:  # a beat says nothing: the words go with the slot after it
            events, self._pending, self._size = self._pending, [], 0
        writing = asyncio.ensure_future(self._write(kind, events, **how))
        writing.add_done_callback(_seen)
        await asyncio.shield(writing)

    async def _write(
        self,
        kind: Kind,
        events: list[Event],
        *,
        state: int = 0,
        status: TaskStatusUpdateEvent | None = None,
        settle: bool = False,
        before: list[Put] | None = None,
        **fields: Any,
    ) -> None:
        async with self._lock:
            self._check()
            if kind is Kind.EVENTS and not (events or state or fields):
                return
            done = self._alarm if kind is Kind.FINISHED else None
            try:
                while not await self.journal.append(
                    self.view,
                    self.journal.compose(
                        self.view,
                        kind,
                        self.active.task,
                        events=events,
                        state=state,
                        status=status,
                        epoch=self.epoch,
                        **fields,
                    ),
                    before=before or (),
                    settle=settle,
                    done=done,
                ):
                    await self.journal.catch_up(self.view)
                    if not self._mine():
                        raise TurnLost
            except Exception as error:
                self._lost = error  # unknown ends it too: what followed would leave a hole
                self._stirred.set()
                raise
            if kind in (Kind.FINISHED, Kind.YIELDED):
                self._ended.set()
            self._written = asyncio.get_running_loop().time()
            self._slots += 1

    async def change(self, state: int, status: TaskStatusUpdateEvent) -> None:
        """Write another state of the task; the turn stays open."""
        self._spoke = True
        await self.flush(Kind.EVENTS, state=state, status=status, settle=True)

    async def save(self, checkpoint: bytes) -> None:
        """Put a checkpoint, then one slot that holds its key and the words up to it (rule 18)."""
        key = heads.STATES + self.journal.nonce()
        cell = await self.journal.cells.pack(checkpoint)
        row = Put(heads.partition(self.view.part), key, cell)
        await self.flush(Kind.EVENTS, before=[row], checkpoint=key)

    async def let_go(self) -> bool:
        """Write that the turn goes on elsewhere, from its last checkpoint; False if its end was
        written meanwhile."""
        async with self._lock:  # a write of the agent's that is under way is decided first
            if self.over:
                return False
        await self.flush(Kind.YIELDED)
        return True

    # ---------------------------------------------------------------- watching

    async def keep(self) -> None:
        """Write what waits when its time has come, and beat when nothing does, until the turn
        ends. Raises TurnLost as soon as a write shows it."""
        loop = asyncio.get_running_loop()
        beat = self.journal.lease / 3000
        while not self.over:
            due = self._written + beat - loop.time()
            try:
                async with asyncio.timeout(max(0.0, due)):
                    await self._stirred.wait()
            except TimeoutError:
                if loop.time() - self._written >= beat and not self.over:
                    await self.flush(Kind.BEAT)
                continue
            self._stirred.clear()
            await asyncio.sleep(max(0.0, self._written + self._pace() - loop.time()))
            if not self.over:
                await self.flush(Kind.EVENTS)

    async def ended(self) -> None:
        """Return when the turn is over."""
        await self._ended.wait()

    async def canceled(self) -> None:
        """Return when this process hears that the turn was canceled (others are noticed at the
        next write)."""
        name, signals = cancel_signal(self.view.part), self.journal.signals
        while not self.over:
            heard = signals.watched(name)  # before the look: what comes during it is not missed
            with contextlib.suppress(Unavailable):  # then the next write finds out
                async with self._lock:
                    await self.journal.catch_up(self.view)
            if not self.over and not self._mine():
                self._lost = TurnLost()
                return
            await signals.wait(name, heard, 3600)


def _seen(writing: asyncio.Future[None]) -> None:
    """The outcome is the caller's; if it was cancelled meanwhile, the turn's state has it."""
    if not writing.cancelled():
        writing.exception()

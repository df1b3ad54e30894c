"""The journal's writes and reads: unknown results, large values, gaps."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Awaitable, Callable, Sequence

import pytest
from a2a.types.a2a_pb2 import Message, Part, Role
from tests.unit.world import World, user

from a2a_fn.engines.memory import Crashed, MemoryBlobs, MemoryRows
from a2a_fn.errors import NotFound, Unavailable
from a2a_fn.journal import heads, intents, patience
from a2a_fn.journal import journal as journal_module
from a2a_fn.journal.cells import COMPRESS_FROM, INLINE_LIMIT, Cells
from a2a_fn.journal.journal import Journal, View
from a2a_fn.journal.patience import RETRIES
from a2a_fn.journal.slots import Kind, Slot, encode
from a2a_fn.ports import ABSENT, Change, Put, Row
from a2a_fn.turns.run import Limits, Outcome

PART = "a" * 16
Fault = Callable[[Sequence[Change]], Awaitable[None]]


class Faulty:
    """Rows that do what ``faults`` say with the next writes of a slot, and ``silent`` reads."""

    def __init__(self, rows: MemoryRows) -> None:
        self.rows = rows
        self.scan = rows.scan
        self.faults: list[Fault] = []
        self.slots: list[tuple[str, bytes]] = []  # each try to put one
        self.silent = 0  # reads of one row that are not answered
        self.reads = 0
        self.after_read: list[Callable[[], Awaitable[None]]] = []

    async def get(self, partition: str, key: str) -> Row | None:
        self.reads += 1
        if self.silent:
            self.silent -= 1
            raise Unavailable("no answer")
        row = await self.rows.get(partition, key)
        if self.after_read:
            await self.after_read.pop(0)()
        return row

    async def write(self, changes: Sequence[Change]) -> None:
        slots = [c for c in changes if isinstance(c, Put) and c.key.startswith(heads.SLOTS)]
        self.slots += [(put.key, put.value) for put in slots]
        if slots and self.faults:
            await self.faults.pop(0)(changes)
            raise Unavailable("no answer")
        await self.rows.write(changes)


async def lost(changes: Sequence[Change]) -> None:
    """The write never arrives."""


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "BACKOFF", 0.0)


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def rows(world: World) -> Faulty:
    faulty = Faulty(world.rows)
    world.journal.rows = faulty
    return faulty


async def opened(world: World) -> tuple[View, Slot]:
    """A context with an open turn, and the slot that would come next."""
    task = await world.submit()
    view = await world.journal.load(task.partition("-")[0])
    return view, world.journal.compose(view, Kind.CLAIMED, task, epoch=1)


def another(slot: Slot) -> bytes:
    return encode(Slot(kind=slot.kind, writer="another", time=slot.time, task=slot.task, epoch=1))


# ------------------------------------------------------------- unknown results


async def test_a_write_that_was_done_but_not_answered_is_not_done_again(
    world: World, rows: Faulty
) -> None:
    view, slot = await opened(world)
    rows.slots.clear()
    rows.faults = [world.rows.write]
    assert await world.journal.append(view, slot, settle=True)
    assert len(rows.slots) == 1
    assert view.context.n == 2
    assert [n async for n, _ in world.journal.slots(view.part, 0)] == [1, 2]


async def test_a_write_that_never_arrived_is_done_again_in_the_same_place(
    world: World, rows: Faulty
) -> None:
    view, slot = await opened(world)
    rows.slots.clear()
    rows.faults = [lost, lost]
    assert await world.journal.append(view, slot)
    assert len(rows.slots) == 3
    assert len(set(rows.slots)) == 1  # the same bytes at the same n


async def test_a_write_that_arrives_after_it_was_looked_for_is_still_ours(
    world: World, rows: Faulty
) -> None:
    view, slot = await opened(world)
    late: list[Sequence[Change]] = []

    async def delayed(changes: Sequence[Change]) -> None:
        late.append(changes)

    async def arrives() -> None:
        await world.rows.write(late[0])

    rows.faults, rows.after_read = [delayed], [arrives]
    assert await world.journal.append(view, slot)
    assert [n async for n, _ in world.journal.slots(view.part, 0)] == [1, 2]


async def test_an_unknown_result_where_another_was_first_is_a_collision(
    world: World, rows: Faulty
) -> None:
    view, slot = await opened(world)

    async def overtaken(changes: Sequence[Change]) -> None:
        put = next(c for c in changes if isinstance(c, Put) and c.key.startswith(heads.SLOTS))
        cell = await world.journal.cells.pack(another(slot))
        await world.rows.write([Put(put.partition, put.key, cell, ABSENT)])

    rows.faults = [overtaken]
    assert not await world.journal.append(view, slot, settle=True)
    assert view.context.n == 1
    found = [s.writer async for _, s in world.journal.slots(view.part, 1)]
    assert found == ["another"]


async def test_views_that_a_broken_write_left_out_are_written_all_the_same(
    world: World, rows: Faulty
) -> None:
    view, slot = await opened(world)

    async def slot_only(changes: Sequence[Change]) -> None:
        at = next(i for i, c in enumerate(changes) if c.key.startswith(heads.SLOTS))
        await world.rows.write(changes[: at + 1])

    rows.faults = [slot_only]
    assert await world.journal.append(view, slot, settle=True)
    context = await world.rows.get(heads.partition(view.part), heads.CONTEXT)
    assert context is not None
    assert heads.decode_context(context.value).n == 2


async def test_nothing_is_decided_while_the_slot_cannot_be_read(world: World, rows: Faulty) -> None:
    view, slot = await opened(world)
    rows.slots.clear()
    rows.faults, rows.silent = [world.rows.write], 3
    assert await world.journal.append(view, slot)
    assert len(rows.slots) == 1


@pytest.mark.parametrize("reads", [0, 1000])
async def test_a_store_that_stays_silent_is_given_up_without_trying_the_next_slot(
    world: World, rows: Faulty, reads: int
) -> None:
    view, slot = await opened(world)
    rows.slots.clear()
    rows.reads = 0
    rows.faults, rows.silent = [lost] * 1000, reads
    with pytest.raises(Unavailable, match="may have been accepted"):
        await world.journal.append(view, slot)
    assert {key for key, _ in rows.slots} == {heads.slot_key(2)}
    assert len(rows.slots) + rows.reads <= 2 * RETRIES
    assert view.context.n == 1


async def test_what_must_be_done_is_repeated_until_the_store_answers_and_not_for_ever(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[int] = []
    write = world.rows.write

    async def silent(changes: Sequence[Change]) -> None:
        tries.append(1)
        if len(tries) < 3:
            raise Unavailable("no answer")
        await write(changes)

    monkeypatch.setattr(world.rows, "write", silent)
    await world.journal.sure([Put("p", "k", b"v")])
    assert await world.rows.get("p", "k")
    tries.clear()
    monkeypatch.setattr(world.rows, "write", _never(tries))
    with pytest.raises(Unavailable):
        await world.journal.sure([Put("p", "k", b"v")])
    assert len(tries) == RETRIES


def _never(tries: list[int]) -> Fault:
    async def write(changes: Sequence[Change]) -> None:
        tries.append(1)
        raise Unavailable("no answer")

    return write


async def test_a_slot_that_is_anothers_is_a_collision_and_changes_nothing(world: World) -> None:
    view, slot = await opened(world)
    taken = heads.slot_key(2)
    cell = await world.journal.cells.pack(another(slot))
    await world.rows.write([Put(heads.partition(view.part), taken, cell, ABSENT)])
    assert not await world.journal.append(view, slot, before=[Put("p", "k", b"v")], settle=True)
    assert view.context.n == 1
    assert await world.rows.get("p", "k") is None


# ------------------------------------------------------------------- reading


async def numbered(world: World, *numbers: int) -> None:
    for n in numbers:
        value = b"\x00" + encode(Slot(kind=Kind.VOID, writer=f"w{n}", time=n))
        await world.rows.write([Put(heads.partition(PART), heads.slot_key(n), value)])


@pytest.mark.parametrize("page", [2, 3, 200])
async def test_a_gap_ends_the_reading(
    world: World, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    monkeypatch.setattr(journal_module, "PAGE", page)
    await numbered(world, 1, 2, 4, 5)
    assert [n async for n, _ in world.journal.slots(PART, 0)] == [1, 2]


@pytest.mark.parametrize("count", [0, 1, 3, 6, 7])
async def test_every_page_of_a_journal_is_read(
    world: World, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr(journal_module, "PAGE", 3)
    await numbered(world, *range(1, count + 1))
    found = [(n, slot.writer) async for n, slot in world.journal.slots(PART, 0)]
    assert found == [(n, f"w{n}") for n in range(1, count + 1)]


@pytest.mark.parametrize("changes", range(1, 8))
async def test_a_settle_that_stopped_anywhere_folds_no_slot_twice(changes: int) -> None:
    world = World()
    world.rows = world.journal.rows = MemoryRows(atomic=False, clock=world.clock)
    task = await world.submit("one")

    async def asks(turn) -> None:
        await turn.ask("more?")

    await world.run(task, asks)
    world.rows.crash_after(changes)
    with contextlib.suppress(Crashed):
        await world.submit("two", "m2", task=task)
    world.rows.heal()
    found = await world.task(task)
    texts = [m.parts[0].text for m in found.history]
    assert texts == (["one", "more?", "two"] if changes > 1 else ["one"])


# -------------------------------------------------------------- large values


def noise(size: int) -> bytes:
    return random.Random(1).randbytes(size)


@pytest.mark.parametrize("size", [0, 1, COMPRESS_FROM - 1, COMPRESS_FROM, INLINE_LIMIT - 1])
async def test_a_value_that_fits_is_in_its_row(size: int) -> None:
    cells, data = Cells(MemoryBlobs()), noise(size)
    cell = await cells.pack(data)
    assert len(cell) == size + 1  # what cannot be compressed is not made longer
    assert await Cells(MemoryBlobs()).unpack(cell) == data


async def test_a_value_over_the_limit_is_in_the_blob_store_when_it_is_packed() -> None:
    blobs, data = MemoryBlobs(), noise(INLINE_LIMIT)
    cell = await Cells(blobs).pack(data)
    assert len(cell) < 100
    assert await Cells(blobs).unpack(cell) == data
    with pytest.raises(NotFound):
        await Cells(MemoryBlobs()).unpack(cell)


@pytest.mark.parametrize("size", [COMPRESS_FROM, 10_000, 3 * INLINE_LIMIT])
async def test_text_is_compressed_before_its_size_is_judged(size: int) -> None:
    data = (b"resource vpc " * size)[:size]
    cell = await Cells(MemoryBlobs()).pack(data)
    assert len(cell) < size / 4
    assert await Cells(MemoryBlobs()).unpack(cell) == data


async def test_a_short_value_is_not_compressed() -> None:
    data = b"x" * (COMPRESS_FROM - 1)
    assert data in await Cells(MemoryBlobs()).pack(data)


async def test_a_large_message_comes_back_from_another_process(world: World) -> None:
    message = user("", "m1")
    message.parts[0].raw = noise(300_000)
    task = (await intents.submit(world.journal, "me", message)).task
    part = task.partition("-")[0]
    stored = await world.rows.scan(heads.partition(part))
    assert all(len(row.value) < 1000 for row in stored)
    there = Journal(
        world.rows, world.journal.blobs, world.clock, world.journal.ids, nonce=lambda: "other"
    )
    by_slot = (await anext(there.slots(part, 0)))[1]
    by_head = await there.head(part, task)
    assert by_slot.message is not None
    assert by_head is not None
    assert by_slot.message.parts[0].raw == noise(300_000)
    assert by_head.task.history[0].parts[0].raw == noise(300_000)


async def test_a_large_message_is_folded_from_its_slot_when_no_view_has_it() -> None:
    world = World()
    world.rows = world.journal.rows = MemoryRows(atomic=False, clock=world.clock)
    message = Message(message_id="m1", role=Role.ROLE_USER, parts=[Part(raw=noise(300_000))])
    world.rows.crash_after(2)
    with pytest.raises(Crashed):
        await intents.submit(world.journal, "me", message)
    world.rows.heal()
    again = await intents.submit(world.journal, "me", message)
    assert again.again
    assert again.head.task.history[0].parts[0].raw == noise(300_000)


async def test_a_large_checkpoint_is_what_the_next_claim_gets(world: World) -> None:
    task, got = await world.submit(), []

    async def saves(turn) -> None:
        await turn.save(noise(300_000))
        turn.stop()
        await turn.save(noise(300_001))

    async def resumes(turn) -> None:
        got.append(turn.checkpoint)

    assert await world.run(task, saves, limits=Limits(grace=0.01)) is Outcome.YIELDED
    await world.run(task, resumes)
    assert got == [noise(300_001)]

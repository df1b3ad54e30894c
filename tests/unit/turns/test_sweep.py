"""The sweep: alarms that ring, move and go, and what stands in the way of a frozen writer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from a2a.types.a2a_pb2 import TaskState
from tests.unit.world import World

from a2a_fn.engines.memory import Crashed, MemoryRows
from a2a_fn.journal import alarms, heads
from a2a_fn.journal.alarms import ROUND, Alarm
from a2a_fn.journal.slots import Kind
from a2a_fn.ports import Change, Put
from a2a_fn.turns import sweep as sweep_module
from a2a_fn.turns.run import Limits, Outcome
from a2a_fn.turns.sweep import ring, sweep


@pytest.fixture
def world() -> World:
    """A deployment whose store does the changes of a write one by one."""
    world = World()
    world.rows = world.journal.rows = MemoryRows(atomic=False, clock=world.clock)
    return world


async def completes(turn) -> None:
    await turn.complete("done")


async def only_alarm(world: World) -> Alarm:
    (row,) = await world.rows.scan("D#0")
    return alarms.parse(0, row.key, row.value)


# ------------------------------------------------------------------ where it moves


async def test_the_alarm_of_a_live_claim_moves_behind_its_lease_and_wakes_nobody(
    world: World,
) -> None:
    task, claimed = await world.submit(), asyncio.Event()
    world.clock.ms += 50_000

    async def works(turn) -> None:
        claimed.set()
        await asyncio.Event().wait()

    dying = asyncio.create_task(world.run(task, works))
    await claimed.wait()
    dying.cancel()
    await asyncio.gather(dying, return_exceptions=True)
    ends = world.journal.claim_ends(await world.journal.load(task.partition("-")[0]))
    world.clock.ms += 11_000
    assert await sweep(world.journal, 0, world.wake) == 1
    assert not world.woken
    moved = await only_alarm(world)
    assert moved.due == ends  # the next multiple of ROUND comes sooner
    world.clock.ms = moved.due - 1000
    assert await sweep(world.journal, 0, world.wake) == 0
    world.clock.ms = moved.due
    assert await sweep(world.journal, 0, world.wake) == 1
    assert world.woken == [task.partition("-")[0]]
    assert await world.run(task, completes) is Outcome.FINISHED


async def test_the_end_of_a_lease_leaves_room_for_skew(world: World) -> None:
    task = await world.submit()
    claimed = []

    async def works(turn) -> None:
        view = await world.journal.load(task.partition("-")[0])
        claimed.append(world.journal.claim_ends(view))

    await world.run(task, works)
    taken = (await world.slots(task))[1].time
    assert claimed == [taken + world.journal.lease + world.journal.skew + 1]


async def test_two_sweepers_that_move_one_alarm_leave_one(world: World) -> None:
    await world.submit()
    alarm = await only_alarm(world)
    world.clock.ms += 61_000
    await ring(world.journal, alarm, world.wake)
    first = await only_alarm(world)
    world.clock.ms += 7_000
    await ring(world.journal, alarm, world.wake)  # read by another sweeper before it moved
    assert await only_alarm(world) == first
    assert first.due % ROUND == 0
    assert (first.nonce, first.slot) == (alarm.nonce, alarm.slot)
    assert world.clock.ms < first.due <= world.clock.ms + ROUND


async def test_an_alarm_that_moved_rings_again_only_when_it_is_due(world: World) -> None:
    await world.submit()
    world.clock.ms += 61_000
    await sweep(world.journal, 0, world.wake)
    assert await sweep(world.journal, 0, world.wake) == 0
    assert len(world.woken) == 1


async def test_an_alarm_that_a_dead_worker_left_behind_goes_without_a_wake_up(
    world: World,
) -> None:
    task = await world.submit()
    alarm = await only_alarm(world)
    await world.run(task, completes)
    await world.rows.write([alarm.put()])
    world.clock.ms += 61_000
    world.woken.clear()
    assert await sweep(world.journal, 0, world.wake) == 1
    assert await world.alarms() == 0
    assert not world.woken
    assert Kind.VOID not in await world.kinds(task)


# -------------------------------------------------------------- frozen writers


async def test_a_frozen_writer_collides_with_the_sweep_and_begins_anew(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = world.rows.write

    async def freezes(changes: Sequence[Change]) -> None:
        """Only the alarm is there when the writer freezes; the sweep comes; it thaws."""
        monkeypatch.setattr(world.rows, "write", write)
        await write(changes[:1])
        world.clock.ms += 61_000
        assert await sweep(world.journal, 0, world.wake) == 1
        assert await world.alarms() == 0
        await write(changes[1:])

    monkeypatch.setattr(world.rows, "write", freezes)
    task = await world.submit()
    assert await world.kinds(task) == [Kind.VOID, Kind.SUBMITTED]
    alarm = await only_alarm(world)
    assert (alarm.slot, alarm.key) == (2, (await world.slots(task))[1].alarm)
    assert await world.run(task, completes) is Outcome.FINISHED
    assert await world.alarms() == 0


async def test_an_idle_context_is_voided_up_to_the_slot_of_its_alarm(world: World) -> None:
    task = await world.submit()
    await world.run(task, completes)
    part = task.partition("-")[0]
    tail = len(await world.slots(task))
    world.rows.crash_after(1)
    with pytest.raises(Crashed):
        await world.submit("never", "m2", context=await _context(world, part))
    world.rows.heal()
    world.clock.ms += 61_000
    await sweep(world.journal, 0, world.wake)
    assert (await world.kinds(task))[tail:] == [Kind.VOID]
    assert await world.alarms() == 0
    assert (await world.task(task)).status.state == TaskState.TASK_STATE_COMPLETED


async def _context(world: World, part: str) -> str:
    return (await world.journal.load(part)).context.context_id


async def test_a_sweep_that_loses_the_slot_leaves_the_winner_its_turn(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.rows.crash_after(1)
    with pytest.raises(Crashed):
        await world.submit("never", "m1", context="c")
    world.rows.heal()
    world.clock.ms += 61_000
    write, made = world.rows.write, []

    async def late(changes: Sequence[Change]) -> None:
        monkeypatch.setattr(world.rows, "write", write)
        made.append(await world.submit("comes first", "m2", context="c"))
        await write(changes)

    monkeypatch.setattr(world.rows, "write", late)
    assert await sweep(world.journal, 0, world.wake) == 1
    assert await world.kinds(made[0]) == [Kind.SUBMITTED]
    assert await world.alarms() == 2  # its own, and the dead one's until the turn has ended
    assert world.woken == [made[0].partition("-")[0]]
    await world.run(made[0], completes)
    world.clock.ms += 61_000
    await sweep(world.journal, 0, world.wake)
    assert await world.alarms() == 0


async def test_a_context_that_works_is_never_voided(world: World) -> None:
    task = await world.submit(context="c")
    part = task.partition("-")[0]
    await world.rows.write([Alarm(0, world.clock.ms, part, "beyond", 9, "").put()])
    world.clock.ms += 61_000
    await sweep(world.journal, 0, world.wake)
    assert await world.kinds(task) == [Kind.SUBMITTED]


async def test_views_that_a_dead_writer_left_out_are_rolled_forward(world: World) -> None:
    world.rows.crash_after(2)
    with pytest.raises(Crashed):
        await world.submit(context="c")
    world.rows.heal()
    part = world.journal.ids.partition("me", "c")
    assert await world.rows.get(heads.partition(part), heads.CONTEXT) is None
    world.clock.ms += 61_000
    await sweep(world.journal, 0, world.wake)
    row = await world.rows.get(heads.partition(part), heads.CONTEXT)
    assert row is not None
    assert heads.decode_context(row.value).n == 1


# --------------------------------------------------------------------- how far


async def test_enough_stops_a_sweep_inside_a_page(world: World) -> None:
    for i in range(3):
        await world.submit(f"{i}", f"m{i}")
    world.clock.ms += 61_000
    assert await sweep(world.journal, 0, world.wake, enough=lambda: bool(world.woken)) == 1
    assert len(world.woken) == 1
    assert await world.alarms() == 3


@pytest.mark.parametrize("page", [1, 2, 5, 6])
async def test_every_due_alarm_of_every_page_rings_once(
    world: World, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    monkeypatch.setattr(sweep_module, "PAGE", page)
    parts = [(await world.submit(f"{i}", f"m{i}")).partition("-")[0] for i in range(5)]
    world.clock.ms += 61_000
    late = await world.submit("late", "late")
    assert await sweep(world.journal, 0, world.wake) == 5
    assert sorted(world.woken) == sorted(parts)
    assert late.partition("-")[0] not in world.woken


async def test_only_the_alarms_of_its_shard_ring(world: World) -> None:
    part = (await world.submit()).partition("-")[0]
    world.clock.ms += 61_000
    alarm = await only_alarm(world)
    await world.rows.write([Put("D#1", alarm.key, b'{"n": 1}')])
    assert await sweep(world.journal, 1, world.wake) == 1
    assert await world.alarms() == 1
    assert world.woken == [part]


# ------------------------------------------------------------------- max hops


async def test_a_turn_that_only_ever_yields_is_given_up(world: World) -> None:
    task = await world.submit()

    async def yields(turn) -> None:
        turn.stop()
        await turn.save(b"progress, it says")

    limits = Limits(attempts=2, claims=4)
    outcomes = [await world.run(task, yields, limits=limits) for _ in range(6)]
    assert outcomes == [*[Outcome.YIELDED] * 4, Outcome.ABANDONED, Outcome.NOTHING]
    found = await world.task(task)
    assert found.status.state == TaskState.TASK_STATE_FAILED
    assert "4 attempts" in found.status.message.parts[0].text
    assert await world.alarms() == 0

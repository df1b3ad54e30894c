"""What clients ask for, when others ask at the same time, when a process dies, and in vain."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence

import pytest
from a2a.types.a2a_pb2 import Message, Part, Role, TaskState
from tests.unit.world import World, sends, user

from a2a_fn.engines.memory import Crashed, MemoryRows
from a2a_fn.errors import NotFound, TurnLost
from a2a_fn.journal import alarms, heads, intents, lists
from a2a_fn.journal.fold import DEDUPE_WINDOW
from a2a_fn.journal.ids import Ids, digest, partition_of
from a2a_fn.journal.slots import Kind
from a2a_fn.ports import Change
from a2a_fn.protocol.callers import Caller
from a2a_fn.turns.run import Outcome
from a2a_fn.turns.sweep import sweep

ME = Caller("me")
Race = Callable[[Callable[[], Awaitable[object]]], None]


@pytest.fixture
def world() -> World:
    """A deployment whose store does the changes of a write one by one."""
    world = World()
    world.rows = world.journal.rows = MemoryRows(atomic=False, clock=world.clock)
    return world


@pytest.fixture
def race(world: World, monkeypatch: pytest.MonkeyPatch) -> Race:
    """Lets something happen right before the next write, when its writer has decided already."""

    def before_next_write(other: Callable[[], Awaitable[object]]) -> None:
        write = world.rows.write

        async def late(changes: Sequence[Change]) -> None:
            monkeypatch.setattr(world.rows, "write", write)
            await other()
            await write(changes)

        monkeypatch.setattr(world.rows, "write", late)

    return before_next_write


async def asks(turn) -> None:
    await turn.ask("which?")


async def completes(turn) -> None:
    await turn.complete("done")


async def only_alarm(world: World) -> alarms.Alarm:
    (row,) = await world.rows.scan("D#0")
    return alarms.parse(0, row.key, row.value)


# ------------------------------------------------------------------ collisions


async def test_who_loses_the_slot_takes_its_own_alarm_away(world: World, race: Race) -> None:
    race(lambda: world.submit("first", "m1", context="c"))
    with pytest.raises(intents.Busy, match=r"^Task is already working\.$"):
        await world.submit("second", "m2", context="c")
    task = world.journal.ids.partition("me", "c")
    (slot,) = await world.slots(task)
    assert (await only_alarm(world)).key == slot.alarm


async def test_a_new_try_has_a_new_alarm_that_names_the_new_slot(world: World, race: Race) -> None:
    async def comes_and_goes() -> None:
        await world.run(await world.submit("first", "m1", context="c"), completes)

    race(comes_and_goes)
    task = await world.submit("second", "m2", context="c")
    slots = await world.slots(task)
    alarm = await only_alarm(world)
    assert [slot.kind for slot in slots][-1] is Kind.SUBMITTED
    assert alarm.slot == len(slots)
    assert alarm.key == slots[-1].alarm
    assert alarm.due >= slots[-1].time + world.journal.lease - 1000


async def test_a_cancel_that_collides_decides_again_and_leaves_no_alarm(
    world: World, race: Race
) -> None:
    task = await world.submit("a", "m1", context="c")
    await world.run(task, asks)

    async def sibling() -> None:
        await world.run(await world.submit("b", "m2", context="c"), completes)

    race(sibling)
    await intents.cancel(world.journal, "me", task)
    assert (await world.kinds(task))[-1] is Kind.CANCELED
    assert await world.alarms() == 0


async def test_of_two_cancels_at_once_one_is_told_that_it_is_too_late(
    world: World, race: Race
) -> None:
    task = await world.submit()
    await world.run(task, asks)
    race(lambda: intents.cancel(world.journal, "me", task))
    with pytest.raises(intents.Ended, match="TASK_STATE_CANCELED"):
        await intents.cancel(world.journal, "me", task)
    assert (await world.kinds(task)).count(Kind.CANCELED) == 1
    assert await world.alarms() == 0


async def test_a_follow_up_that_races_with_a_cancel_finds_the_task_ended(
    world: World, race: Race
) -> None:
    task = await world.submit()
    await world.run(task, asks)
    race(lambda: intents.cancel(world.journal, "me", task))
    with pytest.raises(intents.Ended):
        await world.submit("more", "m2", task=task)
    assert await world.alarms() == 0


# --------------------------------------------------------------------- crashes


@pytest.mark.parametrize("changes", range(7))
async def test_a_submit_that_dies_anywhere_is_found_by_the_sweep_or_never_was(
    world: World, changes: int
) -> None:
    world.rows.crash_after(changes)
    with contextlib.suppress(Crashed):  # the process is gone; what it wrote is there
        await world.submit()
    world.rows.heal()
    part = world.journal.ids.partition("me", world.journal.ids.context_id("me", M1, 0))
    accepted = bool([n async for n, _ in world.journal.slots(part, 0)])
    assert accepted == (changes >= 2)
    assert await world.alarms() == (1 if changes else 0)  # the alarm is there before the slot
    world.clock.ms += world.journal.lease + 1000
    await sweep(world.journal, 0, world.wake)
    assert world.woken == ([part] if accepted else [])
    listed = await lists.page(world.journal, lists.Query("me"), 10, None)
    assert [head.state for head in listed.heads] == (
        [TaskState.TASK_STATE_SUBMITTED] if accepted else []
    )
    assert await world.alarms() == (1 if accepted else 0)


M1 = digest(user("hi"))


@pytest.mark.parametrize("changes", range(9))
async def test_a_cancel_of_an_idle_task_that_dies_anywhere_is_rolled_forward(
    world: World, changes: int
) -> None:
    task = await world.submit()
    await world.run(task, asks)
    world.rows.crash_after(changes)
    with contextlib.suppress(Crashed):
        await intents.cancel(world.journal, "me", task)
    world.rows.heal()
    world.clock.ms += world.journal.lease + 1000
    await sweep(world.journal, 0, world.wake)
    head = await world.journal.head(task.partition("-")[0], task)
    assert head is not None
    assert (head.state == TaskState.TASK_STATE_CANCELED) == (changes >= 2)
    assert await world.alarms() == 0
    assert not world.woken
    for state in (TaskState.TASK_STATE_INPUT_REQUIRED, TaskState.TASK_STATE_CANCELED):
        page = await lists.page(world.journal, lists.Query("me", state=state), 10, None)
        assert len(page.heads) == (head.state == state)


async def test_a_retry_rolls_forward_what_its_dead_writer_left(world: World) -> None:
    world.rows.crash_after(2)
    with pytest.raises(Crashed):
        await world.submit()
    world.rows.heal()
    again = await intents.submit(world.journal, "me", user("hi"))
    assert again.again
    assert len((await lists.page(world.journal, lists.Query("me"), 10, None)).heads) == 1
    assert await world.alarms() == 1


# --------------------------------------------------------------------- retries


def full() -> Message:
    message = user("hi", context="c")
    message.metadata.update({"a": 1, "b": {"c": [1, 2]}})
    message.extensions.append("urn:x")
    message.reference_task_ids.append("t")
    message.parts.append(Part(text="there"))
    return message


@pytest.mark.parametrize(
    "change",
    [
        lambda m: setattr(m, "message_id", "m2"),
        lambda m: setattr(m, "context_id", "other"),
        lambda m: setattr(m, "task_id", "t"),
        lambda m: setattr(m, "role", Role.ROLE_AGENT),
        lambda m: setattr(m.parts[1], "text", "there "),
        lambda m: setattr(m.parts[1], "filename", "x"),
        lambda m: m.parts.append(Part(text="")),
        lambda m: m.metadata.update({"a": 2}),
        lambda m: m.extensions.append("urn:y"),
        lambda m: m.reference_task_ids.append("u"),
    ],
)
def test_a_digest_ignores_nothing(change) -> None:
    changed = full()
    change(changed)
    assert digest(changed) != digest(full())


def test_a_digest_does_not_depend_on_the_order_of_metadata() -> None:
    other = user("hi")
    message = user("hi")
    message.metadata.update({"a": 1, "b": 2, "c": 3})
    other.metadata.update({"c": 3, "b": 2, "a": 1})
    assert digest(message) == digest(other)


async def test_the_same_id_with_other_content_is_another_task(world: World) -> None:
    first, again = await world.submit("hi", "m1"), await world.submit("hi", "m1")
    other = await world.submit("hi!", "m1")
    assert first == again != other


async def test_the_window_of_a_retry_ends(world: World) -> None:
    first = await world.submit()
    accepted = (await world.slots(first))[0].time
    await world.run(first, completes)
    world.clock.ms = accepted + DEDUPE_WINDOW - 100  # each look at the clock is a ms later
    assert await world.submit() == first
    world.clock.ms = accepted + DEDUPE_WINDOW
    second = await world.submit()
    assert second != first
    assert await world.submit() == second


async def test_a_retry_of_a_follow_up_finds_its_turn(world: World) -> None:
    task = await world.submit()
    await world.run(task, asks)
    await world.submit("eu", "m2", task=task)
    await world.run(task, asks)
    again = await intents.submit(world.journal, "me", user("eu", "m2", task=task))
    assert again.again
    assert [m.parts[0].text for m in again.head.task.history] == ["hi", "which?", "eu"]
    assert await world.alarms() == 0


async def test_a_retry_of_a_message_that_a_live_worker_has_wakes_nobody(world: World) -> None:
    task = await world.submit()

    async def agent(turn) -> None:
        answer = await world.handler.send_message(sends("hi", wait=False), ME)
        assert answer.task.id == task
        assert not world.woken
        await turn.complete("worked on")

    assert await world.run(task, agent) is Outcome.FINISHED
    assert (await world.task(task)).status.message.parts[0].text == "worked on"


async def test_without_a_window_every_message_is_a_new_one(world: World) -> None:
    world.journal.window = 0
    first = await world.submit("hi", "m1")
    await world.run(first, asks)
    assert await world.submit("hi", "m1") != first
    for _ in range(2):
        again = await intents.submit(world.journal, "me", user("eu", "m2", task=first))
        assert not again.again
        await world.run(first, asks)
    texts = [m.parts[0].text for m in (await world.task(first)).history if m.role == 1]
    assert texts == ["hi", "eu", "eu"]


async def test_a_retry_of_a_message_whose_turn_was_let_go_wakes_again(world: World) -> None:
    task = await world.submit()

    async def yields(turn) -> None:
        turn.stop()
        await turn.save(b"1")

    assert await world.run(task, yields) is Outcome.YIELDED
    world.woken.clear()
    await world.handler.send_message(sends("hi", wait=False), ME)
    assert world.woken == [task.partition("-")[0]]


# --------------------------------------------------------------------- cancels


async def test_an_idle_task_is_canceled_and_woken_by_nobody(world: World) -> None:
    task = await world.submit()
    await world.run(task, asks)
    view = await intents.cancel(world.journal, "me", task)
    assert view.tasks[task].state == TaskState.TASK_STATE_CANCELED
    assert (await world.task(task)).status.state == TaskState.TASK_STATE_CANCELED
    assert await world.alarms() == 0
    assert await world.run(task, completes) is Outcome.NOTHING


async def test_a_task_that_nobody_took_yet_is_canceled_with_its_alarm(world: World) -> None:
    task = await world.submit()
    await intents.cancel(world.journal, "me", task)
    assert await world.alarms() == 0
    assert await world.run(task, completes) is Outcome.NOTHING


async def test_a_working_task_is_canceled_and_its_worker_writes_nothing_more(world: World) -> None:
    task, turns, started = await world.submit(), [], asyncio.Event()

    async def agent(turn) -> None:
        turns.append(turn)
        started.set()
        await asyncio.Event().wait()

    running = asyncio.create_task(world.run(task, agent))
    await started.wait()
    await intents.cancel(world.journal, "me", task)
    assert await running is Outcome.LOST
    with pytest.raises(TurnLost):
        await turns[0].complete("too late")
    assert await world.kinds(task) == [Kind.SUBMITTED, Kind.CLAIMED, Kind.CANCELED]
    assert await world.alarms() == 0


async def test_a_cancel_of_an_idle_task_keeps_the_alarm_of_a_working_sibling(world: World) -> None:
    idle = await world.submit("a", "m1", context="c")
    await world.run(idle, asks)
    working = await world.submit("b", "m2", context="c")
    await intents.cancel(world.journal, "me", idle)
    assert (await only_alarm(world)).key == (await world.slots(working))[-2].alarm
    assert await world.run(working, completes) is Outcome.FINISHED
    assert await world.alarms() == 0


async def test_a_canceled_task_is_free_for_another_in_its_context(world: World) -> None:
    task = await world.submit("a", "m1", context="c")
    await intents.cancel(world.journal, "me", task)
    other = await world.submit("b", "m2", context="c")
    assert await world.run(other, completes) is Outcome.FINISHED


@pytest.mark.parametrize(
    ("how", "state"),
    [("complete", "COMPLETED"), ("fail", "FAILED"), ("cancel", "CANCELED")],
)
async def test_who_comes_after_the_end_is_told_the_state(world: World, how: str, state: str):
    task = await world.submit()

    async def ends(turn) -> None:
        await getattr(turn, how)("x")

    if how == "cancel":
        await intents.cancel(world.journal, "me", task)
    else:
        await world.run(task, ends)
    words = rf"^Task {task} is in terminal state: TASK_STATE_{state}$"
    with pytest.raises(intents.Ended, match=words):
        await intents.cancel(world.journal, "me", task)
    with pytest.raises(intents.Ended, match=words):
        await world.submit("more", "m2", task=task)
    assert await world.alarms() == 0


# ------------------------------------------------------------------------- ids


async def test_a_task_of_another_owner_does_not_exist(world: World) -> None:
    task = await world.submit(context="c")
    await world.run(task, asks)
    for ask in (
        intents.find(world.journal, "you", task),
        intents.cancel(world.journal, "you", task),
        intents.submit(world.journal, "you", user("mine", "m2", task=task)),
        intents.submit(world.journal, "you", user("mine", "m2", task=task, context="c")),
    ):
        with pytest.raises(NotFound):
            await ask
    assert (await world.task(task)).status.state == TaskState.TASK_STATE_INPUT_REQUIRED
    assert await world.alarms() == 0


@pytest.mark.parametrize(
    "name",
    [
        "x",
        "../../etc/passwd",
        "C#aaaaaaaaaaaaaaaa",
        "a" * 16,
        "A" * 16 + "-00000000-0000-0000-0000-000000000000",
        "a" * 16 + "-00000000-0000-0000-0000-00000000000",
        "a" * 16 + "-00000000-0000-0000-0000-000000000000\n",
        " " + "a" * 16 + "-00000000-0000-0000-0000-000000000000",
        "1" * 16 + "-00000000-0000-0000-0000-000000000000",
    ],
)
async def test_what_is_no_task_id_is_not_looked_for(
    world: World, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world.journal, "load", None)  # no row is read
    assert partition_of(name) is None
    for ask in (
        intents.find(world.journal, "me", name),
        intents.cancel(world.journal, "me", name),
        intents.submit(world.journal, "me", user("x", task=name)),
    ):
        with pytest.raises(NotFound):
            await ask


async def test_a_task_id_names_its_partition(world: World) -> None:
    task = await world.submit(context="c")
    assert partition_of(task) == world.journal.ids.partition("me", "c")


async def test_nothing_tells_of_an_unknown_task_in_a_known_context(world: World) -> None:
    task = await world.submit()
    unknown = task[:-1] + ("0" if task[-1] != "0" else "1")
    with pytest.raises(NotFound):
        await intents.find(world.journal, "me", unknown)


async def test_a_message_to_a_task_in_a_context_that_is_not_its_own(world: World) -> None:
    task = await world.submit(context="c")
    with pytest.raises(intents.WrongContext, match="'d'"):
        await world.submit("x", "m2", task=task, context="d")


def test_ids_say_nothing_of_their_owner_to_who_has_no_key() -> None:
    mine, yours, theirs = Ids(b"k"), Ids(b"k"), Ids(b"other")

    def made(ids: Ids, owner: str) -> list[str]:
        part = ids.partition(owner, "ctx")
        return [
            part,
            ids.owner(owner),
            ids.context_id(owner, "digest", 0),
            ids.task_id(part, owner, "digest", 0),
            ids.task_id("p" * 16, owner, "digest", 0),
        ]

    assert made(mine, "alice") == made(yours, "alice")  # any process derives the same
    for other in (made(mine, "alicf"), made(theirs, "alice")):
        assert not set(made(mine, "alice")) & set(other)
    assert not [name for name in made(mine, "alice") if "alice" in name]


def test_two_values_that_look_alike_when_joined_have_their_own_ids() -> None:
    ids = Ids(b"k")
    assert ids.partition("ab", "c") != ids.partition("a", "bc")
    assert ids.context_id("o", "d", 1) != ids.context_id("o", "d", 11)
    assert ids.task_id("p", "o", "d", 0) != ids.task_id("p", "o", "d", 1)


async def test_the_rows_of_a_context_name_its_owner_only_where_it_is_read_back(
    world: World,
) -> None:
    accepted = await intents.submit(world.journal, "alice", user("hi"))
    part = accepted.view.part
    keys = [row.key for row in await world.rows.scan(heads.partition(part))]
    assert not [key for key in [*keys, part, accepted.task] if "alice" in key]
    assert not [key for key in world.rows._partitions if "alice" in key]


async def test_owners_that_say_the_same_have_tasks_of_their_own(world: World) -> None:
    mine, yours = await asyncio.gather(
        intents.submit(world.journal, "me", user("hi", context="c")),
        intents.submit(world.journal, "you", user("hi", context="c")),
    )
    assert mine.task != yours.task
    assert mine.view.part != yours.view.part

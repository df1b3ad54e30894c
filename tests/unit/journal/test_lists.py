"""Lists of tasks: pages, counts, and rows that are ahead of or behind their heads."""

from __future__ import annotations

import json
import random

import pytest
from a2a.types.a2a_pb2 import Message, Part, TaskState
from tests.unit.world import World

from a2a_fn.journal import fold, heads, index, intents, lists
from a2a_fn.journal.fold import Head
from a2a_fn.journal.lists import Cursor, Page, Query
from a2a_fn.ports import Put

ASKED, DONE = TaskState.TASK_STATE_INPUT_REQUIRED, TaskState.TASK_STATE_COMPLETED


@pytest.fixture
def world() -> World:
    return World()


async def asks(turn) -> None:
    await turn.ask("which?")


async def completes(turn) -> None:
    await turn.complete("done")


async def tasks(world: World, count: int, **more: str) -> list[str]:
    """Tasks that ask, the newest first."""
    made = []
    for i in range(count):
        made.append(await world.submit(f"text {i}", f"m{i}", **more))
        await world.run(made[-1], asks)
    return made[::-1]


async def walk(world: World, query: Query, size: int) -> list[Page]:
    pages: list[Page] = []
    cursor: Cursor | None = None
    while not pages or cursor is not None:
        pages.append(await lists.page(world.journal, query, size, cursor))
        cursor = pages[-1].next
        assert len(pages) < 50
    return pages


def ids(*pages: Page) -> list[str]:
    return [head.task.id for page in pages for head in page.heads]


async def head_of(world: World, task: str) -> Head:
    head = await world.journal.head(task.partition("-")[0], task)
    assert head is not None
    return head


@pytest.mark.parametrize("context", ["", "c"])
@pytest.mark.parametrize(
    ("count", "sizes"), [(0, [0]), (2, [2]), (3, [3]), (4, [3, 1]), (6, [3, 3]), (7, [3, 3, 1])]
)
async def test_a_walk_shows_every_task_once_and_no_page_is_empty(
    world: World, context: str, count: int, sizes: list[int]
) -> None:
    made = await tasks(world, count, context=context)
    pages = await walk(world, Query("me", context), 3)
    assert [len(page.heads) for page in pages] == sizes
    assert ids(*pages) == made
    assert {page.total for page in pages} == {count}


async def test_a_list_is_counted_up_to_the_limit(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "COUNT_LIMIT", 5)
    made = await tasks(world, 7)
    pages = await walk(world, Query("me"), 2)
    assert [page.total for page in pages] == [5] * 4
    assert ids(*pages) == made


@pytest.mark.parametrize("context", ["", "c"])
async def test_a_total_is_as_counted_for_the_first_page(world: World, context: str) -> None:
    made = await tasks(world, 3, context=context)
    page = await lists.page(world.journal, Query("me", context), 1, None)
    if not context:  # a context is read whole each time, and counted anew
        await world.submit("late", "late")
    shown = ids(page)
    while page.next is not None:
        assert page.next.total == page.total == 3
        page = await lists.page(world.journal, Query("me", context), 1, page.next)
        shown += ids(page)
    assert page.total == 3
    assert shown == made


@pytest.mark.parametrize("context", ["", "c"])
async def test_since_is_inclusive_and_counts_only_what_it_lets_through(
    world: World, context: str
) -> None:
    made = await tasks(world, 5, context=context)
    since = (await head_of(world, made[2])).status_time
    pages = await walk(world, Query("me", context, since=since), 1)
    assert ids(*pages) == made[:3]
    assert {page.total for page in pages} == {3}
    pages = await walk(world, Query("me", context, since=since + 1), 1)
    assert ids(*pages) == made[:2]


@pytest.mark.parametrize("context", ["", "c"])
async def test_a_state_lists_the_tasks_that_are_in_it_now(world: World, context: str) -> None:
    made = await tasks(world, 4, context=context)
    await intents.cancel(world.journal, "me", made[1])
    asked = await walk(world, Query("me", context, ASKED), 2)
    assert ids(*asked) == [made[0], *made[2:]]
    assert asked[0].total == 3
    (canceled,) = await walk(world, Query("me", context, TaskState.TASK_STATE_CANCELED), 2)
    assert ids(canceled) == [made[1]]
    assert ids(*await walk(world, Query("me", context), 9)) == [made[1], made[0], *made[2:]]


@pytest.mark.parametrize("context", ["", "c"])
async def test_another_owner_sees_nothing(world: World, context: str) -> None:
    await tasks(world, 2, context=context)
    assert await lists.page(world.journal, Query("you", context), 2, None) == Page((), None, 0)


async def test_a_context_lists_its_own_tasks_only(world: World) -> None:
    made = await tasks(world, 2, context="c")
    await tasks(world, 2, context="d")
    assert ids(*await walk(world, Query("me", "c"), 9)) == made


async def test_a_context_of_more_tasks_than_one_scan_is_listed_whole(world: World) -> None:
    (first,) = await tasks(world, 1, context="c")
    part, head = first.partition("-")[0], await head_of(world, first)
    cell = await world.journal.cells.pack(heads.encode_head(head))
    partition = heads.partition(part)
    await world.rows.write(
        [Put(partition, f"{heads.TASKS}zz{i:04d}", cell) for i in range(1000)]  # copies of it
    )
    page = await lists.page(world.journal, Query("me", "c"), 1001, None)
    assert page.total == 1001


# --------------------------------------------------- rows that are not as their heads


async def listed_at(world: World, task: str, time: int, state: int = ASKED) -> None:
    """Write the rows that list a task at another time than its head's."""
    value = json.dumps({"part": task.partition("-")[0], "state": state}).encode()
    rows = index.keys(world.journal.ids.owner("me"), task, time, state)
    await world.rows.write([Put(partition, key, value) for partition, key in rows])


async def rows(world: World, state: int = 0) -> int:
    partitions = index.partitions(world.journal.ids.owner("me"), state)
    found = await world.rows.scan(partitions[1] if state else partitions[0])
    return sum(not index.read(row).next for row in found)  # those that no task has left


@pytest.mark.parametrize("size", [1, 2, 3])
async def test_a_row_that_is_ahead_of_its_head_is_passed_over_and_kept(
    world: World, size: int
) -> None:
    made = await tasks(world, 3)
    time = (await head_of(world, made[0])).status_time
    for ahead in range(1, 4):
        await listed_at(world, made[2], time + ahead)
    pages = await walk(world, Query("me"), size)
    assert ids(*pages) == made
    assert await rows(world) == 6  # they will be right when the head is written


@pytest.mark.parametrize("size", [1, 2])
async def test_a_row_without_a_head_is_passed_over(world: World, size: int) -> None:
    made = await tasks(world, 2)
    unknown = "b" * 16 + made[0][16:]
    time = (await head_of(world, made[1])).status_time
    await listed_at(world, unknown, time + 1)  # between the two
    assert ids(*await walk(world, Query("me"), size)) == made


async def test_a_row_that_was_left_behind_lists_its_task_once_and_is_marked(world: World) -> None:
    made = await tasks(world, 2)
    time = (await head_of(world, made[1])).status_time
    await listed_at(world, made[0], time - 1)
    page = await lists.page(world.journal, Query("me"), 9, None)
    assert ids(page) == made
    assert await rows(world) == 2


async def test_a_row_of_a_state_that_the_task_has_left_lists_nothing_and_is_marked(
    world: World,
) -> None:
    (task,) = await tasks(world, 1)
    before = (await head_of(world, task)).status_time
    await intents.cancel(world.journal, "me", task)
    await listed_at(world, task, before)
    assert ids(await lists.page(world.journal, Query("me", state=ASKED), 9, None)) == []
    assert await rows(world, ASKED) == 0


async def test_a_task_that_moves_during_a_walk_is_not_missed(world: World) -> None:
    made = await tasks(world, 3)
    first = await lists.page(world.journal, Query("me"), 1, None)
    time = (await head_of(world, made[2])).status_time
    await intents.cancel(world.journal, "me", made[2])  # before the cursor, now
    second = await lists.page(world.journal, Query("me"), 9, first.next)
    assert ids(second) == made[1:]
    assert second.heads[-1].state == TaskState.TASK_STATE_CANCELED
    await listed_at(world, made[2], time)  # or the process that moved it died before it said so
    second = await lists.page(world.journal, Query("me"), 9, first.next)
    assert ids(second) == made[1:]


async def test_a_task_that_moved_before_the_walk_is_not_shown_where_it_was(world: World) -> None:
    made = await tasks(world, 3)
    time = (await head_of(world, made[2])).status_time
    await intents.cancel(world.journal, "me", made[2])
    await listed_at(world, made[2], time)  # who moved it died before it said so
    world.clock.ms += 2 * world.journal.skew  # and that was not just now
    (late,) = await tasks(world, 1, context="late")
    first = await lists.page(world.journal, Query("me"), 1, None)
    second = await lists.page(world.journal, Query("me"), 9, first.next)
    assert ids(first, second) == [late, made[2], *made[:2]]


@pytest.mark.parametrize("context", ["", "c"])
@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("seed", range(8))
async def test_a_walk_shows_what_stood_when_it_began_whatever_moves_and_comes(
    world: World, context: str, size: int, seed: int
) -> None:
    chance = random.Random(seed)
    made = await tasks(world, 9, context=context)
    for task in chance.sample(made, 3):
        await again(world, task)
    stood = ids(await lists.page(world.journal, Query("me", context), 100, None))
    page = await lists.page(world.journal, Query("me", context), size, None)
    shown = ids(page)
    while page.next is not None:
        for task in chance.sample(made, 4):
            await again(world, task)
        await world.run(await world.submit("new", f"new {len(shown)}", context=context), asks)
        page = await lists.page(world.journal, Query("me", context), size, page.next)
        shown += ids(page)
    assert shown == stood


async def again(world: World, task: str) -> None:
    """A follow-up: the task moves to the top, by way of two other states."""
    await world.submit("more", f"more {world.clock.ms}", task=task)
    await world.run(task, asks)


async def test_a_mark_is_gone_when_no_walk_can_need_it(world: World) -> None:
    (task,) = await tasks(world, 1)
    partition = index.partitions(world.journal.ids.owner("me"), 0)[0]
    assert len(await world.rows.scan(partition)) == 3  # submitted, working, and where it is
    world.clock.ms += fold.WALK
    assert [index.read(row).task for row in await world.rows.scan(partition)] == [task]


async def test_a_bare_message_leaves_nothing_in_either_list(world: World) -> None:
    async def replies(turn) -> None:
        await turn.reply(Message(message_id="r", parts=[Part(text="hello")]))

    task = await world.submit(context="c")
    await world.run(task, replies)
    assert (await head_of(world, task)).state == DONE
    for query in (Query("me"), Query("me", "c"), Query("me", state=DONE)):
        assert ids(await lists.page(world.journal, query, 9, None)) == []

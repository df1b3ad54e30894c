"""The events after a webhook's cursor: none left out, none twice, a page at a time."""

from __future__ import annotations

import pytest
from a2a.types.a2a_pb2 import Part
from tests.unit.push.deliveries import Hooks, part_of, works

from a2a_fn.journal.webhooks import Webhook
from a2a_fn.push import upcoming as module
from a2a_fn.push.upcoming import Cursor, Upcoming


async def walk(hooks: Hooks, task: str, hook: Webhook) -> tuple[list[int], Webhook]:
    """Follow it to its end as deliveries do, moving the cursor after each event."""
    upcoming = Upcoming(hooks.journal, part_of(task), hooks.events)
    found = []
    while True:
        due, passed, _ = await upcoming.next(hook)
        if due is None:
            return found, moved(hook, passed)
        found.append(due.generation)
        hook = moved(hook, due.after)


def moved(hook: Webhook, cursor: Cursor) -> Webhook:
    return hook._replace(sent=cursor.sent, read=cursor.read, ended=cursor.ended)


async def long_task(hooks: Hooks, n: int) -> str:
    task = await hooks.submit()
    await hooks.set(task)

    async def long(turn) -> None:
        for i in range(n):
            await turn.artifact("log", Part(text=f"{i}"), append=i > 0)
            await turn.say(f"{i} ")
            if i % 7 == 0:
                await turn.save(str(i).encode())
        await turn.complete()

    await hooks.run(task, long)
    return task


@pytest.mark.parametrize("ahead", [1, 2, 5, 100])
@pytest.mark.parametrize("events", ["all", "state", "terminal"])
async def test_a_cursor_that_moves_step_by_step_meets_everything_once(
    monkeypatch: pytest.MonkeyPatch, ahead: int, events: str
) -> None:
    monkeypatch.setattr(module, "AHEAD", ahead)
    hooks = Hooks(events)
    task = await long_task(hooks, 30)
    expected = await wanted(hooks, task)
    found, after = await walk(hooks, task, await hooks.hook(task))
    assert found == expected
    assert after.ended


@pytest.mark.parametrize("events", ["all", "state", "terminal"])
async def test_a_worker_that_starts_at_any_cursor_meets_the_rest(events: str) -> None:
    hooks = Hooks(events)
    task = await long_task(hooks, 12)
    expected = await wanted(hooks, task)
    hook = await hooks.hook(task)
    for i in range(len(expected)):
        assert (await walk(hooks, task, hook))[0] == expected[i:]
        due, _, _ = await Upcoming(hooks.journal, part_of(task), events).next(hook)
        assert due is not None
        hook = moved(hook, due.after)  # and another worker goes on


async def wanted(hooks: Hooks, task: str) -> list[int]:
    """What is to be pushed, said in another way than the code does."""
    found, generation = [], 0
    for slot in await hooks.slots(task):
        for i, event in enumerate(slot.events, 1):
            generation += 1
            changes = slot.state and i == len(slot.events)
            artifact = event.payload.HasField("artifact_update")
            ends = changes and slot.state not in (1, 2)
            if {"all": True, "state": changes or artifact, "terminal": ends}[hooks.events]:
                found.append(generation)
    return [g for g in found if g > 1]  # the webhook came after the first


async def test_nothing_yet_moves_the_cursor_past_what_is_never_pushed() -> None:
    hooks = Hooks("terminal")
    task = await hooks.submit()
    hook = await hooks.set(task)

    async def saves(turn) -> None:
        for i in range(5):
            await turn.say("x")
            await turn.save(str(i).encode())
        due, passed, more = await Upcoming(hooks.journal, part_of(task), "terminal").next(hook)
        assert (due, more) == (None, False)
        assert passed.read > hook.read + 5
        assert passed.sent > hook.sent
        await turn.complete()

    await hooks.run(task, saves)
    assert (await walk(hooks, task, hook))[0] == await wanted(hooks, task)


async def test_what_comes_while_it_is_followed_is_met_too() -> None:
    hooks = Hooks()
    task = await hooks.submit()
    hook = await hooks.set(task)
    upcoming = Upcoming(hooks.journal, part_of(task), "state")
    due, passed, _ = await upcoming.next(hook)
    assert due is None
    hook = moved(hook, passed)
    await hooks.run(task, works)
    found = []
    while True:
        due, passed, more = await upcoming.next(hook)
        if due is None:
            break
        found.append((due.generation, more))
        hook = moved(hook, due.after)
    assert found == [(2, True), (4, True), (5, False)]


async def test_a_webhook_set_back_is_read_again_from_there() -> None:
    hooks = Hooks()
    task = await hooks.submit()
    start = await hooks.set(task)
    await hooks.run(task, works)
    upcoming = Upcoming(hooks.journal, part_of(task), "state")
    due, _, _ = await upcoming.next(start)
    assert due is not None
    due, _, _ = await upcoming.next(moved(start, due.after))
    assert due is not None
    assert due.generation == 4
    due, _, _ = await upcoming.next(start)
    assert due is not None
    assert due.generation == 2


async def test_events_of_the_contexts_other_tasks_are_passed_over() -> None:
    hooks = Hooks("all")
    task = await hooks.submit()
    hook = await hooks.set(task)
    await hooks.run(task, works)
    context = (await hooks.task(task)).context_id
    other = await hooks.submit("more", "m2", context=context)
    await hooks.run(other, works)
    found, _ = await walk(hooks, task, hook)
    assert found == [2, 3, 4, 5]
    theirs = await hooks.set(other)
    assert (await walk(hooks, other, theirs))[0] == []

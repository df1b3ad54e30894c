"""Deliveries: in order, at least once, from a row that says how far a webhook is."""

from __future__ import annotations

import asyncio
import logging

import pytest
from a2a.types.a2a_pb2 import TaskState
from tests.unit.push.deliveries import (
    DAY,
    DOWN,
    HOUR,
    MINUTE,
    OK,
    TIMEOUT,
    URL,
    Hooks,
    part_of,
    works,
)

from a2a_fn.errors import NotFound, Refused, Unavailable, Unsealed
from a2a_fn.journal import intents, webhooks
from a2a_fn.journal.slots import Config
from a2a_fn.ports import Answer
from a2a_fn.push import letters
from a2a_fn.push.deliver import SPARE, Outcome, targets
from a2a_fn.push.verdict import Limits

COMPLETED = TaskState.TASK_STATE_COMPLETED


@pytest.fixture
def hooks() -> Hooks:
    return Hooks()


async def finished(hooks: Hooks, *names: str) -> str:
    """A task with webhooks of these names, done: they have got nothing yet."""
    task = await hooks.submit()
    for name in names or ("a",):
        await hooks.set(task, name)
    await hooks.run(task, works)
    return task


def kinds(hooks: Hooks) -> list[str]:
    found = []
    for push in hooks.got:
        payload = push.event.payload
        kind = payload.WhichOneof("payload")
        state = payload.status_update.status.state if kind == "status_update" else 0
        found.append(TaskState.Name(state).removeprefix("TASK_STATE_") if state else kind)
    return found


# ------------------------------------------------------------------ what is sent, in which order


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ("state", ["WORKING", "artifact_update", "COMPLETED"]),
        ("terminal", ["COMPLETED"]),
        ("all", ["WORKING", "WORKING", "artifact_update", "COMPLETED"]),
    ],
)
async def test_the_setting_says_what_is_sent(events: str, expected: list[str]) -> None:
    hooks = Hooks(events)
    task = await finished(hooks)
    assert (await hooks.push(task)).outcome is Outcome.SENT
    assert kinds(hooks) == expected
    assert hooks.generations == sorted(hooks.generations)
    hook = await hooks.hook(task)
    assert hook.ended
    assert not hook.holder


async def test_an_interruption_counts_as_an_end_but_more_may_come() -> None:
    hooks = Hooks("terminal")

    async def asks(turn) -> None:
        await turn.ask("which zone?")

    task = await hooks.submit()
    await hooks.set(task)
    await hooks.run(task, asks)
    await hooks.push(task)
    assert not (await hooks.hook(task)).ended
    await hooks.submit("zone h", "m2", task=task)
    await hooks.run(task, works)
    await hooks.push(task)
    assert kinds(hooks) == ["INPUT_REQUIRED", "COMPLETED"]


async def test_an_inline_webhook_gets_the_task_first(hooks: Hooks) -> None:
    from tests.unit.world import user

    async def make(task: str) -> Config:
        return Config("a", URL)

    accepted = await intents.submit(hooks.journal, "me", user("hi"), webhook=make)
    await hooks.push(accepted.task)
    first = hooks.got[0].event.payload
    assert first.WhichOneof("payload") == "task"
    assert first.task.id == accepted.task
    assert first.task.history[0].parts[0].text == "hi"
    await hooks.run(accepted.task, works)
    await hooks.push(accepted.task)
    assert kinds(hooks) == ["task", "WORKING", "artifact_update", "COMPLETED"]


async def test_a_webhook_set_later_gets_what_comes_later(hooks: Hooks) -> None:
    task = await hooks.submit()

    async def sets_midway(turn) -> None:
        await turn.artifact("before")
        await turn.save(b"1")
        await hooks.set(task)
        await turn.artifact("after")
        await turn.complete()

    await hooks.run(task, sets_midway)
    await hooks.push(task)
    assert kinds(hooks) == ["artifact_update", "COMPLETED"]
    assert hooks.got[0].event.payload.artifact_update.artifact.artifact_id == "after"


async def test_each_webhook_gets_everything(hooks: Hooks) -> None:
    task = await finished(hooks, "a", "b")
    assert await targets(hooks.journal, part_of(task), task) == ["a", "b"]
    for name in ("b", "a"):
        await hooks.push(task, name)
    assert [p.generation for p in hooks.got if p.hook.config.id == "a"] == [
        p.generation for p in hooks.got if p.hook.config.id == "b"
    ]
    assert await targets(hooks.journal, part_of(task), task) == []


async def test_the_events_of_another_task_of_the_context_are_not_sent(hooks: Hooks) -> None:
    task = await finished(hooks)
    context = (await hooks.task(task)).context_id
    other = await hooks.submit("more", "m2", context=context)
    await hooks.run(other, works)
    assert part_of(other) == part_of(task)
    await hooks.push(task)
    assert {push.event.payload.status_update.task_id for push in hooks.got} - {""} == {task}


async def test_a_slot_that_nobody_gets_wakes_nobody(hooks: Hooks) -> None:
    async def talks(turn) -> None:
        await turn.say("one")
        await turn.save(b"1")

    task = await hooks.submit()
    await hooks.set(task)
    hooks.told.clear()

    async def marked(turn) -> None:
        await talks(turn)
        before = len(hooks.told)
        await turn.say("two")
        await turn.save(b"2")
        assert len(hooks.told) == before
        await turn.complete()

    await hooks.run(task, marked)
    assert hooks.told == [(part_of(task), task)] * 2  # claimed, finished


# ------------------------------------------------------------------ the cursor


async def test_the_cursor_moves_after_each_answer(hooks: Hooks) -> None:
    task = await finished(hooks)
    seen = []

    async def look(push) -> None:
        seen.append((await hooks.hook(task)).sent)

    hooks.during = look
    await hooks.push(task)
    assert hooks.generations == [2, 4, 5]
    assert seen == [1, 2, 4]
    assert (await hooks.hook(task)).sent == 5


async def test_who_has_got_everything_gets_nothing_again(hooks: Hooks) -> None:
    task = await finished(hooks)
    await hooks.push(task)
    before = list(hooks.generations)
    assert (await hooks.push(task)).outcome is Outcome.NOTHING
    assert hooks.generations == before


async def test_what_was_answered_is_not_sent_again_after_a_failure(hooks: Hooks) -> None:
    task = await finished(hooks)
    hooks.answers = [OK, DOWN, OK]
    assert (await hooks.push(task)).outcome is Outcome.RETRY
    hooks.clock.ms += MINUTE
    assert (await hooks.push(task)).outcome is Outcome.SENT
    first, second, third = sorted(set(hooks.generations))
    assert hooks.generations == [first, second, second, third]
    assert [push.attempt for push in hooks.got] == [1, 1, 2, 1]


async def test_a_webhook_that_is_not_there_is_no_fault(hooks: Hooks) -> None:
    task = await finished(hooks)
    assert (await hooks.push(task, "never-set")).outcome is Outcome.NOTHING
    assert not hooks.got


# ------------------------------------------------------------------ failures and pauses


@pytest.mark.parametrize(
    "fault",
    [Answer(500), Answer(503), Answer(408), Answer(425), Answer(429), Unavailable("no route")],
)
async def test_a_passing_failure_is_tried_again_later(hooks: Hooks, fault) -> None:
    task = await finished(hooks)
    hooks.answers = [fault, OK]
    done = await hooks.push(task)
    assert done.outcome is Outcome.RETRY
    assert done.wait == 2.0
    hook = await hooks.hook(task)
    assert (hook.attempts, hook.holder) == (1, "")
    early = await hooks.push(task)
    assert early.outcome is Outcome.EARLY
    assert 0 < early.wait <= 2.0
    assert len(hooks.got) == 1
    hooks.clock.ms += 2_000
    assert (await hooks.push(task)).outcome is Outcome.SENT


@pytest.mark.parametrize("status", [301, 302, 307, 400, 401, 403, 404, 405, 422])
async def test_a_lasting_no_goes_to_the_dead_letters_at_once(hooks: Hooks, status: int) -> None:
    task = await finished(hooks)
    hooks.answers = [Answer(status, text="no thanks")]
    assert (await hooks.push(task)).outcome is Outcome.DEAD
    (letter,) = await hooks.letters()
    assert (letter.status, letter.answer, letter.attempts) == (status, "no thanks", 1)
    assert (letter.part, letter.task, letter.config) == (part_of(task), task, "a")
    assert letter.generation == hooks.generations[0]
    assert (await hooks.hook(task)).gone == webhooks.DEAD
    assert (await hooks.push(task)).outcome is Outcome.NOTHING
    assert len(hooks.got) == 1


@pytest.mark.parametrize("fault", [Unsealed("no such key"), KeyError("a fault of ours")])
async def test_what_fails_here_is_tried_again_and_counted(hooks: Hooks, fault) -> None:
    task = await finished(hooks)
    hooks.answers = [fault]
    assert (await hooks.push(task)).outcome is Outcome.RETRY
    assert (await hooks.hook(task)).attempts == 1


async def test_what_must_not_be_sent_is_given_up_with_its_reason(hooks: Hooks) -> None:
    task = await finished(hooks)
    fault = Refused("it leads to 10.0.0.1")
    hooks.answers = [fault]
    assert (await hooks.push(task)).outcome is Outcome.DEAD
    (letter,) = await hooks.letters()
    assert (letter.status, letter.answer) == (0, str(fault))


async def test_410_ends_the_webhook_for_good(hooks: Hooks) -> None:
    task = await finished(hooks)
    hooks.answers = [Answer(410), OK]
    assert (await hooks.push(task)).outcome is Outcome.GONE
    with pytest.raises(NotFound):
        await intents.webhook(hooks.journal, "me", task, "a")
    assert not await hooks.letters()
    tombstone = await hooks.hook(task)
    assert (tombstone.config.url, tombstone.config.sealed) == ("", "")
    await hooks.set(task)  # who wants it back says so
    assert (await hooks.hook(task)).live


async def test_a_receiver_that_never_answers_is_left_after_its_time(hooks: Hooks) -> None:
    task = await finished(hooks)
    left = asyncio.Event()

    async def hangs(push) -> Answer:
        try:
            await asyncio.Event().wait()
        finally:
            left.set()
        raise AssertionError

    done = await hooks.push(task, send=hangs, patience=0.01)
    assert done.outcome is Outcome.RETRY
    assert left.is_set()
    assert (await hooks.hook(task)).attempts == 1


async def test_retry_after_is_waited_for_and_nothing_is_sent_before(hooks: Hooks) -> None:
    task = await finished(hooks)
    hooks.answers = [Answer(429, 120.0), OK]
    done = await hooks.push(task)
    assert (done.outcome, done.wait) == (Outcome.RETRY, 120.0)
    hooks.clock.ms += 119_000
    assert (await hooks.push(task)).outcome is Outcome.EARLY
    hooks.clock.ms += 1_000
    assert (await hooks.push(task)).outcome is Outcome.SENT


async def test_twenty_tries_and_no_more(hooks: Hooks) -> None:
    task = await finished(hooks)
    hooks.answers = [DOWN]
    waits = []
    for _ in range(19):
        done = await hooks.push(task)
        assert done.outcome is Outcome.RETRY
        waits.append(done.wait)
        hooks.clock.ms += round(done.wait * 1000)
    assert (await hooks.push(task)).outcome is Outcome.DEAD
    assert waits == [2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0] + [900.0] * 10
    assert [push.attempt for push in hooks.got] == list(range(1, 21))
    (letter,) = await hooks.letters()
    assert (letter.attempts, letter.status, letter.answer) == (20, 503, "down for lunch")
    assert letter.time - letter.since >= sum(waits) * 1000


async def test_a_day_and_no_longer(hooks: Hooks) -> None:
    task = await finished(hooks)
    hooks.limits = Limits(attempts=1000)
    hooks.answers = [DOWN]
    begun = hooks.clock.ms
    while (done := await hooks.push(task)).outcome is Outcome.RETRY:
        hooks.clock.ms += round(done.wait * 1000)
    assert done.outcome is Outcome.DEAD
    assert DAY - 15 * MINUTE < hooks.clock.ms - begun <= DAY


async def test_each_event_has_tries_of_its_own(hooks: Hooks) -> None:
    task = await finished(hooks)
    hooks.limits = Limits(attempts=3)
    hooks.answers = [DOWN, DOWN, OK, DOWN, DOWN, OK, DOWN, DOWN, OK]
    while (done := await hooks.push(task)).outcome is not Outcome.SENT or len(hooks.got) < 9:
        assert done.outcome is Outcome.RETRY
        hooks.clock.ms += DAY // 4  # and a time of its own, from its first try
    assert not await hooks.letters()
    assert (await hooks.hook(task)).ended


# ------------------------------------------------------------------ dead, and back to life


async def dead(hooks: Hooks) -> str:
    """A task whose webhook was given up after its first event."""
    task = await finished(hooks)
    hooks.answers = [OK, Answer(400, text="no")]
    assert (await hooks.push(task)).outcome is Outcome.DEAD
    hooks.answers = [OK]
    return task


async def test_redrive_brings_all_that_was_missed_in_order(hooks: Hooks) -> None:
    task = await dead(hooks)
    sent = list(hooks.generations)
    (letter,) = await hooks.letters()
    hooks.told.clear()
    assert await letters.redrive(hooks.journal, letter)
    assert (part_of(task), task) in hooks.told
    assert await hooks.letters() == []
    assert (await hooks.push(task)).outcome is Outcome.SENT
    assert hooks.generations[len(sent) :] == [letter.generation, letter.generation + 1]
    assert kinds(hooks) == ["WORKING", "artifact_update", "artifact_update", "COMPLETED"]
    assert hooks.got[-2].attempt == 1


async def test_redrive_of_a_deleted_webhook_sends_nothing(hooks: Hooks) -> None:
    task = await dead(hooks)
    (letter,) = await hooks.letters()
    await intents.forget(hooks.journal, "me", task, "a")
    count = len(hooks.got)
    assert not await letters.redrive(hooks.journal, letter)
    assert (await hooks.push(task)).outcome is Outcome.NOTHING
    assert len(hooks.got) == count
    assert await hooks.letters() == []


async def test_redrive_twice_revives_once(hooks: Hooks) -> None:
    task = await dead(hooks)
    (letter,) = await hooks.letters()
    assert await letters.redrive(hooks.journal, letter)
    assert not await letters.redrive(hooks.journal, letter)
    count = len(hooks.got)
    await hooks.push(task)
    await hooks.push(task)
    assert len(hooks.got) == count + 2


async def test_a_webhook_set_anew_while_behind_gets_what_its_former_self_had_not(
    hooks: Hooks,
) -> None:
    task = await finished(hooks)
    hooks.answers = [OK, DOWN, OK]
    await hooks.push(task)
    await hooks.set(task, url="https://elsewhere.example.com/")
    assert (await hooks.push(task)).outcome is Outcome.SENT  # and its pause is over
    assert [push.hook.config.url for push in hooks.got] == [
        URL,
        URL,
        "https://elsewhere.example.com/",
        "https://elsewhere.example.com/",
    ]
    assert hooks.generations == [2, 4, 4, 5]


async def test_a_dead_webhook_set_anew_begins_afresh_and_its_letter_revives_nothing(
    hooks: Hooks,
) -> None:
    task = await dead(hooks)
    (letter,) = await hooks.letters()
    await hooks.set(task)
    count = len(hooks.got)
    assert not await letters.redrive(hooks.journal, letter)
    assert (await hooks.hook(task)).live
    await hooks.push(task)
    assert len(hooks.got) == count


# ------------------------------------------------------------------ deletion


async def test_deletion_stops_what_waits(hooks: Hooks) -> None:
    task = await finished(hooks)
    hooks.answers = [OK, DOWN]
    await hooks.push(task)
    await intents.forget(hooks.journal, "me", task, "a")
    hooks.clock.ms += HOUR
    hooks.answers = [OK]
    assert (await hooks.push(task)).outcome is Outcome.NOTHING
    assert len(hooks.got) == 2
    assert await hooks.sweep() == []


async def test_deletion_during_a_push_lets_no_other_begin(hooks: Hooks) -> None:
    task = await finished(hooks)

    async def deletes(push) -> None:
        await intents.forget(hooks.journal, "me", task, "a")

    hooks.during = deletes
    assert (await hooks.push(task)).outcome is Outcome.LOST
    assert len(hooks.got) == 1
    assert (await hooks.hook(task)).gone == webhooks.DELETED


async def test_a_failure_that_ends_after_the_deletion_leaves_no_letter_that_revives(
    hooks: Hooks,
) -> None:
    task = await finished(hooks)

    async def deletes(push) -> None:
        await intents.forget(hooks.journal, "me", task, "a")

    hooks.during = deletes
    hooks.answers = [Answer(400)]
    assert (await hooks.push(task)).outcome is Outcome.LOST
    for letter in await hooks.letters():
        assert not await letters.redrive(hooks.journal, letter)
    assert (await hooks.push(task)).outcome is Outcome.NOTHING


# ------------------------------------------------------------------ several workers, and dying ones


async def test_two_workers_at_once_send_each_event_once(hooks: Hooks) -> None:
    task = await finished(hooks)
    inside, go = asyncio.Event(), asyncio.Event()

    async def waits(push) -> None:
        inside.set()
        await go.wait()

    hooks.during = waits
    one = asyncio.create_task(hooks.push(task))
    await inside.wait()
    assert (await hooks.push(task)).outcome is Outcome.HELD
    go.set()
    assert (await one).outcome is Outcome.SENT
    assert hooks.generations == sorted(set(hooks.generations))


async def test_workers_that_start_in_the_same_moment_send_each_event_once(hooks: Hooks) -> None:
    task = await finished(hooks)
    done = await asyncio.gather(*(hooks.push(task) for _ in range(5)))
    assert [one.outcome for one in done].count(Outcome.SENT) == 1
    assert hooks.generations == sorted(set(hooks.generations))
    assert (await hooks.hook(task)).ended


async def dies_while_pushing(hooks: Hooks, task: str) -> None:
    inside = asyncio.Event()

    async def hangs(push) -> Answer:
        inside.set()
        await asyncio.Event().wait()
        raise AssertionError

    dying = asyncio.create_task(hooks.push(task, send=hangs))
    await inside.wait()
    dying.cancel()
    await asyncio.gather(dying, return_exceptions=True)


async def test_what_a_dead_worker_has_in_hand_is_free_after_its_hold(hooks: Hooks) -> None:
    task = await finished(hooks)
    await dies_while_pushing(hooks, task)
    assert (await hooks.push(task)).outcome is Outcome.HELD
    held = round((TIMEOUT + SPARE) * 1000) + hooks.journal.skew
    hooks.clock.ms += held - 100
    assert (await hooks.push(task)).outcome is Outcome.HELD
    assert not hooks.got
    hooks.clock.ms += 200
    assert (await hooks.push(task)).outcome is Outcome.SENT
    assert kinds(hooks)[-1] == "COMPLETED"


async def test_the_sweep_wakes_what_a_dead_worker_had_in_hand(hooks: Hooks) -> None:
    task = await finished(hooks)
    await dies_while_pushing(hooks, task)
    hooks.clock.ms += MINUTE + 1000  # the alarm is due, and the hold is over
    assert await hooks.sweep() == [(part_of(task), task, "a")]
    await hooks.push(task)
    assert (await hooks.hook(task)).ended


async def test_a_worker_that_was_frozen_past_its_hold_moves_nothing(hooks: Hooks) -> None:
    task = await finished(hooks)
    inside, go = asyncio.Event(), asyncio.Event()

    async def frozen(push) -> Answer:
        inside.set()
        await go.wait()
        return DOWN

    slow = asyncio.create_task(hooks.push(task, send=frozen))
    await inside.wait()
    hooks.clock.ms += MINUTE
    assert (await hooks.push(task)).outcome is Outcome.SENT
    after = await hooks.hook(task)
    go.set()
    assert (await slow).outcome is Outcome.LOST
    assert await hooks.hook(task) == after


# ------------------------------------------------------------------ when time runs out


async def test_too_little_time_left_begins_nothing(hooks: Hooks) -> None:
    task = await finished(hooks)
    done = await hooks.push(task, remaining=lambda: TIMEOUT + SPARE - 0.1)
    assert done.outcome is Outcome.STOPPED
    assert not hooks.got
    assert not (await hooks.hook(task)).holder  # the next one need not wait
    assert (await hooks.push(task)).outcome is Outcome.SENT


async def test_time_that_runs_out_between_two_pushes_leaves_the_rest(hooks: Hooks) -> None:
    task = await finished(hooks)
    left = iter([100.0, 100.0, 5.0])
    assert (await hooks.push(task, remaining=lambda: next(left, 5.0))).outcome is Outcome.STOPPED
    assert hooks.generations == [2]
    assert (await hooks.push(task)).outcome is Outcome.SENT
    assert hooks.generations == [2, 4, 5]


async def test_stopping_ends_after_the_push_that_is_under_way(hooks: Hooks) -> None:
    task = await finished(hooks)
    done = await hooks.push(task, stop=lambda: bool(hooks.got))
    assert done.outcome is Outcome.STOPPED
    assert len(hooks.got) == 1
    assert not (await hooks.hook(task)).holder


# ------------------------------------------------------------------ the alarm


async def test_the_alarm_stays_until_everything_is_sent_and_then_goes(hooks: Hooks) -> None:
    task = await finished(hooks)
    hooks.answers = [DOWN]
    for _ in range(3):
        await hooks.push(task)
        hooks.clock.ms += 15 * MINUTE
        assert await hooks.sweep() == [(part_of(task), task, "a")]
        assert await hooks.alarms() == 1
    hooks.answers = [OK]
    await hooks.push(task)
    hooks.clock.ms += 15 * MINUTE
    assert await hooks.sweep() == []
    assert await hooks.alarms() == 0


async def test_the_sweep_leaves_a_pause_alone(hooks: Hooks) -> None:
    task = await finished(hooks)
    hooks.answers = [Answer(503, 3600.0)]
    await hooks.push(task)
    hooks.clock.ms += 10 * MINUTE
    assert await hooks.sweep() == []
    assert await hooks.alarms() == 1
    hooks.clock.ms += HOUR
    assert await hooks.sweep() == [(part_of(task), task, "a")]


async def test_a_dead_webhook_keeps_no_alarm_and_a_revived_one_has_one(hooks: Hooks) -> None:
    await dead(hooks)
    hooks.clock.ms += 15 * MINUTE
    assert await hooks.sweep() == []
    assert await hooks.alarms() == 0
    (letter,) = await hooks.letters()
    await letters.redrive(hooks.journal, letter)
    hooks.clock.ms += 15 * MINUTE
    assert [config for _, _, config in await hooks.sweep()] == ["a"]  # though no wake-up came


# ------------------------------------------------------------------ logs


async def test_each_decision_is_a_line_with_numbers_and_ids(
    hooks: Hooks, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "a2a_fn")
    task = await finished(hooks)
    hooks.answers = [OK, DOWN, Answer(400)]
    await hooks.push(task)
    hooks.clock.ms += MINUTE
    await hooks.push(task)
    lines = [r for r in caplog.records if r.name == "a2a_fn.push"]
    assert [(r.getMessage(), r.levelname) for r in lines] == [
        ("delivered", "INFO"),
        ("push failed", "INFO"),
        ("gave up", "WARNING"),
    ]
    assert [r.a2a["status"] for r in lines] == [200, 503, 400]
    assert all(r.a2a["task"] == task and r.a2a["config"] == "a" for r in lines)
    assert all(r.a2a["owner"] != "me" for r in lines)


async def test_a_dead_letter_is_counted(hooks: Hooks, caplog: pytest.LogCaptureFixture) -> None:
    from a2a_fn import logs

    before = logs.counts["gave up"]
    log = logging.getLogger("a2a_fn.push")
    counting = logs.Counting()
    log.addHandler(counting)
    try:
        await dead(hooks)
    finally:
        log.removeHandler(counting)
    assert logs.counts["gave up"] == before + 1

"""One turn: how it is claimed, what the agent's words become, and how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import logging

import pytest
from a2a.types.a2a_pb2 import Part, Role, TaskState, TaskStatusUpdateEvent
from a2a.utils.errors import InvalidParamsError, UnsupportedOperationError
from tests.unit.world import World

from a2a_fn.errors import TurnLost, Unavailable
from a2a_fn.journal import intents
from a2a_fn.journal.journal import cancel_signal
from a2a_fn.journal.slots import Config, Kind
from a2a_fn.turns import sweep
from a2a_fn.turns.run import Limits, Outcome


@pytest.fixture
def world() -> World:
    return World()


async def says_hello(turn) -> None:
    await turn.say("hello")


async def test_an_agent_that_returns_has_completed_the_task(world: World) -> None:
    task = await world.submit()
    assert await world.run(task, says_hello) is Outcome.FINISHED
    found = await world.task(task)
    assert found.status.state == TaskState.TASK_STATE_COMPLETED
    assert found.status.message.parts[0].text == "hello"
    assert await world.alarms() == 0


async def test_a_second_wake_up_finds_nothing_or_a_live_claim(world: World) -> None:
    task = await world.submit()
    outcomes: list[Outcome] = []

    async def agent(turn) -> None:
        outcomes.append(await world.run(task, says_hello))

    await world.run(task, agent)
    outcomes.append(await world.run(task, says_hello))
    assert outcomes == [Outcome.LIVE, Outcome.NOTHING]


@pytest.mark.parametrize("setting", [True, False])
async def test_a_claim_that_meets_a_new_slot_is_made_again_if_the_turn_is_still_open(
    world: World, setting: bool
) -> None:
    task = await world.submit()
    append = world.journal.append

    async def after_another(*args, **how) -> bool:
        world.journal.append = append
        if setting:
            await intents.configure(world.journal, "me", task, Config("p", "https://h.example/"))
        else:
            await intents.cancel(world.journal, "me", task)
        return await append(*args, **how)

    world.journal.append = after_another  # type: ignore[method-assign]
    outcome = await world.run(task, says_hello)
    assert outcome is (Outcome.FINISHED if setting else Outcome.RACED)
    end = TaskState.TASK_STATE_COMPLETED if setting else TaskState.TASK_STATE_CANCELED
    assert (await world.task(task)).status.state == end


async def test_an_unexpected_error_fails_the_task_and_tells_only_a_reference(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    task = await world.submit()

    async def agent(turn) -> None:
        raise RuntimeError("password=hunter2 in /srv/app")

    with caplog.at_level(logging.ERROR, "a2a_fn"):
        assert await world.run(task, agent) is Outcome.FINISHED
    found = await world.task(task)
    text = found.status.message.parts[0].text
    assert found.status.state == TaskState.TASK_STATE_FAILED
    assert "hunter2" not in text
    assert "/srv" not in text
    reference = caplog.records[-1].a2a["ref"]
    assert reference in text


@pytest.mark.parametrize("error", [asyncio.CancelledError, SystemExit(3), BaseException])
async def test_whatever_an_agent_raises_ends_its_task_and_nothing_else(
    world: World, error: BaseException
) -> None:
    task = await world.submit()

    async def agent(turn) -> None:
        raise error

    assert await world.run(task, agent) is Outcome.FINISHED
    assert (await world.task(task)).status.state == TaskState.TASK_STATE_FAILED
    assert asyncio.current_task().cancelling() == 0


async def test_an_a2a_error_is_told_as_it_is(world: World) -> None:
    task = await world.submit()

    async def agent(turn) -> None:
        raise InvalidParamsError("give me a region")

    await world.run(task, agent)
    last = (await world.slots(task))[-1]
    assert (last.failure.error, last.failure.message) == ("InvalidParamsError", "give me a region")
    assert (await world.task(task)).status.message.parts[0].text == "give me a region"


async def test_an_a2a_error_after_the_first_words_is_only_the_tasks_end(world: World) -> None:
    task = await world.submit()

    async def agent(turn) -> None:
        await turn.say("let me see")
        raise UnsupportedOperationError("not here")

    await world.run(task, agent)
    assert (await world.slots(task))[-1].failure is None
    found = await world.task(task)
    assert found.status.state == TaskState.TASK_STATE_FAILED
    assert [m.parts[0].text for m in found.history] == ["hi", "let me see"]


async def test_words_in_a_row_become_few_slots(world: World) -> None:
    task = await world.submit()

    async def agent(turn) -> None:
        for i in range(200):
            await turn.say(f"word {i} ")

    await world.run(task, agent)
    slots = await world.slots(task)
    assert len(slots) <= 6
    assert (await world.task(task)).status.message.parts[0].text == "".join(
        f"word {i} " for i in range(200)
    )


async def test_a_long_text_is_written_while_it_is_said(world: World) -> None:
    task = await world.submit()
    written: list[int] = []

    async def agent(turn) -> None:
        for _ in range(10):
            await turn.say("x" * 4096)
            written.append(len(await world.slots(task)))

    await world.run(task, agent)
    assert written[-1] >= 6  # 8 KiB at most wait


async def test_text_after_a_tool_is_another_message(world: World) -> None:
    task = await world.submit()

    async def agent(turn) -> None:
        await turn.say("looking")
        await turn.tool("c1", "search", "started", input={"q": "y" * 5000})
        await turn.tool("c1", "search", "completed", result="found")
        await turn.say("there")
        await turn.ask()

    await world.run(task, agent)
    found = await world.task(task)
    assert [m.parts[0].text for m in found.history] == ["hi", "looking"]
    assert found.status.message.parts[0].text == "there"
    events = [e.payload for s in await world.slots(task) for e in s.events]
    tools = [
        dict(e.status_update.metadata["iac_code"]["tool"])
        for e in events
        if "iac_code" in e.status_update.metadata
    ]
    assert [t["status"] for t in tools] == ["started", "completed"]
    assert len(tools[0]["input"]["q"]) == 4000


async def test_usage_leaves_with_the_end(world: World) -> None:
    task = await world.submit()

    async def agent(turn) -> None:
        await turn.usage(10, 5)
        await turn.usage(1, 2)

    await world.run(task, agent)
    usage = (await world.task(task)).metadata["iac_code"]["usage"]
    assert dict(usage) == {"inputTokens": 11, "outputTokens": 7, "totalTokens": 18}


async def test_a_dead_worker_is_taken_over_from_its_checkpoint(world: World) -> None:
    task = await world.submit()

    async def dies(turn) -> None:
        await turn.say("one ")
        await turn.save(b"1")
        await turn.say("lost")
        await turn.artifact("a", Part(text="lost too"))
        raise asyncio.CancelledError  # what a killed process leaves behind: no end

    crashed = asyncio.create_task(world.run(task, _never_ends(dies)))
    await _until(lambda: len(world.journal.rows._partitions) and _saved(world, task))
    crashed.cancel()
    await asyncio.gather(crashed, return_exceptions=True)
    assert await world.run(task, says_hello) is Outcome.LIVE
    world.clock.ms += 66_000

    async def goes_on(turn) -> None:
        assert (turn.checkpoint, turn.attempt) == (b"1", 1)
        await turn.say("two")

    assert await world.run(task, goes_on) is Outcome.FINISHED
    found = await world.task(task)
    assert not found.artifacts
    words = [m.parts[0].text for m in [*found.history, found.status.message]]
    assert words == ["hi", "one ", "two"]


def _never_ends(agent):
    async def run(turn) -> None:
        try:
            await agent(turn)
        except asyncio.CancelledError:
            await asyncio.Event().wait()

    return run


async def _saved(world: World, task: str) -> bool:
    return any(slot.checkpoint for slot in await world.slots(task))


async def _until(condition) -> None:
    async with asyncio.timeout(10):
        while not await condition():
            await asyncio.sleep(0)


async def test_a_turn_whose_workers_die_is_given_up_after_three_attempts(world: World) -> None:
    task = await world.submit()

    async def hangs(turn) -> None:
        await asyncio.Event().wait()

    for _ in range(3):
        dying = asyncio.create_task(world.run(task, hangs))
        claims = len(await world.slots(task))
        await _until(lambda n=claims: _longer(world, task, n))
        dying.cancel()
        await asyncio.gather(dying, return_exceptions=True)
        world.clock.ms += 66_000
    assert await world.run(task, hangs) is Outcome.ABANDONED
    found = await world.task(task)
    assert found.status.state == TaskState.TASK_STATE_FAILED
    assert "3 attempts" in found.status.message.parts[0].text
    assert await world.alarms() == 0


async def _longer(world: World, task: str, n: int) -> bool:
    return len(await world.slots(task)) > n


async def test_a_host_that_stops_gets_the_turn_saved_and_yielded(world: World) -> None:
    task, stop = await world.submit(), asyncio.Event()

    async def agent(turn) -> None:
        await turn.say("first half ")
        stop.set()
        while not turn.stopping:
            await asyncio.sleep(0)
        await turn.save(b"half")
        raise AssertionError("save does not return from a turn that yields")

    world.woken.clear()
    assert await world.run(task, agent, stop=stop) is Outcome.YIELDED
    assert world.woken == [task.partition("-")[0]]
    assert (await world.kinds(task))[-1] is Kind.YIELDED

    async def second(turn) -> None:
        assert turn.checkpoint == b"half"
        await turn.say("and the rest")

    assert await world.run(task, second) is Outcome.FINISHED
    events = [e.payload for s in await world.slots(task) for e in s.events]
    assert not [e for e in events if "iac_code" in e.status_update.metadata]


async def test_time_runs_out_on_an_agent_that_never_saves(world: World) -> None:
    task = await world.submit()

    async def agent(turn) -> None:
        await turn.say("unsaved")
        await asyncio.Event().wait()

    outcome = await world.run(task, agent, remaining=lambda: 0.0, limits=Limits(grace=0.01))
    assert outcome is Outcome.YIELDED
    assert await world.run(task, says_hello) is Outcome.FINISHED
    words = [e.payload.status_update for s in await world.slots(task) for e in s.events]
    restarted = [w for w in words if "iac_code" in w.metadata]
    assert restarted[0].metadata["iac_code"]["turn"]["restarted"] is True
    assert (await world.task(task)).status.message.parts[0].text == "hello"


async def test_a_cancel_stops_a_silent_agent_at_once_and_all_it_says_is_refused(
    world: World,
) -> None:
    task, started, fate = await world.submit(), asyncio.Event(), []

    async def agent(turn) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            try:
                await turn.say("one more thing")
            except TurnLost as error:
                fate.append(error)

    running = asyncio.create_task(world.run(task, agent))
    await started.wait()
    await intents.cancel(world.journal, "me", task)
    async with asyncio.timeout(5):
        assert await running is Outcome.LOST
    assert fate
    assert (await world.kinds(task))[-1] is Kind.CANCELED
    assert await world.alarms() == 0


async def test_a_cancel_of_a_sibling_does_not_stop_the_turn(world: World) -> None:
    async def asks(turn) -> None:
        await turn.ask("which region?")

    sibling = await world.submit("a", "m1", context="ctx")
    await world.run(sibling, asks)
    task = await world.submit("b", "m2", context="ctx")

    async def agent(turn) -> None:
        await turn.say("before ")
        await intents.cancel(world.journal, "me", sibling)
        await turn.say("after")

    assert await world.run(task, agent) is Outcome.FINISHED
    assert (await world.task(task)).status.message.parts[0].text == "before after"
    assert (await world.task(sibling)).status.state == TaskState.TASK_STATE_CANCELED


async def test_an_agent_may_clean_up_after_it_has_ended_the_turn(world: World) -> None:
    task, cleaned = await world.submit(), []

    async def agent(turn) -> None:
        await turn.complete("done")
        for _ in range(5):
            await asyncio.sleep(0)
        cleaned.append(True)

    assert await world.run(task, agent) is Outcome.FINISHED
    assert cleaned


async def test_the_sweep_wakes_a_turn_that_nobody_took(world: World) -> None:
    task = await world.submit()
    assert await sweep.sweep(world.journal, 0, world.wake) == 0
    world.clock.ms += 61_000
    assert await sweep.sweep(world.journal, 0, world.wake) == 1
    assert world.woken == [task.partition("-")[0]]
    assert await world.alarms() == 1  # it rings again, until the turn has ended


async def test_one_broken_context_does_not_keep_the_sweep_from_the_others(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = await world.submit("a", "m1")
    fine = await world.submit("b", "m2")
    world.clock.ms += 61_000
    load = world.journal.load

    async def fails(part: str, task: str = ""):
        if part == broken.partition("-")[0]:
            raise RuntimeError("a blob is gone")
        return await load(part, task)

    monkeypatch.setattr(world.journal, "load", fails)
    assert await sweep.sweep(world.journal, 0, world.wake) == 2
    assert world.woken == [fine.partition("-")[0]]


async def test_a_store_that_is_silent_when_a_cancel_is_heard_does_not_lose_the_turn(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = await world.submit()
    catch_up = world.journal.catch_up

    async def silent(view) -> None:
        monkeypatch.setattr(world.journal, "catch_up", catch_up)
        raise Unavailable("no answer")

    async def agent(turn) -> None:
        monkeypatch.setattr(world.journal, "catch_up", silent)
        world.journal.signals.notify(cancel_signal(task.partition("-")[0]))
        for _ in range(5):
            await asyncio.sleep(0)
        await turn.complete("still mine")

    assert await world.run(task, agent) is Outcome.FINISHED


async def test_an_error_in_the_middle_of_a_write_ends_the_turn_without_a_hole(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = await world.submit()
    append = world.journal.append

    async def breaks(*args, **how):
        monkeypatch.setattr(world.journal, "append", append)
        raise OSError("no space left")

    async def agent(turn) -> None:
        await turn.say("first ")
        monkeypatch.setattr(world.journal, "append", breaks)
        with contextlib.suppress(OSError):
            await turn.save(b"1")
        await turn.save(b"2")

    with pytest.raises(OSError, match="no space"):
        await world.run(task, agent)
    assert (await world.kinds(task))[-1] is not Kind.FINISHED


async def test_an_artifact_begins_again_for_readers_after_a_restart(world: World) -> None:
    task, stop = await world.submit(), asyncio.Event()

    async def first(turn) -> None:
        await turn.artifact("a", Part(text="1"))
        await turn.save(b"1")
        await turn.artifact("a", Part(text="2"), append=True)  # streamed, and not saved
        await turn.artifact("b", Part(text="x"))
        stop.set()
        await asyncio.Event().wait()

    await world.run(task, first, stop=stop, limits=Limits(grace=0.01))

    async def second(turn) -> None:
        for text in ("2", "3"):
            await turn.artifact("a", Part(text=text), append=True)

    assert await world.run(task, second) is Outcome.FINISHED
    held: dict[str, list[str]] = {}
    for slot in await world.slots(task):
        for update in (e.payload.artifact_update for e in slot.events):
            if update.artifact.artifact_id:
                old = held.get(update.artifact.artifact_id, []) if update.append else []
                held[update.artifact.artifact_id] = [*old, *(p.text for p in update.artifact.parts)]
    found = await world.task(task)
    assert [[p.text for p in a.parts] for a in found.artifacts] == [["1", "2", "3"]]
    assert held["a"] == ["1", "2", "3"]  # what a reader has who saw every event


async def test_a_checkpoint_that_nobody_needs_is_gone(world: World) -> None:
    task, stop = await world.submit(), asyncio.Event()

    async def kept() -> int:
        return len(await world.rows.scan(f"C#{task.partition('-')[0]}", prefix="S#"))

    async def agent(turn) -> None:
        for n in range(5):
            await turn.save(b"%d" % n)
            assert await kept() == 1
        stop.set()
        while not turn.stopping:
            await asyncio.sleep(0)
        await turn.save(b"last")

    assert await world.run(task, agent, stop=stop) is Outcome.YIELDED
    assert await kept() == 1
    await world.run(task, says_hello)
    assert await kept() == 0


@pytest.mark.parametrize("left", [1.5, 3.0])
async def test_a_yield_is_written_before_the_platform_ends_the_invocation(
    world: World, left: float
) -> None:
    task, loop = await world.submit(), asyncio.get_running_loop()
    end, over = loop.time() + left, asyncio.Event()

    async def ignores_everything(turn) -> None:
        while not over.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await over.wait()

    running = asyncio.create_task(
        world.run(task, ignores_everything, remaining=lambda: end - loop.time(), limits=Limits())
    )
    try:
        assert await running is Outcome.YIELDED
        assert loop.time() < end
    finally:
        over.set()


async def test_what_a_user_said_is_never_mistaken_for_the_agents_echo(world: World) -> None:
    task, stop = await world.submit("the question"), asyncio.Event()

    async def echoes(turn) -> None:
        event = TaskStatusUpdateEvent()
        event.status.message.role = Role.ROLE_USER
        event.status.message.parts.add().text = "an echo"
        await turn.publish(event)
        stop.set()
        while not turn.stopping:
            await asyncio.sleep(0)
        await turn.save(b"1")

    asked = []

    async def second(turn) -> None:
        asked.append(turn.text)

    await world.run(task, echoes, stop=stop)
    await world.run(task, second)
    assert asked == ["the question"]


async def test_usage_leaves_the_agents_own_metadata_alone(world: World) -> None:
    task = await world.submit()

    async def agent(turn) -> None:
        await turn.usage(1, 1)
        event = TaskStatusUpdateEvent()
        event.metadata.update({"iac_code": {"mine": True}})
        event.status.state = TaskState.TASK_STATE_COMPLETED
        await turn.publish(event)

    await world.run(task, agent)
    kept = (await world.task(task)).metadata["iac_code"]
    assert (kept["mine"], kept["usage"]["totalTokens"]) == (True, 2)


async def test_a_checkpoint_does_not_cover_what_was_said_after_it(world: World) -> None:
    task, stop = await world.submit(), asyncio.Event()
    write, slow = world.rows.write, asyncio.Event()

    async def held(changes) -> None:
        await slow.wait()
        await write(changes)

    async def agent(turn) -> None:
        await turn.say("before ")
        await turn.say("also before ")
        world.rows.write = held
        await turn.tool("t", "look", "started")
        flushing = asyncio.ensure_future(turn.save(b"0"))  # holds the writer
        await asyncio.sleep(0)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.01):
                await turn.save(b"1")  # the agent gives up waiting; the save goes on
        await turn.say("after")
        slow.set()
        await flushing
        stop.set()
        await asyncio.Event().wait()

    await world.run(task, agent, stop=stop, limits=Limits(grace=0.05))

    async def second(turn) -> None:
        assert turn.checkpoint == b"1"
        await turn.say("after")

    assert await world.run(task, second) is Outcome.FINISHED
    found = await world.task(task)
    words = [p.text for m in [*found.history, found.status.message] for p in m.parts]
    assert "".join(words).count("after") == 1

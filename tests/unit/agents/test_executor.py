"""An a2a-sdk AgentExecutor as a turn: what it is given, what its events become, how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Awaitable, Callable, Sequence

import pytest
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types.a2a_pb2 import (
    Artifact,
    Message,
    Part,
    Role,
    StreamResponse,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from a2a.utils.errors import InvalidParamsError
from tests.unit.world import World, user

from a2a_fn.agents import executor as executor_module
from a2a_fn.agents.executor import ExecutorAgent
from a2a_fn.journal import intents
from a2a_fn.journal.journal import Journal, cancel_signal
from a2a_fn.journal.slots import Kind
from a2a_fn.ports import Change
from a2a_fn.turns import run as run_module
from a2a_fn.turns.run import Limits, Outcome

Execute = Callable[[RequestContext, EventQueue], Awaitable[None]]
State = TaskState


class Acts(AgentExecutor):
    """Does what a test gives it; remembers whether it was told to cancel."""

    def __init__(self, execute: Execute, cancel: Execute | None = None) -> None:
        self._execute = execute
        self._cancel = cancel
        self.canceled: list[str] = []

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        await self._execute(context, event_queue)

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        self.canceled.append(context.task_id or "")
        if self._cancel:
            await self._cancel(context, event_queue)


@pytest.fixture
def world() -> World:
    return World()


async def runs(world: World, task: str, execute: Execute, **more: object) -> Outcome:
    async with asyncio.timeout(5):
        return await world.run(task, ExecutorAgent(Acts(execute)).run, **more)


def elsewhere(world: World) -> Journal:
    """The journal as another process has it: on the same store, without a word to this one."""
    ids = itertools.count(1)
    return Journal(
        world.rows,
        world.journal.blobs,
        world.clock,
        world.journal.ids,
        nonce=lambda: f"elsewhere{next(ids)}",
    )


def words(text: str) -> Message:
    return Message(message_id=f"a-{text}", role=Role.ROLE_AGENT, parts=[Part(text=text)])


def status(state: int, text: str = "") -> TaskStatusUpdateEvent:
    event = TaskStatusUpdateEvent(status=TaskStatus(state=state))
    if text:
        event.status.message.CopyFrom(words(text))
    return event


def artifact(name: str, text: str = "x") -> TaskArtifactUpdateEvent:
    return TaskArtifactUpdateEvent(artifact=Artifact(artifact_id=name, parts=[Part(text=text)]))


async def events(world: World, task: str) -> list[StreamResponse]:
    return [event.payload for slot in await world.slots(task) for event in slot.events]


async def states(world: World, task: str) -> list[int]:
    """The states that the journal's slots change to."""
    return [slot.state for slot in await world.slots(task) if slot.state]


# -------------------------------------------------------------- what it is given


async def test_an_executor_is_given_the_message_and_ids_and_no_task_that_is_new(
    world: World,
) -> None:
    task, seen = await world.submit("hi"), []

    async def execute(context, queue) -> None:
        seen.append(context)

    assert await runs(world, task, execute) is Outcome.FINISHED
    (context,) = seen
    found = await world.task(task)
    assert (context.task_id, context.context_id) == (task, found.context_id)
    assert context.get_user_input() == "hi"
    assert context.current_task is None
    assert found.status.state == State.TASK_STATE_COMPLETED


async def test_a_follow_up_is_given_the_task_as_it_is(world: World) -> None:
    task, seen = await world.submit("hi"), []

    async def asks(context, queue) -> None:
        await queue.enqueue_event(artifact("draft"))
        await queue.enqueue_event(status(State.TASK_STATE_INPUT_REQUIRED, "which?"))

    async def sees(context, queue) -> None:
        seen.append(context.current_task)
        seen[0].artifacts.add()  # its own copy: whatever it does to it stays with it

    await runs(world, task, asks)
    await world.submit("eu", "m2", task=task)
    await runs(world, task, sees)
    assert seen[0].id == task
    assert [m.parts[0].text for m in seen[0].history] == ["hi", "which?", "eu"]
    assert [a.artifact_id for a in (await world.task(task)).artifacts] == ["draft"]


# ------------------------------------------------------------------------ cancel


async def canceled_at_work(world: World, task: str, cancel: Execute) -> Acts:
    """An executor whose client cancels while it works, after its worker has let go of it."""
    started = asyncio.Event()

    async def execute(context, queue) -> None:
        started.set()
        await asyncio.Event().wait()

    acts = Acts(execute, cancel)
    limits = Limits(grace=60)
    running = asyncio.create_task(world.run(task, ExecutorAgent(acts).run, limits=limits))
    await started.wait()
    await intents.cancel(world.journal, "me", task)
    async with asyncio.timeout(3):
        assert await running is Outcome.LOST
    return acts


async def test_a_client_that_cancels_lets_the_executor_clean_up(world: World) -> None:
    task, cleaned = await world.submit(), []

    async def cancel(context, queue) -> None:
        await queue.enqueue_event(artifact("too late"))
        await TaskUpdater(queue, context.task_id, context.context_id).cancel()
        cleaned.append(task)  # what it said is dropped, and does not stop it

    acts = await canceled_at_work(world, task, cancel)
    assert acts.canceled == cleaned == [task]
    assert await world.kinds(task) == [Kind.SUBMITTED, Kind.CLAIMED, Kind.CANCELED]
    assert not (await world.task(task)).artifacts


async def test_a_cancel_in_another_process_is_met_by_the_executors_own_event(
    world: World,
) -> None:
    task, after = await world.submit(), []
    name = cancel_signal(task.partition("-")[0])

    async def execute(context, queue) -> None:
        while name not in world.journal.signals._waiting:
            await asyncio.sleep(0)  # its worker has looked and now only listens
        await intents.cancel(elsewhere(world), "me", task)
        await queue.enqueue_event(status(State.TASK_STATE_COMPLETED, "done"))
        after.append("it heard nothing")

    acts = Acts(execute)
    async with asyncio.timeout(3):
        assert await world.run(task, ExecutorAgent(acts).run) is Outcome.LOST
    assert acts.canceled == [task]
    assert not after
    assert (await world.task(task)).status.state == State.TASK_STATE_CANCELED


async def test_a_cancel_that_fails_changes_nothing(world: World) -> None:
    task = await world.submit()

    async def cancel(context, queue) -> None:
        raise NotImplementedError("cancel not supported")

    acts = await canceled_at_work(world, task, cancel)
    assert acts.canceled == [task]


async def test_a_cancel_that_hangs_does_not_hold_the_worker(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executor_module, "CLEANUP", 0.01)
    task = await world.submit()

    async def cancel(context, queue) -> None:
        await asyncio.Event().wait()

    acts = await canceled_at_work(world, task, cancel)
    assert acts.canceled == [task]


async def test_a_host_that_stops_is_no_cancel(world: World) -> None:
    task, stop = await world.submit(), asyncio.Event()

    async def execute(context, queue) -> None:
        stop.set()
        await asyncio.Event().wait()

    acts = Acts(execute)
    limits = Limits(grace=0.01)
    outcome = await world.run(task, ExecutorAgent(acts).run, stop=stop, limits=limits)
    assert outcome is Outcome.YIELDED
    assert not acts.canceled


async def test_a_take_over_is_no_cancel(world: World) -> None:
    task = await world.submit()

    async def other(turn) -> None:
        await turn.complete("from elsewhere")

    async def execute(context, queue) -> None:
        world.clock.ms += 66_000
        assert await world.run(task, other) is Outcome.FINISHED
        await queue.enqueue_event(status(State.TASK_STATE_COMPLETED, "done"))

    acts = Acts(execute)
    assert await world.run(task, ExecutorAgent(acts).run) is Outcome.LOST
    assert not acts.canceled
    assert (await world.task(task)).status.message.parts[0].text == "from elsewhere"


async def test_an_executor_that_swallows_its_cancellation_is_left_behind(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_module, "CLOSING", 0.01)
    task, stop, released = await world.submit(), asyncio.Event(), asyncio.Event()
    ended = asyncio.Event()

    async def execute(context, queue) -> None:
        stop.set()
        while not released.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await released.wait()
        try:
            await queue.enqueue_event(artifact("nobody waits for it"))
        finally:
            ended.set()

    async with asyncio.timeout(3):
        outcome = await world.run(
            task, ExecutorAgent(Acts(execute)).run, stop=stop, limits=Limits(grace=0.01)
        )
    assert outcome is Outcome.YIELDED
    released.set()
    async with asyncio.timeout(3):
        await ended.wait()
    assert (await world.kinds(task))[-1] is Kind.YIELDED


# ---------------------------------------------------------------- opening events


async def test_the_opening_task_is_absorbed(world: World) -> None:
    task = await world.submit()

    async def execute(context, queue) -> None:
        opening = Task(id=task, context_id=context.context_id, history=[context.message])
        opening.status.state = State.TASK_STATE_SUBMITTED
        await queue.enqueue_event(opening)
        await queue.enqueue_event(status(State.TASK_STATE_SUBMITTED))
        await queue.enqueue_event(status(State.TASK_STATE_WORKING))

    await runs(world, task, execute)
    assert await world.kinds(task) == [Kind.SUBMITTED, Kind.CLAIMED, Kind.FINISHED]
    assert len((await world.task(task)).history) == 1


async def test_what_an_opening_task_brings_is_taken(world: World) -> None:
    task = await world.submit()

    async def execute(context, queue) -> None:
        opening = Task(id=task, context_id=context.context_id)
        opening.status.CopyFrom(status(State.TASK_STATE_SUBMITTED, "I am on it").status)
        opening.artifacts.append(artifact("plan").artifact)
        opening.metadata.update({"mine": True})
        await queue.enqueue_event(opening)

    await runs(world, task, execute)
    found = await world.task(task)
    assert [a.artifact_id for a in found.artifacts] == ["plan"]
    said = [m.parts[0].text for m in [*found.history, found.status.message] if m.parts]
    assert "I am on it" in said
    assert found.metadata["mine"] is True
    assert await states(world, task) == [
        State.TASK_STATE_SUBMITTED,
        State.TASK_STATE_WORKING,
        State.TASK_STATE_COMPLETED,
    ]


async def test_a_task_event_that_ends_the_task_ends_the_turn(world: World) -> None:
    task = await world.submit()

    async def execute(context, queue) -> None:
        whole = Task(id=task, context_id=context.context_id)
        whole.status.CopyFrom(status(State.TASK_STATE_FAILED, "no").status)
        await queue.enqueue_event(whole)

    await runs(world, task, execute)
    found = await world.task(task)
    assert found.status.state == State.TASK_STATE_FAILED
    assert found.status.message.parts[0].text == "no"


async def test_a_working_status_that_says_something_is_kept(world: World) -> None:
    task = await world.submit()

    async def execute(context, queue) -> None:
        await queue.enqueue_event(status(State.TASK_STATE_WORKING, "half way"))
        tagged = status(State.TASK_STATE_WORKING)
        tagged.metadata.update({"step": 2})
        await queue.enqueue_event(tagged)

    await runs(world, task, execute)
    found = await world.task(task)
    texts = [m.parts[0].text for m in [*found.history, found.status.message] if m.parts]
    assert "half way" in texts
    assert found.metadata["step"] == 2


# ------------------------------------------------------------------------ asking


@pytest.mark.parametrize("state", [State.TASK_STATE_INPUT_REQUIRED, State.TASK_STATE_AUTH_REQUIRED])
async def test_an_executor_that_asks_and_returns_ends_the_turn_so(world: World, state: int) -> None:
    task = await world.submit()

    async def execute(context, queue) -> None:
        await queue.enqueue_event(status(state, "please"))

    await runs(world, task, execute)
    assert await world.kinds(task) == [Kind.SUBMITTED, Kind.CLAIMED, Kind.FINISHED]
    found = await world.task(task)
    assert found.status.state == state
    assert found.status.message.parts[0].text == "please"
    assert await world.alarms() == 0


@pytest.mark.parametrize("late", ["while it is written", "after it is written"])
async def test_an_executor_that_asks_and_returns_a_little_later_ends_the_turn_so(
    world: World, monkeypatch: pytest.MonkeyPatch, late: str
) -> None:
    monkeypatch.setattr(executor_module, "LINGER", 0.0)
    task, writing, go_on = await world.submit(), asyncio.Event(), asyncio.Event()
    write = world.rows.write

    async def slow(changes: Sequence[Change]) -> None:
        monkeypatch.setattr(world.rows, "write", write)
        writing.set()
        await go_on.wait()
        await write(changes)

    async def execute(context, queue) -> None:
        monkeypatch.setattr(world.rows, "write", slow)
        await queue.enqueue_event(status(State.TASK_STATE_INPUT_REQUIRED, "which?"))
        await writing.wait()
        go_on.set()
        while late.startswith("after") and State.TASK_STATE_INPUT_REQUIRED not in await states(
            world, task
        ):
            await asyncio.sleep(0)

    await runs(world, task, execute)
    found = await world.task(task)
    assert found.status.state == State.TASK_STATE_INPUT_REQUIRED
    assert found.status.message.parts[0].text == "which?"
    assert await world.alarms() == 0


async def test_an_executor_may_wait_for_the_outside_and_go_on(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executor_module, "LINGER", 0.0)
    task = await world.submit()

    async def execute(context, queue) -> None:
        await queue.enqueue_event(status(State.TASK_STATE_AUTH_REQUIRED, "log in"))
        while (await world.task(task)).status.state != State.TASK_STATE_AUTH_REQUIRED:
            await asyncio.sleep(0)  # somebody who looks is told while the executor waits
        await queue.enqueue_event(status(State.TASK_STATE_WORKING, "thanks"))
        await queue.enqueue_event(artifact("report"))

    await runs(world, task, execute)
    assert await states(world, task) == [
        State.TASK_STATE_SUBMITTED,
        State.TASK_STATE_WORKING,
        State.TASK_STATE_AUTH_REQUIRED,
        State.TASK_STATE_WORKING,
        State.TASK_STATE_COMPLETED,
    ]
    assert [a.artifact_id for a in (await world.task(task)).artifacts] == ["report"]


async def test_an_executor_that_goes_on_at_once_has_asked_all_the_same(world: World) -> None:
    task = await world.submit()

    async def execute(context, queue) -> None:
        await queue.enqueue_event(status(State.TASK_STATE_AUTH_REQUIRED, "log in"))
        await queue.enqueue_event(status(State.TASK_STATE_COMPLETED, "done"))

    await runs(world, task, execute)
    assert (await states(world, task))[2:] == [
        State.TASK_STATE_AUTH_REQUIRED,
        State.TASK_STATE_COMPLETED,
    ]


# -------------------------------------------------------------- messages and ends


async def test_a_bare_message_is_the_answer(world: World) -> None:
    task = await world.submit()

    async def execute(context, queue) -> None:
        await queue.enqueue_event(Message(message_id="r", parts=[Part(text="hello")]))

    await runs(world, task, execute)
    last = (await world.slots(task))[-1]
    found = await world.task(task)
    assert last.reply
    assert found.status.message.parts[0].text == "hello"
    assert found.status.message.role == Role.ROLE_AGENT


@pytest.mark.parametrize(
    ("pair", "why"),
    [
        ([artifact("a"), words("m")], "only event"),
        ([status(State.TASK_STATE_WORKING), words("m")], "only event"),
        ([words("m"), words("n")], "only event"),
        ([words("m"), artifact("a")], "nothing else"),
        ([words("m"), status(State.TASK_STATE_COMPLETED)], "nothing else"),
        ([StreamResponse()], "cannot send a StreamResponse"),
    ],
)
async def test_a_message_beside_other_events_fails_the_task(
    world: World, pair: list[object], why: str
) -> None:
    task = await world.submit()

    async def execute(context, queue) -> None:
        for event in pair:
            await queue.enqueue_event(event)

    await runs(world, task, execute)
    found = await world.task(task)
    assert found.status.state == State.TASK_STATE_FAILED
    assert why in found.status.message.parts[0].text
    assert not (await world.slots(task))[-1].reply


async def test_what_comes_after_the_end_is_dropped(world: World) -> None:
    task, cleaned = await world.submit(), []

    async def execute(context, queue) -> None:
        await queue.enqueue_event(status(State.TASK_STATE_COMPLETED, "done"))
        await queue.enqueue_event(artifact("late"))
        await queue.enqueue_event(status(State.TASK_STATE_FAILED, "late"))
        await queue.enqueue_event(words("late"))
        cleaned.append(True)

    assert await runs(world, task, execute) is Outcome.FINISHED
    assert cleaned
    found = await world.task(task)
    assert found.status.state == State.TASK_STATE_COMPLETED
    assert found.status.message.parts[0].text == "done"
    assert not found.artifacts
    assert await world.kinds(task) == [Kind.SUBMITTED, Kind.CLAIMED, Kind.FINISHED]


async def test_the_sdks_updater_works_unchanged(world: World) -> None:
    task = await world.submit()

    async def execute(context, queue) -> None:
        updater = TaskUpdater(queue, context.task_id, context.context_id)
        await updater.submit()
        await updater.start_work()
        for i in range(3):
            await updater.add_artifact(
                [Part(text=f"{i}")], artifact_id="a", append=i > 0, last_chunk=i == 2
            )
        await updater.complete(updater.new_agent_message([Part(text="done")]))

    await runs(world, task, execute)
    found = await world.task(task)
    assert [p.text for p in found.artifacts[0].parts] == ["0", "1", "2"]
    assert found.status.message.parts[0].text == "done"
    assert (await states(world, task)) == [
        State.TASK_STATE_SUBMITTED,
        State.TASK_STATE_WORKING,
        State.TASK_STATE_COMPLETED,
    ]


# ------------------------------------------------------------------------ errors


@pytest.mark.parametrize("opened", [False, True])
async def test_an_error_before_anything_is_said_is_the_callers(world: World, opened: bool) -> None:
    task = await world.submit()

    async def execute(context, queue) -> None:
        if opened:  # says nothing that the submit has not said
            await queue.enqueue_event(Task(id=task, context_id=context.context_id))
        raise InvalidParamsError("no such region")

    await runs(world, task, execute)
    last = (await world.slots(task))[-1]
    assert last.failure == ("InvalidParamsError", "no such region")
    assert last.state == State.TASK_STATE_FAILED


async def test_an_error_later_fails_the_task_with_its_words(world: World) -> None:
    task = await world.submit()

    async def execute(context, queue) -> None:
        await queue.enqueue_event(artifact("a"))
        raise InvalidParamsError("no such region")

    await runs(world, task, execute)
    found = await world.task(task)
    assert (await world.slots(task))[-1].failure is None
    assert found.status.state == State.TASK_STATE_FAILED
    assert found.status.message.parts[0].text == "no such region"
    assert [a.artifact_id for a in found.artifacts] == ["a"]


async def test_a_question_that_an_error_follows_is_not_the_end(world: World) -> None:
    task = await world.submit()

    async def execute(context, queue) -> None:
        await queue.enqueue_event(status(State.TASK_STATE_INPUT_REQUIRED, "which?"))
        raise RuntimeError("secret")

    await runs(world, task, execute)
    found = await world.task(task)
    assert found.status.state == State.TASK_STATE_FAILED
    assert "secret" not in str(found)


# ---------------------------------------------------------------- other tasks


async def test_the_tasks_that_a_message_refers_to_are_related(world: World) -> None:
    async def looks(context: RequestContext, queue: EventQueue) -> None:
        seen.extend((task.id, task.artifacts[0].artifact_id) for task in context.related_tasks)

    async def makes(context: RequestContext, queue: EventQueue) -> None:
        await queue.enqueue_event(artifact("made"))

    seen: list[tuple[str, str]] = []
    first = await world.submit("one", "m1")
    await runs(world, first, makes)
    message = user("two", "m2")
    message.reference_task_ids.append(first)
    second = (await intents.submit(world.journal, "me", message)).task
    await runs(world, second, looks)
    assert seen == [(first, "made")]

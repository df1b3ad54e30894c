"""The A2A operations on the journal, without HTTP."""

from __future__ import annotations

import asyncio

import pytest
from a2a.types.a2a_pb2 import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    Message,
    Part,
    SendMessageRequest,
    SubscribeToTaskRequest,
    TaskPushNotificationConfig,
    TaskState,
)
from a2a.utils import errors as a2a
from tests.unit.world import World, sends

from a2a_fn.journal import index
from a2a_fn.protocol.callers import Caller

ME, OTHER = Caller("me"), Caller("other")


@pytest.fixture
def world() -> World:
    return World()


async def asks(turn) -> None:
    await turn.say("which ")
    await turn.ask("region?")


async def completes(turn) -> None:
    await turn.complete("done")


async def waiting(world: World, task: str, request: SendMessageRequest, agent) -> object:
    """Send, run the turn that it opened, and give the answer."""
    sending = asyncio.create_task(world.handler.send_message(request, ME))
    async with asyncio.timeout(5):
        while not world.woken and not sending.done():
            await asyncio.sleep(0)
    if world.woken:
        await world.run(world.woken.pop() + "-", agent)
    return await sending


async def opened(world: World, agent=None, **more: str) -> str:
    """A task of mine, its turn run."""
    answer = await world.handler.send_message(sends("hi", wait=False, **more), ME)
    if agent is not None:
        await world.run(answer.task.id, agent)
    world.woken.clear()
    return answer.task.id


async def frames(stream) -> list:
    return [frame async for frame in stream]


# -------------------------------------------------------------------- sending


async def test_sending_waits_until_the_task_rests(world: World) -> None:
    answer = await waiting(world, "", sends("hi"), asks)
    assert answer.task.status.state == TaskState.TASK_STATE_INPUT_REQUIRED
    assert answer.task.status.message.parts[0].text == "which region?"


async def test_sending_does_not_wait_longer_than_it_may() -> None:
    world = World(blocking_wait=0.05)
    answer = await world.handler.send_message(sends("hi"), ME)
    assert answer.task.status.state == TaskState.TASK_STATE_SUBMITTED


async def test_sending_is_answered_before_the_platforms_deadline(world: World) -> None:
    soon = asyncio.get_running_loop().time() + 2.05
    async with asyncio.timeout(2):
        answer = await world.handler.send_message(sends("hi"), Caller("me", deadline=soon))
    assert answer.task.status.state == TaskState.TASK_STATE_SUBMITTED


async def test_the_same_message_again_is_the_same_task(world: World) -> None:
    first = await opened(world, completes)
    again = await world.handler.send_message(sends("hi"), ME)
    assert again.task.id == first
    assert again.task.status.state == TaskState.TASK_STATE_COMPLETED
    assert not world.woken


async def test_a_retry_before_the_turn_began_wakes_a_worker_again(world: World) -> None:
    first = await opened(world)
    again = await world.handler.send_message(sends("hi", wait=False), ME)
    assert again.task.id == first
    assert len(world.woken) == 1


async def test_the_same_id_with_other_content_is_another_message(world: World) -> None:
    first = await opened(world, completes)
    other = await world.handler.send_message(sends("bye", wait=False), ME)
    assert other.task.id != first


async def test_after_the_window_the_same_message_is_a_new_task(world: World) -> None:
    first = await opened(world, completes)
    world.clock.ms += 601_000
    again = await world.handler.send_message(sends("hi", wait=False), ME)
    assert again.task.id != first


async def test_a_follow_up_needs_only_the_task_id(world: World) -> None:
    task = await opened(world, asks)
    answer = await waiting(world, task, sends("eu", "m2", task=task), completes)
    assert answer.task.id == task
    assert answer.task.status.state == TaskState.TASK_STATE_COMPLETED
    texts = [p.text for m in answer.task.history for p in m.parts]
    assert texts == ["hi", "which region?", "eu"]
    assert all(m.context_id == answer.task.context_id for m in answer.task.history if m.context_id)


async def test_a_follow_up_in_another_context_is_refused(world: World) -> None:
    task = await opened(world, asks)
    with pytest.raises(a2a.InvalidParamsError, match="context"):
        await world.handler.send_message(sends("eu", "m2", task=task, context="elsewhere"), ME)


async def test_a_message_to_an_unknown_task(world: World) -> None:
    task = await opened(world, asks)
    unknown = task[:-1] + ("0" if task[-1] != "0" else "1")
    for name in (unknown, "nonsense", "aaaaaaaaaaaaaaaa" + task[16:]):
        with pytest.raises(a2a.TaskNotFoundError):
            await world.handler.send_message(sends("x", "m2", task=name), ME)


async def test_a_terminal_task_is_never_restarted(world: World) -> None:
    task = await opened(world, completes)
    with pytest.raises(a2a.UnsupportedOperationError, match="terminal state"):
        await world.handler.send_message(sends("more", "m2", task=task), ME)


async def test_a_busy_context_refuses_a_second_message(world: World) -> None:
    await opened(world, context="ctx")
    with pytest.raises(a2a.UnsupportedOperationError, match=r"^Task is already working\.$"):
        await world.handler.send_message(sends("x", "m2", context="ctx"), ME)


async def test_other_contexts_work_at_the_same_time(world: World) -> None:
    await opened(world, context="one")
    await world.handler.send_message(sends("x", "m2", wait=False, context="two"), ME)


async def test_an_inline_push_config_is_refused(world: World) -> None:
    request = sends("hi")
    request.configuration.task_push_notification_config.CopyFrom(
        TaskPushNotificationConfig(url="https://example.com/hook")
    )
    with pytest.raises(a2a.PushNotificationNotSupportedError):
        await world.handler.send_message(request, ME)
    assert not (await world.handler.list_tasks(ListTasksRequest(), ME)).tasks


async def test_history_is_cut_in_the_answer_and_not_in_the_store(world: World) -> None:
    task = await opened(world, asks)
    for n in (0, 1):
        found = await world.handler.get_task(GetTaskRequest(id=task, history_length=n), ME)
        assert len(found.history) == n
    await waiting(world, task, sends("eu", "m2", task=task), completes)
    found = await world.handler.get_task(GetTaskRequest(id=task, history_length=2), ME)
    assert [m.parts[0].text for m in found.history] == ["which region?", "eu"][-2:]
    whole = await world.handler.get_task(GetTaskRequest(id=task), ME)
    assert len(whole.history) == 3


# -------------------------------------------------------------------- bare messages


async def replies(turn) -> None:
    await turn.reply(Message(message_id="r", parts=[Part(text="hello")]))


async def test_a_bare_message_reaches_who_waits_and_no_task_is_listed() -> None:
    world = World(direct_replies=True)
    answer = await waiting(world, "", sends("hi"), replies)
    assert answer.message.parts[0].text == "hello"
    again = await world.handler.send_message(sends("hi"), ME)
    assert again.message.parts[0].text == "hello"
    assert not (await world.handler.list_tasks(ListTasksRequest(), ME)).tasks


async def test_a_task_that_a_client_holds_stays_listed_after_a_bare_message() -> None:
    world = World(direct_replies=True)
    detached = (await world.handler.send_message(sends("hi", wait=False), ME)).task.id
    await world.run(detached, replies)
    follow_up = await opened(world, asks, message_id="m2")
    await world.handler.send_message(sends("x", "m3", wait=False, task=follow_up), ME)
    await world.run(follow_up, replies)
    late = World(direct_replies=True, blocking_wait=0.01)
    shown = (await late.handler.send_message(sends("hi"), ME)).task.id
    late.clock.ms += 3_000
    await late.run(shown, replies)
    for one, ids in ((world, [follow_up, detached]), (late, [shown])):
        page = await one.handler.list_tasks(ListTasksRequest(), ME)
        assert [task.id for task in page.tasks] == ids


async def test_an_agents_own_kind_of_an_a2a_error_is_the_sdks() -> None:
    world = World(direct_replies=True)

    class OnlyText(a2a.ContentTypeNotSupportedError):
        pass

    async def refuses(turn) -> None:
        raise OnlyText("text only")

    with pytest.raises(a2a.ContentTypeNotSupportedError, match="text only"):
        await waiting(world, "", sends("hi"), refuses)


async def test_a_reader_that_has_seen_nothing_yet_gets_the_whole_task(world: World) -> None:
    task = await opened(world, asks)
    stream = world.handler.subscribe(SubscribeToTaskRequest(id=task), ME, 0)
    first = await anext(stream)
    await stream.aclose()
    assert first.response.task.status.state == TaskState.TASK_STATE_INPUT_REQUIRED


async def test_a_stream_of_a_bare_message_is_that_message() -> None:
    world = World(direct_replies=True)
    streaming = asyncio.create_task(frames(world.handler.stream_message(sends("hi"), ME)))
    while not world.woken:
        await asyncio.sleep(0)
    await world.run(world.woken.pop() + "-", replies)
    got = await streaming
    assert [(f.response.WhichOneof("payload"), f.generation) for f in got] == [("message", 0)]


async def test_an_error_of_the_agent_before_anything_else_is_the_answer() -> None:
    world = World(direct_replies=True)

    async def refuses(turn) -> None:
        raise a2a.ContentTypeNotSupportedError("no videos")

    with pytest.raises(a2a.ContentTypeNotSupportedError, match="no videos"):
        await waiting(world, "", sends("hi"), refuses)


# -------------------------------------------------------------------- streams


async def test_a_stream_is_the_task_and_every_event_after_it(world: World) -> None:
    streaming = asyncio.create_task(frames(world.handler.stream_message(sends("hi"), ME)))
    while not world.woken:
        await asyncio.sleep(0)
    await world.run(world.woken.pop() + "-", asks)
    got = await streaming
    assert [f.generation for f in got] == list(range(1, len(got) + 1))
    assert got[0].response.task.status.state == TaskState.TASK_STATE_SUBMITTED
    assert got[-1].response.status_update.status.state == TaskState.TASK_STATE_INPUT_REQUIRED


async def many(turn) -> None:
    for i in range(6):
        await turn.artifact("a", Part(text=f"{i}"), append=i > 0)
    await turn.ask()


@pytest.mark.parametrize("settled", [True, False])
async def test_a_reader_goes_on_from_any_event(world: World, settled: bool) -> None:
    task = await opened(world, many)
    if not settled:  # the heads are far behind: the journal alone must do
        for row in await world.rows.scan(f"C#{task.partition('-')[0]}", prefix="T#"):
            await world.rows.write([_delete(task, row.key)])
        await world.rows.write([_delete(task, "CTX")])
    whole = [e for s in await world.slots(task) for e in s.events]
    for last in range(1, len(whole) + 1):
        request = SubscribeToTaskRequest(id=task)
        stream = world.handler.subscribe(request, ME, last)
        got = [await anext(stream) for _ in range(1 + len(whole) - last)]
        await stream.aclose()
        assert [f.generation for f in got] == list(range(last, len(whole) + 1))
        assert [f.response for f in got[1:]] == [e.payload for e in whole[last:]]
        texts = [p.text for a in got[0].response.task.artifacts for p in a.parts]
        later = [f.response.artifact_update.artifact.parts for f in got[1:]]
        texts += [p.text for parts in later for p in parts]
        assert texts == [str(i) for i in range(6)]


def _delete(task: str, key: str):
    from a2a_fn.ports import Delete

    return Delete(f"C#{task.partition('-')[0]}", key)


async def test_a_reader_that_lost_only_the_end_gets_it(world: World) -> None:
    task = await opened(world, completes)
    last = sum(len(s.events) for s in await world.slots(task)) - 1
    got = await frames(world.handler.subscribe(SubscribeToTaskRequest(id=task), ME, last))
    assert got[-1].response.status_update.status.state == TaskState.TASK_STATE_COMPLETED
    with pytest.raises(a2a.UnsupportedOperationError):
        await frames(world.handler.subscribe(SubscribeToTaskRequest(id=task), ME, last + 1))


async def test_a_subscription_stays_open_while_the_task_asks(world: World) -> None:
    task = await opened(world, asks)
    watching = asyncio.create_task(
        frames(world.handler.subscribe(SubscribeToTaskRequest(id=task), ME))
    )
    await waiting(world, task, sends("eu", "m2", task=task), completes)
    async with asyncio.timeout(5):
        got = await watching
    assert got[0].response.task.status.state == TaskState.TASK_STATE_INPUT_REQUIRED
    assert got[-1].response.status_update.status.state == TaskState.TASK_STATE_COMPLETED


async def test_there_is_nothing_to_follow_in_a_terminal_task(world: World) -> None:
    task = await opened(world, completes)
    with pytest.raises(a2a.UnsupportedOperationError):
        await frames(world.handler.subscribe(SubscribeToTaskRequest(id=task), ME))


# -------------------------------------------------------------------- cancel


async def test_a_cancel_ends_what_works_or_waits(world: World) -> None:
    for message, agent in (("m1", None), ("m2", asks)):
        task = await opened(world, agent, message_id=message)
        canceled = await world.handler.cancel_task(CancelTaskRequest(id=task), ME)
        assert canceled.status.state == TaskState.TASK_STATE_CANCELED
        assert await world.alarms() == 0


async def test_what_has_ended_cannot_be_canceled(world: World) -> None:
    task = await opened(world, completes)
    with pytest.raises(a2a.TaskNotCancelableError):
        await world.handler.cancel_task(CancelTaskRequest(id=task), ME)


# -------------------------------------------------------------------- lists


async def test_lists_are_newest_first_and_pages_add_up(world: World) -> None:
    made = [await opened(world, completes, message_id=f"m{i}") for i in range(7)]
    seen, token = [], ""
    while True:
        page = await world.handler.list_tasks(ListTasksRequest(page_size=3, page_token=token), ME)
        seen += [task.id for task in page.tasks]
        assert (page.page_size, page.total_size) == (3, 7)
        token = page.next_page_token
        if not token:
            break
    assert seen == made[::-1]


@pytest.mark.parametrize("context", ["", "ctx"])
async def test_lists_filter_by_state_and_time(world: World, context: str) -> None:
    more = {"context": context} if context else {}
    one = await opened(world, completes, message_id="m1", **more)
    two = await opened(world, asks, message_id="m2", **more)
    of = {"context_id": context}

    async def listed(**by) -> list[str]:
        return [t.id for t in (await world.handler.list_tasks(ListTasksRequest(**by), ME)).tasks]

    assert await listed(**of) == [two, one]
    assert await listed(status=TaskState.TASK_STATE_COMPLETED, **of) == [one]
    assert await listed(status=TaskState.TASK_STATE_WORKING, **of) == []
    when = (await world.task(two)).status.timestamp
    assert await listed(status_timestamp_after=when, **of) == [two]
    assert await listed(status_timestamp_after=(await world.task(one)).status.timestamp, **of) == [
        two,
        one,
    ]


async def test_lists_leave_artifacts_out_unless_asked_for(world: World) -> None:
    await opened(world, many)
    plain = await world.handler.list_tasks(ListTasksRequest(), ME)
    asked = await world.handler.list_tasks(ListTasksRequest(include_artifacts=True), ME)
    assert not plain.tasks[0].artifacts
    assert asked.tasks[0].artifacts


async def test_a_page_token_is_good_for_its_owner_and_filter_only(world: World) -> None:
    for i in range(3):
        await opened(world, completes, message_id=f"m{i}")
    token = (await world.handler.list_tasks(ListTasksRequest(page_size=1), ME)).next_page_token
    completed = TaskState.TASK_STATE_COMPLETED
    bad = [
        (ListTasksRequest(page_token=token), OTHER),
        (ListTasksRequest(page_token=token, status=completed), ME),
        (ListTasksRequest(page_token=token, context_id="c"), ME),
        (ListTasksRequest(page_token=token[:-2] + "AA"), ME),
        (ListTasksRequest(page_token="!"), ME),
        (ListTasksRequest(page_token="é"), ME),
    ]
    for request, caller in bad:
        with pytest.raises(a2a.InvalidParamsError, match="pageToken"):
            await world.handler.list_tasks(request, caller)


async def test_an_index_row_that_a_late_writer_left_is_no_second_task(world: World) -> None:
    task = await opened(world)
    stale = await world.rows.scan(f"O#{world.journal.ids.owner('me')}")
    await world.run(task, completes)
    from a2a_fn.ports import Put

    await world.rows.write(
        [Put(f"O#{world.journal.ids.owner('me')}", r.key, r.value) for r in stale]
    )
    for _ in range(2):
        page = await world.handler.list_tasks(ListTasksRequest(), ME)
        assert [t.id for t in page.tasks] == [task]
        assert page.tasks[0].status.state == TaskState.TASK_STATE_COMPLETED
    rows = await world.rows.scan(f"O#{world.journal.ids.owner('me')}")
    assert [index.read(row).task for row in rows if not index.read(row).next] == [task]


# -------------------------------------------------------------------- isolation


async def test_another_owner_finds_exactly_nothing(world: World) -> None:
    task = await opened(world, asks)
    handler = world.handler

    async def stream(agen):
        return await frames(agen)

    operations = [
        lambda t: handler.get_task(GetTaskRequest(id=t), OTHER),
        lambda t: handler.cancel_task(CancelTaskRequest(id=t), OTHER),
        lambda t: handler.send_message(sends("x", "m9", task=t), OTHER),
        lambda t: stream(handler.stream_message(sends("x", "m9", task=t), OTHER)),
        lambda t: stream(handler.subscribe(SubscribeToTaskRequest(id=t), OTHER)),
        lambda t: stream(handler.subscribe(SubscribeToTaskRequest(id=t), OTHER, 1)),
    ]
    unknown = "aaaaaaaaaaaaaaaa" + task[16:]
    for operation in operations:
        answers = []
        for name in (task, unknown):
            with pytest.raises(a2a.A2AError) as caught:
                await operation(name)
            answers.append((type(caught.value), caught.value.message, caught.value.data))
        assert answers[0] == answers[1]
        assert answers[0][0] is a2a.TaskNotFoundError
    assert not (await handler.list_tasks(ListTasksRequest(), OTHER)).tasks


async def test_two_owners_may_use_one_context_id(world: World) -> None:
    mine = await opened(world, context="ctx")
    answer = await world.handler.send_message(sends("hi", wait=False, context="ctx"), OTHER)
    assert answer.task.id != mine


# -------------------------------------------------------------------- workspaces and references


def working_in(world: World, folder: str) -> None:
    """From now on every message names this folder."""
    world.handler._intake = lambda message: folder


async def workspace_of(world: World, task: str) -> str:
    return (await world.journal.load(task.partition("-")[0])).context.workspace


async def test_a_context_stays_in_the_first_folder_that_a_message_names(world: World) -> None:
    task = await opened(world, asks, context="c")
    assert await workspace_of(world, task) == ""
    for folder, text in (("/a", "m2"), ("", "m3"), ("/a", "m4")):
        working_in(world, folder)
        await world.handler.send_message(sends("x", text, wait=False, task=task), ME)
        await world.run(task, asks)
        assert await workspace_of(world, task) == "/a"
    working_in(world, "/b")
    for more in ({"task": task}, {"context": "c"}):
        with pytest.raises(a2a.UnsupportedOperationError) as caught:
            await world.handler.send_message(sends("x", "m5", wait=False, **more), ME)
        assert caught.value.message == "A2A context belongs to a different workspace"
    assert await opened(world, context="d")  # another context may be elsewhere


async def test_what_the_intake_refuses_makes_no_task(world: World) -> None:
    def refuses(message: Message) -> str:
        raise a2a.ContentTypeNotSupportedError("no")

    world.handler._intake = refuses
    with pytest.raises(a2a.ContentTypeNotSupportedError):
        await world.handler.send_message(sends("hi", wait=False), ME)
    assert not (await world.handler.list_tasks(ListTasksRequest(), ME)).tasks


async def test_a_message_may_refer_to_tasks_of_its_owner_only(world: World) -> None:
    mine = [await opened(world, completes, message_id=f"m{i}") for i in range(2)]
    theirs = (await world.handler.send_message(sends("hi", "t", wait=False), OTHER)).task.id

    def refers(*names: str) -> SendMessageRequest:
        request = sends("go on", f"r{len(names)}{names[-1]}", wait=False)
        request.message.reference_task_ids.extend(names)
        return request

    answer = await world.handler.send_message(refers(*mine), ME)
    assert list(answer.task.history[0].reference_task_ids) == mine
    faults = []
    for stranger in (theirs, "aaaaaaaaaaaaaaaa" + theirs[16:], "no-id-of-ours"):
        with pytest.raises(a2a.InvalidParamsError) as caught:
            await world.handler.send_message(refers(mine[0], stranger), ME)
        faults.append((caught.value.message, caught.value.data))
    assert faults[0] == faults[1] == faults[2]
    assert faults[0][1]["errors"][0]["field"] == "message.referenceTaskIds[1]"
    with pytest.raises(a2a.InvalidParamsError, match="must be at most 32"):
        await world.handler.send_message(refers(*mine * 17), ME)


async def test_a_page_of_large_tasks_ends_early_and_the_walk_has_them_all(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("a2a_fn.protocol.handler.PAGE_BYTES", 400)
    for context in ("", "c"):
        made = []
        for i in range(5):
            made.append(await opened(world, completes, message_id=f"{context}{i}", context=context))
        shown: list[str] = []
        sizes: list[int] = []
        token = ""
        while not sizes or token:
            request = ListTasksRequest(page_size=4, page_token=token, context_id=context)
            page = await world.handler.list_tasks(request, ME)
            sizes.append(len(page.tasks))
            shown += [task.id for task in page.tasks]
            token = page.next_page_token
        assert shown[:5] == made[::-1]
        assert 1 <= max(sizes) < 4

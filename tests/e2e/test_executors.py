"""Any a2a-sdk AgentExecutor runs unchanged."""

from __future__ import annotations

from collections.abc import Callable

from a2a.types.a2a_pb2 import GetTaskRequest, ListTasksRequest, StreamResponse, TaskState

from .clients import client, request
from .server import Process

Start = Callable[..., Process]


async def test_the_sdks_hello_world_answers_with_a_message_and_no_task(start: Start) -> None:
    server = start("serve", "--agent", "executor:tests.e2e.agents:HelloWorld")
    async with client(server.url, streaming=False) as plain, client(server.url) as streaming:
        answers: list[StreamResponse] = [e async for e in plain.send_message(request("hi", "m1"))]
        events = [e async for e in streaming.send_message(request("hi", "m2"))]
        listed = await plain.list_tasks(ListTasksRequest())
    for got in (answers, events):
        assert [e.WhichOneof("payload") for e in got] == ["message"]
        assert got[0].message.parts[0].text == "Hello, World!"
    assert not listed.tasks


async def test_a_caller_that_did_not_wait_finds_the_message_in_its_task(start: Start) -> None:
    server = start("serve", "--agent", "executor:tests.e2e.agents:HelloWorld")
    async with client(server.url, streaming=False) as plain:
        answers = [e async for e in plain.send_message(request("hi", "m1", wait=False))]
        task = answers[0].task
        server.wait_for("finished")
        task = await plain.get_task(GetTaskRequest(id=task.id))
    assert task.status.state == TaskState.TASK_STATE_COMPLETED
    assert task.status.message.parts[0].text == "Hello, World!"


async def test_an_executor_that_streams_artifacts(start: Start) -> None:
    server = start("serve", "--agent", "executor:tests.e2e.agents:Artifacts")
    async with client(server.url) as streaming:
        events = [e async for e in streaming.send_message(request("go", "m1"))]
        task = await streaming.get_task(GetTaskRequest(id=events[0].task.id))
    kinds = [e.WhichOneof("payload") for e in events]
    assert kinds == ["task", "status_update", *["artifact_update"] * 3, "status_update"]
    chunks = [e.artifact_update for e in events if e.HasField("artifact_update")]
    assert [(c.append, c.last_chunk) for c in chunks] == [
        (False, False),
        (True, False),
        (True, True),
    ]
    assert [p.text for p in task.artifacts[0].parts] == ["chunk 0\n", "chunk 1\n", "chunk 2\n"]
    assert task.status.state == TaskState.TASK_STATE_COMPLETED
    assert task.status.message.parts[0].text == "All three chunks."
    assert len(task.history) == 1

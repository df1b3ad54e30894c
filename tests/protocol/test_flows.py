"""Does the a2a-sdk's own client get what it asks for, over a real connection?"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from a2a.client import ClientConfig, create_client
from a2a.types.a2a_pb2 import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    SendMessageConfiguration,
    SendMessageRequest,
    SubscribeToTaskRequest,
    TaskState,
)
from a2a.utils.errors import (
    InvalidParamsError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
)

COMPLETED = TaskState.TASK_STATE_COMPLETED
WORKING = TaskState.TASK_STATE_WORKING
CANCELED = TaskState.TASK_STATE_CANCELED


@pytest.fixture
async def connect(agent: Any) -> AsyncIterator[Any]:
    """Makes clients of the SDK that found the server by its card, as any client does."""
    async with httpx.AsyncClient(trust_env=False) as http:

        async def connect_to_server(**config: Any) -> Any:
            return await create_client(agent.url, ClientConfig(httpx_client=http, **config))

        yield connect_to_server


async def started(client: Any, message: Any) -> Any:
    """The task of a message that is handed over without waiting for its end."""
    request = SendMessageRequest(
        message=message, configuration=SendMessageConfiguration(return_immediately=True)
    )
    (answer,) = [event async for event in client.send_message(request)]
    return answer.task


async def test_a_blocking_message_answers_with_the_finished_task(connect, user_message):
    client = await connect(streaming=False)
    request = SendMessageRequest(message=user_message("bonjour"))
    (answer,) = [event async for event in client.send_message(request)]
    assert answer.task.status.state == COMPLETED
    assert answer.task.artifacts[0].parts[0].text == "bonjour"


async def test_a_stream_begins_with_the_task_and_ends_when_it_ends(connect, user_message):
    client = await connect(streaming=True)
    request = SendMessageRequest(message=user_message("bonjour"))
    events = [event async for event in client.send_message(request)]
    assert events[0].HasField("task")
    assert events[-1].status_update.status.state == COMPLETED
    assert [
        e.artifact_update.artifact.parts[0].text for e in events if e.HasField("artifact_update")
    ]
    assert {e.task.id or e.status_update.task_id or e.artifact_update.task_id for e in events} == {
        events[0].task.id
    }


async def test_text_that_splits_lines_elsewhere_arrives_whole(connect, user_message):
    text = "a\u2028b\u2029c\x85d\x0be\x1cf\rg\nh 中文 \U0001f600 \x00"
    client = await connect(streaming=True)
    events = client.send_message(SendMessageRequest(message=user_message(text)))
    artifacts = [e.artifact_update.artifact async for e in events if e.HasField("artifact_update")]
    assert "".join(part.text for a in artifacts for part in a.parts) == text


async def test_a_task_is_read_with_as_much_history_as_asked_for(connect, user_message):
    client = await connect(streaming=False)
    task = await started(client, user_message("wait"))
    assert len((await client.get_task(GetTaskRequest(id=task.id))).history) == 1
    assert not (await client.get_task(GetTaskRequest(id=task.id, history_length=0))).history


async def test_an_unknown_task_is_not_found(connect):
    client = await connect()
    with pytest.raises(TaskNotFoundError):
        await client.get_task(GetTaskRequest(id="no-such-task"))


async def test_an_id_that_cannot_be_one_is_named_in_the_error(connect):
    client = await connect()
    with pytest.raises(InvalidParamsError, match=r"^id must be 1 to 128 letters") as caught:
        await client.get_task(GetTaskRequest(id="../etc/passwd"))
    assert caught.value.data == {"fields": "id"}


async def test_tasks_are_listed_by_state(connect, user_message):
    client = await connect(streaming=False)
    waiting = await started(client, user_message("wait"))
    page = await client.list_tasks(ListTasksRequest(status=WORKING))
    assert [task.id for task in page.tasks] == [waiting.id]
    assert page.total_size == 1
    assert not (await client.list_tasks(ListTasksRequest(status=COMPLETED))).tasks


async def test_a_canceled_task_cannot_be_canceled_again(connect, user_message):
    client = await connect(streaming=False)
    task = await started(client, user_message("wait"))
    answer = await client.cancel_task(CancelTaskRequest(id=task.id))
    assert answer.status.state == CANCELED
    with pytest.raises(TaskNotCancelableError):
        await client.cancel_task(CancelTaskRequest(id=task.id))


async def test_two_subscribers_see_the_same_and_stop_at_the_end(connect, user_message):
    client = await connect(streaming=True)
    plain = await connect(streaming=False)
    task = await started(plain, user_message("wait"))
    here = asyncio.Event(), asyncio.Event()

    async def watch(first_seen: asyncio.Event) -> list[Any]:
        events = []
        async for event in client.subscribe(SubscribeToTaskRequest(id=task.id)):
            events.append(event)
            first_seen.set()
        return events

    watching = asyncio.gather(*(watch(seen) for seen in here))
    async with asyncio.timeout(5):
        for seen in here:
            await seen.wait()
        await plain.cancel_task(CancelTaskRequest(id=task.id))
        left, right = await watching
    assert left[0].HasField("task")
    assert left[-1].status_update.status.state == CANCELED
    assert left == right


async def test_a_push_config_that_comes_with_a_message_is_refused(agent, message):
    config = {"taskPushNotificationConfig": {"url": "https://example.com/hook"}}
    sent = {"message": message("hello"), "configuration": config}
    assert (await agent.call("SendMessage", sent))["error"]["code"] == -32003
    assert (await agent.call("SendStreamingMessage", sent))["error"]["code"] == -32003
    assert (await agent.call("ListTasks", {}))["result"]["totalSize"] == 0


async def test_an_ended_task_has_no_subscribers(connect, user_message):
    client = await connect(streaming=True)
    request = SendMessageRequest(message=user_message("done"))
    events = [event async for event in client.send_message(request)]
    with pytest.raises(UnsupportedOperationError):
        async for _ in client.subscribe(SubscribeToTaskRequest(id=events[0].task.id)):
            pass
